# SPDX-License-Identifier: Apache-2.0
"""Reading CSV files of 8 columns as records, beside lines and beside Arrow's reader: ``python -m benchmarks.csv_reader``."""

import argparse
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv

from cloister.data import open_rows

from ._harness import Report, side_by_side

COLUMNS = 8


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[200_000, 2_000_000])
    counts = parser.parse_args(arguments).rows
    report = Report("csv-reader", rows=counts, features=COLUMNS)
    with tempfile.TemporaryDirectory() as folder:
        for count in counts:
            for quoting in ("needed", "all_valid"):
                path = Path(folder) / "rows.csv"
                _write(path, count, quoting)
                best = side_by_side(
                    {
                        "records": lambda path=path: _read(path, "records"),
                        "lines": lambda path=path: _read(path, "lines"),
                        "arrow": lambda path=path: _read_arrow(path),
                    },
                    clock=time.process_time,
                )
                words = f"{count:,} rows, {'every field quoted' if quoting == 'all_valid' else 'nothing quoted'}"
                report.line(f"   {words}: CPU seconds {best}", seconds=best)
                report.floor(f"{words}: records over lines", best["records"] / best["lines"], at_most=1.3)
    return report.finish()


def _write(path: Path, count: int, quoting: str) -> None:
    rows = np.random.default_rng(0).random((count, COLUMNS)).round(6)
    texts = [pa.array(column).cast(pa.string()) for column in rows.T]
    table = pa.table(texts, names=[f"x{index}" for index in range(COLUMNS)])
    pyarrow.csv.write_csv(table, path, pyarrow.csv.WriteOptions(quoting_style=quoting))


def _read(path: Path, rows: str) -> None:
    for _ in open_rows(path, rows=rows, n_jobs=1).blocks():
        pass


def _read_arrow(path: Path) -> None:
    options = pyarrow.csv.ReadOptions(use_threads=False)
    with pyarrow.csv.open_csv(path, read_options=options) as reader:
        for _ in reader:
            pass


if __name__ == "__main__":
    sys.exit(main())
