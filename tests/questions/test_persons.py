# SPDX-License-Identifier: Apache-2.0
"""What a person with several rows can do to an answer: whole persons come, go and take one another's place."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cloister.columns import WEIGHT_STEPS, Neighbours, PrivacyUnit, Relation
from cloister.data import Persons, cells_of
from cloister.privacy import GDP, PureDP
from cloister.questions import (
    NearestCounts,
    NearestSums,
    NeighbourMeans,
    RowCount,
    RowsPerUnit,
    deviation,
    price_question,
    sensitivities,
    step_of,
)

ADD, REPLACE = Relation.ADD_REMOVE, Relation.REPLACE
POINT = np.zeros((1, 2))


def persons(relation, max_rows, weighting="row"):
    return Neighbours(relation, PrivacyUnit(max_rows=max_rows, weighting=weighting))


class TestPrices:
    def test_every_row_counts(self):
        near = persons(ADD, 7)
        assert sensitivities(RowCount(), near) == {"l1": 7.0, "l2": 7.0}
        assert sensitivities(NearestCounts(points=POINT), persons(REPLACE, 3))["l1"] == 6.0

    def test_every_person_counts(self):
        near = persons(ADD, 7, "person")
        event = price_question(RowCount(), GDP(0.1), near)
        assert (event.sensitivity, event.unit) == (WEIGHT_STEPS, 1 / WEIGHT_STEPS)
        assert event.standard_deviation == pytest.approx(10.0)

    @pytest.mark.parametrize("cost", [GDP(0.3), PureDP(0.7)])
    def test_noise_in_the_unit_of_the_answer(self, cost):
        question = NearestSums(points=POINT, radius=1.0)
        rows = deviation(question, cost, ADD)
        assert deviation(question, cost, persons(ADD, 6)) == pytest.approx(6 * rows, rel=1e-4)
        assert deviation(question, cost, persons(ADD, 6, "person")) == pytest.approx(rows, rel=1e-4)

    def test_the_epsilon_of_laplace_noise_as_strong_is_that_of_one_row(self):
        for weighting, epsilon in (("row", 0.25), ("person", 1.0)):
            event = price_question(RowCount(), PureDP(1.0), persons(ADD, 4, weighting))
            assert event.laplace_epsilon == pytest.approx(epsilon)

    def test_neighbours_count_at_most_as_many_as_there_are(self):
        one = NeighbourMeans(points=POINT, n_neighbors=3)
        alone = sensitivities(one, ADD)["l2"]
        assert sensitivities(one, persons(ADD, 2))["l2"] == pytest.approx(2 * alone)
        for weighting in ("row", "person"):
            near = persons(REPLACE, 50, weighting)
            assert sensitivities(one, near)["l2"] == pytest.approx(3 * alone)
            assert step_of(one, near) == one.unit

    def test_sizes_can_be_asked_before_it_is_known_how_many_rows_are_used(self):
        event = price_question(RowsPerUnit(starts=(1, 2)), GDP(0.5), Neighbours(ADD, PrivacyUnit()))
        assert (event.sensitivity, event.unit) == (1.0, 1.0)


class TestWeights:
    @given(st.integers(1, 1000))
    def test_a_person_weighs_at_most_one(self, n_rows):
        privacy_unit = PrivacyUnit(max_rows=n_rows, weighting="person")
        assert 0.88 * privacy_unit.steps < n_rows * privacy_unit.weight(n_rows) <= privacy_unit.steps

    def test_rows_of_equal_weight_stand_together(self):
        block = np.array([[1.0, 0, 2], [2.0, 0, 1], [3.0, 1, 2], [4.0, 0, 3]])
        cells = cells_of(block, Persons.of(PrivacyUnit(max_rows=2, weighting="person")))
        assert cells.parts == [(WEIGHT_STEPS, slice(0, 1)), (WEIGHT_STEPS // 2, slice(1, 4))]
        assert cells.features.ravel().tolist() == [2.0, 1.0, 3.0, 4.0]

    def test_no_rows(self):
        cells = cells_of(np.empty((0, 3)), Persons.of(PrivacyUnit(max_rows=2, weighting="person")))
        assert cells.parts == [(1, slice(0, 0))]

    def test_rows_of_a_higher_rank_are_not_used(self):
        unbounded = Persons.of(PrivacyUnit())
        block = np.array([[1.0, 0, 3], [2.0, 1, 3], [3.0, 2, 3]])
        assert cells_of(block, unbounded.limited(2)).features.ravel().tolist() == [1.0, 2.0]
        weighted = Persons.of(PrivacyUnit(weighting="person")).limited(2)
        assert cells_of(block, weighted).parts == [(WEIGHT_STEPS // 2, slice(0, 2))]

    def test_nobody_is_counted_where_a_number_was_stated(self):
        stated = PrivacyUnit(max_rows=2, stated=True)
        assert Persons.of(stated) is None
        assert stated.factor == 2, "it is priced all the same"
        assert Persons.of(None) is None


class TestRelations:
    def test_rows_that_come_or_go_count_where_persons_are_replaced(self):
        """Persons who replace one another may have different numbers of rows: a move of one row more or less counts, too."""

        class Alike(RowCount):
            """Moves where a row comes, and not at all where one is replaced by another."""

            def l1_sensitivity(self, relation):
                return 1.0 if relation is ADD else 0.25

        assert sensitivities(Alike(), persons(REPLACE, 4))["l1"] == 4.0
        assert sensitivities(Alike(), persons(ADD, 4))["l1"] == 4.0


class TestSizes:
    @given(st.lists(st.integers(1, 12), max_size=8))
    def test_every_person_is_counted_once(self, numbers):
        pairs = [[rank, number] for number in numbers for rank in range(number)]
        counts = RowsPerUnit(starts=(1, 2, 5)).exact(np.array(pairs, dtype=float).reshape(-1, 2))
        wanted = [sum(low <= number < high for number in numbers) for low, high in ((1, 2), (2, 5), (5, 13))]
        assert counts.tolist() == wanted
