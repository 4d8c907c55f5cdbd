# SPDX-License-Identifier: Apache-2.0
"""Text files whose neighbour has one record more, written as the standard library writes it, and folders of table formats.

A record is a row, whatever its fields hold: line breaks, quotes, carriage returns, what looks like rows of other people. Of two
files that differ in one record, the reader must return rows that differ in one, wherever the file is cut. The folder of a table
format holds rows that were deleted or replaced: reading its files one by one must be refused.
"""

import csv
import gzip
import io
import tempfile
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from cloister.audit._coupling import all_rows
from cloister.audit._findings import CheckResult, Findings, Settings, Step
from cloister.audit._plants import swapped
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
LOGS = {  # of formats whose files also hold rows that were deleted or replaced
    "Delta": "_delta_log/00000000000000000000.json",
    "Iceberg": "metadata/v1.metadata.json",
    "Hudi": ".hoodie/hoodie.properties",
}


def check_files(settings: Settings, step: Step) -> CheckResult:
    """Read files that differ in one record, and try to read the files of a table that keeps rows it deleted."""
    found = Findings("files", TITLE, step, settings.first)
    for number, (suffix, note) in enumerate((suffix, note) for suffix in DIALECTS for note in HOSTILE_NOTES):
        for persons in (False, True):
            words = f"{suffix}, {note}{', persons' * persons}"
            found.begin(words, part=f"records, {suffix}")
            left, right = _read_both(suffix, HOSTILE_NOTES[note], seed=settings.seed + number, persons=persons)
            found.check_limit((left - right).total(), 1, f"{words}: rows that one record adds")
            if right - left:
                found.violation(f"{words}: {(right - left).total()} rows of others are read differently")
    for name, log in LOGS.items():
        found.begin(name, part="table formats")
        if _is_read(log):
            found.violation(f"{name}: files of the table are read one by one, with rows that were deleted or replaced")
    return found.result()


def count_file_cases(settings: Settings) -> int:
    """Return how many cases the check has."""
    return 2 * len(DIALECTS) * len(HOSTILE_NOTES) + len(LOGS)


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


def _is_read(log: str) -> bool:
    """Whether a folder of Parquet files is read that has the log of a table format."""
    with tempfile.TemporaryDirectory() as folder:
        for name in ("data/before.parquet", "data/after.parquet", log):
            (Path(folder) / name).parent.mkdir(exist_ok=True)
            (Path(folder) / name).touch()
        for name in ("before", "after"):
            pyarrow.parquet.write_table(pa.table({"x": [1.0, 2.0]}), Path(folder) / "data" / f"{name}.parquet")
        try:
            open_rows(folder)
        except DataError:
            return False
    return True
