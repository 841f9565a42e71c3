"""Random sentences: which kinds are drawn, and how often.

The classes of the lexicon keep sentences plausible (people read texts, dogs bark), and a few rules keep them good German:
negation avoids quantifiers, a relative clause on an object closes its clause, nobody sees himself.
"""

from dataclasses import replace

from headway.data.grammar.clause_sampler import ACTIONS, NEEDED_PLACE, QUANTIFIERS, ClauseSampler
from headway.data.grammar.lexicon import NOUNS, PHRASE_KINDS, PRONOUNS, VERBS
from headway.data.grammar.noun_sampler import NAMES, PEOPLE, Dice
from headway.data.grammar.tree import NP, PP, Clause, Phrase, Sentence

GOVERNING = {word: tuple(v for v in VERBS if {word, word + "!"} & VERBS[v].adjuncts) for word in ("that", "whether")}
AS_SUBJECT = {noun: tuple(v for v in ACTIONS if noun in VERBS[v].subjects) for noun in NOUNS}
AS_OBJECT = {noun: tuple(v for v in ACTIONS if noun in VERBS[v].objects) for noun in NOUNS}
HEADS = tuple(noun for noun, entry in NOUNS.items() if not entry.classes & {"name", "unique", "mass"} and AS_OBJECT[noun])


class Sampler(ClauseSampler):
    """Draws sentences, one after the other, from one seed."""

    def __init__(self, seed: int) -> None:
        super().__init__(Dice(seed))

    def sentence(self) -> Sentence:
        roll = self.dice.random()
        if roll < 0.40:
            return Sentence(self.opened(self.statement()))
        if roll < 0.52:
            return Sentence(self.asked(self.statement(negatable=False)))
        if roll < 0.63:
            return Sentence(self.asked_for())
        if roll < 0.76:
            return Sentence(self.with_relative())
        if roll < 0.84:
            return self.with_content_clause()
        if roll < 0.95:
            return self.with_circumstance()
        return Sentence(self.statement(adjuncts=1), self.dice.pick(("and", "but")), self.statement(adjuncts=1))

    def with_circumstance(self) -> Sentence:
        """A subordinate clause; a condition and what happens meanwhile are told in the present."""
        conjunction = self.dice.pick(("because", "if", "although", "while"))
        now = "" if conjunction in {"because", "although"} else "present"
        later = "will" if conjunction == "if" and self.dice.chance(0.4) else now
        return Sentence(self.statement(adjuncts=1, tense=later), conjunction, self.circumstance(now), self.dice.chance(0.4))

    def opened(self, clause: Clause) -> Clause:
        """A statement, often with something other than the subject in front."""
        front = next((role for role in ("time", "place") if role in clause.roles), "")
        if not front and "frequency" not in clause.roles and self.dice.chance(0.15):
            opener = self.dice.pick(PHRASE_KINDS["opener"])
            return replace(clause, roles=clause.roles | {"opener": opener}, front="opener")
        # a negated place stays where "nicht" can stand before it, and one that the verb needs stays with the verb
        fixed = front == "place" and (clause.negated or NEEDED_PLACE[clause.verb])
        if not front or fixed or self.dice.chance(0.5):
            return clause
        return replace(clause, front=front)

    def asked(self, clause: Clause) -> Clause:
        """The clause as a question; nobody asks whether "no child" does something."""
        subject = replace(clause.subject, determiner="the") if clause.subject.determiner == "no" else clause.subject
        return replace(clause, subject=subject, question=True)

    def asked_for(self) -> Clause:
        """A question with a question word: who, what, whom, which, where, when, how often, why."""
        verb = VERBS[self.dice.pick(ACTIONS)]
        roll = self.dice.random()
        if roll < 0.25 and verb.subjects[0] in PEOPLE:
            return replace(self.action(verb, NP("who", ""), False, 1), front="subject", question=True)
        clause = self.asked(self.action(verb, self.subject(verb.subjects, 0.4), False, 1))
        thing = clause.roles.get("object")
        if roll < 0.65 and isinstance(thing, NP):
            return replace(clause, roles=clause.roles | {"object": self.asked_thing(thing)}, front="object")
        for role, word in (("place", "where"), ("time", "when"), ("frequency", "how often")):
            if role in clause.roles:
                return replace(clause, roles=clause.roles | {role: word}, front=role)
        return replace(clause, roles=clause.roles | {"opener": "why"}, front="opener")

    def asked_thing(self, thing: NP) -> NP:
        """The question that the object would answer: "whom" for a person, "what" for a thing, or "which book"."""
        if thing.noun in PRONOUNS or thing.noun in NAMES:
            return NP("who", "")
        if not NOUNS[thing.noun].classes & {"unique", "mass"} and self.dice.chance(0.4):
            return NP(thing.noun, "which", thing.plural, thing.adjectives)
        return NP("who" if thing.noun in PEOPLE else "what", "")

    def with_relative(self) -> Clause:
        """A sentence about something that a relative clause tells more of."""
        head = self.dice.pick(HEADS)
        np = self.described(head, adjective=0.15)
        if np.determiner not in {"the", "a"}:  # "my car that ..." would have to be one of several
            np = replace(np, determiner="the")
        relative = self.relative(np)
        np = replace(np, relative=relative)
        doing = [v for v in AS_SUBJECT[head] if v != relative.verb]
        simple = [v for v in AS_OBJECT[head]
                  if v != relative.verb and VERBS[v].object_kind in {"acc", "dat"} and not VERBS[v].prefix]  # fmt: skip
        if simple and self.dice.chance(0.45):  # as an object only where nothing follows it, in either language
            verb = VERBS[self.dice.pick(simple)]
            return Clause(self.subject([noun for noun in verb.subjects if noun != head], 0.5), verb.lemma, {"object": np})
        if doing and self.dice.chance(0.5):
            return self.action(VERBS[self.dice.pick(doing)], np, adjuncts=1)
        return self.description(subject=np)

    def relative(self, head: NP) -> Clause:
        """A clause in which the head is the subject, the object, or stands behind a preposition."""
        gap = NP(head.noun, "relative", head.plural)
        if AS_SUBJECT[head.noun] and self.dice.chance(0.5):
            return replace(self.action(VERBS[self.dice.pick(AS_SUBJECT[head.noun])], gap, adjuncts=1), front="subject")
        verb = VERBS[self.dice.pick(AS_OBJECT[head.noun])]
        role = "complement" if "/" in verb.object_kind else "object"
        given: dict[str, Phrase] = {role: PP(verb.object_kind, gap) if role == "complement" else gap}
        subject = self.subject([noun for noun in verb.subjects if noun != head.noun], 0.5)
        return replace(self.action(verb, subject, adjuncts=1, given=given), front=role)

    def with_content_clause(self) -> Sentence:
        """Somebody says, knows, asks ... something."""
        conjunction = "whether" if self.dice.chance(0.15) else "that"
        verb = VERBS[self.dice.pick(GOVERNING[conjunction])]
        subject = self.subject(PEOPLE, 0.5)
        tense = "present" if "state" in verb.adjuncts or self.dice.chance(0.7) else "perfect"
        negated = verb.lemma not in {"ask", "hope"} and subject.determiner not in QUANTIFIERS and self.dice.chance(0.15)
        return Sentence(Clause(subject, verb.lemma, {}, tense, negated), conjunction, self.statement(adjuncts=1))
