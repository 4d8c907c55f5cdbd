# SPDX-License-Identifier: Apache-2.0
"""Dask: what is refused, what is kept in memory, and a cluster that loses workers, files or itself in the middle of a fit."""

import gc
import logging
import os
import signal
import time
from contextlib import contextmanager, nullcontext

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
from tests.optional import Lazy, da, dask, dd
from tests.rows import count

from cloister import Ledger, PEMeans, open_rows
from cloister.data import BlockCache, Bounding, Schema
from cloister.data._dask import DaskRows
from cloister.exceptions import DataError, ParameterError
from cloister.privacy import Coins, Entropy

pytestmark = pytest.mark.slow  # Dask is installed for the slow tests only

CANARY = "77.123456789"
QUICK = {"epsilon": 5.0, "bounds": (-1, 1), "random_state": 0}


def published(model):
    """Return everything a fit says, as text."""
    if hasattr(model, "synopsis_"):
        return model.synopsis_.noisy_counts.tolist()
    return [model.release_.cluster_centers.tolist(), model.release_.cluster_counts.tolist()]


# -- what is refused -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: da.zeros(5), r"expected a 2-d table, got 1 dimension"),
        (lambda: da.zeros((5, 0)), "expected a known number of columns, at least 1"),
        (lambda: da.zeros((5, 2), dtype=complex), "expected real numbers, got complex ones"),
        (lambda: da.from_array(np.array([["2020-01-01"]], "M8[D]")), "expected numbers, got dtype"),
        (lambda: Lazy("dask.bag").from_sequence([1, 2]), "expected a Dask array or data frame, got a Dask Bag"),
        (lambda: dd.from_pandas(pd.Series([1.0]), npartitions=1), "expected a Dask array or data frame, got a Dask Series"),
        (lambda: dask.delayed(1), "expected a Dask array or data frame, got a Dask Delayed"),
    ],
)
def test_what_is_no_table_of_numbers_is_refused(make, message):
    with pytest.raises(DataError, match=f"open_rows: {message}"):
        open_rows(make())


@pytest.mark.parametrize("other", [pd.Timestamp("2020-01-01"), pd.Timedelta(1)])
def test_a_column_that_holds_no_numbers_is_refused_by_name(other):
    frame = dd.from_pandas(pd.DataFrame({"age": [1.0, 2.0], "when": [other, other]}), npartitions=2)
    with pytest.raises(DataError, match=r"expected numbers in column 'when', got"):
        open_rows(frame)
    assert open_rows(frame, columns=["age"]).fold(count).tolist() == [2]


def test_columns_named_like_methods_are_columns():
    frame = pd.DataFrame({"fold": [1.0, 2.0], "n_features": [3.0, 4.0], "columns": [5.0, 6.0]})
    for data in (frame, dd.from_pandas(frame, npartitions=2)):
        assert open_rows(data).feature_names == ("fold", "n_features", "columns")


def test_an_engine_is_for_files(tmp_path):
    with pytest.raises(ParameterError, match=r"open_rows\.engine: expected files to read with it, got 'ndarray'"):
        open_rows(np.eye(2), engine="dask")
    with pytest.raises(ParameterError, match=r"open_rows\.engine: expected one of 'dask', 'numpy', 'spark', got 'ray'"):
        open_rows(tmp_path, engine="ray")
    with pytest.raises(ParameterError, match=r"open_rows\.scheduler: expected an engine of a cluster with it, got None"):
        open_rows(tmp_path, scheduler="tcp://127.0.0.1:1")


@pytest.mark.parametrize(("engine", "extra"), [("dask", "cloister[dask]"), ("spark", "cloister[spark]")])
def test_an_engine_that_is_not_installed_is_named(engine, extra, tmp_path, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ParameterError, match=rf"an engine that is installed, got '{engine}'") as caught:
        open_rows(tmp_path, engine=engine)
    assert extra in str(caught.value)


@pytest.mark.parametrize("scheduler", ["tcp://127.0.0.1:1", "nobody"])
def test_a_cluster_that_cannot_be_reached_is_reported_before_anything_is_spent(scheduler, tmp_path, monkeypatch):
    monkeypatch.setattr("cloister.data._dask.CONNECT_SECONDS", 0.5)
    pa.parquet.write_table(pa.table({"x": [1.0]}), tmp_path / "rows.parquet")
    with pytest.raises(DataError, match=rf"no Dask scheduler answers at '{scheduler}' \(\w+\)\. Check the address"):
        open_rows(tmp_path, engine="dask", scheduler=scheduler)


# -- partitions that cannot be read: no value in messages and logs ------------------------------------------------------------


def in_one(fault, number=1):
    """Have one partition be another."""

    def spoil(part, partition_info=None):
        return fault(part) if partition_info is not None and partition_info["number"] == number else part

    return spoil


def text(part):
    return part.astype(object).assign(x=["x" + CANARY] * (len(part) - 1) + [{}])


def raises(part):
    raise RuntimeError(f"row {CANARY}")


def test_a_partition_of_text_is_a_partition_of_missing_values():
    frame = dd.from_pandas(pd.DataFrame({"x": np.arange(20.0)}), npartitions=4)
    rows = open_rows(frame.map_partitions(in_one(text), meta=frame))
    assert rows.fold(lambda block: np.array([len(block), np.isnan(block).sum()])).tolist() == [20, 5]


FAULTS = {"raises": raises, "no table": lambda part: part["x"], "fewer columns": lambda part: part[["x", "y"]]}
ASKS = {
    "fold": lambda rows: rows.fold(count),
    "sample": lambda rows: rows.sample(Coins.draw(Entropy(1), 0.4)),
    "bounded": lambda rows: rows.bounded(Bounding(bytes(32), 3)),
}


def logs_of(client):
    return "" if client is None else f"{client.get_worker_logs()} {client.get_scheduler_logs()}"


@pytest.mark.parametrize("fixture", [None, "dask_client"])
@pytest.mark.parametrize("ask", ASKS)
@pytest.mark.parametrize("fault", FAULTS)
def test_a_partition_that_cannot_be_read_is_told_without_a_value(fault, ask, fixture, request, caplog):
    client = None if fixture is None else request.getfixturevalue(fixture)
    before = logs_of(client).count(CANARY)
    table = pd.DataFrame(np.arange(60.0).reshape(20, 3) + float(CANARY), columns=["x", "y", "z"])
    frame = dd.from_pandas(table, npartitions=4)
    with caplog.at_level(logging.DEBUG), nullcontext() if client is None else client.as_current():
        rows = open_rows(frame.map_partitions(in_one(FAULTS[fault]), meta=frame))
        rows.schema = Schema(1, n_hidden=2)
        with pytest.raises(DataError, match=r"Dask cannot compute a partition|cannot be read") as caught:
            ASKS[ask](rows)
    assert CANARY not in f"{caught.value!r} {caught.value.__cause__!r} {caught.value.__context__!r}"
    if fault != "raises":  # where an owner's own code fails, Dask logs what it was given
        assert CANARY not in caplog.text
        assert logs_of(client).count(CANARY) == before


@pytest.mark.parametrize("ask", ASKS)
@pytest.mark.parametrize("chunk", [lambda: [float(f"x{CANARY}")], lambda: np.full((5, 3, 1), float(CANARY))])
def test_so_is_a_chunk_of_an_array(chunk, ask):
    rows = open_rows(da.from_delayed(dask.delayed(chunk)(), (5, 3), dtype=float))
    with pytest.raises(DataError, match=r"Dask cannot compute a partition|expected a 2-d table") as caught:
        ASKS[ask](rows)
    assert CANARY not in f"{caught.value!r} {caught.value.__cause__!r} {caught.value.__context__!r}"


def test_partitions_with_different_columns_are_told(tmp_path):
    pa.parquet.write_table(pa.table({"x": [1.0], "y": [1.0]}), tmp_path / "0.parquet")
    pa.parquet.write_table(pa.table({"x": [1.0], "y": ["no number"]}), tmp_path / "1.parquet")
    if pd.Series(["text"]).dtype == object:  # before pandas 3: a partition of objects, which are never refused
        return
    with pytest.raises(DataError, match=r"PEMeans: Dask cannot compute a partition \(\w+\)\. Check that all partitions"):
        PEMeans(2, **QUICK).fit(dd.read_parquet(tmp_path))


# -- how the question travels and what is kept ---------------------------------------------------------------------------------


@pytest.fixture
def made():
    return []


@pytest.fixture
def lazy(made):
    """Five partitions that say when they are computed."""

    def make(number):
        made.append(number)
        return np.full((10, 2), float(number))

    parts = [da.from_delayed(dask.delayed(make)(number), (10, 2), float) for number in range(5)]
    return da.concatenate(parts)


KEEPING = {  # of how many folds, whether more are expected, the part of the memory they may take, how often rows are computed
    "rows that fit": (3, True, 0.6, 1),
    "no further fold is expected": (2, False, 0.6, 2),
    "rows that do not fit": (3, True, 0.0, 3),
}


@pytest.mark.parametrize("case", KEEPING)
def test_rows_are_kept_where_they_fit_and_further_folds_are_expected(case, lazy, made, monkeypatch):
    n_folds, more, part, times = KEEPING[case]
    monkeypatch.setattr("cloister.data._dask.KEPT_PART", part)
    rows, cache = open_rows(lazy), BlockCache(np.asarray) if more else None
    assert made == []
    assert [rows.fold(count, cache=cache).tolist() for _ in range(n_folds)] == [[50]] * n_folds
    assert sorted(made) == sorted([0, 1, 2, 3, 4] * times)


def test_rows_of_unknown_size_are_kept_after_the_first_question(lazy, made):
    rows = open_rows(lazy[lazy[:, 0] >= 0])
    cache = BlockCache(np.asarray)
    assert [rows.fold(count, cache=cache).tolist() for _ in range(4)] == [[50]] * 4
    assert len(made) <= 2 * 2 * 5, "read for the first question and for keeping"


@pytest.mark.parametrize("scheduler", ["threads", "synchronous", "processes"])
def test_every_scheduler_of_dask_gives_the_same_integers(scheduler, generator):
    table = generator.normal(size=(100, 3))
    with dask.config.set(scheduler=scheduler):
        rows = open_rows(da.from_array(table, chunks=(9, 3)))
        assert [rows.fold(lambda block: np.array([len(block), np.sum(block > 0)])).tolist() for _ in range(2)] == [
            [100, int((table > 0).sum())]
        ] * 2


@pytest.mark.parametrize("number", [1, 8, 9, 65, 200])
def test_answers_are_joined_eight_at_a_time(number, monkeypatch):
    joined = []
    from cloister.data import _dask

    def join(shares, packed):
        joined.append(len(shares))
        return original(shares, packed)

    original = _dask.join_shares
    monkeypatch.setattr(_dask, "join_shares", join)
    assert open_rows(da.ones((number, 1), chunks=(1, 1))).fold(count).tolist() == [number]
    assert max(joined) <= 8
    assert sum(joined) == number + len(joined) - 1


def test_a_frame_gives_its_names_and_no_labels(rows):
    frame = dd.from_pandas(pd.DataFrame(rows, columns=["x", "y"]), npartitions=4)
    model = PEMeans(3, **QUICK).fit(frame)
    assert published(model) == published(PEMeans(3, **QUICK).fit(rows))
    assert model.n_features_in_ == 2
    assert model.feature_names_in_.tolist() == ["x", "y"]
    assert not hasattr(model, "labels_")


def test_predicting_a_dask_table_is_refused_with_the_way_to_do_it(rows):
    model = PEMeans(3, **QUICK, n_rounds=2).fit(rows)
    table = da.from_array(rows, chunks=(99, 2))
    for use in (model.predict, model.transform, model.score):
        with pytest.raises(DataError, match=r"PEMeans\.predict: expected rows of this machine.*Send release_\.predict"):
            use(table)
    labels = table.map_blocks(model.release_.predict, drop_axis=1, dtype=np.int64)
    assert labels.compute().tolist() == model.predict(rows).tolist()


# -- a real cluster ---------------------------------------------------------------------------------------------------------


def spoil(monkeypatch, action, *, at):
    """Do something to the cluster while the `at`-th question is under way."""
    waited, questions = DaskRows._await, []

    def wait(self, future, client):
        questions.append(future)
        if len(questions) == at:
            action()
        return waited(self, future, client)

    monkeypatch.setattr(DaskRows, "_await", wait)
    return questions


def slowly(block):
    import time

    time.sleep(0.05)
    return block


@pytest.mark.parametrize("kept", [True, False])
def test_a_worker_that_is_killed_changes_nothing(kept, rows, dask_client, monkeypatch):
    ledgers = [Ledger(epsilon=5.0, delta=1e-6), Ledger(epsilon=5.0, delta=1e-6)]
    expected = PEMeans(3, **QUICK, n_rounds=8, ledger=ledgers[0]).fit(rows)
    if not kept:
        monkeypatch.setattr("cloister.data._dask.KEPT_PART", 0.0)
    victims = list(dask_client.run(os.getpid).values())
    questions = spoil(monkeypatch, lambda: os.kill(victims[0], signal.SIGKILL), at=4)
    with dask_client.as_current():
        table = da.from_array(rows, chunks=(40, 2)).map_blocks(slowly)
        model = PEMeans(3, **QUICK, n_rounds=8, ledger=ledgers[1]).fit(table)
    assert len(questions) > 4
    assert published(model) == published(expected)
    assert len(ledgers[1].events) == len(ledgers[0].events) == len(questions)
    dask_client.wait_for_workers(2, timeout=60)
    assert victims[0] not in dask_client.run(os.getpid).values()


def sums(block):
    return np.rint(np.ldexp(np.clip(np.nan_to_num(block), -9, 9), 20)).astype(np.int64).sum(axis=0)


def test_a_sample_stays_with_the_workers_and_is_drawn_again_with_the_same_coins_if_it_is_lost(rows, dask_client):
    coins = Coins.draw(Entropy(1), 0.4)
    with dask_client.as_current():
        table = da.from_array(rows, chunks=(40, 2)).map_blocks(slowly)
        sample = open_rows(table).sample(coins)
        assert isinstance(sample, DaskRows)
        assert len(sample._parts) == 2  # of two workers
        before = sample.fold(sums)
        os.kill(next(iter(dask_client.run(os.getpid).values())), signal.SIGKILL)
        assert np.array_equal(sample.fold(sums), before)
        parts = [rows[start : start + 40] for start in range(0, len(rows), 40)]
        kept = [part[coins.partition(number).take(len(part))] for number, part in enumerate(parts)]
        assert np.array_equal(before, sums(np.concatenate(kept)))
    dask_client.wait_for_workers(2, timeout=60)


def held_by(client):
    return [str(key) for keys in client.has_what().values() for key in keys]


@contextmanager
def collecting_no_cycles():
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def test_a_sample_that_is_dropped_leaves_nothing_with_the_workers(rows, dask_client, monkeypatch):
    """Also where workers took longer than one look, and without waiting for Python to collect cycles."""
    monkeypatch.setattr("cloister.data._dask.LOOK_SECONDS", 1e-4)
    gc.collect()  # what earlier tests left
    with dask_client.as_current(), collecting_no_cycles():
        before = set(held_by(dask_client))
        sample = open_rows(da.from_array(rows, chunks=(40, 2), name=False)).sample(Coins.draw(Entropy(1), 0.4))
        sample.fold(sums)
        assert any("join_parts" in key for key in held_by(dask_client))
        del sample
        for _ in range(1200):  # workers may be busy
            held = set(held_by(dask_client)) - before
            if not any("join_parts" in key or "draw_part" in key for key in held):
                return
            time.sleep(0.1)
    pytest.fail(f"{len(held)} results are still held")


def test_files_are_read_by_the_workers_and_the_driver_gets_integers(rows, tmp_path, dask_client, monkeypatch):
    for number, part in enumerate(np.array_split(rows, 5)):
        pa.parquet.write_table(pa.table({"x": part[:, 0], "y": part[:, 1]}), tmp_path / f"{number}.parquet")
    read = "cloister.data._files.Piece.blocks"
    monkeypatch.setattr(read, lambda piece: pytest.fail("the driver reads no row"))
    opened = open_rows(tmp_path, engine="dask", scheduler=dask_client.scheduler.address)
    model = PEMeans(3, **QUICK).fit(opened)
    assert published(model) == published(PEMeans(3, **QUICK).fit(rows))


def test_a_file_that_disappears_from_a_cluster_is_reported_and_the_ledger_keeps_count(rows, tmp_path, dask_client, monkeypatch):
    monkeypatch.setattr("cloister.data._dask.KEPT_PART", 0.0)
    for number, part in enumerate(np.array_split(rows, 5)):
        pa.parquet.write_table(pa.table({"x": part[:, 0], "y": part[:, 1]}), tmp_path / f"{number}.parquet")
    opened = open_rows(tmp_path, engine="dask", scheduler=dask_client.scheduler.address)
    computed, ledger = DaskRows._compute, Ledger(epsilon=5.0, delta=1e-6)

    def compute(self, total, client):
        if len(ledger.events) == 3:
            (tmp_path / "4.parquet").unlink(missing_ok=True)
        return computed(self, total, client)

    monkeypatch.setattr(DaskRows, "_compute", compute)
    with pytest.raises(DataError, match=r"the file '4\.parquet' cannot be read \(FileNotFoundError\)"):
        PEMeans(3, **QUICK, ledger=ledger).fit(opened)
    assert len(ledger.events) == 3


def test_a_cluster_without_workers_is_given_up(rows, monkeypatch):
    from distributed import Client, LocalCluster

    monkeypatch.setattr("cloister.data._dask.PATIENCE_SECONDS", 1.0)
    ledger = Ledger(epsilon=5.0, delta=1e-6)
    cluster = LocalCluster(n_workers=0, dashboard_address=":0")
    with cluster, Client(cluster, set_as_default=False) as client, client.as_current():
        model = PEMeans(3, **QUICK, ledger=ledger)
        with pytest.raises(DataError, match=r"no Dask worker for 1 seconds\. Start workers"):
            model.fit(da.from_array(rows))
    assert len(ledger.events) == 1


def test_a_scheduler_that_goes_away_is_reported(rows, monkeypatch):
    from distributed import Client, LocalCluster

    monkeypatch.setattr("cloister.data._dask.PATIENCE_SECONDS", 1.0)
    ledger = Ledger(epsilon=5.0, delta=1e-6)
    cluster = LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0")
    with cluster, Client(cluster.scheduler_address, set_as_default=False) as client:
        spoil(monkeypatch, cluster.close, at=3)
        table = da.from_array(rows, chunks=(40, 2)).map_blocks(slowly)
        with client.as_current(), pytest.raises(DataError, match=r"can no longer be reached|no Dask worker"):
            PEMeans(3, **QUICK, ledger=ledger).fit(table)
    assert len(ledger.events) == 3
