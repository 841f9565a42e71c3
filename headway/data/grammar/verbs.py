"""Verbs. `english/participle | German: infinitive, he-form, participle | subject | object | adjuncts`.

The English participle is given where it is irregular. A hyphen marks a separable prefix (an-rufen: er ruft an, angerufen),
`ist` before the participle a perfect with "sein". Subject and object are classes or nouns; before the object stands its kind:

    acc, dat        an object in that case                 dat+acc   a person in the dative, then a thing in the accusative
    for/auf acc     a prepositional object                 -         none; a question mark makes an object optional

Adjuncts the verb can bear: place (inside a place), spot (on, under, behind ... a thing), waters, to (a goal), with (company),
for (somebody), pace (slowly), voice (loudly), or a single place; an exclamation mark makes one obligatory. `that` and `whether`
are clauses it governs. `state` verbs have neither perfect nor modal. A backslash continues a row on the next line.
"""

VERBS = """
sleep/slept        | schlafen schläft geschlafen            | person animal    | -                        | place spot
work               | arbeiten arbeitet gearbeitet           | person           | -                        | place with pace
laugh              | lachen lacht gelacht                   | person           | \
    at/über acc? idea mistake tale film | with voice
dance              | tanzen tanzt getanzt                   | person           | -                        | place with
swim/swum          | schwimmen schwimmt ist geschwommen     | person duck dog  | -                        | waters with
cry                | weinen weint geweint                   | person           | -                        | place voice
play               | spielen spielt gespielt                | person pet       | -                        | place with
wait               | warten wartet gewartet                 | person           | for/auf acc? person public mail | stop
live               | wohnen wohnt gewohnt                   | person           | -                        | home! with state
stay               | bleiben bleibt ist geblieben           | person           | -                        | place! with
sit/sat            | sitzen sitzt gesessen                  | person pet       | -                        | spot!
stand/stood        | stehen steht gestanden                 | person pet       | -                        | spot!
lie/lain           | liegen liegt gelegen                   | pet thing text   | -                        | spot!
smile              | lächeln lächelt gelächelt              | person           | -                        |
bark               | bellen bellt gebellt                   | dog              | -                        | place voice
jump               | springen springt ist gesprungen        | frog cat monkey dog | -                        | place
fly/flown          | fliegen fliegt ist geflogen            | bird duck airplane | -                        | pace
bloom              | blühen blüht geblüht                   | bloom            | -                        | garden park
ring/rung          | klingeln klingelt geklingelt           | phone            | -                        | place
shine/shone        | scheinen scheint geschienen            | sky              | -                        |
rain               | regnen regnet geregnet                 | weather          | -                        |
snow               | schneien schneit geschneit             | weather          | -                        |
run/run            | laufen läuft ist gelaufen              | person pet       | -                        | place to pace
go/gone            | gehen geht ist gegangen                | person           | -                        | to! with
drive/driven       | fahren fährt ist gefahren              | person           | -                        | to! with
arrive             | an-kommen kommt ist angekommen         | person public    | -                        | stop
depart             | ab-fahren fährt ist abgefahren         | bus train ship   | -                        |
start              | an-fangen fängt angefangen             | show             | -                        |
get up/gotten      | auf-stehen steht ist aufgestanden      | person           | -                        |
wake up/woken      | auf-wachen wacht ist aufgewacht        | person pet       | -                        |
fall asleep/fallen | ein-schlafen schläft ist eingeschlafen | person pet       | -                        | spot
shop               | ein-kaufen kauft eingekauft            | person           | \
    - | market city bakery with
come back/come     | zurück-kommen kommt ist zurückgekommen | person           | -                        | with
go out/gone        | aus-gehen geht ist ausgegangen         | person           | -                        | with
read/read          | lesen liest gelesen                    | person           | acc text                 | place pace
write/written      | schreiben schreibt geschrieben         | person           | acc text                 | place pace
see/seen           | sehen sieht gesehen                    | person animal    | acc person animal vehicle | place
hear/heard         | hören hört gehört                      | person animal    | acc person animal tune   | place that
buy/bought         | kaufen kauft gekauft                   | person           | \
    acc food text thing private clothing furniture | store market for
sell/sold          | verkaufen verkauft verkauft            | person           | \
    acc food pet device private clothing furniture | store market
find/found         | finden findet gefunden                 | person           | acc thing clothing pet mistake | place spot
look for           | suchen sucht gesucht                   | person           | acc thing clothing person pet | place
lose/lost          | verlieren verliert verloren            | person           | acc thing clothing       | place
need               | brauchen braucht gebraucht             | person           | \
    acc thing device private clothing plan | state
have/had           | haben hat gehabt                       | person           | \
    acc pet private question problem plan brother sister house garden | state
like               | mögen mag gemocht                      | person           | \
    acc person animal food drink tune place event | state
love               | lieben liebt geliebt                   | person           | acc person pet tune city | state
visit              | besuchen besucht besucht               | person           | \
    acc person museum castle city church island village | with
meet/met           | treffen trifft getroffen               | person           | acc person               | place
greet              | grüßen grüßt gegrüßt                   | person           | acc person               | place
ask                | fragen fragt gefragt                   | person           | acc person               | whether
kiss               | küssen küsst geküsst                   | person           | acc person               | place
watch              | beobachten beobachtet beobachtet       | person pet       | acc person animal        | place
admire             | bewundern bewundert bewundert          | person           | \
    acc person picture castle dress garden horse |
save               | retten rettet gerettet                 | person           | acc person pet           |
examine            | untersuchen untersucht untersucht      | doctor vet       | acc person pet           | hospital
understand/understood | verstehen versteht verstanden          | person           | acc notion text film     |
explain            | erklären erklärt erklärt               | teacher student engineer lawyer | \
    acc rule word problem plan mistake exercise poem game | pace
forget/forgotten   | vergessen vergisst vergessen           | person           | acc thing word plan rule | place
discuss            | besprechen bespricht besprochen        | person           | \
    acc problem question plan idea report journey | place with
solve              | lösen löst gelöst                      | person           | acc problem exercise     | with pace
learn              | lernen lernt gelernt                   | person           | acc lesson poem tune     | school with pace
translate          | übersetzen übersetzt übersetzt         | person           | acc text word            | for pace
repair             | reparieren repariert repariert         | person           | \
    acc vehicle device ladder chair clock | place for
wash               | waschen wäscht gewaschen               | person           | acc clothing private dish fruit | for
clean              | putzen putzt geputzt                   | person           | acc window shoe dish chamber | for pace
open               | öffnen öffnet geöffnet                 | person           | acc opening case mail bottle | for pace
close              | schließen schließt geschlossen         | person           | acc opening case book umbrella | pace
build/built        | bauen baut gebaut                      | person           | \
    acc building bridge tower ship boat table | with
draw/drawn         | zeichnen zeichnet gezeichnet           | person           | acc animal plant building vehicle | place for
paint              | malen malt gemalt                      | person           | acc picture animal plant | place for
carry              | tragen trägt getragen                  | person           | acc case furniture ladder | for
wear/worn          | tragen trägt getragen                  | person           | acc clothing             |
catch/caught       | fangen fängt gefangen                  | person cat       | acc ball mouse bird      | place
push               | schieben schiebt geschoben             | person           | acc car bicycle furniture | pace with
feed/fed           | füttern füttert gefüttert              | person           | acc animal               | place with
plant              | pflanzen pflanzt gepflanzt             | person           | acc plant                | garden park for
order              | bestellen bestellt bestellt            | person           | acc food drink           | restaurant for
eat/eaten          | essen isst gegessen                    | person           | acc food                 | place with pace
drink/drunk        | trinken trinkt getrunken               | person           | acc drink                | place with
cook               | kochen kocht gekocht                   | person           | acc cooked               | kitchen for with
bake               | backen backt gebacken                  | person           | acc baked                | kitchen for with
sing/sung          | singen singt gesungen                  | person           | acc? tune                | place for voice
hide/hidden        | verstecken versteckt versteckt         | person           | acc thing pet            | spot place
break/broken       | zerbrechen zerbricht zerbrochen        | person           | acc dish                 | kitchen
climb              | besteigen besteigt bestiegen           | person           | acc mountain tower       | with
steal/stolen       | stehlen stiehlt gestohlen              | person           | acc thing private horse  |
call               | an-rufen ruft angerufen                | person           | acc person               |
pick up            | ab-holen holt abgeholt                 | person           | acc person gift ticket suitcase | stop
invite             | ein-laden lädt eingeladen              | person           | acc person               |
turn on            | ein-schalten schaltet eingeschaltet    | person           | acc device               | place
turn off           | aus-schalten schaltet ausgeschaltet    | person           | acc device               | place
prepare            | vor-bereiten bereitet vorbereitet      | person           | \
    acc party wedding meeting journey lecture exam | with
tidy up            | auf-räumen räumt aufgeräumt            | person           | acc chamber              | with
put on/put         | an-ziehen zieht angezogen              | person           | acc clothing             |
take off/taken     | aus-ziehen zieht ausgezogen            | person           | acc clothing             |
try on             | an-probieren probiert anprobiert       | person           | acc clothing             | store
bring back/brought | zurück-bringen bringt zurückgebracht   | person           | acc text case key camera umbrella |
take along/taken   | mit-nehmen nimmt mitgenommen           | person           | acc thing text pet       |
pack               | ein-packen packt eingepackt            | person           | acc clothing gift text   | for
throw away/thrown  | weg-werfen wirft weggeworfen           | person           | acc text clothing candle box |
hang up/hung       | auf-hängen hängt aufgehängt            | person           | acc wall clothing        | place
look at            | an-schauen schaut angeschaut           | person           | acc picture person text animal | place
help               | helfen hilft geholfen                  | person           | dat person               | place
thank              | danken dankt gedankt                   | person           | dat person               |
follow             | folgen folgt ist gefolgt               | person pet       | dat person pet           |
answer             | antworten antwortet geantwortet        | person           | dat person               | voice
trust              | vertrauen vertraut vertraut            | person           | dat person               | state
congratulate       | gratulieren gratuliert gratuliert      | person           | dat person               | place
listen to          | zu-hören hört zugehört                 | person           | dat person               | place
belong to          | gehören gehört gehört                  | thing clothing private pet | dat person               | state
give/given         | geben gibt gegeben                     | person           | dat+acc thing text food  |
show/shown         | zeigen zeigt gezeigt                   | person           | \
    dat+acc picture text building animal mistake clothing | place
send/sent          | schicken schickt geschickt             | person           | dat+acc text gift ticket |
bring/brought      | bringen bringt gebracht                | person           | dat+acc thing text food drink clothing |
lend/lent          | leihen leiht geliehen                  | person           | dat+acc thing text private clothing |
tell/told          | erzählen erzählt erzählt               | person           | dat+acc tale             | place
offer              | an-bieten bietet angeboten             | person           | dat+acc food drink seat  |
talk               | sprechen spricht gesprochen            | person           | \
    about/über acc? person text event notion animal | with place voice
think/thought      | denken denkt gedacht                   | person           | \
    of/an acc person event problem question plan | that
dream              | träumen träumt geträumt                | person           | \
    of/von dat? person animal journey sea castle wedding |
say/said           | sagen sagt gesagt                      | person           | -                        | that!
know/known         | wissen weiß gewusst                    | person           | -                        | that! state
believe            | glauben glaubt geglaubt                | person           | -                        | that! state
hope               | hoffen hofft gehofft                   | person           | -                        | that! state
be/been            | sein ist ist gewesen                   | -                | -                        | state
"""
