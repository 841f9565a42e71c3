"""The table of formats: how pairs, tables and documents are read from a file of each suffix (`.gz` of each as well).

A new format of pairs is one function `(file, languages) -> rows` and one entry here.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from headway.data.columns import Languages, Row, csv_pairs, jsonl_pairs, parquet_pairs, tsv_pairs
from headway.data.documents import jsonl_documents, plain_documents
from headway.data.input_file import InputFile
from headway.data.rows import Cells, Problem, csv_rows, jsonl_cells, parquet_rows, tsv_rows
from headway.data.tmx import tmx_pairs


@dataclass(frozen=True)
class Reader:
    """Pairs of sentences; the rows of a table, its header first (None: it is no table); the documents of a text."""

    pairs: Callable[[InputFile, Languages], Iterable[Row | Problem]]
    rows: Callable[[InputFile], list[Cells | Problem]] | None
    documents: Callable[[InputFile], Iterator[Iterator[str]]] = plain_documents


READERS = {
    ".tsv": Reader(tsv_pairs, tsv_rows),
    ".csv": Reader(csv_pairs, csv_rows),
    ".jsonl": Reader(jsonl_pairs, jsonl_cells, jsonl_documents),
    ".ndjson": Reader(jsonl_pairs, jsonl_cells, jsonl_documents),
    ".parquet": Reader(parquet_pairs, parquet_rows),
    ".tmx": Reader(tmx_pairs, None),
}
TABLES = tuple(suffix for suffix, reader in READERS.items() if reader.rows)


def read_documents(file: InputFile) -> Iterator[Iterator[str]]:
    """The documents of a file; one whose suffix is not in the table is plain text."""
    reader = READERS.get(file.suffix)
    return reader.documents(file) if reader else plain_documents(file)
