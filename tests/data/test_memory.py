# SPDX-License-Identifier: Apache-2.0
"""Files are read in batches: memory does not grow with the number of rows, not even where they form a single row group."""

import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

PEAK = """
import resource, sys
import numpy as np
from cloister import open_rows
from cloister.data import BlockCache
from cloister.data._file_rows import FileRows
from cloister.columns import Box
from cloister.questions import RowCount

FileRows.kept_numbers, FileRows.may_be_kept = 1 << 20, True  # found out while reading that they are too many

def fold(path):
    rows = open_rows(path, n_jobs=1)
    cache = BlockCache(Box(0, 1).spread(rows.n_features).frame().clean)
    return [rows.fold(RowCount().exact, cache=cache) for _ in range(2)][1]

fold(sys.argv[1])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
total = int(fold(sys.argv[2])[0])
print(total, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
SMALL, LARGE, COLUMNS = 200_000, 3_000_000, 4
SIZE_IN_KILOBYTES = LARGE * COLUMNS * 8 // 1024


def write(path, rows, generator):
    writer = None
    for _ in range(rows // SMALL):
        part = pa.table({name: generator.random(SMALL) for name in "abcd"})
        if path.suffix == ".csv":
            writer = writer or pa.csv.CSVWriter(path, part.schema)
        else:
            writer = writer or pa.parquet.ParquetWriter(path, part.schema, compression="none", use_dictionary=False)
        writer.write_table(part)
    writer.close()


def write_one_group(path, rows, generator):
    table = pa.table({name: generator.random(rows) for name in "abcd"})
    pa.parquet.write_table(table, path, row_group_size=rows, compression="none", use_dictionary=False)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["groups.parquet", "one-group.parquet", "rows.csv"])
def test_memory_does_not_grow_with_the_rows(kind, tmp_path, generator):
    make = write_one_group if kind.startswith("one") else write
    for name, rows in (("small", SMALL), ("large", LARGE)):
        make(tmp_path / f"{name}-{kind}", rows, generator)
    paths = [str(tmp_path / f"{name}-{kind}") for name in ("small", "large")]
    done = subprocess.run([sys.executable, "-c", PEAK, *paths], capture_output=True, text=True, check=True)
    total, grown = map(int, done.stdout.split())
    assert total == LARGE
    assert grown < SIZE_IN_KILOBYTES / 2, "reading fifteen times the rows must not take the memory of the rows"


def test_an_array_is_not_copied():
    table = np.zeros((100_000, 8))
    from cloister import open_rows

    assert all(np.shares_memory(block, table) for block in open_rows(table, n_jobs=1).blocks())
