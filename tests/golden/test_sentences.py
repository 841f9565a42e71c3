"""Lines are split where a careful reader would split them, and no character is lost."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.data.sentences import split_line, split_sentences

# `|` stands where the line is to be split (the white space there belongs to the line).
ENGLISH = [
    "A man.| A dog sleeps.| I trust the child.",
    "One sentence only.",
    "Dr. Smith met Mrs. Jones.| They talked.",
    "Is it late?| Yes!| Let's go.",
    "It costs 3.14 dollars.| That is cheap.",
    "Some animals, e.g. Dogs and cats, sleep.| Others do not.",
    "See Fig. 3 and No. 5.| Then go on.",
    "J. R. R. Tolkien wrote it.| Everyone read it.",
    "He lives in the U.S. Army base.",
    "He lives in the U.S. The weather is good.".replace("U.S. The", "U.S.| The"),
    "We met at 5 p.m. on Monday.",
    "We met at 5 p.m.| The door was open.",
    "Apple Inc. Chief Tim Cook spoke.",
    "She works for Apple Inc.| She likes it.",
    '"Stop!" he cried.| Nobody stopped.',
    'He said "Go."| She went.',
    'He left.| "Go on," she said.',
    "Wait...| What was that?",
    "Well ... maybe not.",
    "(This is in brackets.)| This is not.",
    "Visit www.example.com. It is good.".replace("com. It", "com.| It"),
    "The file is main.py.| Open it.",
    "He was born in 1990.| His sister was born later.",
    "He scored 42.| Nobody scored more.",
    "1. Introduction",
    "World War II. was long.",
    "After World War II.| The city was rebuilt.",
    "What?!| Are you sure?",
    "Yahoo! is a company.| So is Google.",
    "Martin Luther King Jr. Day is in January.",
    "They sold apples, pears, etc.| Nobody bought them.",
    "On Jan. 5 it snowed.| It melted in Feb.",
    "He said no.| She said yes.",
    "St. Petersburg is large.| Moscow is larger.",
    "Prices rose.| 300 people protested.",
]
GERMAN = [
    "Ein Mann.| Ein Hund schläft.| Ich vertraue dem Kind.",
    "Am 3. Oktober ist Feiertag.| Alle haben frei.",
    "Im 19. Jahrhundert gab es z. B. Dampfmaschinen.| Heute nicht mehr.",
    "Das ist, z.B. Montags, möglich.| Sonst nicht.",
    "Dr. Müller und Prof. Schmidt kamen.| Sie blieben lange.",
    "Vgl. Seite 3.| Dort steht mehr.",
    "Er kam bzw. Sie ging.",
    "Das Haus Nr. 5 ist rot.| Es ist alt.",
    "Er rief: „Halt!“| Niemand hielt an.",
    "„Komm her!“, sagte sie.| Er kam.",
    "Er hat Äpfel, Birnen usw.| Aber keine Kirschen.",
    "Das kostet 3.000 Euro, d. h. Viel Geld.",
    "Ludwig XIV. war König.| Er lebte lange.",
    "Wirklich?| Ja, wirklich.",
    "Der 2. Weltkrieg endete 1945.| Danach begann etwas Neues.",
    "Das war ca. 20 Jahre her.| Alle waren jung.",
    "Sie wohnt im 3. Stock.| Er wohnt im 4. Stock.",
    "Die Temperatur stieg um 1,5 Grad.| Das ist viel.",
    "Bitte i. d. R. Montags anrufen.",
    "Er sagte: „Ich gehe.“| Dann ging er.",
    "Dieser Art.| Das war alles.",
]
FRENCH = [
    "M. Dupont est parti.| Mme. Dupont est restée.",
    "« Viens\u00a0! »| Il partit.",
    "« Viens\u00a0! » dit-il.| Elle vint.",
    "Il a 3,5 euros.| C'est peu.",
    "Où vas-tu\u202f?| À la maison.",
    "Il y a des pommes, p. ex. des rouges.| Et des vertes.",
]
WIDE = [
    "今日は雨です。|明日は晴れます。",
    "你好！|你是谁？|我是王。",
    "彼は「行く。」と言った。|そして行った。",
    "はい。| いいえ。",
]


@pytest.mark.parametrize("marked", [*ENGLISH, *GERMAN, *FRENCH, *WIDE])
def test_sentences(marked: str) -> None:
    found = split_sentences(marked.replace("|", ""))
    assert found == [part.strip() for part in marked.split("|")]


def test_white_space_is_kept_apart() -> None:
    found = split_line("  One.  Two.\t\u00a0Three. \n")
    assert found.sentences == ("One.", "Two.", "Three.")
    assert found.spaces == ("  ", "  ", "\t\u00a0", " \n")
    assert found.join(["Eins.", "Zwei.", "Drei."]) == "  Eins.  Zwei.\t\u00a0Drei. \n"
    assert split_line(" ").sentences == () and split_line(" ").join([]) == " "
    assert split_sentences("") == []


FRAGMENTS = [
    "Dr",
    "A",
    "the",
    "z",
    "B",
    "3",
    "Oktober",
    "end",
    ".",
    "!",
    "?",
    "…",
    " ",
    "  ",
    "\t",
    "“",
    '"',
    "»",
    "。",
    "」",
    "(",
    ")",
]


@given(st.lists(st.sampled_from(FRAGMENTS)).map("".join) | st.text())
def test_nothing_is_lost(line: str) -> None:
    found = split_line(line)
    assert found.join(found.sentences) == line
    assert len(found.spaces) == len(found.sentences) + 1
    assert all(sentence and sentence == sentence.strip() for sentence in found.sentences)
    assert all(not space.strip() for space in found.spaces)
