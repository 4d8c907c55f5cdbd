# SPDX-License-Identifier: Apache-2.0
"""The contract of a sample: whatever holds the rows, the same coins keep the same rows, and a coin belongs to a position."""

import pickle

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet
import pytest

from cloister import PrivateScaler
from cloister.data import BlockCache, ScaledRows, open_rows
from cloister.data._files import find_files
from cloister.exceptions import DataError
from cloister.privacy import Coins, Entropy

from .test_backends import (
    CLUSTERS,
    COLUMNS,
    FILES,
    IN_MEMORY,
    NAMES,
    OF_PATIENTS,
    Cells,
    answers,
    arrow,
    bad_table,
    cluster,
    cut,
    dask_array,
    on_clusters,
    patients,
    same,
    table,
)

__all__ = ["bad_table", "cluster", "patients", "table"]  # fixtures

SHARES = [0.02, 0.4, 0.9]


@pytest.fixture(params=SHARES)
def coins(request, seed):
    return Coins.draw(Entropy(seed), request.param)


@pytest.fixture
def again(seed):
    """Coins for a sample of a sample."""
    return Coins.draw(Entropy(seed + 1), 0.5)


def heads(parts, coins):
    """Return the rows of each part whose coins show heads, by hand."""
    return [part[coins.partition(number).take(len(part))] for number, part in enumerate(parts)]


def expected(parts):
    return answers(open_rows(np.concatenate(parts), n_jobs=1))


ONE_PART = [kind for kind in IN_MEMORY if "7" not in kind and "-3" not in kind]


@pytest.mark.fast("0.4-numpy", "0.02-pandas-nullable", "0.9-polars-chunks", "0.4-arrow-stream")
@pytest.mark.parametrize("kind", ONE_PART)
def test_a_table_in_memory_is_one_partition(kind, table, coins, again):
    parts = heads([table], coins)
    sample = open_rows(IN_MEMORY[kind](table), n_jobs=2).sample(coins)
    assert same(answers(sample), expected(parts))
    assert same(answers(sample, cache=BlockCache(np.array)), expected(parts))
    assert same(answers(sample.sample(again)), expected(heads(parts, again)))


def test_rows_that_a_scaler_has_scaled_are_rows_like_others(table, coins):
    scaled = PrivateScaler(epsilon=5.0, bounds=(-100, 120), random_state=1).fit_transform(table)
    assert isinstance(scaled, ScaledRows)
    found = open_rows(scaled).sample(coins)
    assert same(answers(found), expected(heads([np.asarray(scaled)], coins)))


@pytest.mark.parametrize("kind", ["dask-array-7-by-2", "dask-frame-3", "dask-frame-nullable-7"])
def test_partitions_of_dask_have_coins_of_their_own(kind, table, coins, again):
    data = IN_MEMORY[kind](table)
    lengths = data.chunks[0] if "array" in kind else data.map_partitions(len).compute().tolist()
    parts = heads(np.split(table, np.cumsum(lengths)[:-1]), coins)
    sample = open_rows(data).sample(coins)
    assert same(answers(sample), expected(parts))
    assert same(answers(sample.sample(again)), expected(heads(parts, again)))


def pieces_of(place):
    found = find_files("test", str(place), None).pieces
    return [np.concatenate([np.empty((0, len(NAMES))), *piece.blocks()]) for piece in found]


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["numpy", "dask"])
@pytest.mark.parametrize("piece_bytes", [300, 1 << 26])
@pytest.mark.parametrize("kind", FILES)
def test_pieces_of_files_have_coins_of_their_own_whoever_reads_them(
    kind, piece_bytes, engine, table, tmp_path, coins, again, monkeypatch
):
    monkeypatch.setattr("cloister.data._files.PIECE_BYTES", piece_bytes * 8 if "parquet" in kind else piece_bytes)
    place = FILES[kind](tmp_path, table)
    parts = heads(pieces_of(place), coins)
    sample = open_rows(place, engine=engine, n_jobs=2).sample(coins)
    assert same(answers(sample), expected(parts))
    assert same(answers(sample.sample(again)), expected(heads(parts, again)))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["parquet-3", "csv-7"])
def test_a_sample_of_files_is_the_same_whether_they_are_held_or_not(kind, table, tmp_path, coins, again, monkeypatch):
    monkeypatch.setattr("cloister.data._files.PIECE_BYTES", 700)
    rows = open_rows(FILES[kind](tmp_path, table), n_jobs=2)
    parts = heads(pieces_of(tmp_path / "folder"), coins)
    held = rows.held()
    for source in (rows, held, held):
        sample = source.sample(coins)
        assert same(answers(sample), expected(parts))
        assert same(answers(sample.sample(again)), expected(heads(parts, again)))
        answers(held)  # from now on it holds the files
    monkeypatch.setattr(type(rows), "kept_numbers", 1)
    few = open_rows(tmp_path / "folder", n_jobs=2).sample(coins)  # too many to be kept: drawn again for every question
    assert same(answers(few), expected(parts))
    assert same(answers(few), expected(parts))


@pytest.mark.parametrize("kind", OF_PATIENTS)
def test_declared_columns_of_a_sample_are_read_as_those_of_the_table(kind, patients, coins):
    data = OF_PATIENTS[kind](patients)
    lengths = data.map_partitions(len).compute().tolist() if kind.startswith("dask") else [len(patients)]
    whole = np.split(np.arange(len(patients)), np.cumsum(lengths)[:-1])
    kept = np.concatenate(heads(whole, coins))
    found = open_rows(data, COLUMNS).sample(coins).fold(Cells())
    assert np.array_equal(found, open_rows(OF_PATIENTS["arrow"](patients.iloc[kept]), COLUMNS).fold(Cells()))


@pytest.mark.fast("0.4-numpy", "0.02-polars", "0.9-csv-3")
@pytest.mark.parametrize("kind", [*IN_MEMORY, *FILES])
def test_a_sample_neither_prints_nor_travels(kind, table, tmp_path, coins):
    rows = open_rows(IN_MEMORY[kind](table) if kind in IN_MEMORY else FILES[kind](tmp_path, table))
    sample = rows.sample(coins)
    size = int(answers(sample)[0][0])
    for one, length in ((rows, 530), (sample, size)):
        assert "3 columns" in repr(one)
        assert str(length) not in repr(one).replace("3 columns", "")
        with pytest.raises(TypeError, match=r"rows do not leave the process that opened them\. Open them again there"):
            pickle.dumps(one)
    assert (sample.n_features, sample.feature_names, sample.nullable) == (rows.n_features, rows.feature_names, rows.nullable)


@pytest.mark.parametrize("kind", ["numpy", "pandas", "arrow-table", "dask-array", "dask-frame"])
def test_a_sample_of_nothing_is_a_table(kind, table, coins, again):
    sample = open_rows(IN_MEMORY[kind](table[:0])).sample(coins)
    assert not any(answer.any() for answer in answers(sample))
    assert not any(answer.any() for answer in answers(sample.sample(again)))


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_a_file_that_cannot_be_read_is_reported_as_in_a_fold(n_jobs, table, tmp_path, coins):
    place = FILES["parquet-7"](tmp_path, table)
    rows = open_rows(place, n_jobs=n_jobs)
    next(place.rglob("003.parquet")).unlink()
    found = {}
    for name, ask in (("fold", lambda: answers(rows)), ("sample", lambda: rows.sample(coins))):
        with pytest.raises(DataError, match=r"the file '003\.parquet' cannot be read \(FileNotFoundError\)") as caught:
            ask()
        found[name] = str(caught.value)
    assert found["fold"] == found["sample"]


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("kind", ["parquet-7", "csv-3"])
def test_drawing_from_files_tells_how_far_it_is(kind, n_jobs, table, tmp_path, coins):
    told = []
    open_rows(FILES[kind](tmp_path, table), n_jobs=n_jobs).sample(coins, watch=told.append)
    assert told == sorted(told)
    assert told[-1] == 1.0
    assert all(0 <= part <= 1 for part in told)


WRITERS = {"parquet": pa.parquet.write_table, "csv": pa.csv.write_csv, "feather": pa.feather.write_feather}


def positions(block):
    return np.array([np.sum(block[:, 1]), np.sum(block[:, 1] ** 2), len(block)], dtype=np.int64)


@pytest.mark.parametrize("suffix", WRITERS)
def test_missing_values_do_not_change_which_rows_are_kept(suffix, table, tmp_path, coins):
    numbers = pa.array(range(len(table)))
    kept = []
    for values in (table[:, 0], [None] * (len(table) - 1) + [1.0]):
        data = pa.table({"value": pa.array(values), "number": numbers})
        WRITERS[suffix](data, tmp_path / f"rows.{suffix}")
        kept += [open_rows(source).sample(coins).fold(positions).tolist() for source in (data, tmp_path / f"rows.{suffix}")]
    assert kept == kept[:1] * 4


def test_rows_that_are_not_kept_are_not_decoded(table, tmp_path, monkeypatch):
    decoded = []
    original = "cloister.data._files.to_matrix"
    from cloister.data._files import to_matrix

    monkeypatch.setattr(original, lambda rows, declared: decoded.append(rows.num_rows) or to_matrix(rows, declared))
    coins = Coins.draw(Entropy(1), 0.1)
    pa.parquet.write_table(arrow(table), tmp_path / "rows.parquet")
    open_rows(tmp_path / "rows.parquet").sample(coins)
    assert sum(decoded) == len(coins.partition(0).take(len(table)))


# -- real clusters -----------------------------------------------------------------------------------------------------------


@on_clusters("make", lambda engine: CLUSTERS[engine][1])
@pytest.mark.parametrize("partitions", [1, 5])
def test_the_same_coins_keep_the_same_rows_on_a_cluster(make, partitions, bad_table, generator, cluster, again):
    coins = Coins.draw(Entropy(5), 0.3)
    whole = [part for part in cut(bad_table, partitions, generator) if len(part) or make is not dask_array]  # it drops these
    parts = heads(whole, coins)
    rows = open_rows(make(whole, cluster))
    sample = rows.sample(coins)
    assert same(answers(sample), expected(parts))
    assert same(answers(sample.sample(again)), expected(heads(parts, again)))
    for _ in range(2):
        answers(rows, cache=BlockCache(np.asarray))  # workers keep them now
    assert same(answers(rows.sample(coins)), expected(parts))


@on_clusters("kind", lambda engine: ["parquet-7", "csv-3"])
def test_a_cluster_draws_the_same_rows_from_files_as_this_process(kind, engine, table, tmp_path, cluster, again, monkeypatch):
    monkeypatch.setattr("cloister.data._files.PIECE_BYTES", 2000)
    coins, place = Coins.draw(Entropy(5), 0.3), FILES[kind](tmp_path, table)
    here, there = (open_rows(place, engine=name).sample(coins) for name in ("numpy", engine))
    assert same(answers(here), answers(there))
    assert same(answers(here.sample(again)), answers(there.sample(again)))
