# SPDX-License-Identifier: Apache-2.0
"""The contract of a source of rows: whatever holds the rows, however they are cut, every question gets the same integers."""

import json
import subprocess
import sys
from contextlib import nullcontext

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from tests.optional import da, dd
from tests.rows import StreamOnly
from tests.vaults import open_vault

from cloister import GDP, SourceTargetKMedoids
from cloister.columns import Box, Category, Date, Flag, Number, as_domain
from cloister.data import BlockCache, LocalRows, Schema, open_rows
from cloister.engines import ENGINES
from cloister.exceptions import DataError
from cloister.questions import (
    ColumnBins,
    DistanceHistogram,
    GridCounts,
    NearestCounts,
    NearestHistograms,
    NearestSquares,
    NearestSums,
    NeighbourMeans,
    RowCount,
    SplitCounts,
)

NAMES = ("age", "body mass", "glucose")
FRAME = Box(-100.0, 120.0).spread(len(NAMES)).frame()
POINTS = np.random.default_rng(3).uniform(-0.5, 0.5, size=(80, len(NAMES)))
QUESTIONS = (
    RowCount(),
    NearestCounts(points=POINTS),
    NearestSums(points=POINTS[:9], radius=0.2),
    NearestSums(points=POINTS[:9, :2], radius=1.0, projection=POINTS[:3, :2]),
    NearestSquares(points=POINTS[:9], radius=0.2),
    DistanceHistogram(edges=[0.1, 0.2, 0.4], points=POINTS[:5]),
    GridCounts(half_widths=FRAME.half_widths, cells=(22, 5, 4)),
    SplitCounts(half_widths=FRAME.half_widths, cells=(2, 2, 2), factors=np.arange(8).reshape(2, 2, 2) % 2 * 3 + 1),
)


def answers(rows, **options):
    return [rows.fold(lambda block, question=question: question.exact(FRAME.clean(block)), **options) for question in QUESTIONS]


def same(left, right):
    return all(np.array_equal(one, other) for one, other in zip(left, right, strict=True))


@pytest.fixture
def table(generator):
    """Whole numbers, so that every type and every text form holds them exactly."""
    return generator.integers(-100, 120, size=(530, len(NAMES))).astype(np.float64)


class ArrayOnly:
    """One batch, and no stream."""

    def __init__(self, table):
        self._batch = table.combine_chunks().to_batches()[0]

    def __arrow_c_array__(self, requested_schema=None):
        return self._batch.__arrow_c_array__(requested_schema)


def arrow(table, partitions=1):
    parts = [pa.table({name: part[:, i] for i, name in enumerate(NAMES)}) for part in np.array_split(table, partitions)]
    return pa.concat_tables([*parts, parts[0].slice(0, 0)])


def read_only(table):
    view = table.copy()
    view.setflags(write=False)
    return view


def folder(tmp_path, table, partitions, write, suffix):
    place = tmp_path / "folder"
    place.mkdir()
    for number, part in enumerate(np.array_split(table, partitions)):
        deep = place / f"part={number % 2}"
        deep.mkdir(exist_ok=True)
        write(arrow(part), deep / f"{number:03d}{suffix}")
    write(arrow(table[:0]), place / f"empty{suffix}")
    (place / "_SUCCESS").write_text("")
    (place / ".hidden.csv").write_text("junk")
    return place


def file(tmp_path, table, write, suffix):
    write(table, tmp_path / f"rows{suffix}")
    return tmp_path / f"rows{suffix}"


def scattered(table):
    return pd.DataFrame(table, columns=NAMES, index=np.arange(len(table))[::-1] * 7)


IN_MEMORY = {
    "numpy": lambda table: table,
    "numpy-fortran": np.asfortranarray,
    "numpy-read-only": read_only,
    "numpy-strided": lambda table: np.repeat(table, 2, axis=0)[::2],
    "numpy-reversed-twice": lambda table: table[::-1].copy()[::-1],
    "numpy-object": lambda table: table.astype(object),
    "numpy-matrix-of-longdouble": lambda table: table.astype(np.longdouble),
    "lists": lambda table: table.tolist(),
    "tuples": lambda table: tuple(map(tuple, table)),
    "lists-of-integers": lambda table: table.astype(int).tolist(),
    "pandas": lambda table: pd.DataFrame(table, columns=NAMES),
    "pandas-scattered-index": scattered,
    "pandas-named-index": lambda table: scattered(table).rename_axis("patient"),
    "pandas-many-indices": lambda table: scattered(table).assign(a=1, b=range(len(table))).set_index(["a", "b"]),
    "pandas-nullable": lambda table: pd.DataFrame(table, columns=NAMES).astype("Int16"),
    "pandas-arrow": lambda table: pd.DataFrame(table, columns=NAMES).astype("float64[pyarrow]"),
    "polars": lambda table: pl.DataFrame(table, schema=list(NAMES)),
    "polars-chunks": lambda table: pl.concat([pl.DataFrame(part, schema=list(NAMES)) for part in (table[:100], table[100:])]),
    "arrow-table": arrow,
    "arrow-batch": lambda table: arrow(table).combine_chunks().to_batches()[0],
    "arrow-reader": lambda table: arrow(table, 3).to_reader(),
    "arrow-stream": lambda table: StreamOnly(arrow(table, 3)),
    "arrow-array": lambda table: ArrayOnly(arrow(table)),
    "arrow-decimal": lambda table: arrow(table).cast(pa.schema([(name, pa.decimal128(20, 4)) for name in NAMES])),
    "opened": open_rows,
    "dask-array": lambda table: da.from_array(table, chunks=(-1, -1)),
    "dask-array-7-by-2": lambda table: da.from_array(table, chunks=(max(1, -(-len(table) // 7)), 2)),
    "dask-frame": lambda table: dd.from_pandas(pd.DataFrame(table, columns=NAMES), npartitions=1),
    "dask-frame-3": lambda table: dd.from_pandas(pd.DataFrame(table, columns=NAMES), npartitions=3),
    "dask-frame-nullable-7": lambda table: dd.from_pandas(pd.DataFrame(table, columns=NAMES).astype("Int16"), npartitions=7),
}
FILES = {
    "parquet": lambda path, table: file(path, arrow(table), pa.parquet.write_table, ".parquet"),
    "parquet-small-groups": lambda path, table: file(
        path, arrow(table), lambda rows, place: pa.parquet.write_table(rows, place, row_group_size=13), ".PQ"
    ),
    "parquet-text-of-path": lambda path, table: str(file(path, arrow(table), pa.parquet.write_table, ".parquet")),
    "parquet-3": lambda path, table: folder(path, table, 3, pa.parquet.write_table, ".parquet"),
    "parquet-7": lambda path, table: folder(path, table, 7, pa.parquet.write_table, ".parquet"),
    "csv": lambda path, table: file(path, arrow(table), pa.csv.write_csv, ".csv"),
    "csv-pandas": lambda path, table: file(path, scattered(table), lambda rows, place: rows.to_csv(place, index=False), ".csv"),
    "csv-3": lambda path, table: folder(path, table, 3, pa.csv.write_csv, ".csv"),
    "csv-7": lambda path, table: folder(path, table, 7, pa.csv.write_csv, ".csv"),
    "parquet-pattern": lambda path, table: folder(path, table, 7, pa.parquet.write_table, ".parquet") / "**" / "*.parquet",
    "csv-pattern": lambda path, table: str(folder(path, table, 3, pa.csv.write_csv, ".csv") / "part=*"),
}


DTYPES = [*(f"{sign}int{bits}" for bits in (8, 16, 32, 64) for sign in ("", "u")), "float16", "float32", "float64", "bool"]
SHAPELESS = {"arrow-batch", "arrow-array", "lists", "tuples", "lists-of-integers"}  # cannot say how wide an empty table is


@pytest.mark.fast("numpy-*", "lists-1", "pandas-nullable-*", "polars-3", "arrow-stream-1", "arrow-decimal-3")
@pytest.mark.parametrize("n_jobs", [1, 3])
@pytest.mark.parametrize("kind", IN_MEMORY)
def test_a_table_in_memory_gives_the_same_integers(kind, n_jobs, table):
    expected = answers(open_rows(table, n_jobs=1))
    assert same(answers(open_rows(IN_MEMORY[kind](table), n_jobs=n_jobs)), expected)


@pytest.mark.fast("parquet-small-groups-3", "csv-7-1")
@pytest.mark.parametrize("n_jobs", [1, 3])
@pytest.mark.parametrize("kind", FILES)
def test_files_give_the_same_integers(kind, n_jobs, table, tmp_path):
    expected = answers(open_rows(table, n_jobs=1))
    assert same(answers(open_rows(FILES[kind](tmp_path, table), n_jobs=n_jobs)), expected)


@pytest.mark.fast("numpy", "pandas", "polars", "arrow-stream", "parquet-3", "csv-pattern")
@pytest.mark.parametrize("kind", [*IN_MEMORY, *FILES])
def test_neither_a_cache_nor_a_watch_changes_an_integer(kind, table, tmp_path):
    rows = open_rows(IN_MEMORY[kind](table) if kind in IN_MEMORY else FILES[kind](tmp_path, table), n_jobs=2)
    parts = []
    assert same(answers(rows, cache=BlockCache(np.array), watch=parts.append), answers(open_rows(table, n_jobs=1)))
    assert all(0 <= part <= 1 for part in parts)


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_type_of_number_gives_the_same_integers(dtype, generator):
    table = generator.integers(0, 100, size=(200, len(NAMES))).astype(dtype)
    expected = answers(open_rows(table.astype(np.float64)))
    for wrap in (np.asfortranarray, arrow, pl.DataFrame):
        assert same(answers(open_rows(wrap(table))), expected)


@pytest.mark.parametrize("partitions", [1, 3, 7])
@pytest.mark.parametrize("n_jobs", [1, 2, 5])
def test_partitions_and_their_order_change_nothing(partitions, n_jobs, table, generator):
    expected = answers(open_rows(table, n_jobs=1))
    parts = np.array_split(table, partitions)
    generator.shuffle(shuffled := table.copy())

    class Partitioned(LocalRows):
        def blocks(self):
            yield table[:0]
            for part in parts[::-1]:
                yield part
                yield table[:0]

    assert same(answers(Partitioned(Schema(len(NAMES)), n_jobs)), expected)
    assert same(answers(open_rows(shuffled, n_jobs=n_jobs)), expected)


@pytest.mark.parametrize("kind", [kind for kind in IN_MEMORY if kind not in SHAPELESS])
def test_a_table_without_rows_is_a_table(kind, table):
    rows = open_rows(IN_MEMORY[kind](table[:0]))
    assert rows.n_features == len(NAMES)
    assert [not answer.any() for answer in answers(rows)] == [True] * len(QUESTIONS)


NAMED = [kind for kind in IN_MEMORY if kind.startswith(("pandas", "polars", "arrow", "dask-frame"))]


@pytest.mark.parametrize("kind", [*NAMED, *FILES])
def test_columns_are_chosen_by_name_and_come_in_that_order(kind, table, tmp_path):
    data = IN_MEMORY[kind](table) if kind in IN_MEMORY else FILES[kind](tmp_path, table)
    rows = open_rows(data, columns=["glucose", "age"])
    assert rows.feature_names == ("glucose", "age")
    assert rows.n_features == 2
    total = rows.fold(lambda block: np.asarray(block, dtype=np.float64).sum(axis=0).astype(np.int64))
    assert total.tolist() == table[:, [2, 0]].sum(axis=0).astype(int).tolist()


@pytest.mark.parametrize("kind", [*NAMED, *FILES])
def test_a_column_of_ids_is_hidden_behind_the_features(kind, table, tmp_path):
    def joint(block):
        ages, lanes = block[:, 0].astype(np.int64), block[:, 1:].astype(np.int64) % 2**32
        return np.array([len(block), *lanes.sum(axis=0), *(lanes * ages[:, None]).sum(axis=0)])

    data = IN_MEMORY[kind](table) if kind in IN_MEMORY else FILES[kind](tmp_path, table)
    rows = open_rows(data, columns=["age"], privacy_unit="glucose", unit_key=bytes(32))
    assert (rows.feature_names, rows.n_features, rows.n_hidden, rows.width) == (("age",), 1, 2, 3)
    exact = open_rows(table[:, :1], privacy_unit=table[:, 2].astype(int), unit_key=bytes(32))
    if kind != "csv-pandas":  # there 7 is written as "7.0", which is another text
        assert np.array_equal(rows.fold(joint), exact.fold(joint))


def test_a_stream_that_can_be_read_once_is_asked_many_questions(table):
    rows = open_rows(arrow(table, 3).to_reader())
    assert same(answers(rows), answers(rows))


def test_the_rows_are_not_changed(table):
    before = table.copy()
    answers(open_rows(table))
    assert np.array_equal(table, before)


# -- real clusters: the same answers through the vault, which are the same integers where the noise is the same ---------------

PARTITIONS = [1, 3, 7]


def noisy_answers(rows):
    """Return what the vault says with seeded noise, question by question and then several at once."""
    vault, _ = open_vault(rows, GDP(100.0), seed=0, frame=FRAME)
    bins = (ColumnBins(low=-100.0, high=120.0, n_bins=11), ColumnBins.of_levels(7))
    histograms = NearestHistograms(points=POINTS[:6], frame=FRAME, columns=(2, 0), bins=bins)
    questions = (*QUESTIONS, NeighbourMeans(points=POINTS[:20], n_neighbors=5), histograms)
    single = [vault.ask(question, GDP(1.0)).value for question in questions]
    return [*single, *(answer.value for answer in vault.ask(QUESTIONS, [GDP(1.0)] * len(QUESTIONS)))]


@pytest.fixture
def bad_table(table, generator):
    """Rows with missing, infinite and enormous values, and one of each kind alone in the last partition."""
    table[generator.random(table.shape) < 0.05] = np.nan
    table[generator.random(table.shape) < 0.05] = np.inf
    table[generator.random(table.shape) < 0.05] = 1e308
    return table


def cut(table, partitions, generator):
    """Return the rows in another order, in parts of unequal size; where there are several, two more parts are empty."""
    shuffled = generator.permutation(table)
    parts = np.split(shuffled, np.sort(generator.integers(0, len(table), size=partitions - 1)))
    return parts if partitions == 1 else [shuffled[:0], *parts, shuffled[:0]]


def dask_array(parts, cluster):
    return da.concatenate([da.from_array(part, chunks=(max(1, len(part)), 2)) for part in parts])


def dask_frame(parts, cluster):
    return dd.concat([dd.from_pandas(pd.DataFrame(part, columns=NAMES), npartitions=1) for part in parts])


def spark_frame(parts, cluster):
    rows = [part.tolist() for part in parts]
    scattered_rows = cluster.sparkContext.parallelize(range(len(rows)), len(rows)).flatMap(rows.__getitem__)
    frame = cluster.createDataFrame(scattered_rows, ", ".join(f"`{name}` double" for name in NAMES))
    assert frame.rdd.getNumPartitions() == len(rows)
    return frame


# For each engine of a cluster: the fixture that starts one, and the collections in which it holds parts of a table.
CLUSTERS = {"dask": ("dask_client", (dask_array, dask_frame)), "spark": ("spark", (spark_frame,))}


def on_clusters(argument, cases, *, here=False):
    """Parametrise a slow test by engine and `argument`; `cases` maps an engine to the values of the argument.

    With `here`, also by the engine of this process, in the fast suite.
    """
    values = [pytest.param(engine, case, marks=pytest.mark.slow) for engine in CLUSTERS for case in cases(engine)]
    if here:
        values += [pytest.param("numpy", case) for case in cases("numpy")]
    return pytest.mark.parametrize(("engine", argument), values)


@pytest.fixture
def cluster(engine, request):
    found = None if engine == "numpy" else request.getfixturevalue(CLUSTERS[engine][0])
    with found.as_current() if hasattr(found, "as_current") else nullcontext():
        yield found


def test_every_engine_of_a_cluster_is_in_this_suite():
    assert set(CLUSTERS) == {engine.name for engine in ENGINES.values() if engine.library is not None}


@on_clusters("make", lambda engine: CLUSTERS[engine][1])
@pytest.mark.parametrize("partitions", PARTITIONS)
def test_a_cluster_gives_the_same_answers(make, partitions, bad_table, generator, cluster):
    rows = open_rows(make(cut(bad_table, partitions, generator), cluster))
    assert same(noisy_answers(rows), noisy_answers(open_rows(bad_table)))


@on_clusters("make", lambda engine: CLUSTERS[engine][1])
def test_a_table_of_a_cluster_without_rows_is_a_table(make, table, cluster):
    rows = open_rows(make([table[:0]], cluster))
    assert rows.n_features == len(NAMES)
    assert [rows.fold(lambda block: np.array([len(block), 7])).tolist()[0] for _ in range(3)] == [0, 0, 0]


@on_clusters("kind", lambda engine: ["parquet-7", "csv-3"])
def test_files_read_by_a_cluster_in_pieces_give_the_same_answers(kind, engine, table, tmp_path, cluster, monkeypatch):
    monkeypatch.setattr("cloister.data._files.PIECE_BYTES", 2000)
    rows = open_rows(FILES[kind](tmp_path, table), engine=engine)
    assert same(noisy_answers(rows), noisy_answers(open_rows(table)))


@on_clusters("make", lambda engine: CLUSTERS[engine][1])
@pytest.mark.parametrize("method", ["nna", "nas"])
def test_a_private_source_may_be_distributed(make, method, table, generator, cluster):
    source, target = table / 200, generator.uniform(-0.5, 0.5, (40, len(NAMES)))
    model = SourceTargetKMedoids(3, method=method, n_neighbors=5, epsilon=5.0, random_state=0)
    expected = model.fit(target, source=source).release_.cluster_centers
    found = model.fit(target, source=make(cut(source, 3, generator), cluster)).release_.cluster_centers
    assert np.array_equal(found, expected)
    with pytest.raises(DataError, match="expected rows of this machine"):
        model.fit(make([target], cluster), source=source)


@on_clusters("address", lambda engine: [lambda cluster: ["--scheduler", cluster.scheduler.address] if engine == "dask" else []])
def test_the_command_line_uses_a_cluster(address, engine, table, tmp_path, cluster):
    options = ["-k", "3", "--epsilon", "5", "--bounds=-100,120", "--seed", "0", "--allow-seeded", "--output", "-", "--quiet"]
    command = [sys.executable, "-m", "cloister", "fit", str(FILES["parquet-3"](tmp_path, table)), *options]
    done = [
        subprocess.run([*command, *more], capture_output=True, text=True, check=True)
        for more in ([], ["--engine", engine, *address(cluster)])
    ]
    here, there = (json.loads(one.stdout)["cluster_centers"] for one in done)
    assert here == there
    if engine == "dask":  # which goes on, and says nothing
        assert (done[1].stderr, len(cluster.nthreads())) == ("", 2)


# -- columns that are declared -------------------------------------------------------------------------------------------------

COLUMNS = {
    "admitted": Date("2020-01-01", "2021-12-31", missing="middle"),
    "glucose": Number(40, 400, missing="middle"),
    "sex": Category(["f", "m"], missing="middle"),
    "ward": Category(["a", "b", 3], missing="own"),
    "smoker": Flag(missing="middle"),
    "age": Number(0, 120, missing=50),
}
MIXED_FRAME = as_domain("test", COLUMNS, len(COLUMNS)).frame()


class Cells:
    """Counts and sums of the cells, as integers: what is missing, unknown, and what the rest adds up to."""

    def __call__(self, block):
        raw = np.asarray(block, dtype=np.float64)
        known = np.where(np.isfinite(raw) & (raw >= 0), raw, 0.0)
        unit = np.rint(np.ldexp(MIXED_FRAME.clean(block), 30)).astype(np.int64)
        sums = np.rint(np.ldexp(known, 10)).astype(np.int64).sum(axis=0)
        return np.concatenate([[len(raw)], np.isnan(raw).sum(axis=0), (raw < 0).sum(axis=0), sums, unit.sum(axis=0)])


@pytest.fixture
def patients(generator):
    """Patients as people have them: words, dates, flags and gaps; an ID that must not slip in."""
    n = 260
    gaps = generator.random((n, 6)) < 0.1
    days = np.datetime64("2020-01-01", "D") + generator.integers(-50, 800, n)
    columns = {
        "patient": [f"p{number}" for number in range(n)],
        "sex": generator.choice(["f", "m", " f", "x", ""], n).tolist(),
        "age": generator.integers(0, 140, n).tolist(),
        "smoker": generator.choice([True, False], n).tolist(),
        "admitted": days.astype(object).tolist(),
        "glucose": generator.integers(30, 450, n).astype(float).tolist(),
        "ward": generator.choice(["a", "b", "3", "c"], n).tolist(),
    }
    for gap, values in zip(gaps.T, list(columns.values())[1:], strict=True):
        values[:] = [None if missing else value for missing, value in zip(gap, values, strict=True)]
    return pd.DataFrame(columns, dtype=object)


def typed(patients):
    kinds = {"sex": "category", "smoker": "boolean", "age": "Int64", "glucose": float, "ward": "string", "patient": "str"}
    return patients.astype({**kinds, "admitted": "datetime64[s]"})


def arrow_patients(patients):
    return pa.table({name: pa.array(patients[name].tolist()) for name in patients})


OF_PATIENTS = {
    "pandas-typed": typed,
    "pandas-arrow": lambda patients: arrow_patients(patients).to_pandas(types_mapper=pd.ArrowDtype),
    "arrow": arrow_patients,
    "arrow-chunks": lambda patients: pa.concat_tables(map(arrow_patients, (patients[:9], patients[9:50], patients[50:]))),
    "polars": lambda patients: pl.DataFrame(arrow_patients(patients)).with_columns(pl.col("ward").cast(pl.Categorical)),
    "dask-1": lambda patients: dd.from_pandas(typed(patients), npartitions=1),
    "dask-3": lambda patients: dd.from_pandas(patients, npartitions=3),
}
PATIENT_FILES = {
    "parquet": (pa.parquet.write_table, ".parquet"),
    "small-groups": (lambda table, place: pa.parquet.write_table(table, place, row_group_size=13), ".parquet"),
    "csv": (pa.csv.write_csv, ".csv"),
}


def cells(data, **options):
    return open_rows(data, COLUMNS, **options).fold(Cells())


def test_declared_columns_have_every_kind_of_cell(patients):
    found = cells(patients, n_jobs=1)
    assert found[0] == len(patients)
    assert (found[1:7] > 0).all()  # missing ones, in every column
    assert (found[9:11] > 0).all()  # unknown levels of both categories


@pytest.mark.parametrize("n_jobs", [1, 3])
@pytest.mark.parametrize("kind", OF_PATIENTS)
def test_declared_columns_give_the_same_integers(kind, n_jobs, patients):
    data = OF_PATIENTS[kind](patients)
    assert np.array_equal(cells(data, n_jobs=n_jobs), cells(patients, n_jobs=1))


def dask_patients(patients, partitions, cluster):
    return dd.from_pandas(typed(patients), npartitions=partitions)


def spark_patients(patients, partitions, cluster):
    schema = "patient string, sex string, age int, smoker boolean, admitted date, glucose double, ward string"
    return cluster.createDataFrame(list(patients.itertuples(index=False, name=None)), schema).repartition(partitions)


@on_clusters("make", lambda engine: [{"dask": dask_patients, "spark": spark_patients}[engine]])
@pytest.mark.parametrize("partitions", [1, 3])
def test_a_cluster_gives_the_same_integers_of_declared_columns(make, partitions, patients, cluster):
    rows = open_rows(make(patients, partitions, cluster), COLUMNS)
    assert rows.feature_names == tuple(COLUMNS)
    expected = cells(patients, n_jobs=1)
    assert np.array_equal(rows.fold(Cells()), expected)
    assert np.array_equal(rows.fold(Cells(), cache=BlockCache(np.array)), expected)  # kept from here on
    assert np.array_equal(rows.fold(Cells(), cache=BlockCache(np.array)), expected)


@on_clusters("kind", lambda engine: list(PATIENT_FILES), here=True)
def test_declared_columns_of_files_give_the_same_integers(kind, engine, patients, tmp_path, cluster, monkeypatch):
    monkeypatch.setattr("cloister.data._files.PIECE_BYTES", 2000)
    write, suffix = PATIENT_FILES[kind]
    place = file(tmp_path, arrow_patients(patients), write, suffix)
    assert np.array_equal(cells(place, engine=engine), cells(patients, n_jobs=1))


# -- whole numbers beyond 32 bits -----------------------------------------------------------------------------


def test_a_local_fold_adds_up_beyond_32_and_40_bits(table):
    large = 2**40 + 12345

    class Many(LocalRows):
        def blocks(self):
            yield from np.array_split(table, 50)

    total = Many(Schema(len(NAMES)), 2).fold(
        lambda block: np.array([large if len(block) else 0, 2**31 - 1 if len(block) else 0])
    )
    assert total.tolist() == [50 * large, 50 * (2**31 - 1)]


def test_the_sums_of_one_block_pass_32_bits():
    question = NearestSums(points=[[0.0]], radius=1.0)
    rows = np.ones((5000, 1))
    assert question.exact(rows).tolist() == [[5000 * round(1 / question.unit)]]
    assert 5000 * round(1 / question.unit) > 2**36 - 2**34
