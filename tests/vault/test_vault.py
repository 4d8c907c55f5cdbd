# SPDX-License-Identifier: Apache-2.0
"""The vault pays first, reads then, adds noise to every number once, and lets nothing else out."""

import copy
import inspect
import pickle

import numpy as np
import pytest
from tests.rows import FewRows
from tests.vaults import open_vault

from cloister import GDP, Ball, Box, PureDP
from cloister.columns import Relation
from cloister.exceptions import BudgetExceeded, LedgerError, ParameterError
from cloister.privacy import Receipt
from cloister.questions import (
    CellStates,
    ColumnBins,
    DistanceHistogram,
    NearestCounts,
    NearestHistograms,
    NearestSquares,
    NearestSums,
    NeighbourMeans,
    RowCount,
    SecondMoments,
)
from cloister.vault import Vault

FRAME = Ball(1.0).spread(2).frame()
POINTS = np.array([[-0.5, 0.0], [0.5, 0.0], [0.0, 0.9]])
QUESTIONS = [
    RowCount(),
    NearestCounts(points=POINTS),
    NearestSums(points=POINTS, radius=0.5),
    NearestSums(points=POINTS[:, :1], radius=1.0, projection=[[1.0], [0.0]]),
    NearestSquares(points=POINTS, radius=0.5),
    DistanceHistogram(edges=[0.5]),
    SecondMoments(center=[0.1, 0.0], radius=0.5),
]


class Spy(FewRows):
    """Rows that write down when they were read, and how much had been debited by then."""

    def __init__(self, ledger=None, failure=None):
        super().__init__()
        self.ledger, self.failure, self.debited = ledger, failure, []

    def fold(self, kernel, *, watch=None, cache=None):
        self.debited.append(len(self.ledger.events) if self.ledger is not None else None)
        if self.failure is not None:
            raise self.failure
        return kernel(np.zeros((5, 2)))


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_ledger_pays_before_the_rows_are_read(question):
    spy = Spy()
    vault, spy.ledger = open_vault(spy)
    for number in range(1, 4):
        vault.ask(question, GDP(1.0))
        assert spy.debited[-1] == number == len(spy.ledger.events)


def test_a_crash_wastes_budget_and_hides_nothing():
    spy = Spy(failure=OSError("the disk is gone"))
    vault, ledger = open_vault(spy)
    spy.ledger = ledger
    with pytest.raises(OSError, match="the disk is gone"):
        vault.ask(RowCount(), GDP(1.0))
    assert [event.question_name for event in ledger.events] == ["row_count"]
    receipt = vault.close(GDP(10.0))
    assert len(receipt.events) == 1
    assert not receipt.seeded
    with pytest.raises(BudgetExceeded, match="closed"):
        vault.ask(RowCount(), GDP(1.0))
    assert len(spy.debited) == 1
    assert ledger.spent.mu == pytest.approx(1.0, rel=1e-6)


def test_a_ledger_that_refuses_is_the_end():
    spy = Spy()
    vault, ledger = open_vault(spy, budget=GDP(1.0))
    spy.ledger = ledger
    with pytest.raises(BudgetExceeded, match=r"Ledger\.debit: 'row_count' does not fit"):
        vault.ask(RowCount(), GDP(2.0))
    assert spy.debited == []
    assert ledger.events == []


class Counted(Spy):
    """Rows that count how often they are read, and hand out real blocks."""

    def __init__(self, blocks):
        super().__init__()
        self.blocks = blocks

    def fold(self, kernel, *, watch=None, cache=None):
        self.debited.append(len(self.ledger.events))
        return sum(kernel(block) for block in self.blocks)


def test_several_questions_are_all_paid_then_answered_in_one_pass(generator):
    rows = generator.uniform(-1, 1, size=(60, 2))
    counted = Counted(np.array_split(rows, 4))
    vault, counted.ledger = open_vault(counted, budget=GDP(1e7))
    together = vault.ask(QUESTIONS, [GDP(1e6)] * len(QUESTIONS))
    assert counted.debited == [len(QUESTIONS)]
    for question, answer in zip(QUESTIONS, together, strict=True):
        alone = vault.ask(question, GDP(1e6))
        assert answer.value.shape == question.shape
        np.testing.assert_allclose(answer.value, alone.value, atol=1e-9 + 12 * alone.sigma)
        assert answer.event.question_name == question.name
    assert [event.question_name for event in counted.ledger.events] == 2 * [question.name for question in QUESTIONS]


def test_one_search_serves_questions_about_the_same_points(monkeypatch, generator):
    searches = []
    search = NearestCounts.labels
    monkeypatch.setattr("cloister.questions._base.NearestQuestion.labels", lambda *args: searches.append(1) or search(*args))
    vault, _ = open_vault(generator.uniform(-1, 1, size=(60, 2)), budget=GDP(100.0))
    alike = [NearestCounts(points=POINTS), *(kind(points=POINTS, radius=0.5) for kind in (NearestSums, NearestSquares))]
    vault.ask([*alike, NearestCounts(points=POINTS[::-1])], [GDP(1.0)] * 4)
    assert len(searches) == 2 * 2  # an empty block, then the rows


def test_a_question_too_many_is_refused_before_the_rows_are_read():
    spy = Spy()
    vault, spy.ledger = open_vault(spy, budget=GDP(1.0))
    with pytest.raises(BudgetExceeded, match=r"Ledger\.debit"):
        vault.ask([RowCount(), RowCount()], [GDP(0.9), GDP(0.9)])
    assert spy.debited == []
    assert len(spy.ledger.events) == 1


@pytest.mark.parametrize(
    "question", [NeighbourMeans(points=POINTS / 2, n_neighbors=2), CellStates(low=np.zeros(2), high=np.ones(2))]
)
def test_answers_that_do_not_add_up_are_asked_alone(question):
    vault, ledger = open_vault(Spy())
    words = rf"ask: expected questions about clean rows whose answers add up, got '{question.name}'\. Ask the others"
    with pytest.raises(ParameterError, match=words):
        vault.ask([RowCount(), question], [GDP(1.0), GDP(1.0)])
    assert ledger.events == []


RAW = np.array([[7.0, np.nan], [0.5, -np.inf], [-0.0, 5e-324], [1e300, -1e300]])


@pytest.mark.parametrize("single_pass", [False, True])
def test_a_question_sees_raw_cells_where_it_says_so_and_clean_rows_otherwise(single_pass):
    vault, _ = open_vault(RAW, GDP(1e9), single_pass=single_pass)
    states = CellStates(low=np.full(2, -1.0), high=np.ones(2))
    sums = NearestSums(points=np.zeros((1, 2)), radius=1.0)
    for _ in range(2):  # blocks that are kept of clean rows do not stand for raw ones, nor these for clean ones
        assert vault.ask(sums, GDP(1e7)).value[0] == pytest.approx(FRAME.clean(RAW).sum(axis=0), abs=1e-3)
        assert np.rint(vault.ask(states, GDP(1e7)).value).tolist() == [[2, 0, 2], [1, 2, 1]]


def test_only_a_question_that_says_so_sees_columns_behind_those_of_the_frame():
    table = np.array([[0.2, np.nan], [np.nan, 0.7], [0.9, 0.1], [0.8, 3.0]])
    frame = Box(0.0, 1.0).spread(1).frame()
    vault, _ = open_vault(table, GDP(1e9), frame=frame)
    bins = (ColumnBins(low=0.0, high=1.0, n_bins=2),)
    centers = frame.to_unit([[0.0], [1.0]])
    for _ in range(2):  # clean rows are kept
        assert np.rint(vault.ask(CellStates(low=np.zeros(1), high=np.ones(1)), GDP(1e7)).value).tolist() == [[3, 1, 0]]
        sums = vault.ask(NearestSums(points=np.zeros((1, 1)), radius=1.0), GDP(1e7)).value
        assert sums == pytest.approx(frame.clean(table[:, :1]).sum(axis=0)[None], abs=1e-3)
        histograms = NearestHistograms(points=centers, frame=frame, columns=(1,), bins=bins)
        assert np.rint(vault.ask(histograms, GDP(1e7)).value).tolist() == [[0, 1, 1], [1, 1, 0]]


def test_another_public_map_is_used_from_then_on_and_nothing_is_returned(generator):
    table = generator.uniform(-1, 1, size=(50, 2))
    table[:20, 0] = np.nan
    vault, ledger = open_vault(table, budget=GDP(1e9))
    sums = NearestSums(points=np.zeros((1, 2)), radius=1.0)
    for frame in (
        FRAME,
        Ball(2.0).spread(2).frame(missing=np.array([0.7, -0.7])),
        Box([-1, -2], [1, 3]).frame(scaling="bounds"),
    ):
        assert vault.use(frame) is None
        assert vault.ask(sums, GDP(1e7)).value[0] == pytest.approx(frame.clean(table).sum(axis=0), abs=1e-3)
    assert len(ledger.events) == 3  # looking in another way is paid for by what is asked, not by itself


@pytest.mark.parametrize("relation", Relation)
@pytest.mark.parametrize("cost", [GDP(0.5), PureDP(0.5)])
@pytest.mark.parametrize("question", QUESTIONS)
def test_the_event_says_what_was_asked_and_how_noisy_the_answer_is(question, cost, relation):
    vault, ledger = open_vault(np.zeros((9, 2)), budget=cost, relation=relation, seed=3)
    answer = vault.ask(question, cost)
    (event,) = ledger.events
    assert event == answer.event
    gaussian = isinstance(cost, GDP)
    assert event.mechanism == ("rounded_gaussian" if gaussian else "discrete_laplace")
    assert event.question_name == question.name
    assert event.size == answer.value.size == np.prod(question.shape)
    assert event.sensitivity == (question.l2_sensitivity if gaussian else question.l1_sensitivity)(relation)
    assert event.unit == question.unit
    assert event.relation == relation.value
    assert event.seeded
    assert event.when
    assert answer.sigma == event.standard_deviation
    spent = event.cost.mu if gaussian else event.cost.epsilon
    assert 0.5 * (1 - 1e-6) <= spent <= 0.5


@pytest.mark.parametrize("question", QUESTIONS)
def test_answers_are_whole_steps_and_close_to_the_truth_when_noise_vanishes(question, generator):
    table = generator.normal(size=(200, 2)) / 2
    vault, _ = open_vault(table, budget=GDP(1e9))
    exact = question.exact(FRAME.clean(table)) * question.unit
    answer = vault.ask(question, GDP(1e8)).value
    assert answer.shape == question.shape
    assert np.array_equal(np.rint(answer / question.unit) * question.unit, answer)
    assert np.abs(answer - exact).max() <= 3 * question.unit * max(1.0, question.l2_sensitivity(Relation.ADD_REMOVE) / 1e8 * 8)


@pytest.mark.parametrize("cost", [GDP(0.01), PureDP(0.01)])
def test_every_number_has_its_own_draw_also_in_empty_cells(cost):
    # Faults 4 and 5: one draw shared by all coordinates, and empty cells left without noise.
    points = np.stack([np.linspace(-0.9, 0.9, 40), np.zeros(40)], axis=1)
    for question in (NearestCounts(points=points), NearestSums(points=points, radius=1.0)):
        vault, _ = open_vault(np.empty((0, 2)), budget=cost)
        noise = vault.ask(question, cost).value
        assert len(np.unique(noise)) > 0.8 * noise.size
        assert np.count_nonzero(noise) > 0.8 * noise.size
        if noise.ndim == 2:  # differences of coordinates are as noisy as the coordinates
            assert np.std(noise[:, 0] - noise[:, 1]) > 0.5 * np.std(noise)


def test_a_vault_neither_prints_nor_travels():
    vault, _ = open_vault(np.full((77, 2), 0.123456789))
    vault.ask(RowCount(), GDP(1.0))
    assert repr(vault) == "<Vault, 1 questions answered>"
    for leave in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match=r"Vault: rows do not leave the vault\. Keep the release instead"):
            leave(vault)


def test_only_ask_returns_a_value():
    assert [name for name in dir(Vault) if not name.startswith("_")] == ["ask", "close", "limit_rows", "use"]
    assert inspect.signature(Vault.use).return_annotation is None
    assert inspect.signature(Vault.close).return_annotation is Receipt


def test_the_receipt_adds_the_events_up_again():
    vault, _ = open_vault(np.zeros((5, 2)))
    for _ in range(4):
        vault.ask(RowCount(), GDP(1.0))
    with pytest.raises(LedgerError, match=r"Receipt: the events add up to more than mu = 1\.9"):
        vault.close(GDP(1.9))
    receipt = vault.close(GDP(2.0))
    assert [event.question_name for event in receipt.events] == ["row_count"] * 4
    assert receipt.neighbours == "add-remove"
