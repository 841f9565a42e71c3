"""Sentences typed by hand, in both languages, against the derivations that must produce them."""

import pytest

from headway.data.grammar.corpus import read_out
from headway.data.grammar.lexicon import PREPOSITIONS
from headway.data.grammar.tree import NP, PP, Clause, Phrase, Quality, Sentence

ME, YOU, HE, SHE, WE, THEY, IT = (NP(word, "") for word in ("I", "you", "he", "she", "we", "they", "it"))
WHO, WHAT, ANNA, PETER = NP("who", ""), NP("what", ""), NP("Anna", ""), NP("Peter", "")


def np(text: str, relative: Clause | None = None) -> NP:
    """`the old man`, `my two dog +` (plural): determiner or "-", numeral, adjectives, lemma."""
    words = text.split()
    plural = words[-1] == "+"
    determiner, *rest, noun = words[: -1 if plural else None]
    numeral = rest.pop(0) if rest and rest[0] in {"two", "three", "five", "twelve"} else ""
    return NP(noun, "" if determiner == "-" else determiner, plural, tuple(rest), numeral, relative)


def c(
    subject: NP | str, verb: str, tense: str = "present", /, *, no: bool = False, ask: bool = False, front: str = "",
    **roles: Phrase,
) -> Clause:  # fmt: skip
    """A clause; strings become noun phrases where a noun phrase stands, and `place="in/in the garden"` a prepositional one."""
    filled: dict[str, Phrase] = {}
    for role, what in roles.items():
        if isinstance(what, str) and "/" in what:
            key = next(key for key in sorted(PREPOSITIONS, key=len, reverse=True) if what.startswith(key + " "))
            what = PP(key, np(what[len(key) + 1 :]))
        elif isinstance(what, str) and role in {"object", "recipient"}:
            what = np(what)
        filled[role] = what
    return Clause(np(subject) if isinstance(subject, str) else subject, verb, filled, tense, no, front, ask)


GARDEN, BOOK = "in/in the garden", "the book"
PAIRS = [
    # main clauses: agreement, cases, verb second
    (c("the man", "read", object="a book"), "The man reads a book.", "Der Mann liest ein Buch."),
    (c("the man", "read", object="a book", time="today", front="time"),
     "Today the man reads a book.", "Heute liest der Mann ein Buch."),
    (c("the man", "read", object=BOOK, time="today"), "The man reads the book today.", "Der Mann liest das Buch heute."),
    (c("the man", "read", object="a book", place=GARDEN),
     "The man reads a book in the garden.", "Der Mann liest im Garten ein Buch."),
    (c("the man", "read", object="a book", place=GARDEN, front="place"),
     "In the garden the man reads a book.", "Im Garten liest der Mann ein Buch."),
    (c("a old woman", "see", object="the small boy"),
     "An old woman sees the small boy.", "Eine alte Frau sieht den kleinen Jungen."),
    (c("a honest child", "visit", object="a university"),
     "An honest child visits a university.", "Ein ehrliches Kind besucht eine Universität."),
    (c(ME, "feed", object="a hungry bear"), "I feed a hungry bear.", "Ich füttere einen hungrigen Bären."),
    (c(YOU, "read", object="this letter +"), "You read these letters.", "Du liest diese Briefe."),
    (c(YOU, "drive", complement="to/zu the station"), "You drive to the station.", "Du fährst zum Bahnhof."),
    (c(YOU, "close", object="the door"), "You close the door.", "Du schließt die Tür."),
    (c(YOU, "work", manner="slowly"), "You work slowly.", "Du arbeitest langsam."),
    (c(ME, "smile", frequency="often"), "I often smile.", "Ich lächle oft."),
    (c(WE, "eat", object="- fresh bread"), "We eat fresh bread.", "Wir essen frisches Brot."),
    (c("every girl", "like", object="the black cat"), "Every girl likes the black cat.", "Jedes Mädchen mag die schwarze Katze."),
    (c("- two dog +", "bark", frequency="always"), "Two dogs always bark.", "Zwei Hunde bellen immer."),
    (c("all pupil +", "learn", object="the difficult word +"),
     "All pupils learn the difficult words.", "Alle Schüler lernen die schwierigen Wörter."),
    (c("no child", "sleep"), "No child sleeps.", "Kein Kind schläft."),
    (c(PETER, "buy", object="- twelve egg +"), "Peter buys twelve eggs.", "Peter kauft zwölf Eier."),
    (c(THEY, "wear", object="a expensive green dress"),
     "They wear an expensive green dress.", "Sie tragen ein teures grünes Kleid."),
    (c(SHE, "bake", opener="perhaps", front="opener", object="a sweet cake"),
     "Perhaps she bakes a sweet cake.", "Vielleicht backt sie einen süßen Kuchen."),
    (c("my brother", "be", complement=NP("teacher", "a", adjectives=("good",))),
     "My brother is a good teacher.", "Mein Bruder ist ein guter Lehrer."),
    (c("the soup", "be", complement=Quality("hot", "too")), "The soup is too hot.", "Die Suppe ist zu heiß."),
    (c(ME, "be", "past", complement=Quality("sick"), time="yesterday", front="time"),
     "Yesterday I was sick.", "Gestern war ich krank."),
    (c(HE, "have", "past", object="a dog"), "He had a dog.", "Er hatte einen Hund."),
    # the dative, two objects, possessives
    (c("the nurse", "help", object="the old man +"),
     "The nurse helps the old men.", "Die Krankenschwester hilft den alten Männern."),
    (c("the father", "give", recipient="his daughter", object="a red ball"),
     "The father gives his daughter a red ball.", "Der Vater gibt seiner Tochter einen roten Ball."),
    (c("the woman", "show", recipient="her son +", object="the picture"),
     "The woman shows her sons the picture.", "Die Frau zeigt ihren Söhnen das Bild."),
    (c("our uncle +", "thank", object=THEY), "Our uncles thank them.", "Unsere Onkel danken ihnen."),
    (c("this bicycle", "belong to", object="my sister"),
     "This bicycle belongs to my sister.", "Dieses Fahrrad gehört meiner Schwester."),
    (c(SHE, "love", object="their father"), "She loves their father.", "Sie liebt ihren Vater."),
    (c("the king", "trust", object="your brother"), "The king trusts your brother.", "Der König vertraut deinem Bruder."),
    (c("my two cat +", "follow", object=ME), "My two cats follow me.", "Meine zwei Katzen folgen mir."),
    # prepositions
    (c("the boy", "play", companion="with/mit his friend +"),
     "The boy plays with his friends.", "Der Junge spielt mit seinen Freunden."),
    (c("the grandmother", "cook", object="a soup", beneficiary="for/für the child +"),
     "The grandmother cooks a soup for the children.", "Die Großmutter kocht eine Suppe für die Kinder."),
    (c(WE, "go", complement="to/zu the school"), "We go to the school.", "Wir gehen zur Schule."),
    (c(WE, "shop", place="at/auf the market"), "We shop at the market.", "Wir kaufen auf dem Markt ein."),
    (c("the tourist", "wait", complement="for/auf the bus", place="at/an the station"),
     "The tourist waits for the bus at the station.", "Der Tourist wartet am Bahnhof auf den Bus."),
    (c("the queen", "dream", complement="of/von the sea"), "The queen dreams of the sea.", "Die Königin träumt vom Meer."),
    (c(ME, "think", complement=PP("of/an", YOU)), "I think of you.", "Ich denke an dich."),
    (c("the cat", "sleep", place="under/unter a old bed"),
     "The cat sleeps under an old bed.", "Die Katze schläft unter einem alten Bett."),
    (c("the key", "lie", place="in front of/vor the door"),
     "The key lies in front of the door.", "Der Schlüssel liegt vor der Tür."),
    (c(HE, "dance", companion="without/ohne his shoe +"), "He dances without his shoes.", "Er tanzt ohne seine Schuhe."),
    (c(THEY, "talk", complement="about/über this new film", time=PP("after/nach", np("the concert"))),
     "They talk about this new film after the concert.", "Sie sprechen nach dem Konzert über diesen neuen Film."),
    (c("the duck", "swim", place="in/in the deep lake"), "The duck swims in the deep lake.", "Die Ente schwimmt im tiefen See."),
    # separable verbs
    (c("the man", "call", object="his brother", time="today", front="time"),
     "Today the man calls his brother.", "Heute ruft der Mann seinen Bruder an."),
    (c("the man", "call", "perfect", object="his brother"),
     "The man has called his brother.", "Der Mann hat seinen Bruder angerufen."),
    (c("the man", "call", "will", object="his brother"),
     "The man will call his brother.", "Der Mann wird seinen Bruder anrufen."),
    (c(ME, "get up", time="now"), "I get up now.", "Ich stehe jetzt auf."),
    (c("the child", "get up", "perfect", frequency="already"),
     "The child has already gotten up.", "Das Kind ist schon aufgestanden."),
    (c(YOU, "invite", object="the neighbor"), "You invite the neighbor.", "Du lädst den Nachbarn ein."),
    (c("the film", "start"), "The film starts.", "Der Film fängt an."),
    (c(SHE, "pick up", object=HE), "She picks him up.", "Sie holt ihn ab."),
    (c(SHE, "turn on", object="the lamp"), "She turns on the lamp.", "Sie schaltet die Lampe ein."),
    (c("the waiter", "offer", recipient=WE, object="- cold beer"),
     "The waiter offers us cold beer.", "Der Kellner bietet uns kaltes Bier an."),
    # perfect with haben and sein, modals
    (c("the woman", "write", "perfect", object="a long letter"),
     "The woman has written a long letter.", "Die Frau hat einen langen Brief geschrieben."),
    (c(WE, "go", "perfect", complement="to/zu the doctor"), "We have gone to the doctor.", "Wir sind zum Arzt gegangen."),
    (c(YOU, "stay", "perfect", place="at home"), "You have stayed at home.", "Du bist zu Hause geblieben."),
    (c("the bird +", "fly", "perfect"), "The birds have flown.", "Die Vögel sind geflogen."),
    (c("the farmer", "repair", "must", object="his car"),
     "The farmer must repair his car.", "Der Bauer muss sein Auto reparieren."),
    (c(HE, "open", "want", object="the window"), "He wants to open the window.", "Er will das Fenster öffnen."),
    (c(YOU, "swim", "can", time="tomorrow"), "You can swim tomorrow.", "Du kannst morgen schwimmen."),
    (c("the guest +", "sit", "may", place="next to/neben the queen"),
     "The guests may sit next to the queen.", "Die Gäste dürfen neben der Königin sitzen."),
    # negation
    (c("the man", "read", no=True, object="a book"), "The man does not read a book.", "Der Mann liest kein Buch."),
    (c("the man", "read", no=True, object=BOOK), "The man does not read the book.", "Der Mann liest das Buch nicht."),
    (c(ME, "drink", no=True, object="- milk"), "I do not drink milk.", "Ich trinke keine Milch."),
    (c(WE, "have", no=True, object="- small dog +"), "We do not have small dogs.", "Wir haben keine kleinen Hunde."),
    (c("the woman", "live", no=True, place="in/in the city"),
     "The woman does not live in the city.", "Die Frau wohnt nicht in der Stadt."),
    (c(SHE, "call", no=True, object=ME, time="today"), "She does not call me today.", "Sie ruft mich heute nicht an."),
    (c("the boy", "eat", "perfect", no=True, object="the apple"),
     "The boy has not eaten the apple.", "Der Junge hat den Apfel nicht gegessen."),
    (c(HE, "solve", "can", no=True, object="the problem"), "He cannot solve the problem.", "Er kann das Problem nicht lösen."),
    (c("the street", "be", no=True, complement=Quality("dangerous")),
     "The street is not dangerous.", "Die Straße ist nicht gefährlich."),
    (c(SHE, "be", no=True, complement=NP("singer", "a", adjectives=("bad",))),
     "She is not a bad singer.", "Sie ist keine schlechte Sängerin."),
    (c(THEY, "wait", "want", no=True, complement="for/auf the train"),
     "They do not want to wait for the train.", "Sie wollen nicht auf den Zug warten."),
    # questions
    (c("the man", "read", ask=True, object="a book"), "Does the man read a book?", "Liest der Mann ein Buch?"),
    (c(YOU, "see", "perfect", ask=True, object="the moon"), "Have you seen the moon?", "Hast du den Mond gesehen?"),
    (c("the tea", "be", ask=True, complement=Quality("hot")), "Is the tea hot?", "Ist der Tee heiß?"),
    (c(WHO, "read", ask=True, front="subject", object="the newspaper"), "Who reads the newspaper?", "Wer liest die Zeitung?"),
    (c("the man", "read", ask=True, front="object", object=WHAT), "What does the man read?", "Was liest der Mann?"),
    (c("the girl", "see", ask=True, front="object", object=WHO), "Whom does the girl see?", "Wen sieht das Mädchen?"),
    (c(YOU, "help", ask=True, front="object", object=WHO), "Whom do you help?", "Wem hilfst du?"),
    (c(YOU, "buy", "want", ask=True, front="object", object="which hat"),
     "Which hat do you want to buy?", "Welchen Hut willst du kaufen?"),
    (c("your aunt", "work", ask=True, front="place", place="where"), "Where does your aunt work?", "Wo arbeitet deine Tante?"),
    (c("the train", "arrive", ask=True, front="time", time="when"), "When does the train arrive?", "Wann kommt der Zug an?"),
    (c("the child", "cry", ask=True, front="opener", opener="why"), "Why does the child cry?", "Warum weint das Kind?"),
    (c(THEY, "go out", ask=True, front="frequency", frequency="how often"),
     "How often do they go out?", "Wie oft gehen sie aus?"),
]  # fmt: skip

RELATIVE = {noun: NP(noun, "relative") for noun in ("man", "woman", "book", "key", "dog", "friend", "bus")}
RELATIVE["children"] = NP("child", "relative", True)
FOR_WHICH, OF_WHOM = PP("for/auf", RELATIVE["bus"]), PP("of/von", RELATIVE["friend"])
READS, SLEEPS = c("the man", "read", object="a book"), c("the child", "sleep")
COMPLEX = [
    # subordinate clauses: the verb at the end
    (Sentence(READS, "because", c(IT, "rain")),
     "The man reads a book because it rains.", "Der Mann liest ein Buch, weil es regnet."),
    (Sentence(READS, "because", c(IT, "rain"), True),
     "Because it rains, the man reads a book.", "Weil es regnet, liest der Mann ein Buch."),
    (Sentence(c(SHE, "say"), "that", c("the man", "call", object="his brother")),
     "She says that the man calls his brother.", "Sie sagt, dass der Mann seinen Bruder anruft."),
    (Sentence(c(ME, "know"), "that", c(HE, "call", "perfect", object=SHE)),
     "I know that he has called her.", "Ich weiß, dass er sie angerufen hat."),
    (Sentence(c("the boss", "hope"), "that", c(YOU, "come back", "can")),
     "The boss hopes that you can come back.", "Der Chef hofft, dass du zurückkommen kannst."),
    (Sentence(c(WE, "go", complement="to/zu the beach"), "if", c("the sun", "shine"), True),
     "If the sun shines, we go to the beach.", "Wenn die Sonne scheint, gehen wir zum Strand."),
    (Sentence(c(HE, "work"), "although", c(HE, "be", complement=Quality("tired", "very"))),
     "He works although he is very tired.", "Er arbeitet, obwohl er sehr müde ist."),
    (Sentence(SLEEPS, "while", c("the mother", "read", no=True, object="the letter", time="today")),
     "The child sleeps while the mother does not read the letter today.",
     "Das Kind schläft, während die Mutter den Brief heute nicht liest."),
    (Sentence(c("the teacher", "ask", "perfect"), "whether", c(WE, "understand", object="the rule")),
     "The teacher has asked whether we understand the rule.", "Der Lehrer hat gefragt, ob wir die Regel verstehen."),
    (Sentence(READS, "and", c("the woman", "sleep")),
     "The man reads a book, and the woman sleeps.", "Der Mann liest ein Buch und die Frau schläft."),
    (Sentence(READS, "but", c("the woman", "sleep", no=True)),
     "The man reads a book, but the woman does not sleep.", "Der Mann liest ein Buch, aber die Frau schläft nicht."),
    # relative clauses: gender and number of the head, the case of their own
    (Sentence(c(np("the man", c(RELATIVE["man"], "read", object="a book", front="subject")), "laugh")),
     "The man who reads a book laughs.", "Der Mann, der ein Buch liest, lacht."),
    (Sentence(c(np("the book", c("the man", "read", front="object", object=RELATIVE["book"])), "be", complement=Quality("old"))),
     "The book that the man reads is old.", "Das Buch, das der Mann liest, ist alt."),
    (Sentence(c(np("the key", c(SHE, "look for", front="object", object=RELATIVE["key"])), "lie", place="on/auf the table")),
     "The key that she looks for lies on the table.", "Der Schlüssel, den sie sucht, liegt auf dem Tisch."),
    (Sentence(c(np("the woman", c(ME, "help", front="object", object=RELATIVE["woman"])), "thank", object=ME)),
     "The woman whom I help thanks me.", "Die Frau, der ich helfe, dankt mir."),
    (Sentence(c(np("the child +", c(WE, "listen to", front="object", object=RELATIVE["children"])), "sing")),
     "The children whom we listen to sing.", "Die Kinder, denen wir zuhören, singen."),
    (Sentence(c(ME, "feed", object=np("the dog", c(RELATIVE["dog"], "bark", front="subject")))),
     "I feed the dog that barks.", "Ich füttere den Hund, der bellt."),
    (Sentence(c(ME, "feed", object=np("the dog", c(RELATIVE["dog"], "bark", front="subject"))), "because", c(IT, "snow")),
     "I feed the dog that barks because it snows.", "Ich füttere den Hund, der bellt, weil es schneit."),
    (Sentence(c(np("the bus", c("the tourist", "wait", front="complement", complement=FOR_WHICH)), "arrive")),
     "The bus for which the tourist waits arrives.", "Der Bus, auf den der Tourist wartet, kommt an."),
    (Sentence(c(np("a friend", c(PETER, "dream", front="complement", complement=OF_WHOM)), "visit", object=ANNA)),
     "A friend of whom Peter dreams visits Anna.", "Ein Freund, von dem Peter träumt, besucht Anna."),
]  # fmt: skip


@pytest.mark.parametrize(
    ("tree", "english", "expected"),
    [(Sentence(clause), *texts) for clause, *texts in PAIRS] + [(tree, *texts) for tree, *texts in COMPLEX],
)
def test_pairs_are_as_typed_by_hand(tree: Sentence, english: str, expected: str) -> None:
    pair = read_out(tree)
    assert (pair.source, pair.target) == (english, expected)


def test_there_are_enough_of_them() -> None:
    assert len(PAIRS) + len(COMPLEX) >= 80
