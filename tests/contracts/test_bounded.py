# SPDX-License-Identifier: Apache-2.0
"""The contract of bounding: whatever holds the rows, however they are cut, the same rows of each person are kept."""

import numpy as np
import pytest
from tests.optional import da, dask

from cloister.data import Bounding, Schema, open_rows
from cloister.data._bound import choose, choose_rows
from cloister.privacy import Coins, Entropy

from .test_backends import CLUSTERS, FILES, IN_MEMORY, NAMES, SHAPELESS, cluster, cut, on_clusters

__all__ = ["cluster"]  # a fixture

WIDE = [kind for kind in IN_MEMORY if "nullable" not in kind]  # these are of 16 bits
PLACES = 2.0**47  # lanes are multiples of it, so that every type and every text form holds them exactly


@pytest.fixture
def table(generator):
    """One column with few different values, and two that say whose row it is; somebody has a fifth of all rows."""
    lanes = generator.integers(0, [32, 3], (530, 2))
    lanes[:100] = [5, 1]
    values = generator.integers(0, 9, 530)
    return generator.permutation(np.column_stack([values, lanes * PLACES]).astype(np.float64))


@pytest.fixture
def bounding(seed):
    return Bounding.draw(Entropy(seed), 3)


@pytest.fixture
def coins(seed):
    return [Coins.draw(Entropy(seed + number), 0.4) for number in range(2)]


def with_ids(data, **options):
    rows = open_rows(data, **options)
    rows.schema = Schema(rows.n_features - 2, n_hidden=2)
    return rows


def rows_of(rows):
    """Return all rows in an order that depends on nothing else, by a fold whose integers are their bits."""

    class Gather:  # in here, so that it travels as it is
        def __call__(self, block):
            return np.ascontiguousarray(block, dtype=np.float64).view(np.int64)

        def merge(self, left, right):
            return np.concatenate([left, right])

    found = rows.fold(Gather())
    return found[np.lexsort(found.T)].tolist()


def expected(matrix):
    return matrix[np.lexsort(matrix.view(np.int64).T)].view(np.int64).tolist()


def samples(rows, coins):
    """Return the rows, a sample of them, and a sample of the sample."""
    first, second = coins
    return [rows_of(each) for each in (rows, rows.sample(first), rows.sample(first).sample(second))]


def expected_samples(table, bounding, coins):
    kept = choose(table, bounding)
    parts = np.split(kept.rows, np.cumsum(kept.lengths)[:-1])
    found = [expected(kept.rows)]
    for toss in coins:
        parts = [part[toss.partition(number).take(len(part))] for number, part in enumerate(parts)]
        found.append(expected(np.concatenate(parts)))
    return found


@pytest.mark.fast("numpy-*", "lists-1", "pandas-arrow-2", "polars-1", "arrow-stream-2")
@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("kind", WIDE)
def test_a_table_in_memory_keeps_the_same_rows(kind, n_jobs, table, bounding, coins):
    rows = with_ids(IN_MEMORY[kind](table), n_jobs=n_jobs).bounded(bounding)
    assert samples(rows, coins) == expected_samples(table, bounding, coins)
    assert (rows.n_features, rows.n_hidden, len(rows.nullable)) == (1, 2, 1)
    assert rows.feature_names in (None, NAMES[:1])


@pytest.mark.parametrize("kind", ["parquet-7", "csv-3"])
def test_files_that_are_held_keep_the_same_rows(kind, table, tmp_path, bounding, monkeypatch):
    monkeypatch.setattr("cloister.data._files.PIECE_BYTES", 2000)
    held = with_ids(FILES[kind](tmp_path, table), n_jobs=2).held()
    for _ in range(2):
        assert rows_of(held.bounded(bounding)) == expected(choose_rows(table, bounding))


@pytest.mark.slow
@pytest.mark.parametrize("scheduler", ["threads", "sync", "processes"])
def test_the_scheduler_of_dask_changes_nothing(scheduler, table, bounding, coins):
    with dask.config.set(scheduler=scheduler):
        rows = with_ids(da.from_array(table, chunks=(100, 2)))
        assert rows_of(rows.bounded(bounding)) == expected(choose_rows(table, bounding))


@pytest.mark.slow
def test_what_partitions_share_is_computed_once(table, bounding):
    calls = []
    whole = dask.delayed(lambda: calls.append(1) or table)()
    parts = [da.from_delayed(whole[start : start + 53], (53, 3), dtype=float) for start in range(0, 530, 53)]
    rows = with_ids(da.concatenate(parts))
    assert rows_of(rows.bounded(bounding)) == expected(choose_rows(table, bounding))
    assert len(calls) == 1


@pytest.mark.parametrize("kind", [kind for kind in IN_MEMORY if kind not in SHAPELESS])
def test_a_table_without_rows_is_a_table(kind, table, bounding, coins):
    rows = with_ids(IN_MEMORY[kind](table[:0])).bounded(bounding)
    assert samples(rows, coins) == [[]] * 3
    assert rows.n_features == 1


# -- real clusters -----------------------------------------------------------------------------------------------------------


@on_clusters("make", lambda engine: CLUSTERS[engine][1])
@pytest.mark.parametrize("partitions", [1, 5])
def test_a_cluster_keeps_the_same_rows(make, partitions, table, generator, cluster, bounding, coins):
    rows = with_ids(make(cut(table, partitions, generator), cluster))
    bounded = rows.bounded(bounding)
    assert (bounded.n_features, bounded.n_hidden) == (1, 2)
    wanted = expected_samples(table, bounding, coins)
    assert samples(bounded, coins) == wanted
    assert samples(bounded, coins) == wanted, "asked again"


@on_clusters("kind", lambda engine: ["parquet-7", "csv-3"], here=True)
def test_files_keep_the_same_rows(kind, engine, table, tmp_path, cluster, bounding, coins, monkeypatch):
    monkeypatch.setattr("cloister.data._files.PIECE_BYTES", 2000)
    rows = with_ids(FILES[kind](tmp_path, table), engine=engine)
    assert samples(rows.bounded(bounding), coins) == expected_samples(table, bounding, coins)


@on_clusters("make", lambda engine: CLUSTERS[engine][1])
def test_a_table_of_a_cluster_without_rows_is_a_table(make, table, cluster, bounding, coins):
    assert samples(with_ids(make([table[:0]], cluster)).bounded(bounding), coins) == [[]] * 3
