"""One file per verb of the command `headway`: its arguments beside its work. Heavy rooms are imported inside `run`."""

ORDER = (
    "train", "translate", "generate", "classify", "evaluate", "inspect", "align", "compare", "data", "list", "find", "show", "check", "lab",
    "completion", "tag", "answer",
)  # fmt: skip
