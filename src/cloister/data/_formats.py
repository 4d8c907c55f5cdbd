# SPDX-License-Identifier: Apache-2.0
"""Which files can be opened, by the end of their names, and how their text is written. Imported by the readers of files."""

import warnings
from dataclasses import dataclass, fields, replace

from cloister import validate
from cloister.exceptions import DataError

UTF_8 = "utf-8"
POINT, COMMA, TAB = ".", ",", "\t"
RECORDS, LINES = "records", "lines"  # what a row of a CSV file is
RECORD_BYTES = 1 << 24  # of text: a longer record or line is a row of missing values
KINDS = {  # by the end of a name; those of text may be compressed
    ".parquet": "parquet",
    ".pq": "parquet",
    ".feather": "arrow",
    ".arrow": "arrow",
    ".ipc": "arrow",
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".jsonl": "json",
    ".ndjson": "json",
}
TEXT = ("csv", "tsv", "json")
COMPRESSED = {".gz": "gzip", ".zst": "zstd", ".bz2": "bz2"}
SHEETS = (".xlsx", ".xls", ".xlsm", ".xlsb", ".ods")
READABLE = "a .parquet, .csv, .tsv, .feather, .arrow or .jsonl file, text also as .gz, .zst or .bz2"
WORDS = {"parquet": "Parquet", "arrow": "Arrow", "csv": "CSV", "tsv": "TSV", "json": "JSON lines"}


@dataclass(frozen=True)
class Format:
    """What is in a file."""

    kind: str  # "parquet", "arrow", "csv", "tsv" or "json"
    compression: str | None = None  # of a file of text

    @property
    def is_text(self) -> bool:
        """Whether it has lines."""
        return self.kind in TEXT


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """How text is written. Where nothing was said of the delimiter, it is empty until the kind of file decides."""

    delimiter: str = ""
    decimal: str = POINT
    encoding: str = UTF_8
    rows: str = RECORDS


def format_of(name: str) -> Format | None:
    """Return what the end of a name says is in a file; None where it cannot be opened."""
    name = name.lower()
    compression = next((kind for end, kind in COMPRESSED.items() if name.endswith(end)), None)
    if compression is not None:
        name = name.rpartition(".")[0]
    kind = KINDS.get("." + name.rpartition(".")[2]) if "." in name else None
    if kind is None or (compression is not None and kind not in TEXT):
        return None
    return Format(kind, compression)


def common_kind(where: str, names: list[str], what: str) -> str:
    """Return the kind that all these files have; refuse other files."""
    formats = [format_of(name) for name in names]
    if what == "a file" and formats == [None]:
        sheet = names[0].lower().endswith(SHEETS)
        remedy = "Save the sheet as CSV or Parquet, or pass pandas.read_excel(...)." if sheet else "Convert it, or rename it."
        raise DataError(f"{where}: expected {READABLE}, got {'the spreadsheet ' if sheet else ''}{names[0]!r}. {remedy}")
    kinds = sorted({one.kind for one in formats if one is not None})
    if not kinds:
        raise DataError(f"{where}: expected {what} with {READABLE}, got none. Check the path.")
    if len(kinds) > 1:
        found = " and ".join(WORDS[kind] for kind in kinds)
        raise DataError(f"{where}: expected {what} of files of one kind, got {found}. Pass {what} of one kind.")
    return kinds[0]


def text_options(
    where: str, *, delimiter: object = None, decimal: object = POINT, encoding: object = UTF_8, rows: object = RECORDS
) -> Dialect:
    """Check what was said of how text is written."""
    chosen = "" if delimiter is None else _delimiter(f"{where}.delimiter", delimiter)
    mark = validate.one_of(f"{where}.decimal", decimal, (POINT, COMMA), remedy="Pass '.' or ','.")
    if chosen == mark:
        remedy = "Leave it out if numbers stand in quotes, or pass another one."
        validate.refuse(f"{where}.delimiter", "another character than the decimal mark", chosen, remedy=remedy)
    kind = validate.one_of(f"{where}.rows", rows, (LINES, RECORDS), remedy=f"Pass {RECORDS!r} or {LINES!r}.")
    return Dialect(delimiter=chosen, decimal=mark, encoding=_codec(f"{where}.encoding", encoding), rows=kind)


def dialect_of(where: str, kind: str, options: Dialect) -> Dialect:
    """Return how the files of a kind are written; refuse options that are not for this kind."""
    if kind == "json":
        refuse_options(where, replace(options, encoding=UTF_8), f"{WORDS[kind]} files")
    elif kind not in TEXT:
        refuse_options(where, options, f"{WORDS[kind]} files")
    return replace(options, delimiter=options.delimiter or (TAB if kind == "tsv" else COMMA))


def refuse_options(where: str, options: Dialect, what: str) -> None:
    """Refuse options of text for data that have none."""
    for one in fields(options):
        value = getattr(options, one.name)
        if value != one.default:
            remedy = "Leave it out: it is for CSV files."
            validate.refuse(f"{where}.{one.name}", f"{one.default or None!r} for {what}", value, remedy=remedy)


def _delimiter(where: str, value: object) -> str:
    if validate.is_word(value, "\\t") or validate.is_word(value, "tab"):  # what a shell passes on
        return TAB
    if not isinstance(value, str) or len(value) != 1 or not value.isascii() or value.isalnum() or value in '"\r\n\x00.+-':
        rule = "one character that is no letter, digit, quote, sign, point or line end"
        validate.refuse(where, rule, value, remedy="Pass ';' or '\\t', for example.")
    return value


def _codec(where: str, value: object) -> str:
    """Return the name of an encoding in which the marks of a CSV file are what they are in ASCII."""
    if isinstance(value, str) and value.lower().replace("_", "-") in ("utf-8", "utf8", "utf-8-sig", "ascii", "us-ascii"):
        return UTF_8
    if not isinstance(value, str) or not _has_one_byte_for_every_letter(value):
        rule, remedy = "UTF-8 or an encoding with one byte for every letter", "Pass 'latin-1' or 'cp1252', or save the file"
        validate.refuse(where, rule, value, remedy=f"{remedy} as UTF-8.")
    return value


def _has_one_byte_for_every_letter(codec: str) -> bool:
    every = bytes(range(256))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            text = every.decode(codec, "replace")
            plain = text[:128].encode("ascii") == every[:128] and rb"\x41\u0041".decode(codec) == r"\x41\u0041"
            return plain and len(text) == len(every)
        except Exception:  # unknown, or of something other than text
            return False
