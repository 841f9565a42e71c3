from headway.core.config import Choice
from headway.tasks.recipe import Recipe, Training
from headway.tasks.translation import Data


def demo() -> Recipe[Data]:
    """A Transformer on the embedded grammar of English and German: about two minutes on a laptop, nothing to download.

    Also called demonstration.
    """
    task, model = "translation", "transformer"
    return Recipe(
        task,
        Data(grammar=40_000, tokens="bpe", vocabulary=3000, smoothing=0.1, beam=5),
        Choice(model, {"width": 128, "depth": 2, "heads": 4, "inner": 256, "dropout": 0.0}),
        Training(minutes=2.4, batch=1280, rate=4e-3),
    )
