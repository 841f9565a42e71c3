"""Random clauses: a verb, a subject that can do it, its objects, and circumstances that suit both."""

from dataclasses import replace

from headway.data.grammar.lexicon import NOUNS, PHRASE_KINDS, PRONOUNS, VERBS, Verb
from headway.data.grammar.noun_sampler import FITTING, NAMES, PEOPLE, PLACES, NounSampler, owner
from headway.data.grammar.tree import NP, PP, Clause, Phrase, Quality

MODALS = ("can", "must", "want", "should", "may", "will")
NEGATABLE = ("present", "past", "perfect", "can", "want", "should", "will")  # "must not" is "darf nicht"; "may not" is ambiguous
QUANTIFIERS = {"no", "every", "many", "some", "all"}  # their scope against "nicht" would leave the translation open
ACTIONS = tuple(v for v in VERBS if v not in {"be", "rain", "snow"} and "that!" not in VERBS[v].adjuncts)
DESCRIBED = tuple(noun for noun in NOUNS if FITTING[noun])
MALE = ("teacher", "doctor", "gardener", "painter", "judge", "waiter", "engineer", "lawyer", "driver", "musician")
FEMALE = ("singer", "dancer", "secretary", "nurse")  # German professions have a gender, and it is the person's
PROFESSIONAL = ("good", "young", "old", "honest", "polite", "friendly", "smart", "poor", "rich", "nice")
TEMPORARY = frozenset(  # qualities that can be said of "today"
    ("tired", "happy", "sad", "sick", "hungry", "thirsty", "angry", "quiet", "dirty", "empty", "cold", "warm", "good")
)
PLACE_KEYS = {
    verb: tuple(word.rstrip("!") for word in sorted(entry.adjuncts)
                if word.rstrip("!") in NOUNS or word.rstrip("!") in {"place", "home", "spot", "stop", "waters"})
    for verb, entry in VERBS.items()
}  # fmt: skip
NEEDED_PLACE = {verb: next((key for key in keys if key + "!" in VERBS[verb].adjuncts), "") for verb, keys in PLACE_KEYS.items()}
MANNER = {verb: next((kind for kind in ("pace", "voice") if kind in entry.adjuncts), "") for verb, entry in VERBS.items()}


class ClauseSampler(NounSampler):
    """Draws clauses. `adjuncts` bounds how many circumstances are added to what the verb needs."""

    def statement(self, negatable: bool = True, adjuncts: int = 2, tense: str = "") -> Clause:
        if self.dice.chance(0.15):
            return self.description(negatable, tense)
        verb = VERBS[self.dice.pick(ACTIONS)]
        return self.action(verb, self.subject(verb.subjects), negatable, adjuncts, tense=tense)

    def action(
        self,
        verb: Verb,
        subject: NP,
        negatable: bool = True,
        adjuncts: int = 2,
        given: dict[str, Phrase] | None = None,
        tense: str = "",
    ) -> Clause:
        """A clause with this verb, this subject, and the roles that are already given."""
        tense = tense or self.tense(verb, subject)
        negated = negatable and tense in NEGATABLE and subject.determiner not in QUANTIFIERS and self.dice.chance(0.2)
        roles = dict(given or {})
        if verb.object_kind == "dat+acc":
            roles["recipient"] = self.person(subject)
        if not given and verb.object_kind != "-" and not (verb.object_optional and self.dice.chance(0.5)):
            self.add_object(roles, verb, subject, negated)
        if NEEDED_PLACE[verb.lemma]:
            roles["place"] = self.where(NEEDED_PLACE[verb.lemma])
        if "to!" in verb.adjuncts:
            roles["complement"] = self.goal(owner(subject))
        for _ in range(adjuncts):
            if self.dice.chance(0.55):
                self.add_adjunct(roles, verb, subject, tense, negated)
        return Clause(subject, verb.lemma, roles, tense, negated)

    def tense(self, verb: Verb, subject: NP) -> str:
        roll = self.dice.random()
        if "state" in verb.adjuncts:
            return "past" if verb.lemma == "have" and roll < 0.3 else "present"
        if roll < 0.75:
            return "present" if roll < 0.5 else "perfect"
        willing = subject.noun in PRONOUNS or NOUNS[subject.noun].classes & {"person", "name"}
        return self.dice.pick(MODALS) if willing else "will"

    def add_object(self, roles: dict[str, Phrase], verb: Verb, subject: NP, negated: bool) -> None:
        noun = self.dice.pick(verb.objects)
        if noun == subject.noun:
            noun = verb.objects[verb.objects.index(noun) - 1]
        if "person" in NOUNS[noun].classes and verb.lemma != "have":
            thing = self.person(subject, noun)
        else:
            thing = self.described(noun, owner(subject), negated)
        if "/" not in verb.object_kind:
            roles["object"] = thing
            return
        if negated and thing.noun in NOUNS and thing.noun not in NAMES:
            thing = NP(thing.noun, "the", thing.plural, thing.adjectives)  # "nicht an eine Idee" would want "an keine Idee"
        roles["complement"] = PP(verb.object_kind, thing)

    def add_adjunct(self, roles: dict[str, Phrase], verb: Verb, subject: NP, tense: str, negated: bool) -> None:
        """One more circumstance, if the one that is drawn is still free and suits the verb."""
        roll = self.dice.random()
        kind = "modal" if tense in MODALS else tense
        # who likes something does so at any time
        timed = "time" in roles or "frequency" in roles or ("state" in verb.adjuncts and tense == "present")
        if roll < 0.35:
            if not timed:
                roles["time"] = self.when(kind, negated)
        elif roll < 0.5:
            if not timed and not negated and subject.determiner not in QUANTIFIERS:
                # "must never" would be "darf nie"
                roles["frequency"] = "always" if tense in {"must", "may"} else self.dice.pick(PHRASE_KINDS[kind + " frequency"])
        elif roll < 0.75:
            if PLACE_KEYS[verb.lemma] and "place" not in roles and "complement" not in roles:
                roles["place"] = self.where(self.dice.pick(PLACE_KEYS[verb.lemma]))
            elif "to" in verb.adjuncts and "place" not in roles:
                roles["complement"] = self.goal(owner(subject))
        elif roll < 0.88:
            if "with" in verb.adjuncts and "companion" not in roles:
                preposition = "without/ohne" if not negated and self.dice.chance(0.2) else "with/mit"
                roles["companion"] = PP(preposition, self.person(subject))
            elif "for" in verb.adjuncts:
                roles["beneficiary"] = PP("for/für", self.person(subject))
        elif MANNER[verb.lemma] and not negated:
            roles["manner"] = self.dice.pick(PHRASE_KINDS[MANNER[verb.lemma]])

    def when(self, kind: str, negated: bool) -> Phrase:
        if kind != "past" and self.dice.chance(0.12):
            return PP(self.dice.pick(("after/nach", "before/vor")), NP(self.dice.pick(PLACES["event"]), "the"))
        cycle = kind == "present" and not negated and self.dice.chance(0.3)
        return self.dice.pick(PHRASE_KINDS["present cycle" if cycle else kind + " time"])

    def where(self, key: str) -> Phrase:
        return self.dice.pick(PHRASE_KINDS["here"]) if key in {"place", "home"} and self.dice.chance(0.15) else self.place(key)

    def description(self, negatable: bool = True, tense: str = "", subject: NP | None = None) -> Clause:
        """A subject and what it is: "is very old", "was a good teacher", "is under the table"."""
        subject = subject or self.subject(self.dice.pick((PEOPLE, DESCRIBED)))
        if subject.determiner == "a" or subject.numeral:  # "a chair is small" would be a claim about chairs
            subject = replace(subject, determiner="the")
        noun = subject.noun if FITTING.get(subject.noun) else "man"  # what fits a man fits "he", "you" and Peter
        negated = negatable and subject.determiner not in QUANTIFIERS and self.dice.chance(0.2)
        tense = tense or ("past" if self.dice.chance(0.35) else "present")
        complement = self.complement(noun, subject, negated)
        roles: dict[str, Phrase] = {"complement": complement}
        if isinstance(complement, NP) or (isinstance(complement, Quality) and complement.adjective not in TEMPORARY):
            return Clause(subject, "be", roles, tense, negated)
        if self.dice.chance(0.3):
            times = {"past": PHRASE_KINDS["past time"], "will": PHRASE_KINDS["modal time"]}
            roles["time"] = self.dice.pick(times.get(tense, ("today", "now", "this week")))
        elif not negated and subject.determiner not in QUANTIFIERS and self.dice.chance(0.15):
            roles["frequency"] = self.dice.pick(PHRASE_KINDS["past frequency"])
        return Clause(subject, "be", roles, tense, negated)

    def complement(self, noun: str, subject: NP, negated: bool) -> Phrase:
        roll, classes = self.dice.random(), NOUNS[noun].classes
        single = not subject.plural and subject.noun not in {"we", "they"}
        if roll < 0.2 and "person" in classes and single and subject.determiner not in QUANTIFIERS:
            profession = self.dice.pick(FEMALE if owner(subject) == "her" else MALE)
            if subject.noun != profession:
                return NP(profession, "a", False, (self.dice.pick(PROFESSIONAL),))
        if roll < 0.35 and classes & {"person", "pet", "thing", "text"}:
            return self.place("place" if "person" in classes else "spot")
        degree = self.dice.pick(PHRASE_KINDS["degree"]) if not negated and self.dice.chance(0.35) else ""
        fitting = [adjective for adjective in FITTING[noun] if adjective not in subject.adjectives]
        return Quality(self.dice.pick(fitting or FITTING[noun]), degree)

    def circumstance(self, tense: str = "") -> Clause:
        """What can follow "because" or "if": the weather, how somebody is, or a short clause."""
        roll = self.dice.random()
        if roll < 0.12:
            return Clause(NP("it", ""), self.dice.pick(("rain", "snow")))
        if roll < 0.4:
            return self.description(tense=tense, subject=self.subject(PEOPLE, 0.5))
        return self.statement(adjuncts=1, tense=tense)
