from headway.core.config import Choice
from headway.core.recipe import Data, Recipe, Tokens, Training


def demo() -> Recipe:
    """A Transformer on the embedded grammar of English and German: about two minutes on a laptop, nothing to download."""
    return Recipe(
        data=Data(grammar=40_000),
        tokens=Tokens(kind="bpe", size=3000),
        model=Choice("transformer", {"width": 128, "depth": 2, "heads": 4, "inner": 256, "dropout": 0.0}),
        training=Training(minutes=2.4, batch=1280, rate=4e-3),
    )
