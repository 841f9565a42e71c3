from headway.core.config import Value
from headway.reproduce.table import Bench, Row, Table

MODELS = {"plain": "rnn_seq2seq", "attention": "attention_seq2seq", "transformer": "transformer"}


class TranslationRanking(Table):
    """Translation: a plain encoder-decoder stays behind one with attention, and that behind the Transformer, at the same budget.

    Lectures A and C; on Multi30k public tutorials report 13.8, 28.3 and 36.5 BLEU for an LSTM, a GRU with additive attention
    and a Transformer. Here on the embedded grammar of English and German, unseen combinations, two minutes for each model.
    """

    aliases = ("plain, attention, Transformer", "translation table")
    minutes = 8.0

    def rows(self, bench: Bench) -> list[Row]:
        data: dict[str, Value] = {"grammar": 40_000, "tokens": "bpe", "vocabulary": 3000}

        def bleu(seed: int, name: str) -> float:
            run = bench.trained(name, seed, "translation", data, MODELS[name], None, {"minutes": 2.0})
            scores = run.scores or run.judge().scores
            return next(s.value for s in scores if s.name == "BLEU" and s.part == "combinations")

        def gain(seed: int, better: str, worse: str) -> float:
            return bleu(seed, better) - bleu(seed, worse)

        return [
            Row("attention over plain, BLEU", 0.0, lambda seed: gain(seed, "attention", "plain"), "at least", digits=1),
            Row(
                "Transformer over attention, BLEU",
                0.0,
                lambda seed: gain(seed, "transformer", "attention"),
                "at least",
                digits=1,
            ),
        ]
