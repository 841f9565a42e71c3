"""One file per verb of the command `headway`: its arguments beside its work. Heavy rooms are imported inside `run`."""

ORDER = (
    "train", "translate", "generate", "classify", "tag", "answer", "detect", "predict", "evaluate", "inspect", "align",
    "compare", "export", "plan", "tune", "reproduce", "data", "list", "find", "show", "check", "lab", "course", "completion",
)  # fmt: skip
