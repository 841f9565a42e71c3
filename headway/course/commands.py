"""What a student can type to see a concept at work."""

from headway.core import registry
from headway.core.entries import Entry
from headway.course.syllabus import Concept

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
    return [f"headway show {entry.name}"] + ([f"headway train {task} --model {entry.name} --help"] if task else [])


def trained_in(entry: Entry) -> str:
    """The first task that takes the model, or the mixer in its own model; none for other things."""
    for task in registry.entries("tasks").values():
        reads, gives = task.facts.get("reads"), task.facts.get("gives")
        if entry.room == "models" and registry.fits(entry, str(reads), str(gives)):
            return task.name
        if entry.name in registry.mixers() and gives == "next token" and entry.facts.get("sees") != "all":
            return task.name
    return ""


def _typed(entry: Entry) -> str:
    return entry.name.replace("_", "-")
