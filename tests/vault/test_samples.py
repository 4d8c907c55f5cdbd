# SPDX-License-Identifier: Apache-2.0
"""A query of part of the rows is answered on a secret random sample: drawn once, paid for like any other, never told.

Statistical bounds are six or more standard deviations: a seed fails one of them by chance less than once in a million runs.
"""

import gc
import logging
import weakref
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from tests.rows import FewRows
from tests.vaults import open_vault

from cloister import GDP, Ball
from cloister.cluster._plan import Planner
from cloister.columns import Neighbours, Relation
from cloister.data import open_rows
from cloister.data._backend import MemoryRows
from cloister.data._files import Piece
from cloister.exceptions import DataError, ParameterError
from cloister.privacy import Coins, Entropy, Query
from cloister.questions import CellStates, NearestCounts, NearestQuestion, NearestSums, NeighbourMeans, RowCount

from ._files import count_calls, written

FRAME = Ball(1.0).spread(2).frame()
POINTS = np.array([[-0.5, 0.0], [0.5, 0.0], [0.0, 0.9]])
ALL = GDP(1e9)
EXACT = GDP(1e6)  # noise of which nothing is seen behind a whole number
SUMS = NearestSums(points=np.zeros((1, 2)), radius=1.0)


open_all = partial(open_vault, budget=ALL)


def of(share, cost=EXACT):
    return Query("step", "counts", cost, 0.1, 1.0, share)


def size(vault, share):
    return int(np.rint(vault.ask(RowCount(), of(share)).value[0]))


def numbered(count):
    """Rows that tell their positions."""
    return np.column_stack([np.arange(count) / count, np.zeros(count)])


class Spy(FewRows):
    """Rows that write down what is done with them."""

    def __init__(self, name="all", log=None):
        super().__init__()
        self.name, self.log = name, [] if log is None else log

    def fold(self, kernel, *, watch=None, cache=None):
        self.log.append(("fold", self.name, None if cache is None else id(cache)))
        return kernel(np.zeros((5, 2)))

    def sample(self, coins, *, watch=None):
        self.log.append(("sample", self.name, coins.share))
        return Spy(f"{self.name} {coins.share:.2g}", self.log)


# -- when a sample is drawn, and from what -----------------------------------------------------------------------------------


def test_a_sample_is_drawn_once_and_serves_all_questions_of_its_share():
    spy = Spy()
    vault, _ = open_all(spy)
    for share in (0.5, 0.5, 1.0, 0.5):
        vault.ask(SUMS, of(share))
    vault.ask([SUMS, NearestCounts(points=POINTS)], [of(0.5), of(0.5)])
    names = ["all 0.5", "all 0.5", "all", "all 0.5", "all 0.5"]
    assert [one[:2] for one in spy.log] == [("sample", "all"), *(("fold", name) for name in names)]


def test_a_smaller_sample_comes_out_of_the_smallest_larger_one():
    spy = Spy()
    vault, _ = open_all(spy)
    for share in (0.1, 0.8, 0.4, 0.2):
        vault.ask(SUMS, of(share))
    drawn = [(name, pytest.approx(share)) for what, name, share in spy.log if what == "sample"]
    assert drawn == [("all", 0.1), ("all", 0.8), ("all 0.8", 0.5), ("all 0.8 0.5", 0.5)]


def test_the_ledger_pays_before_a_sample_is_drawn():
    class Watched(Spy):
        def sample(self, coins, *, watch=None):
            paid.append(len(ledger.events))
            raise OSError("the disk is gone")

    paid = []
    vault, ledger = open_all(Watched())
    with pytest.raises(OSError, match="the disk is gone"):
        vault.ask(SUMS, of(0.5))
    with pytest.raises(OSError, match="the disk is gone"):
        vault.ask([SUMS, RowCount()], [of(0.5), of(0.5)])
    assert paid == [1, 3]


def test_a_sample_costs_what_all_rows_cost():
    vault, ledger = open_all(np.zeros((9, 2)))
    vault.ask(SUMS, GDP(0.5))
    vault.ask(SUMS, of(0.01, GDP(0.5)))
    whole, part = ledger.events
    assert (part.scale, part.sensitivity, part.mechanism) == (whole.scale, whole.sensitivity, whole.mechanism)


def test_a_plan_says_of_every_step_what_part_of_the_rows_it_asks():
    planner = Planner(GDP(1.0), Neighbours(Relation.ADD_REMOVE))
    asked = {"counts": (NearestCounts(points=POINTS), 0.3), "sums": (SUMS, 0.2)}
    whole, part = planner.step("one", "", n_points=3, **asked), planner.step("one", "", n_points=3, row_share=0.1, **asked)
    assert [query.row_share for query in whole.queries] == [1.0, 1.0]
    assert [query.row_share for query in part.queries] == [0.1, 0.1]
    assert part["counts"].times(2.0).row_share == 0.1
    assert [replace(query, row_share=1.0) for query in part.queries] == list(whole.queries)  # cost and noise are the same


# -- which rows are in it ----------------------------------------------------------------------------------------------------


def test_a_sample_is_of_its_share_also_where_it_is_drawn_from_a_larger_one():
    vault, _ = open_all(numbered(40_000))
    wanted = {0.02: (800, 180), 1.0: (40_000, 0), 0.6: (24_000, 640), 0.5: (20_000, 640), 0.1: (4000, 380), 0.01: (400, 130)}
    for share, (expected, six) in wanted.items():
        assert abs(size(vault, share) - expected) <= six
        assert size(vault, share) == size(vault, share)
    assert abs(vault.ask(SUMS, of(0.1)).value[0, 0] / size(vault, 0.1) - 0.5) < 0.03  # from all over the table


def test_samples_of_two_vaults_have_nothing_to_do_with_each_other():
    """Under a key that is known beforehand they would be the same."""
    for seeds in ([None] * 12, range(12)):
        sums = [open_all(numbered(400), seed=seed)[0].ask(SUMS, of(0.5)).value[0, 0] for seed in seeds]
        assert len({round(one, 3) for one in sums}) > 6
        assert np.std(sums) > 1  # of 4.1


def test_every_sample_has_a_key_of_its_own():
    """Two samples under one key would be made of the same gaps, stretched."""
    keys = []

    class Keyed(Spy):
        def sample(self, coins, *, watch=None):
            keys.append(coins.key)
            return self

    for _ in range(2):
        vault, _ = open_all(Keyed())
        for share in (0.2, 0.5, 0.3):
            vault.ask(SUMS, of(share))
    assert len(set(keys)) == len(keys) == 6


def test_what_a_row_holds_does_not_decide_whether_it_is_kept(generator):
    """Equal rows have coins of their own, and other rows at the same positions have the same ones."""
    vault, _ = open_all(np.full((4000, 2), 0.25))
    assert abs(size(vault, 0.5) - 2000) < 200
    first = NearestSums(points=np.zeros((1, 2)), radius=2.0)
    kept = []
    for other in (0.0, generator.uniform(-0.3, 0.3, 400), np.full(400, np.nan)):
        table = numbered(400) / 2
        table[:, 1] = other
        kept.append(open_all(table, seed=7)[0].ask(first, of(0.5)).value[0, 0])
    assert kept == [pytest.approx(kept[0], abs=1e-3)] * 3


@pytest.mark.parametrize("question", [SUMS, NearestCounts(points=POINTS), NeighbourMeans(points=POINTS / 2, n_neighbors=3)])
def test_questions_are_answered_on_the_rows_whose_coins_show_heads(question, generator):
    table = generator.normal(scale=0.4, size=(3000, 2))
    vault, _ = open_all(table, seed=4)
    kept = Coins.draw(Entropy(4), 0.2).partition(0).take(3000)
    exact = question.finish(question.exact(FRAME.clean(table[kept]))) * question.unit
    assert np.abs(vault.ask(question, of(0.2)).value - exact).max() < 1e-3 * max(1, np.abs(exact).max())


# -- what is refused ---------------------------------------------------------------------------------------------------------


def test_raw_cells_are_not_sampled():
    vault, ledger = open_all(np.zeros((10, 2)))
    with pytest.raises(
        ParameterError, match=r"ask: expected a question about clean rows for a sample, got .*Ask it of all rows"
    ):
        vault.ask(CellStates(low=np.zeros(2), high=np.ones(2)), of(0.5))
    assert ledger.events == []


def test_questions_asked_together_are_about_the_same_rows():
    vault, ledger = open_all(np.zeros((10, 2)))
    for other in (EXACT, of(0.25)):
        with pytest.raises(ParameterError, match=r"ask: expected one part of the rows for all questions asked together"):
            vault.ask([RowCount(), RowCount()], [of(0.5), other])
    assert ledger.events == []


@pytest.mark.parametrize("share", [0.0, -1.0, 1.5, float("nan"), 1e-12])
def test_what_is_no_part_of_the_rows_is_refused_before_anything_is_paid(share):
    vault, ledger = open_all(np.zeros((10, 2)))
    with pytest.raises(ParameterError, match=r"ask\.row_share: expected .* Pass the part of the rows to ask"):
        vault.ask(RowCount(), of(share))
    assert ledger.events == []


# -- what is kept, and for how long ------------------------------------------------------------------------------------------


def test_another_map_keeps_the_sample(generator):
    table = generator.uniform(-0.6, 0.6, (400, 2))
    vault, _ = open_all(table)
    before = vault.ask(SUMS, of(0.5)).value[0]
    vault.use(Ball(2.0).spread(2).frame())
    assert vault.ask(SUMS, of(0.5)).value[0] == pytest.approx(before / 2, abs=1e-2)


def test_a_sample_is_cleaned_once_and_searched_once_for_each_set_of_points(generator, monkeypatch):
    cleaned, searched = count_calls(monkeypatch, type(FRAME), "clean"), count_calls(monkeypatch, NearestQuestion, "labels")
    vault, _ = open_all(generator.uniform(-1, 1, (5000, 2)))
    total = size(vault, 0.2)
    for points in (POINTS, POINTS, POINTS[:2]):
        vault.ask(NearestCounts(points=points), of(0.2))
        vault.ask(NearestSums(points=points, radius=0.5), of(0.2))
    assert sum(cleaned) == total
    assert sum(searched) == 2 * total


def test_beside_a_sample_all_rows_are_kept_from_the_second_question_on(generator, monkeypatch):
    cleaned = count_calls(monkeypatch, type(FRAME), "clean")
    vault, _ = open_all(generator.uniform(-1, 1, (5000, 2)))
    total = size(vault, 0.2)
    vault.ask(NearestCounts(points=POINTS), of(0.2))
    assert sum(cleaned) == total
    for times in (1, 2, 2, 2):  # keeping does not pay for one question, which is what most fits ask
        vault.ask(NearestCounts(points=POINTS), of(1.0))
        assert sum(cleaned) == total + times * 5000
    vault.ask(NearestCounts(points=POINTS), of(0.2))
    assert sum(cleaned) == total + 10_000


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
def test_every_thread_has_as_many_blocks_as_the_others(n_jobs, generator):
    rows = open_rows(generator.uniform(size=(200_000, 8)), n_jobs=n_jobs)
    lengths = [len(block) for block in rows.sample(Coins.draw(Entropy(1), 0.6)).blocks()]
    assert len(lengths) % n_jobs == 0
    assert max(lengths) - min(lengths) <= len(lengths)
    assert max(lengths) <= 1 << 15


@pytest.fixture(params=["parquet", "csv", "array"])
def table(request, generator, tmp_path):
    rows = generator.uniform(-1, 1, (3000, 2))
    return rows if request.param == "array" else written(rows, tmp_path, request.param)


@pytest.mark.slow
def test_all_that_was_kept_is_dropped_when_the_vault_is_closed(table, monkeypatch):
    kept, clean, made, read, rows = [], type(FRAME).clean, MemoryRows.__init__, Piece._read, open_rows(table)
    blocks = []  # of a file, as they are held

    def spy(self, block):
        rows = clean(self, block)
        kept.append(weakref.ref(rows))
        return rows

    def spy_on_rows(self, *given, **options):
        kept.append(weakref.ref(self))
        made(self, *given, **options)

    def spy_on_blocks(piece, tosses):
        for block in read(piece, tosses):
            blocks.append(weakref.ref(block))
            yield block

    monkeypatch.setattr(Piece, "_read", spy_on_blocks)
    monkeypatch.setattr(type(FRAME), "clean", spy)
    monkeypatch.setattr(MemoryRows, "__init__", spy_on_rows)
    vault, _ = open_all(rows)
    for share in (1.0, 0.5, 0.25):
        vault.ask(NearestCounts(points=POINTS), of(share))
    gc.collect()
    assert sum(one() is not None for one in kept) >= 3
    assert any(one() is not None for one in blocks) or isinstance(table, np.ndarray)
    vault.close(ALL)
    gc.collect()
    assert not any(one() is not None for one in [*kept, *blocks])


def test_progress_is_told_while_a_sample_is_drawn_and_asked(table):
    told = []
    vault, _ = open_all(table, watch=told.append)
    vault.ask(NearestCounts(points=POINTS), of(0.5))
    assert told
    assert told[-1] == 1.0
    assert all(0 <= part <= 1 for part in told)


def test_the_size_of_a_sample_is_told_nowhere(table, caplog, capfd):
    caplog.set_level(logging.DEBUG)
    told = []
    vault, ledger = open_all(table, watch=told.append)
    total = size(vault, 0.37)
    assert 900 < total < 1300
    vault.ask(NearestCounts(points=POINTS), of(0.37, GDP(1.0)))
    said = [
        repr(vault),
        str(vars(vault)),
        str(told),
        caplog.text,
        *capfd.readouterr(),
        repr(vault.close(ALL)),
        str(ledger.events),
    ]
    assert not any(str(total) in one for one in said)


def test_a_file_that_is_gone_is_reported_and_what_was_spent_stays_spent(tmp_path):
    path = written(np.ones((1, 2)), tmp_path, "parquet")
    rows = open_rows(path)
    path.unlink()
    vault, ledger = open_all(rows)
    with pytest.raises(DataError, match=r"the file 'rows\.parquet' cannot be read \(FileNotFoundError\)"):
        vault.ask(SUMS, of(0.5))
    assert len(ledger.events) == 1
