"""The table of formats: a suffix, what it is called, and how pairs and documents are read from it (`.gz` of each as well).

A new format of pairs is one function `(file, languages) -> rows` and one entry here.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from headway.data.columns import Languages, Row, csv_pairs, jsonl_pairs, tsv_pairs
from headway.data.documents import jsonl_documents, plain_documents
from headway.data.input_file import InputFile
from headway.data.rows import Problem
from headway.data.tmx import tmx_pairs

PairReader = Callable[[InputFile, Languages], Iterable[Row | Problem]]
DocumentReader = Callable[[InputFile], Iterator[Iterator[str]]]


@dataclass(frozen=True)
class Reader:
    pairs: PairReader
    documents: DocumentReader = plain_documents


READERS = {
    ".tsv": Reader(tsv_pairs),
    ".csv": Reader(csv_pairs),
    ".jsonl": Reader(jsonl_pairs, jsonl_documents),
    ".ndjson": Reader(jsonl_pairs, jsonl_documents),
    ".tmx": Reader(tmx_pairs),
}


def read_documents(file: InputFile) -> Iterator[Iterator[str]]:
    """The documents of a file; one whose suffix is not in the table is plain text."""
    reader = READERS.get(file.suffix)
    return reader.documents(file) if reader else plain_documents(file)
