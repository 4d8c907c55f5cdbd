# SPDX-License-Identifier: Apache-2.0
"""Spark: what is refused, tasks that fail once, files that go away, and rows that never reach the driver."""

import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from tests.rows import count

from cloister import Ledger, PEMeans, open_rows
from cloister.data import BlockCache
from cloister.data._spark import SparkRows
from cloister.exceptions import DataError
from cloister.privacy import Coins, Entropy

from .test_dask import QUICK, published, sums

pytestmark = pytest.mark.slow


@pytest.fixture
def frame(rows, spark):
    return spark.createDataFrame(pa.table({"x": rows[:, 0], "y": rows[:, 1]})).repartition(2)


@pytest.fixture
def folder(rows, tmp_path):
    for number, part in enumerate(np.array_split(rows, 3)):
        pa.parquet.write_table(pa.table({"x": part[:, 0], "y": part[:, 1]}), tmp_path / f"{number}.parquet")
    return tmp_path


# -- what is refused -----------------------------------------------------------------------------------------------------


def test_columns_are_chosen_by_name_whatever_it_is(spark):
    table = pa.table({"a.b": [1.0, 2.0], "A": [3, 4], "a": [5.0, None], "`": [7.0, 8.0], "name": ["x", "y"]})
    frame = spark.createDataFrame(table)
    rows = open_rows(frame, columns=["a", "`", "a.b", "A"])
    assert rows.feature_names == ("a", "`", "a.b", "A")
    for _ in range(2):
        assert rows.fold(lambda block: np.nansum(block, axis=0).astype(np.int64)).tolist() == [5, 15, 3, 7]
    with pytest.raises(DataError, match=r"expected numbers in column 'name', got string"):
        open_rows(frame)
    with pytest.raises(DataError, match=r"column 'B' is not in the table"):
        open_rows(frame, columns=["B"])


@pytest.mark.parametrize("kind", ["date", "array<int>", "struct<a:int>", "binary", "timestamp"])
def test_other_types_are_refused_by_name(kind, spark):
    with pytest.raises(DataError, match=r"expected numbers in column 'when', got"):
        open_rows(spark.createDataFrame([], f"when {kind}"))


def test_what_is_no_table_is_refused(spark, tmp_path):
    with pytest.raises(DataError, match=r"expected a table, got a stream"):
        open_rows(spark.readStream.format("rate").load().select("value"))
    with pytest.raises(DataError, match=r"expected a Spark data frame, got a RDD of pyspark|got a PipelinedRDD of pyspark"):
        open_rows(spark.sparkContext.parallelize([1]).map(str))


def test_a_master_that_cannot_be_reached_is_reported_at_once(folder):
    code = "import sys; from cloister import open_rows; open_rows(sys.argv[1], engine='spark', scheduler='spark://127.0.0.1:1')"
    done = subprocess.run([sys.executable, "-c", code, str(folder)], capture_output=True, text=True, timeout=120, check=False)
    assert "DataError: open_rows: no Spark master answers at 'spark://127.0.0.1:1'. Check the address." in done.stderr


def test_another_master_than_the_running_one_is_refused(folder, spark):
    with pytest.raises(DataError, match=r"expected the Spark master 'local\[3\]', but a session of 'local\[2,4\]' is running"):
        open_rows(folder, engine="spark", scheduler="local[3]")


# -- fits ----------------------------------------------------------------------------------------------------------------


def test_predicting_a_spark_table_is_refused_with_the_way_to_do_it(rows, frame):
    model = PEMeans(3, **QUICK, n_rounds=2).fit(rows)
    with pytest.raises(DataError, match=r"PEMeans\.predict: expected rows of this machine.*Send release_\.predict"):
        model.predict(frame)
    release = model.release_

    def label(batches):
        for batch in batches:
            yield pa.record_batch({"label": release.predict(np.column_stack([batch["x"], batch["y"]]))})

    labels = [row.label for row in frame.mapInArrow(label, "label long").collect()]
    assert sorted(labels) == sorted(model.predict(rows).tolist())


def flaky(batches):
    """Fail at the first attempt at the second partition, after some rows."""
    from pyspark import TaskContext

    context = TaskContext.get()
    yield from batches
    if context.partitionId() == 1 and context.attemptNumber() == 0:
        raise RuntimeError("lost")


def test_a_task_that_fails_once_changes_nothing(rows, frame):
    ledgers = [Ledger(epsilon=5.0, delta=1e-6), Ledger(epsilon=5.0, delta=1e-6)]
    expected = PEMeans(3, **QUICK, n_rounds=4, ledger=ledgers[0]).fit(rows)
    model = PEMeans(3, **QUICK, n_rounds=4, ledger=ledgers[1]).fit(frame.mapInArrow(flaky, frame.schema))
    assert published(model) == published(expected)
    assert len(ledgers[1].events) == len(ledgers[0].events)


def always_failing(batches):
    raise RuntimeError("row 77.123456789")
    yield from batches


def test_a_task_that_always_fails_is_reported_without_a_value(frame):
    ledger = Ledger(epsilon=5.0, delta=1e-6)
    with pytest.raises(DataError, match=r"Spark cannot compute a partition \(\w+\)") as caught:
        PEMeans(3, **QUICK, ledger=ledger).fit(frame.mapInArrow(always_failing, frame.schema))
    assert "77.123456789" not in f"{caught.value!r} {caught.value.__cause__!r}"
    assert len(ledger.events) == 1


def test_rows_are_kept_where_further_folds_are_expected(frame, spark):
    seen = spark.sparkContext.accumulator(0)  # of the test: it may count twice, the answers may not

    def counted(batches):
        seen.add(1)
        yield from batches

    rows = open_rows(frame.mapInArrow(counted, frame.schema))
    cache = BlockCache(np.asarray)
    assert [rows.fold(count, cache=cache).tolist() for _ in range(4)] == [[600]] * 4
    assert seen.value == 2 * 2  # the second question has them kept
    again = open_rows(frame.mapInArrow(counted, frame.schema))
    assert [again.fold(count).tolist() for _ in range(3)] == [[600]] * 3
    assert seen.value == 5 * 2
    owned = open_rows(frame.mapInArrow(counted, frame.schema).cache())
    assert [owned.fold(count, cache=cache).tolist() for _ in range(3)] == [[600]] * 3
    assert seen.value == 6 * 2


@pytest.mark.parametrize("few_bytes", [1, 1 << 40])
@pytest.mark.parametrize("partitions", [1, 5, 20])
def test_answers_of_any_size_and_number_are_joined(partitions, few_bytes, rows, spark, monkeypatch):
    monkeypatch.setattr("cloister.data._spark.FEW_BYTES", few_bytes)
    frame = spark.createDataFrame(pa.table({"x": rows[:, 0]})).repartition(partitions)
    assert open_rows(frame).fold(count).tolist() == [600]


# -- files -----------------------------------------------------------------------------------------------------------------


def fails_at(rows_type, monkeypatch, action, *, at):
    original, questions = rows_type._ask, []

    def ask(self, question, size):
        questions.append(1)
        if len(questions) == at:
            action()
        return original(self, question, size)

    monkeypatch.setattr(rows_type, "_ask", ask)


@pytest.fixture
def not_kept(monkeypatch):
    """Executors keep nothing, so that rows are read for every question."""
    monkeypatch.setattr(SparkRows, "_keep", lambda self: None)


def test_a_file_that_disappears_between_rounds_is_reported(folder, spark, monkeypatch, not_kept):
    ledger = Ledger(epsilon=5.0, delta=1e-6)
    fails_at(SparkRows, monkeypatch, (folder / "2.parquet").unlink, at=2)
    with pytest.raises(DataError, match=r"the file '2\.parquet' cannot be read \(FileNotFoundError\)"):
        PEMeans(3, **QUICK, ledger=ledger).fit(open_rows(folder, engine="spark"))
    assert len(ledger.events) == 2


def test_a_file_that_disappears_when_its_rows_are_kept_does_no_harm(folder, spark, monkeypatch):
    for path in folder.glob("*.parquet"):
        pa.csv.write_csv(pa.parquet.read_table(path), path.with_suffix(".csv"))
        path.unlink()
    fails_at(SparkRows, monkeypatch, (folder / "2.csv").unlink, at=6)
    expected = PEMeans(3, **QUICK).fit(folder).cluster_centers_
    assert np.array_equal(PEMeans(3, **QUICK).fit(open_rows(folder, engine="spark")).cluster_centers_, expected)
    assert not (folder / "2.csv").exists()


def test_a_file_of_sparks_own_that_disappears_is_reported(folder, spark, monkeypatch, not_kept):
    ledger = Ledger(epsilon=5.0, delta=1e-6)
    fails_at(SparkRows, monkeypatch, (folder / "2.parquet").unlink, at=2)
    with pytest.raises(DataError, match=r"a file of the Spark table can no longer be read"):
        PEMeans(3, **QUICK, ledger=ledger).fit(open_rows(spark.read.parquet(str(folder))))
    assert [event.question_name for event in ledger.events][:1] == ["row_count"]  # which Spark answers by itself
    assert len(ledger.events) == 3


@pytest.mark.parametrize("most", [1, 16])
@pytest.mark.parametrize("kind", ["frame", "files"])
def test_a_sample_stays_with_the_executors_and_is_drawn_again_with_the_same_coins_if_it_is_lost(
    kind, most, rows, folder, spark, monkeypatch
):
    monkeypatch.setattr("cloister.data._spark.SAMPLE_PARTITIONS", most)
    frame = spark.createDataFrame(pa.table({"x": rows[:, 0], "y": rows[:, 1]})).repartition(7)
    source = open_rows(frame) if kind == "frame" else open_rows(folder, engine="spark")
    sample = source.sample(Coins.draw(Entropy(1), 0.4))
    assert isinstance(sample, SparkRows)
    assert sample._blocks.getNumPartitions() == min(most, 2)  # of two cores
    before = sample.fold(sums)
    assert before.any()
    sample._blocks.unpersist(blocking=True)  # parts are joined again, of samples that are drawn again
    assert np.array_equal(sample.fold(sums), before)


def test_a_sample_that_cannot_be_drawn_is_reported_without_a_value(frame, folder, spark):
    coins = Coins.draw(Entropy(1), 0.4)
    with pytest.raises(DataError, match=r"Spark cannot compute a partition \(\w+\)") as caught:
        open_rows(frame.mapInArrow(always_failing, frame.schema)).sample(coins)
    assert "77.123456789" not in f"{caught.value!r} {caught.value.__cause__!r} {caught.value.__context__!r}"
    rows = open_rows(folder, engine="spark")
    (folder / "2.parquet").unlink()
    with pytest.raises(DataError, match=r"the file '2\.parquet' cannot be read \(FileNotFoundError\)"):
        rows.sample(coins)


def test_nothing_is_kept_of_a_sample_that_is_dropped(frame, spark):
    before = set(spark.sparkContext._jsc.getPersistentRDDs())
    sample = open_rows(frame).sample(Coins.draw(Entropy(1), 0.4))
    assert len(set(spark.sparkContext._jsc.getPersistentRDDs()) - before) == 1  # the parts, and nothing on the way to them
    del sample
    assert set(spark.sparkContext._jsc.getPersistentRDDs()) <= before


class Length:
    """A kernel that looks at the number of rows alone."""

    reads_values = False

    def __call__(self, block):
        return np.array([len(block)])


def test_rows_of_a_frame_are_counted_by_spark_itself(frame, folder, monkeypatch):
    assert open_rows(folder, engine="spark").fold(Length()).tolist() == [600]
    monkeypatch.setattr(SparkRows, "_ask", lambda *_: pytest.fail("no row is brought into Python"))
    assert open_rows(frame).fold(Length()).tolist() == [600]


def test_a_schema_that_differs_in_one_file_is_reported(folder, spark):
    pa.parquet.write_table(pa.table({"x": [1.0], "y": ["no number"]}), folder / "1.parquet")
    with pytest.raises(DataError, match=r"PEMeans: .*Spark"):
        PEMeans(3, **QUICK).fit(spark.read.schema("x double, y double").parquet(str(folder)))


def test_a_cluster_that_takes_no_task_is_given_up(frame, monkeypatch):
    import time

    monkeypatch.setattr("cloister.data._spark_driver.PATIENCE_SECONDS", 1.0)
    idle = type("Stage", (), {"numActiveTasks": 0, "numCompletedTasks": 0, "numTasks": 2})
    monkeypatch.setattr("cloister.data._spark_driver._stages", lambda *_: [idle])

    def slow(batches):
        time.sleep(4)
        yield from batches

    with pytest.raises(DataError, match=r"no Spark executor took a task for 1 seconds"):
        open_rows(frame.mapInArrow(slow, frame.schema)).fold(count)
