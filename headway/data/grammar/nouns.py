"""Nouns. `english/plural = article German/plural`; the English plural is given where it is irregular.

A line in brackets names the semantic classes of what follows; `+class` adds one to a single noun. A star marks the
n-declension, whose oblique singular looks like the plural (der Junge, den Jungen, dem Jungen). Classes that are not
about meaning: `mass` has neither plural nor "a"; `unique` stands in the singular with "the" or a possessive; `in/in`, `at/an`
... is the pair of prepositions that says where something happens; `goal` is a place one goes to with "zu".
"""

NOUNS = """
[person kin]
friend = der Freund/Freunde;              brother = der Bruder/Brüder;              sister = die Schwester/Schwestern
uncle = der Onkel/Onkel;                  aunt = die Tante/Tanten;                  son = der Sohn/Söhne
daughter = die Tochter/Töchter;           neighbor = der Nachbar*/Nachbarn;         colleague = der Kollege*/Kollegen
nephew = der Neffe*/Neffen;               niece = die Nichte/Nichten;               teacher = der Lehrer/Lehrer
father = der Vater/Väter +unique;         mother = die Mutter/Mütter +unique;       boss = der Chef/Chefs
grandfather = der Großvater/Großväter;    grandmother = die Großmutter/Großmütter

[person]
man/men = der Mann/Männer;                woman/women = die Frau/Frauen;            child/children = das Kind/Kinder
boy = der Junge*/Jungen;                  girl = das Mädchen/Mädchen;               pupil = der Schüler/Schüler
student = der Student*/Studenten;         doctor = der Arzt/Ärzte +goal
nurse = die Krankenschwester/Krankenschwestern;                                     customer = der Kunde*/Kunden
baker = der Bäcker/Bäcker +goal;          gardener = der Gärtner/Gärtner;           farmer = der Bauer*/Bauern
waiter = der Kellner/Kellner;             musician = der Musiker/Musiker;           painter = der Maler/Maler
judge = der Richter/Richter;              king = der König/Könige +unique;          queen = die Königin/Königinnen +unique
princess = die Prinzessin/Prinzessinnen;  engineer = der Ingenieur/Ingenieure;      tourist = der Tourist*/Touristen
guest = der Gast/Gäste;                   secretary = die Sekretärin/Sekretärinnen; lawyer = der Anwalt/Anwälte +goal
soldier = der Soldat*/Soldaten;           driver = der Fahrer/Fahrer;               singer = die Sängerin/Sängerinnen
dancer = die Tänzerin/Tänzerinnen;        mayor = der Bürgermeister/Bürgermeister +unique
writer = der Schriftsteller/Schriftsteller;                                         vet = der Tierarzt/Tierärzte +goal

[name he]
Peter = der Peter/;                       Paul = der Paul/;                         Thomas = der Thomas/
Max = der Max/
[name she]
Anna = die Anna/;                         Maria = die Maria/;                       Julia = die Julia/
Lena = die Lena/

[animal]
dog = der Hund/Hunde +pet;                cat = die Katze/Katzen +pet;              horse = das Pferd/Pferde +pet
rabbit = das Kaninchen/Kaninchen +pet;    cow = die Kuh/Kühe;                       bird = der Vogel/Vögel +pet
mouse/mice = die Maus/Mäuse;              bear = der Bär*/Bären;                    lion = der Löwe*/Löwen
elephant = der Elefant*/Elefanten;        monkey = der Affe*/Affen;                 pig = das Schwein/Schweine
duck = die Ente/Enten;                    goat = die Ziege/Ziegen;                  snake = die Schlange/Schlangen
frog = der Frosch/Frösche;                chicken = das Huhn/Hühner;                wolf/wolves = der Wolf/Wölfe
donkey = der Esel/Esel +pet

[food]
apple = der Apfel/Äpfel +fruit;           banana = die Banane/Bananen +fruit;       pear = die Birne/Birnen +fruit
cherry = die Kirsche/Kirschen +fruit;     strawberry = die Erdbeere/Erdbeeren +fruit
orange = die Orange/Orangen +fruit;       cake = der Kuchen/Kuchen +baked;          cookie = der Keks/Kekse +baked
roll = das Brötchen/Brötchen +baked;      egg = das Ei/Eier +cooked
potato/potatoes = die Kartoffel/Kartoffeln +cooked;                                 sausage = die Wurst/Würste
tomato/tomatoes = die Tomate/Tomaten +fruit;                                        carrot = die Karotte/Karotten +cooked
soup = die Suppe/Suppen +cooked;          salad = der Salat/Salate;                 nut = die Nuss/Nüsse
[food mass]
bread = das Brot/ +baked;                 cheese = der Käse/;                       rice = der Reis/ +cooked
meat = das Fleisch/ +cooked;              butter = die Butter/;                     honey = der Honig/
chocolate = die Schokolade/
[drink mass]
water = das Wasser/;                      milk = die Milch/;                        coffee = der Kaffee/
tea = der Tee/;                           juice = der Saft/;                        beer = das Bier/
wine = der Wein/

[text]
book = das Buch/Bücher;                   letter = der Brief/Briefe +mail;          newspaper = die Zeitung/Zeitungen
novel = der Roman/Romane;                 poem = das Gedicht/Gedichte
story/stories = die Geschichte/Geschichten +tale;                                   article = der Artikel/Artikel
report = der Bericht/Berichte;            magazine = die Zeitschrift/Zeitschriften; message = die Nachricht/Nachrichten +mail
postcard = die Postkarte/Postkarten +mail;                                          dictionary = das Wörterbuch/Wörterbücher

[thing]
key = der Schlüssel/Schlüssel;            pen = der Stift/Stifte +color
umbrella = der Regenschirm/Regenschirme +color;                                     bag = die Tasche/Taschen +color +case
camera = die Kamera/Kameras;              hammer = der Hammer/Hämmer;               ball = der Ball/Bälle +color
picture = das Bild/Bilder +wall;          basket = der Korb/Körbe +case;            suitcase = der Koffer/Koffer +color +case
gift = das Geschenk/Geschenke;            doll = die Puppe/Puppen;                  ticket = die Fahrkarte/Fahrkarten
blanket = die Decke/Decken +color;        pillow = das Kissen/Kissen;               knife/knives = das Messer/Messer
spoon = der Löffel/Löffel;                fork = die Gabel/Gabeln;                  ladder = die Leiter/Leitern
candle = die Kerze/Kerzen +color;         box = die Schachtel/Schachteln +color +case
cup = die Tasse/Tassen +color +dish;      glass = das Glas/Gläser +dish;            plate = der Teller/Teller +color +dish
bottle = die Flasche/Flaschen +dish;      mirror = der Spiegel/Spiegel +dish +wall; guitar = die Gitarre/Gitarren
violin = die Geige/Geigen;                clock = die Uhr/Uhren +wall

[device]
lamp = die Lampe/Lampen +color;           computer = der Computer/Computer;         radio = das Radio/Radios
television = der Fernseher/Fernseher;     machine = die Maschine/Maschinen;         phone = das Telefon/Telefone
[vehicle]
car = das Auto/Autos +color +private;     bicycle = das Fahrrad/Fahrräder +color +private
truck = der Lastwagen/Lastwagen +color +private;                                    bus = der Bus/Busse +public
train = der Zug/Züge +public;             ship = das Schiff/Schiffe +public;        boat = das Boot/Boote +private
taxi = das Taxi/Taxis +public;            airplane = das Flugzeug/Flugzeuge +public
[clothing color]
coat = der Mantel/Mäntel;                 dress = das Kleid/Kleider;                shirt = das Hemd/Hemden
hat = der Hut/Hüte;                       jacket = die Jacke/Jacken;                skirt = der Rock/Röcke
shoe = der Schuh/Schuhe;                  sweater = der Pullover/Pullover;          scarf/scarves = der Schal/Schals
blouse = die Bluse/Blusen;                glove = der Handschuh/Handschuhe
[furniture]
table = der Tisch/Tische +top;            chair = der Stuhl/Stühle +color +top +seat
bed = das Bett/Betten +top +seat;         sofa = das Sofa/Sofas +color +top +seat;  cupboard = der Schrank/Schränke
bench = die Bank/Bänke +top +seat;        desk = der Schreibtisch/Schreibtische +top
shelf/shelves = das Regal/Regale;         carpet = der Teppich/Teppiche
[opening]
door = die Tür/Türen +color;              window = das Fenster/Fenster;             gate = das Tor/Tore
[plant]
tree = der Baum/Bäume +tall;              flower = die Blume/Blumen +color +bloom;  rose = die Rose/Rosen +bloom
bush = der Busch/Büsche;                  tulip = die Tulpe/Tulpen +color +bloom
[tune]
song = das Lied/Lieder;                   melody = die Melodie/Melodien
[sky unique]
sun = die Sonne/;                         moon = der Mond/

[place in/in]
garden = der Garten/Gärten +outdoor;      park = der Park/Parks +outdoor +goal;     forest = der Wald/Wälder +outdoor
city = die Stadt/Städte +town +home;      village = das Dorf/Dörfer +town +home;    yard = der Hof/Höfe +outdoor
house = das Haus/Häuser +building +home;  hotel = das Hotel/Hotels +building +home +goal
restaurant = das Restaurant/Restaurants +goal;                                      museum = das Museum/Museen +building +goal
hospital = das Krankenhaus/Krankenhäuser +building
library = die Bibliothek/Bibliotheken +goal
castle = das Schloss/Schlösser +building +home +goal
church = die Kirche/Kirchen +building +goal
theater = das Theater/Theater +building +goal;                                      kitchen = die Küche/Küchen +chamber
bathroom = das Badezimmer/Badezimmer +chamber;                                      office = das Büro/Büros +chamber
cellar = der Keller/Keller +chamber;      room = das Zimmer/Zimmer +chamber;        bakery = die Bäckerei/Bäckereien +goal
store = der Laden/Läden;                  factory = die Fabrik/Fabriken +building
school = die Schule/Schulen +building +goal
[place at/an]
station = der Bahnhof/Bahnhöfe +goal +stop
airport = der Flughafen/Flughäfen +goal +stop;                                      beach = der Strand/Strände +outdoor +goal
university = die Universität/Universitäten +goal
[place at/auf]
market = der Markt/Märkte +outdoor +goal
[place on/auf]
street = die Straße/Straßen +outdoor;     bridge = die Brücke/Brücken +outdoor +tall
island = die Insel/Inseln +outdoor +home; farm = der Bauernhof/Bauernhöfe +outdoor +home
[waters]
lake = der See/Seen;                      river = der Fluss/Flüsse;                 sea = das Meer/Meere +unique
[tall]
tower = der Turm/Türme;                   mountain = der Berg/Berge

[event]
film = der Film/Filme +show;              concert = das Konzert/Konzerte +show;     game = das Spiel/Spiele +show
party = die Party/Partys;                 wedding = die Hochzeit/Hochzeiten;        meeting = die Sitzung/Sitzungen
journey = die Reise/Reisen;               exam = die Prüfung/Prüfungen;             lecture = die Vorlesung/Vorlesungen
[notion]
question = die Frage/Fragen +task;        problem = das Problem/Probleme +task;     plan = der Plan/Pläne
idea = die Idee/Ideen;                    word = das Wort/Wörter +lesson;           language = die Sprache/Sprachen +lesson
mistake = der Fehler/Fehler;              rule = die Regel/Regeln +lesson;          exercise = die Übung/Übungen +task
"""
