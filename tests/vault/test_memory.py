# SPDX-License-Identifier: Apache-2.0
"""What the vault keeps of rows during a fit: less work, the same answers, and nothing that outlives the fit."""

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from tests.vaults import open_vault

from cloister import GDP, Ball, KMeans, PEMeans
from cloister.data import LocalRows, open_rows
from cloister.data._file_rows import FileRows
from cloister.data._files import Piece
from cloister.privacy import Query
from cloister.questions import DistanceHistogram, NearestCounts, NearestQuestion, NearestSums, RowCount
from cloister.rivals import FastLloyd

from ._files import WRITERS, arrow, count_calls, written

FRAME = Ball(1.0).spread(2).frame()
POINTS = np.array([[-0.5, 0.0], [0.5, 0.0], [0.0, 0.9]])
UNLIMITED = 1 << 40


IN_MEMORY = {"array": lambda rows: rows, "arrow": arrow, "pandas": lambda rows: arrow(rows).to_pandas()}


@pytest.fixture
def rows(generator):
    return generator.normal(scale=0.4, size=(3000, 2))


@pytest.fixture(params=[*IN_MEMORY, "parquet", "csv"])
def table(request, rows, tmp_path):
    return IN_MEMORY[request.param](rows) if request.param in IN_MEMORY else written(rows, tmp_path, request.param)


@pytest.fixture
def keep(monkeypatch):
    """Set how many numbers may be kept."""

    def set_limit(limit):
        for kind in (LocalRows, FileRows):
            monkeypatch.setattr(kind, "kept_numbers", limit)

    return set_limit


def open_rows_of(table, columns=None, **options):
    return open_vault(open_rows(table, columns, n_jobs=2), GDP(100.0), seed=0, **options)[0]


@pytest.mark.fast("array-KMeans", "parquet-FastLloyd")
@pytest.mark.parametrize("estimator", [KMeans, PEMeans, FastLloyd])
def test_answers_are_the_same_with_and_without_it(estimator, rows, table, keep):
    fits = []
    for limit in (UNLIMITED, 2 * rows.size // 3, 0):
        keep(limit)
        fits.append(estimator(4, epsilon=2.0, bounds=(-1, 1), random_state=1, n_jobs=2).fit(table))
    for other in fits[1:]:
        assert np.array_equal(fits[0].cluster_centers_, other.cluster_centers_)
        assert np.array_equal(fits[0].cluster_counts_, other.cluster_counts_)


@pytest.mark.parametrize(("limit", "passes"), [(UNLIMITED, 1), (6000, 1), (5999, 4), (0, 4)])
def test_rows_are_read_and_cleaned_once_and_searched_once_for_each_set_of_points(limit, passes, rows, table, keep, monkeypatch):
    keep(limit)
    monkeypatch.setattr(FileRows, "may_be_kept", True)
    cleaned = count_calls(monkeypatch, type(FRAME), "clean")
    searched = count_calls(monkeypatch, NearestQuestion, "labels")
    vault = open_rows_of(table)
    vault.ask(DistanceHistogram(edges=[0.5], points=POINTS), GDP(1.0))
    vault.ask([NearestCounts(points=POINTS), NearestSums(points=POINTS, radius=0.5)], [GDP(1.0), GDP(1.0)])
    vault.ask(NearestCounts(points=POINTS), GDP(1.0))
    vault.ask(NearestCounts(points=POINTS[:2]), GDP(1.0))
    assert sum(cleaned) == passes * len(rows)
    assert sum(searched) == min(passes + 1, 4) * len(rows)


def test_where_one_pass_is_expected_nothing_is_kept(rows, monkeypatch):
    cleaned = count_calls(monkeypatch, type(FRAME), "clean")
    vault = open_rows_of(rows, single_pass=True)
    for _ in range(3):
        vault.ask(NearestCounts(points=POINTS), GDP(1.0))
    assert sum(cleaned) == 3 * len(rows)


def test_points_that_come_back_are_searched_anew(rows):
    vault, clean = open_rows_of(rows), FRAME.clean(rows)
    for points in (POINTS, POINTS[:2], POINTS, POINTS[::-1]):
        question = NearestCounts(points=points)
        noise = vault.ask(question, GDP(1.0)).value - np.bincount(question.labels(clean), minlength=len(points))
        assert np.abs(noise).max() < 9  # standard deviations; counts of other points are hundreds off


def test_a_fold_that_fails_keeps_nothing(table, rows, monkeypatch):
    vault, clean = open_rows_of(table), type(FRAME).clean
    failures = iter([MemoryError])

    def fail_once(self, block):
        if len(block) and (failure := next(failures, None)) is not None:
            raise failure
        return clean(self, block)

    monkeypatch.setattr(type(FRAME), "clean", fail_once)
    with pytest.raises(MemoryError):
        vault.ask(NearestCounts(points=POINTS), GDP(1.0))
    for _ in range(3):
        assert abs(vault.ask(NearestCounts(points=POINTS), GDP(10.0)).value.sum() - len(rows)) < 10


def test_a_pass_over_kept_rows_says_how_far_it_is(table):
    parts = []
    vault = open_rows_of(table, watch=parts.append)
    for _ in range(2):
        vault.ask(NearestCounts(points=POINTS), GDP(1.0))
        assert parts == sorted(parts)
        assert parts[-1] == 1.0
        parts.clear()


# -- files that are small stay in memory as they are -------------------------------------------------------------------------


@pytest.fixture
def reads(monkeypatch):
    """Return the pieces that were read, one entry for each time; pieces are small."""
    seen, read = [], Piece._read
    monkeypatch.setattr("cloister.data._files.PIECE_BYTES", 20_000)
    monkeypatch.setattr(Piece, "_read", lambda piece, tosses: seen.append(piece.start) or read(piece, tosses))
    return seen


@pytest.mark.fast("parquet", "csv.gz")
@pytest.mark.parametrize("kind", WRITERS)
def test_a_small_file_is_read_once_in_a_fit(kind, rows, tmp_path, reads):
    path = written(rows, tmp_path, kind)
    model = KMeans(3, epsilon=3.0, bounds="private", random_state=1, n_jobs=2).fit(open_rows(path, ["x", "y"], n_jobs=2))
    assert len(model.privacy_receipt_.events) > 5
    assert len(reads) == len(set(reads))
    other = KMeans(3, epsilon=3.0, bounds="private", random_state=1, n_jobs=2).fit(rows)
    assert np.array_equal(model.cluster_centers_, other.cluster_centers_)


@pytest.mark.parametrize("kind", WRITERS)
def test_a_sample_takes_one_pass_over_a_large_file_and_none_of_its_own_over_a_small_one(kind, rows, tmp_path, reads, keep):
    path, question = written(rows, tmp_path, kind), DistanceHistogram(edges=[0.5])
    vault = open_rows_of(path, columns=["x", "y"])
    for share in (0.5, 1.0, 0.7):
        vault.ask(question, Query("step", "counts", GDP(1.0), 0.1, 1.0, share))
    assert len(reads) == len(set(reads))
    reads.clear()
    keep(3500)  # half of the rows, and not all of them
    vault = open_rows_of(path, columns=["x", "y"])
    for passes in (1, 2):  # a file beyond the limit is read for every question
        vault.ask(question, GDP(1.0))
        assert reads.count(0) == passes
    for _ in range(3):
        vault.ask(question, Query("step", "counts", GDP(1.0), 0.1, 1.0, 0.5))
    assert reads.count(0) == 3


def test_text_in_columns_that_are_not_used_does_not_keep_a_file_from_being_held(rows, tmp_path, reads, keep):
    """What a file of text holds is not known from its size."""
    keep(rows.size)
    table = arrow(rows).append_column("notes", [["a long story " * 5] * len(rows)])
    pa.csv.write_csv(table, tmp_path / "rows.csv")
    vault = open_rows_of(tmp_path / "rows.csv", columns=["x", "y"])
    for _ in range(3):
        vault.ask(DistanceHistogram(edges=[0.5]), GDP(1.0))
    assert len(reads) == len(set(reads)) > 3


def test_a_file_is_read_again_in_the_next_fit(rows, tmp_path):
    source = open_rows(written(rows, tmp_path, "csv"))
    for part in (rows, rows[:1000]):
        written(part, tmp_path, "csv")
        vault = open_rows_of(source)
        counts = [vault.ask(NearestCounts(points=POINTS), GDP(10.0)).value.sum() for _ in range(2)]
        assert np.abs(np.array(counts) - len(part)).max() < 5
        vault.close(GDP(100.0))


def test_rows_are_counted_without_being_cleaned_or_read(rows, tmp_path, monkeypatch, reads):
    cleaned = count_calls(monkeypatch, type(FRAME), "clean")
    for table in (rows, arrow(rows), written(rows, tmp_path, "parquet")):
        assert abs(open_rows_of(table).ask(RowCount(), GDP(10.0)).value[0] - len(rows)) < 2
    assert reads == []
    assert abs(open_rows_of(written(rows, tmp_path, "csv")).ask(RowCount(), GDP(10.0)).value[0] - len(rows)) < 2
    assert len(reads) > 0
    assert sum(cleaned) == 0
