# SPDX-License-Identifier: Apache-2.0
"""Text files whose neighbour has one record more, written as the standard library writes it, and folders of table formats.

A record is a row, whatever its fields hold: line breaks, quotes, carriage returns, what looks like rows of other people. Of two
files that differ in one record, the reader must return rows that differ in one, wherever the file is cut. A folder that a table
format keeps holds rows that were deleted or replaced: reading its files one by one must be refused.
"""

import csv
import gzip
import io
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from cloister.audit._coupling import all_rows
from cloister.audit._findings import CheckResult, Findings, Settings, Step
from cloister.audit._swap import swapped
from cloister.data import Bounding, open_rows
from cloister.exceptions import DataError
from cloister.privacy import Entropy

__all__ = ["check_files", "count_file_cases"]

TITLE = "Files: a record more or less is a row more or less"
HEADER = ("x", "who", "note", "y")
N_ROWS, USED = 60, 2
CUT = {  # so that short files are read in several pieces and chunks
    "cloister.data._files:PIECE_BYTES": 700,
    "cloister.data._records:CHUNK_BYTES": 1 << 16,
}
_FAKE = "5,zoe-{0},,5"  # what a row of somebody else looks like
HOSTILE_NOTES: dict[str, str] = {
    "rows of other people": "\n".join(_FAKE.format(number) for number in range(200)),
    "rows that end as on Windows": "\r\n" + "\r\n".join(_FAKE.format(number) for number in range(200)) + "\r\n",
    "rows behind a quote": '"\n' + "\n".join(_FAKE.format(number) for number in range(50)) + '\n"',
    "quotes and delimiters": '",";\t""\n","\n"',
    "one quote": '"',
    "carriage returns": "a\rb\r\rc",
    "empty lines": "\n\n\n",
    "very long": "5,zoe,,5\n" * 20_000,
}
DIALECTS: dict[str, dict[str, Any]] = {
    ".csv": {},
    ".tsv": {"delimiter": "\t"},
    ".csv.gz": {"quoting": csv.QUOTE_ALL, "lineterminator": "\n"},
}


def check_files(settings: Settings, step: Step) -> CheckResult:
    """Read files that differ in one record, and try to read what a table format keeps."""
    found = Findings("files", TITLE, step, settings.first)
    for number, (suffix, note) in enumerate((suffix, note) for suffix in DIALECTS for note in HOSTILE_NOTES):
        for persons in (False, True):
            words = f"{suffix}, {note}{', persons' * persons}"
            found.begin(words, part=f"records, {suffix}")
            left, right = _read_both(suffix, HOSTILE_NOTES[note], seed=settings.seed + number, persons=persons)
            found.check_limit((left - right).total(), 1, f"{words}: rows that one record adds")
            if right - left:
                found.violation(f"{words}: {(right - left).total()} rows of others are read differently")
    for name, make in FORMATS.items():
        found.begin(name, part="table formats")
        if _is_read(name, make):
            found.violation(f"{name}: files of the table are read one by one, with rows that were deleted or replaced")
    return found.result()


def count_file_cases(settings: Settings) -> int:
    """Return how many cases the check has."""
    return 2 * len(DIALECTS) * len(HOSTILE_NOTES) + len(FORMATS)


def _read_both(suffix: str, note: str, *, seed: int, persons: bool) -> tuple[Counter[bytes], Counter[bytes]]:
    """Return the rows of a file with a record that has this note, and of the file without it."""
    generator = Entropy(seed).public_generator()
    records = [(number, f"ann {number // 2}", "said so", round(float(generator.uniform()), 3)) for number in range(N_ROWS)]
    place = int(generator.integers(N_ROWS + 1))
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        for path, size in CUT.items():
            stack.enter_context(swapped(path, size))
        both = [*records[:place], (7, "zoe", note, 7), *records[place:]], records
        files = [_write(Path(folder) / f"{name}{suffix}", some) for name, some in zip(("left", "right"), both, strict=True)]
        left, right = (_read(file, persons=persons) for file in files)
    return left, right


def _write(path: Path, records: Sequence[Sequence[Any]]) -> Path:
    text = io.StringIO(newline="")
    csv.writer(text, **DIALECTS["".join(path.suffixes)]).writerows([HEADER, *records])
    data = text.getvalue().encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def _read(path: Path, *, persons: bool) -> Counter[bytes]:
    """Return the rows that questions see, with rank and number of a person's where persons are protected."""
    unit: dict[str, Any] = {"privacy_unit": "who", "unit_key": bytes(32)} if persons else {}
    rows: Any = open_rows(path, ["x", "y"], n_jobs=1, **unit)
    table = all_rows(rows.bounded(Bounding(bytes(32), USED)) if persons else rows.held())
    return Counter(row.tobytes() for row in np.ascontiguousarray(table))


# -- table formats -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Marks:
    """Which files a table format keeps beside those that hold rows."""

    notes: Sequence[str]
    rows: str

    def __call__(self, folder: Path) -> Path:
        table = pa.table({"x": [1.0, 2.0], "y": [3.0, 4.0]})
        for name in self.notes:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text("{}", encoding="utf-8")
        for number in range(2):  # before and after a change
            file = folder / self.rows / f"part-{number}.parquet"
            file.parent.mkdir(parents=True, exist_ok=True)
            pyarrow.parquet.write_table(table, file)
        return folder


FORMATS: dict[str, Callable[[Path], Path]] = {
    "Delta": _Marks(["_delta_log/00000000000000000000.json"], "."),
    "Iceberg": _Marks(["metadata/v1.metadata.json"], "data"),
    "Hudi": _Marks([".hoodie/hoodie.properties"], "."),
}


def _is_read(name: str, make: Callable[[Path], Path]) -> bool:
    """Whether the files of a table format are read, or refused without a word on it."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            open_rows(make(Path(folder)))
        except DataError as refusal:
            return name not in str(refusal)
    return True
