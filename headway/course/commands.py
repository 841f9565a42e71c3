"""What a student can type to see a concept at work."""

from functools import cache

from headway.core import registry
from headway.core.entries import Entry, slug
from headway.course.syllabus import Concept, concepts

BY_ROOM = {
    "datasets": "headway data get {name}",
    "tables": "headway reproduce {name}",
    "tasks": "headway train {task} --help",
}


def commands(concept: Concept) -> list[str]:
    """`headway show` and, of what can be trained, `headway train`; of a thing that is no entry `headway find`."""
    entry = concept.entry
    if entry is None:
        return [f"headway find {concept.find}"] if registry.find(concept.find) else []
    if entry.room.startswith("lab/"):
        return [f"headway lab run {_typed(entry)}"]
    if entry.room in BY_ROOM:
        return [BY_ROOM[entry.room].format(name=_typed(entry), task=entry.name)]
    task = trained_in(entry)
    return [f"headway show {shown_as(entry)}"] + ([f"headway train {task} --model {entry.name} --help"] if task else [])


def shown_as(entry: Entry) -> str:
    """The first of its names that means this entry and no other: `step` is an activation, "step schedule" a schedule."""
    name = next((name for name in (entry.name, *entry.aliases) if _named()[slug(name)] == entry), entry.name)
    return f'"{name}"' if " " in name else name


@cache
def _named() -> dict[str, Entry]:
    """What `headway show` finds by each name: the first entry that has it."""
    every = [entry for room in registry.ROOMS for entry in registry.entries(room).values()]
    return {slug(name): entry for entry in reversed(every) for name in (entry.name, *entry.aliases)}


def trained_in(entry: Entry) -> str:
    """The task that takes the model, or the mixer in a language model; none for other things.

    Of several tasks the one whose own model it is, else the first of the syllabus.
    """
    causal_mixer = "needs_positions" in entry.facts and entry.facts["sees"] != "all"
    for task in sorted(_tasks(), key=lambda task: task.facts.get("model") != entry.name):
        reads, gives = str(task.facts.get("reads")), str(task.facts.get("gives"))
        if entry.room == "models" and registry.fits(entry, reads, gives):
            return task.name
        if causal_mixer and gives == "next token":
            return task.name
    return ""


@cache
def _tasks() -> list[Entry]:
    """The tasks in the order of the syllabus."""
    found = [concept.entry for concept in concepts().values() if not concept.missing]
    return [entry for entry in found if entry is not None and entry.room == "tasks"]


def _typed(entry: Entry) -> str:
    return entry.name.replace("_", "-")
