# SPDX-License-Identifier: Apache-2.0
"""Reading ahead and telling how far a pass is: the same blocks in order, few of them in memory, no thread left behind."""

import threading

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from tests.rows import count

from cloister import Ledger, PEMeans, open_rows
from cloister.data import LocalRows, Schema
from cloister.data._threads import read_ahead
from cloister.exceptions import DataError


def readers():
    return [thread for thread in threading.enumerate() if thread.name.startswith("cloister-reader")]


@pytest.mark.parametrize("depth", [1, 2, 5])
@pytest.mark.parametrize("number", [0, 1, 4, 20])
def test_the_same_items_come_in_the_same_order(depth, number):
    assert list(read_ahead(iter(range(number)), depth)) == list(range(number))
    assert not readers()


def test_items_are_fetched_by_another_thread_while_one_is_in_work():
    fetched = threading.Event()

    def items():
        yield threading.current_thread().name
        fetched.set()
        yield "next"

    ahead = read_ahead(items(), 2)
    assert next(ahead).startswith("cloister-reader")
    assert fetched.wait(30), "the next item is fetched before it is wanted"
    ahead.close()
    assert not readers()


@pytest.mark.parametrize("depth", [1, 3])
def test_no_more_items_wait_than_agreed(depth):
    fetched = []

    def items():
        for number in range(50):
            fetched.append(number)
            yield number

    for number in read_ahead(items(), depth):
        assert len(fetched) <= number + 1 + depth + 1


def test_an_error_comes_where_the_item_would_have_come():
    def items():
        yield 1
        raise DataError("gone")

    ahead = read_ahead(items(), 3)
    assert next(ahead) == 1
    with pytest.raises(DataError, match="gone"):
        next(ahead)
    assert not readers()


class Blocks(LocalRows):
    """Blocks that count how many of them are alive."""

    reads_ahead = True
    n_blocks = 40

    def blocks(self):
        for number in range(40):
            yield np.full((10, 1), float(number))


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_kernel_that_fails_stops_the_reader(n_jobs):
    def kernel(block):
        if len(block) and block[0, 0] == 3:
            raise MemoryError
        return np.array([len(block)])

    with pytest.raises(MemoryError):
        Blocks(Schema(1), n_jobs).fold(kernel)
    assert not readers()


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_pass_tells_how_far_it_is(n_jobs):
    parts = []
    assert Blocks(Schema(1), n_jobs).fold(count, watch=parts.append).tolist() == [400]
    assert parts == sorted(parts)
    assert len(parts) == 40
    assert parts[-1] == 1.0


@pytest.fixture
def folder(tmp_path, generator):
    """Five files with three groups of people."""
    for number in range(5):
        rows = generator.normal(0, 0.1, (200, 2)) + generator.choice([-0.5, 0.5], (200, 1))
        pa.parquet.write_table(pa.table({"x": rows[:, 0], "y": rows[:, 1]}), tmp_path / f"{number}.parquet")
    return tmp_path


def test_a_pass_over_files_tells_how_far_it_is(folder, monkeypatch):
    monkeypatch.setattr("cloister.data._backend.LARGEST_BLOCK", 60)
    parts = []
    open_rows(folder, n_jobs=2).fold(count, watch=parts.append)
    assert parts == sorted(parts)
    assert len(parts) == 20
    assert parts[-1] == 1.0


def test_the_bar_shows_a_percentage_and_no_count(folder, monkeypatch, capfd):
    monkeypatch.setattr("cloister.cluster._progress.LONG_PASS_SECONDS", -1.0)
    updates = []
    monkeypatch.setattr("rich.progress.Progress.update", lambda bar, task, **fields: updates.append(fields))
    PEMeans(2, epsilon=5.0, bounds=(-1, 1), n_rounds=2, n_init=1, n_variations=5, progress=True).fit(folder)
    parts = [fields["done"] for fields in updates if "completed" in fields]
    assert "100%" in parts
    assert "20%" in parts
    assert "1000" not in repr(updates)


def test_a_file_that_disappears_between_rounds_is_reported_and_what_was_spent_stays_spent(folder, monkeypatch):
    monkeypatch.setattr("cloister.data._file_rows.FileRows.kept_numbers", 0)
    ledger = Ledger(epsilon=5.0, delta=1e-6)
    rows = open_rows(folder)
    folded, passes = type(rows).fold, []

    def fold(self, kernel, **options):
        passes.append(1)
        if len(passes) == 3:
            (folder / "3.parquet").unlink()
        return folded(self, kernel, **options)

    monkeypatch.setattr(type(rows), "fold", fold)
    model = PEMeans(2, epsilon=2.0, bounds=(-1, 1), n_rounds=6, n_init=1, n_variations=5, ledger=ledger)
    with pytest.raises(DataError, match=r"the file '3\.parquet' cannot be read \(FileNotFoundError\)"):
        model.fit(rows)
    assert len(ledger.events) == 3
    assert not hasattr(model, "release_")
    assert not readers()


def test_a_file_that_is_replaced_by_one_with_other_columns_is_reported(folder):
    rows = open_rows(folder)
    pa.parquet.write_table(pa.table({"x": [1.0], "z": [1.0]}), folder / "2.parquet")
    with pytest.raises(DataError, match=r"the file '2\.parquet' cannot be read"):
        rows.fold(count)
    (folder / "2.parquet").write_bytes(b"")
    with pytest.raises(DataError, match=r"the file '2\.parquet' cannot be read"):
        rows.fold(count)
