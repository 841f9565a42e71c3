"""Adjectives, adverbs and function words.

Adjectives: `english = German[/stem with endings] : classes of nouns`. Phrases: `english = German`; with as many words on both
sides they are linked in order, otherwise all with all, and a digit after a slash links what the order does not.
"""

ADJECTIVES = """
old = alt : person animal thing text device vehicle clothing furniture opening tree tune place tower
young = jung : person animal tree
new = neu : thing text device vehicle clothing furniture opening building chamber store tune idea plan word film
big = groß : animal fruit cake cookie roll egg potato carrot sausage thing device vehicle clothing furniture opening \
    plant place waters party wedding problem plan
small = klein : child boy girl animal fruit cake cookie roll egg potato carrot sausage thing book dictionary \
    postcard device vehicle clothing furniture opening plant place lake tower
long = lang : text clothing table bench ladder tune event street bridge river snake word journey
short = kurz : text dress skirt film concert game meeting tune word journey
beautiful = schön : woman girl queen princess singer animal thing clothing furniture plant tune place waters tower \
    mountain wedding
ugly = hässlich : frog building clothing furniture device bag picture lamp
good = gut : person food drink book novel poem story film device idea plan restaurant hotel school camera party
bad = schlecht : film book novel poem article report idea plan restaurant hotel camera teacher student driver
nice = nett : person
friendly = freundlich : person pet elephant
tired = müde/müd : person pet
happy = glücklich : person
sad = traurig : person book story song film poem letter
sick = krank : person animal
healthy = gesund : person animal child
strong = stark : man boy farmer soldier king animal coffee tea
weak = schwach : king soldier donkey grandfather grandmother child coffee tea
rich = reich : person city
poor = arm : person
famous = berühmt : writer painter musician singer dancer doctor engineer king queen picture castle museum book novel \
    song island
smart = klug : person monkey dog donkey
lazy = faul : student pupil boy cat dog donkey brother son nephew
brave = mutig : person
honest = ehrlich : person
polite = höflich : person
quiet = ruhig : child neighbor guest village street place lake chamber
funny = lustig : man child boy uncle friend monkey story film song hat letter
curious = neugierig : child boy girl tourist pupil animal
patient = geduldig : teacher doctor nurse mother father donkey horse
proud = stolz : father mother king queen grandfather grandmother horse
hungry = hungrig : person animal
thirsty = durstig : person animal
angry = wütend : person bear
dangerous = gefährlich : bear lion wolf snake street journey game bridge
wild = wild : animal party
red = rot : color apple cherry strawberry tomato rose
blue = blau : color
green = grün : color apple pear tree bush
yellow = gelb : color banana pear rose tulip
black = schwarz : color cat dog horse
white = weiß : color cat horse rabbit rose
brown = braun : coat jacket shoe bag bear horse cow table cupboard egg
gray = grau : cat mouse donkey coat elephant scarf sweater
expensive = teuer/teur : vehicle device clothing furniture gift camera wine violin restaurant hotel ticket book wedding
cheap = billig : device clothing furniture ticket book restaurant hotel wine bicycle
heavy = schwer : case hammer furniture dictionary ladder coat
fresh = frisch : fruit baked egg carrot salad meat milk juice water
sweet = süß : fruit baked tea juice wine chocolate
sour = sauer/saur : apple cherry orange milk
hot = heiß : soup potato water milk coffee tea sausage chocolate
cold = kalt : soup sausage potato meat drink chamber house cellar river
warm = warm : clothing blanket chamber house bread milk lake
ripe = reif : fruit
interesting = interessant : text film museum city question idea concert journey
boring = langweilig : text film concert party meeting game village
exciting = spannend : book novel story film game journey article
difficult = schwierig : task language word plan text
easy = einfach : task word rule language game
important = wichtig : letter message report meeting task rule word plan key guest customer
dirty = schmutzig : clothing dish vehicle chamber opening knife spoon fork dog pig
empty = leer : case dish bus train chamber house street church
modern = modern : building device furniture kitchen city train lamp
dark = dunkel/dunkl : chamber cellar forest street house clothing
high = hoch/hoh : tall
deep = tief : waters forest cellar
strange = seltsam : man woman guest neighbor animal story picture film question idea message
useful = nützlich : thing device dictionary idea rule
practical = praktisch : bag device clothing furniture plan
elegant = elegant : woman dress coat hat shoe restaurant jacket queen
round = rund : table mirror box window carpet tower
soft = weich : pillow blanket bed sofa sweater scarf bread
narrow = schmal : bed bridge street cupboard opening
lonely = einsam : person island beach
tasty = lecker : food
fast = schnell : vehicle horse computer
slow = langsam : bus train truck computer donkey
"""

PHRASES = """
[present time]   today = heute; now = jetzt; tomorrow = morgen; in/1 the/1 morning/2 = am/1 Morgen/2
[present time]   in/1 the/1 evening/2 = am/1 Abend/2; this evening = heute Abend; on Monday = am Montag; on Sunday = am Sonntag
[present time]   on Friday = am Freitag; in/1 the/1 afternoon/2 = am/1 Nachmittag/2; this week = diese Woche
[present cycle]  every day = jeden Tag; every evening = jeden Abend; every morning = jeden Morgen; every week = jede Woche
[present cycle]  in/1 the/1 summer/2 = im/1 Sommer/2; in/1 the/1 winter/2 = im/1 Winter/2
[perfect time]   today = heute; this morning = heute Morgen; this week = diese Woche; recently = kürzlich
[modal time]     today = heute; tomorrow = morgen; soon = bald; this evening = heute Abend; on Saturday = am Samstag
[modal time]     next week = nächste Woche; next year = nächstes Jahr; later = später; on Monday = am Montag; at once = sofort
[past time]      yesterday = gestern; last week = letzte Woche; last year = letztes Jahr; this morning = heute Morgen
[present frequency] often = oft; always = immer; never = nie; sometimes = manchmal; usually = normalerweise; rarely = selten
[perfect frequency] already = schon; often = oft; never = nie; always = immer
[modal frequency] never = nie; always = immer
[past frequency] often = oft; never = nie; always = immer; sometimes = manchmal
[pace]           slowly = langsam; quickly = schnell; carefully = vorsichtig
[voice]          loudly = laut; quietly = leise
[here]           here = hier; there = dort; outside = draußen; at home = zu Hause
[opener]         perhaps = vielleicht; unfortunately = leider; fortunately = zum Glück; suddenly = plötzlich
[opener]         finally = endlich; of course = natürlich; therefore = deshalb
[question]       where = wo; when = wann; why = warum; how often = wie oft
[degree]         very = sehr; too = zu; quite = ziemlich
"""

# the key of a preposition is "english/German"; the case is the one it governs here
PREPOSITIONS = """
in/in dat; at/an dat; at/auf dat; on/auf dat; behind/hinter dat; under/unter dat; next to/neben dat; in front of/vor dat
with/mit dat; without/ohne acc; for/für acc; to/zu dat; after/nach dat; before/vor dat; for/auf acc; about/über acc; at/über acc
of/an acc; of/von dat
"""

# pronouns: English subject and object form, German nominative, accusative, dative, and the verb form they ask for
PRONOUNS = """
I me ich mich mir 1s; you you du dich dir 2s; he him er ihn ihm 3s; she her sie sie ihr 3s; we us wir uns uns p
they them sie sie ihnen p; it it es es ihm 3s; who whom wer wen wem 3s; what what was was was 3s
"""

# determiners: English singular and plural, German stem, and which endings the determiner and the adjectives after it take
DETERMINERS = """
the the d der weak; this these dies der weak; every - jed der weak; which which welch der weak; - all all der weak
a - ein ein mixed; no no kein ein mixed; my my mein ein mixed; your your dein ein mixed; his his sein ein mixed
her her ihr ein mixed; our our unser ein mixed; their their ihr ein mixed; - many viel der strong; - some einig der strong
"""

NUMERALS = "two zwei; three drei; four vier; five fünf; six sechs; seven sieben; eight acht; nine neun; ten zehn; twelve zwölf"

# English conjunction, German one, and the position of the German verb after it
CONJUNCTIONS = """
because weil final; that dass final; if wenn final; although obwohl final; whether ob final; while während final
and und second; but aber second
"""
