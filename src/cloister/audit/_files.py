# SPDX-License-Identifier: Apache-2.0
"""Text files whose neighbour has one record more, written as the standard library writes it, and folders of table formats.

A record is a row, whatever its fields hold: line breaks, quotes, carriage returns, what looks like rows of other people. Of two
files that differ in one record, the reader must return rows that differ in one, wherever the file is cut. The folder of a table
format holds rows that were deleted or replaced: reading its files one by one must be refused.
"""

import csv
import gzip
import io
from collections.abc import Iterator
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet

from cloister.audit._findings import Case, Check, CheckResult, Settings
from cloister.audit._persons import check_same_rows, rows_of
from cloister.audit._plants import swapped
from cloister.data import Bounding, open_rows
from cloister.exceptions import DataError
from cloister.privacy import Entropy

HEADER = ("x", "who", "note", "y")
N_ROWS, USED = 60, 2
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


def _cases(settings: Settings, folder: Path) -> Iterator[Case]:
    for number, (suffix, note, persons) in enumerate(product(DIALECTS, HOSTILE_NOTES, (False, True))):
        run = partial(_check_records, suffix=suffix, note=note, persons=persons, seed=settings.seed + number, folder=folder)
        yield Case(f"{suffix}, {note}{', persons' * persons}", f"records, {suffix}", run)
    for name, log in LOGS.items():
        yield Case(name, "table formats", partial(_check_log, folder=folder / name, log=log))


FILES = Check(
    title="Files: a record more or less is a row more or less",
    meaning="Of two text files that differ in one record, the rows that are read must differ in one, whatever the text of "
    "that record holds. The files of a table format, among them deleted rows, must be refused.",
    cases=_cases,
)


def _check_records(found: CheckResult, *, suffix: str, note: str, persons: bool, seed: int, folder: Path) -> None:
    """Read a file with a record that has this note, and the file without it, both cut into several pieces and chunks."""
    generator = Entropy(seed).public_generator()
    records = [(number, f"ann {number // 2}", "said so", round(float(generator.uniform()), 3)) for number in range(N_ROWS)]
    place = int(generator.integers(N_ROWS + 1))
    more = [*records[:place], (7, "zoe", HOSTILE_NOTES[note], 7), *records[place:]]
    path, seen = folder / f"rows{suffix}", []
    unit: dict[str, Any] = {"privacy_unit": "who", "unit_key": bytes(32)} if persons else {}
    with swapped("cloister.data._files:PIECE_BYTES", 700), swapped("cloister.data._records:CHUNK_BYTES", 1 << 16):
        for written in (more, records):
            text = io.StringIO(newline="")
            csv.writer(text, **DIALECTS[suffix]).writerows([HEADER, *written])
            data = text.getvalue().encode()
            path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
            rows: Any = open_rows(path, ["x", "y"], n_jobs=1, **unit)
            seen.append(rows_of(rows.bounded(Bounding(bytes(32), USED)) if persons else rows.held()))
    check_same_rows(found, *seen, allowed=1)


def _check_log(found: CheckResult, *, folder: Path, log: str) -> None:
    """Try to read a folder of Parquet files that has the log of a table format."""
    for name in ("data/before.parquet", "data/after.parquet", log):
        (folder / name).parent.mkdir(exist_ok=True, parents=True)
        pyarrow.parquet.write_table(pa.table({"x": [1.0, 2.0]}), folder / name)
    try:
        open_rows(folder)
    except DataError:
        return
    found.violation("files of the table are read one by one, with rows that were deleted or replaced")
