from headway.core.config import Choice
from headway.core.recipe import Data, Recipe, Tokens, Training


def demo() -> Recipe:
    """A Transformer on the embedded grammar of English and German: about two minutes on a laptop, nothing to download."""
    return Recipe(
        data=Data(grammar=20_000),
        tokens=Tokens(kind="bpe", size=2000),
        model=Choice("transformer", {"width": 128, "depth": 2, "heads": 4, "inner": 512, "dropout": 0.1}),
        training=Training(minutes=2.0, batch=2048, rate=3e-3),
    )
