# SPDX-License-Identifier: Apache-2.0
"""The contract of a question: integers that add up over blocks, and a sensitivity that no pair of neighbours exceeds."""

import functools
import inspect
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples
from tests.questions._clipped import check_within, parts_of

from cloister import open_rows, questions, rivals
from cloister.columns import (
    Box,
    Category,
    Flag,
    Neighbours,
    Number,
    PrivacyUnit,
    Relation,
    Table,
    grid_step,
    snap,
)
from cloister.columns._base import pull_in
from cloister.data import Bounding, Persons, choose_rows
from cloister.privacy import PureDP
from cloister.questions import DistanceHistogram, NearestCounts, NearestSums, Question, RowCount, price_question, sensitivities
from cloister.vault import _Kernel

FEATURES = 3
PROJECTED = 2
FRAME = Box(-1.0, 1.0).spread(FEATURES).frame()
LATTICE = FRAME.scale[0] * np.array([-0.75, -0.5, -0.25, 0.0, 0.25, 0.5, 0.75])  # cell borders of the lattice points below


def lattice_points(dimension):
    ticks = np.array([-0.5, 0.0, 0.5])
    return np.stack(np.meshgrid(*[ticks] * dimension), axis=-1).reshape(-1, dimension)


def random_points(seed, count, dimension):
    return np.random.default_rng(seed).uniform(-0.6, 0.6, size=(count, dimension))


def projection_of(seed):
    return np.random.default_rng(seed).normal(size=(FEATURES, PROJECTED)) / PROJECTED**0.5


@functools.cache  # questions are frozen
def make_questions(seed):
    """Return one of each kind, with and without projection, on points that cause ties and on points that do not."""
    flat, half = projection_of(seed), np.full(FEATURES, 3**-0.5)
    lattice, ties = lattice_points(FEATURES), lattice_points(PROJECTED)
    nine, anchors = random_points(seed, 9, FEATURES), random_points(seed + 1, 5, FEATURES)
    some = nine[:5]
    on_ties = {"points": ties, "projection": flat}
    factors = np.ones((2, 3, 2), dtype=int)
    factors[0, 1], factors[1, 2, 0] = 2, 4
    made = {
        "row_count": RowCount(),
        "nearest_counts_one": NearestCounts(points=np.zeros((1, FEATURES))),
        "nearest_counts_lattice": NearestCounts(points=lattice),
        "nearest_counts_random": NearestCounts(points=random_points(seed, 70, FEATURES)),
        "nearest_counts_duplicates": NearestCounts(points=np.vstack([random_points(seed, 4, FEATURES)] * 2)),
        "nearest_counts_projected": NearestCounts(**on_ties),
        "nearest_sums_lattice": NearestSums(points=lattice, radius=0.3),
        "nearest_sums_wide": NearestSums(points=some, radius=4.0),
        "nearest_sums_narrow": NearestSums(points=some, radius=1e-9),
        "nearest_sums_anchored": NearestSums(points=some, radius=0.1, anchors=anchors),
        "nearest_sums_projected": NearestSums(**on_ties, radius=1.0),
        "nearest_sums_projected_narrow": NearestSums(**on_ties, radius=0.3),
        "nearest_sums_projected_anchored": NearestSums(**on_ties, radius=0.2, anchors=nine),
        "nearest_squares_one": questions.NearestSquares(points=np.zeros((1, FEATURES)), radius=FRAME.scale[0] * 0.25),
        "nearest_squares_lattice": questions.NearestSquares(points=lattice, radius=0.3),
        "nearest_squares_wide": questions.NearestSquares(points=some, radius=4.0),
        "nearest_squares_narrow": questions.NearestSquares(points=some, radius=1e-9),
        "nearest_squares_anchored": questions.NearestSquares(points=some, radius=0.1, anchors=anchors),
        "nearest_squares_projected": questions.NearestSquares(**on_ties, radius=0.3),
        "nearest_squares_projected_anchored": questions.NearestSquares(**on_ties, radius=0.2, anchors=nine),
        "second_moments_origin": questions.SecondMoments(center=np.zeros(FEATURES), radius=FRAME.scale[0] * 0.25),
        "second_moments_wide": questions.SecondMoments(center=some[0], radius=4.0),
        "second_moments_clipped": questions.SecondMoments(center=some[0], radius=0.2),
        "second_moments_narrow": questions.SecondMoments(center=some[0], radius=1e-9),
        "histogram_origin": DistanceHistogram(edges=[0.1, 0.25, 0.5, 1.0]),
        "histogram_points": DistanceHistogram(edges=[0.125, 0.25], points=lattice),
        "histogram_anchored": DistanceHistogram(**on_ties, edges=[0.25, 0.5], anchors=nine),
        "histogram_projected": DistanceHistogram(**on_ties, edges=[0.5]),
        "grid_counts": questions.GridCounts(half_widths=half, cells=(2, 3, 4)),
        "split_counts": questions.SplitCounts(half_widths=half, cells=(2, 3, 2), factors=factors),
        "rows_per_unit": questions.RowsPerUnit(starts=(1, 2, 4)),
        # Radii on whose border lattice rows lie, radii that leave nearly all rows out, and radii that leave none out.
        "bounded_counts_lattice": rivals.BoundedCounts(points=lattice, radius=0.25),
        "bounded_counts_narrow": rivals.BoundedCounts(points=some, radius=1e-9),
        "bounded_counts_wide": rivals.BoundedCounts(points=some, radius=4.0),
        "bounded_counts_projected": rivals.BoundedCounts(**on_ties, radius=0.3),
        "bounded_sums_lattice": rivals.BoundedSums(points=lattice, radius=0.25),
        "bounded_sums_random": rivals.BoundedSums(points=some, radius=0.4),
        "bounded_sums_anchored": rivals.BoundedSums(points=some, radius=0.5, anchors=anchors),
        "bounded_sums_projected": rivals.BoundedSums(**on_ties, radius=0.7),
    }
    for name, points in {"": some / 2, "_ties": lattice}.items():
        given = {"points": points, "n_neighbors": 3 if name else 2}
        made[f"neighbour_means{name}"] = questions.NeighbourMeans(**given)
        made[f"neighbour_distance{name}"] = questions.NeighbourDistance(**given, weights=np.arange(len(points)))
    return {**made, **raw_questions(seed), **hash_questions(seed), **tree_questions(seed, flat)}


def raw_questions(seed):
    """Return histograms of raw cells: bounds on which cells lie, few and many columns, ends that overflow; missing cells."""
    declared = Table((Number(-0.5, 1.5, missing="own"), Category(["a", "b", "c"]), Flag(weight=2))).frame()
    some, ends = random_points(seed, 4, FEATURES), {"low": np.full(FEATURES, -0.5), "high": np.full(FEATURES, 0.5)}
    all_columns = {"columns": tuple(range(FEATURES))}
    return {
        "cell_states": questions.CellStates(**ends),
        "cell_states_uneven": questions.CellStates(low=np.array([-1.0, 0.0, 1e-300]), high=np.array([1.0, 2.0, 1e300])),
        "column_magnitudes": questions.ColumnMagnitudes(**all_columns),
        "column_magnitudes_one": questions.ColumnMagnitudes(columns=(1,)),
        "column_intervals": questions.ColumnIntervals(**all_columns, **ends, n_intervals=8),
        "column_intervals_two": questions.ColumnIntervals(
            columns=(2, 0), low=np.array([-1.7e308, 0.0]), high=np.array([1.7e308, 5e-324]), n_intervals=3
        ),
        "nearest_missing": questions.NearestMissing(points=some, frame=FRAME, **all_columns, lowest=np.full(FEATURES, -np.inf)),
        "nearest_missing_declared": questions.NearestMissing(
            points=random_points(seed, 4, declared.n_features), frame=declared, columns=(0, 2), lowest=np.array([-np.inf, 0.0])
        ),
        **histogram_questions(seed, declared),
    }


def histogram_questions(seed, declared):
    """Return histograms by nearest point: borders on which cells lie, ends that overflow, levels, columns beyond the frame."""
    some, narrow = random_points(seed, 4, FEATURES), Box(-1.0, 1.0).spread(1).frame()
    border, wide = {"low": -0.5, "high": 0.5, "n_bins": 4}, {"low": -1.7e308, "high": 1.7e308, "n_bins": 3}
    levels = questions.ColumnBins.of_levels(2)
    return {
        "nearest_histograms": questions.NearestHistograms(
            points=some, frame=FRAME, columns=tuple(range(FEATURES)), bins=(questions.ColumnBins(**border),) * FEATURES
        ),
        "nearest_histograms_declared": questions.NearestHistograms(
            points=random_points(seed, 4, declared.n_features),
            frame=declared,
            columns=(2, 0),
            bins=(levels, questions.ColumnBins(**wide)),
        ),
        "nearest_histograms_beyond_the_frame": questions.NearestHistograms(
            points=some[:, :1], frame=narrow, columns=(1, 2), bins=(levels, questions.ColumnBins(**border))
        ),
    }


def seen(question, rows):
    """Return rows as a question sees them: raw, where it says so, else clean."""
    return np.asarray(rows, dtype=float) if question.raw else FRAME.clean(rows)


def hash_questions(seed):
    """Return nodes of one level, leaves of several, and the root; by hyperplanes on which rows lie and by others."""
    normals = np.random.default_rng(seed).normal(size=(FEATURES, 6)) / 3
    skew = {"normals": normals, "offsets": random_points(seed, 6, 1)[:, 0] / 3}
    straight = {"normals": np.eye(FEATURES), "offsets": np.zeros(FEATURES)}
    leaves = [4, 5, 12, 13, 7]
    return {
        "hash_counts_root": rivals.HashCounts(**skew, nodes=[1]),
        "hash_counts_level": rivals.HashCounts(**skew, nodes=range(16, 32)),
        "hash_counts_some": rivals.HashCounts(**straight, nodes=[12, 9]),
        "hash_sums_leaves": rivals.HashSums(**skew, nodes=leaves, radius=1.0),
        "hash_sums_border": rivals.HashSums(**straight, nodes=leaves, radius=0.3),
        "hash_sums_narrow": rivals.HashSums(**skew, nodes=[3, 2], radius=0.05),
    }


def tree_questions(seed, flat):
    """Return lists of cubes with borders on which rows lie, and costs of swaps and of sets, of which some points coincide."""
    cubes = np.stack(np.meshgrid(*[np.arange(4)] * FEATURES), axis=-1).reshape(-1, FEATURES)
    grid = {"side": 0.5, "per_axis": 4}
    centers, candidates = random_points(seed, 3, FEATURES), random_points(seed + 1, 9, FEATURES)
    ties = lattice_points(PROJECTED)
    return {
        "cube_counts_all": rivals.CubeCounts(corner=[-1.0] * FEATURES, cubes=cubes, **grid),
        "cube_counts_some": rivals.CubeCounts(corner=[-0.9] * FEATURES, cubes=cubes[::7], **grid),
        "cube_counts_projected": rivals.CubeCounts(corner=[-1.0] * PROJECTED, cubes=[[1, 2], [0, 0]], projection=flat, **grid),
        "swap_costs": rivals.SwapCosts(centers=centers, candidates=np.vstack([centers, candidates]), cap=0.2),
        "swap_costs_one": rivals.SwapCosts(centers=centers[:1], candidates=candidates, cap=16.0),
        "swap_costs_projected": rivals.SwapCosts(centers=ties[:4], candidates=ties, cap=2.0**-6, projection=flat),
        "set_costs": rivals.SetCosts(sets=candidates.reshape(3, 3, FEATURES), cap=0.2),
        "set_costs_one": rivals.SetCosts(sets=centers[None], cap=0.5),
        "set_costs_projected": rivals.SetCosts(sets=np.stack([ties, -ties]), cap=0.1, projection=flat),
    }


def answer(question, *blocks):
    """Return what a question says of a table cut into blocks."""
    return question.finish(functools.reduce(question.merge, (question.exact(block) for block in blocks)))


NAMES = sorted(make_questions(0))


@pytest.fixture(params=NAMES)
def question(request, seed):
    return make_questions(seed)[request.param]


def test_every_public_question_keeps_this_contract():
    public = {one for room in (questions, rivals) for one in vars(room).values() if isinstance(one, type)}
    kinds = {kind for kind in public if issubclass(kind, Question) and not inspect.isabstract(kind)}
    assert kinds == {type(question) for question in make_questions(0).values()}


def test_answers_are_integers_of_the_stated_shape(question, generator):
    for rows in (np.empty((0, FEATURES)), generator.normal(size=(50, FEATURES))):
        found = answer(question, seen(question, rows))
        assert found.dtype == np.int64
        assert found.shape == question.shape


def test_no_rows_give_zero(question):
    assert not answer(question, np.empty((0, FEATURES))).any()


def test_answers_add_up_over_any_cut_and_any_order(question, generator):
    rows = seen(question, hostile_rows(generator, 300))
    whole = answer(question, rows)
    for pieces in (1, 3, 7, 300):
        parts = np.array_split(rows, pieces)
        assert np.array_equal(answer(question, *parts[::-1]), whole)
        assert np.array_equal(answer(question, rows[:0], *parts, rows[:0]), whole)
    assert np.array_equal(answer(question, rows[generator.permutation(len(rows))]), whole)
    assert np.array_equal(answer(question, np.asfortranarray(rows)), whole)


def test_asking_leaves_the_rows_as_they_were(question, generator):
    rows = seen(question, hostile_rows(generator, 40))
    before = rows.copy()
    rows.setflags(write=False)
    question.exact(rows)
    assert np.array_equal(rows, before, equal_nan=True)


def test_a_question_is_frozen_public_data(question):
    with pytest.raises(AttributeError, match="cannot assign"):
        question.shape = None
    for value in vars(question).values():
        if isinstance(value, np.ndarray) and value.flags.owndata:
            assert not np.shares_memory(value, lattice_points(FEATURES))


def test_every_step_is_worth_something(question):
    assert 0 < question.unit <= 1
    assert question.l2_sensitivity(Relation.ADD_REMOVE) * 10**10 < 2**63, "sums of ten billion rows fit into 64 bits"


def test_sensitivities_are_ordered(question):
    for relation in Relation:
        l1, l2 = question.l1_sensitivity(relation), question.l2_sensitivity(relation)
        assert 0 < l2 <= l1
        assert 0 < question.span_sensitivity(relation) <= 2 * l1
    for bound in (question.l1_sensitivity, question.l2_sensitivity):
        assert bound(Relation.ADD_REMOVE) <= bound(Relation.REPLACE) <= 2 * bound(Relation.ADD_REMOVE)


# -- neighbours ----------------------------------------------------------------------------------------------------------

VALUES = st.one_of(
    st.floats(-1.5, 1.5),
    st.sampled_from([*LATTICE, -1.0, 1.0]),
    st.sampled_from([math.nan, math.inf, -math.inf, 1e300, -1e300, 1e12, -0.0, 5e-324, -5e-324, 2.0]),
)
ROW = st.lists(VALUES, min_size=FEATURES, max_size=FEATURES)


@st.composite
def neighbours(draw):
    """Two tables that differ in one row, at any place, among rows that repeat, lie on borders, outside, or nowhere."""
    table = draw(st.lists(ROW, max_size=6))
    if table and draw(st.booleans()):
        table = table + [table[0]] * draw(st.integers(1, 3))
    relation = draw(st.sampled_from(Relation))
    place = draw(st.integers(0, len(table)))
    left = [*table[:place], draw(ROW), *table[place:]]
    right = [*table[:place], *([draw(ROW)] if relation is Relation.REPLACE else []), *table[place:]]
    return np.array(left).reshape(-1, FEATURES), np.array(right).reshape(-1, FEATURES), relation


@pytest.mark.parametrize("name", NAMES)
@examples(60)
@given(pair=neighbours(), seed=st.integers(0, 3))
def test_neighbours_stay_within_the_claimed_distance(name, pair, seed):
    left, right, relation = pair
    question = make_questions(seed)[name]
    check_within(question, answer(question, seen(question, left)) - answer(question, seen(question, right)), relation)


# -- persons -------------------------------------------------------------------------------------------------------------


@st.composite
def whole_persons(draw):
    """Two tables that differ in all rows of one person, who comes or goes or is replaced by one with another number of rows.

    Persons have up to nine rows, among them copies and rows that others have as well; at most one, two or five are used.
    """
    few = draw(st.lists(ROW, min_size=1, max_size=4))
    person = st.lists(st.one_of(st.sampled_from(few), ROW), min_size=1, max_size=9)
    others = draw(st.lists(person, max_size=3))
    relation = draw(st.sampled_from(Relation))
    left, right = [*others, draw(person)], [*others, *([draw(person)] if relation is Relation.REPLACE else [])]
    max_rows, weighting = draw(st.sampled_from([1, 2, 5])), draw(st.sampled_from(["row", "person"]))
    return left, right, Neighbours(relation, PrivacyUnit(max_rows=max_rows, weighting=weighting))


def table_of(persons, generator):
    """Return the rows of persons in any order, each with two numbers that say whose it is."""
    rows = [[*row, 2.0**50 * index, 7.0] for index, person in enumerate(persons) for row in person]
    return generator.permutation(np.array(rows).reshape(-1, FEATURES + 2))


def answer_of_persons(question, persons, near, key, generator):
    """Return what the vault would say of the rows that are used of all persons, cut into blocks."""
    used = choose_rows(table_of(persons, generator), Bounding(key, near.privacy_unit.max_rows))
    kernel = _Kernel(question, FRAME, Persons.of(near.privacy_unit))
    parts = [kernel(part) for part in np.array_split(used, 3)]
    return question.finish(functools.reduce(kernel.merge, parts))


@pytest.mark.parametrize("name", NAMES)
@examples(20)
@given(pair=whole_persons(), seed=st.integers(0, 3), key=st.binary(min_size=32, max_size=32))
def test_whole_persons_stay_within_the_claimed_distance(name, pair, seed, key):
    left, right, near = pair
    question, generator = make_questions(seed)[name], np.random.default_rng(seed)
    one, other = (answer_of_persons(question, persons, near, key, generator) for persons in (left, right))
    moves = one - other
    parts_of(moves, **sensitivities(question, near))
    if question.selects:
        assert max(moves.max(), 0) - min(moves.min(), 0) <= price_question(question, PureDP(1.0), near).sensitivity


@pytest.mark.parametrize("weighting", ["row", "person"])
@pytest.mark.parametrize("relation", Relation)
def test_the_claim_for_persons_is_reached_where_that_for_rows_is(weighting, relation, generator):
    """Counts and sums: a person whose rows are all alike comes, or takes the place of one whose rows are all opposite."""
    near = Neighbours(relation, PrivacyUnit(max_rows=4, weighting=weighting))
    ends = FRAME.scale[0] * np.array([0.5, 0.0, 0.0])
    points = np.array([[0.5, 0.0, 0.0], [-0.5, 0.0, 0.0]])
    persons = [[ends.tolist()] * 6], [[(-ends).tolist()] * 4] if relation is Relation.REPLACE else []
    for norm, question in enumerate([NearestCounts(points=points), NearestSums(points=points[:1] * 0, radius=0.5)]):
        left, right = (answer_of_persons(question, one, near, bytes(32), generator) for one in persons)
        assert parts_of(left - right, **sensitivities(question, near))[norm] == pytest.approx(1, rel=1e-6)


HOSTILE = (math.nan, math.inf, -math.inf, 1.7e308, -1e300, 5e-324, -5e-324, -0.0, 0.0, -1.0, 2.0, 0.5, 1e-300)


def test_every_raw_cell_is_counted_once_in_its_own_column():
    """Whatever a cell holds, it is in one bin of its column; and a cell of another column changes nothing there."""
    table = np.array(np.meshgrid(*[HOSTILE] * FEATURES)).reshape(FEATURES, -1).T
    for name, one in raw_questions(0).items():
        counted = one.exact(table)
        if name.startswith("nearest"):
            assert (counted.sum(axis=0) <= len(table)).all()
            continue
        assert counted.sum(axis=1).tolist() == [len(table)] * one.shape[0], name
        alone = np.stack([one.exact(np.full((1, FEATURES), value)) for value in HOSTILE]).sum(axis=0)
        assert np.array_equal(counted, len(table) // len(HOSTILE) * alone), name


REACHED = pytest.approx((1, 1), rel=1e-12)


@pytest.mark.parametrize("name", sorted(raw_questions(0)))
def test_the_bounds_of_raw_histograms_are_attained(name):
    one = raw_questions(0)[name]
    here, there = np.full((1, FEATURES), math.nan), np.full((1, FEATURES), 0.25)
    assert check_within(one, one.exact(here) - one.exact(here[:0]), Relation.ADD_REMOVE) == REACHED
    if not name.startswith("nearest"):  # these need another nearest point, too: below
        assert check_within(one, one.exact(here) - one.exact(there), Relation.REPLACE) == REACHED


ENDS = {"points": np.array([[-0.5, 0.0, 0.0], [0.5, 0.0, 0.0]]), "frame": FRAME}


@pytest.mark.parametrize(
    ("question", "here", "there"),
    [
        (
            questions.NearestMissing(**ENDS, columns=(1, 2), lowest=np.full(2, -np.inf)),
            [1.0, math.nan, math.inf],
            [-1.0, -math.inf, math.nan],
        ),
        (
            questions.NearestHistograms(
                **ENDS, columns=(0, 1, 2), bins=(questions.ColumnBins(low=0.0, high=1.0, n_bins=2),) * FEATURES
            ),
            [1.0, 0.2, math.nan],
            [-1.0, 0.2, math.nan],
        ),
    ],
    ids=["missing", "histograms"],
)
def test_the_bounds_of_raw_cells_by_nearest_point_are_attained(question, here, there):
    moves = question.exact(np.array([here])) - question.exact(np.array([there]))
    assert check_within(question, moves, Relation.REPLACE) == REACHED
    check_within(question, question.exact(np.array([here])) - question.exact(np.array([[1.0, 0.9, 0.1]])), Relation.REPLACE)


@pytest.mark.parametrize(
    "question",
    [
        NearestCounts(points=[[-0.5], [0.5]]),
        DistanceHistogram(edges=[0.3]),
        DistanceHistogram(edges=[0.3], points=[[0.0]]),
        NearestCounts(points=[[-0.5], [0.5]], projection=[[1.0]]),
        questions.GridCounts(half_widths=[1.0], cells=(2,)),
        rivals.BoundedCounts(points=[[-0.5], [0.5]], radius=0.5),
        rivals.HashCounts(normals=[[1.0]], offsets=[0.0], nodes=[2, 3]),
        rivals.CubeCounts(corner=[-1.0], side=1.0, per_axis=2, cubes=[[0], [1]]),
    ],
)
def test_the_bounds_of_counts_are_attained(question):
    here, there = snap(np.array([[0.1]])), snap(np.array([[-0.9]]))
    for relation, other in ((Relation.ADD_REMOVE, here[:0]), (Relation.REPLACE, there)):
        assert check_within(question, question.exact(here) - question.exact(other), relation) == REACHED


@pytest.mark.parametrize("n_features", [1, 4, 16])
@pytest.mark.parametrize("projected", [False, True])
def test_the_bounds_of_sums_are_attained(n_features, projected):
    flat = np.eye(n_features)[:, :1] if projected else None
    points, plane = np.zeros((1, 1 if projected else n_features)), np.eye(n_features)[:, :1]
    kinds = [kind(points=points, radius=0.5, projection=flat) for kind in (NearestSums, rivals.BoundedSums)]
    diagonal = snap(np.full((1, n_features), 0.5 / n_features**0.5))  # its l1 norm is sqrt(d) times its l2 norm
    for question in (*kinds, rivals.HashSums(normals=plane, offsets=[0.0], nodes=[1], radius=0.5)):
        for relation, other in ((Relation.ADD_REMOVE, diagonal[:0]), (Relation.REPLACE, -diagonal)):
            assert check_within(question, question.exact(diagonal) - question.exact(other), relation) == REACHED


@pytest.mark.fast("1-*", "8-*", "784-False")
@pytest.mark.parametrize(
    ("n_features", "projected"),
    [(number, False) for number in (1, 2, 3, 8, 33, 128, 784)] + [(number, True) for number in (1, 2, 8, 33)],
)
def test_clipped_offsets_are_no_longer_than_the_radius(n_features, projected, generator):
    rows = pull_in(snap(generator.normal(size=(400, n_features)) / n_features**0.5))
    flat = np.eye(n_features)[:, :1] if projected else None
    for radius in (1e-6, 0.1, 1.0, 0.7071067811865476):
        points = snap(generator.normal(size=(3, 1 if projected else n_features)) / 10)
        question = NearestSums(points=points, radius=radius, projection=flat)
        limit = int(question.l2_sensitivity(Relation.ADD_REMOVE)) ** 2
        assert question.radius <= radius or question.radius == grid_step(n_features)
        for row in rows:
            steps = [int(step) for step in question.exact(row[None]).ravel()]
            assert sum(step * step for step in steps) <= limit


def hostile_rows(generator, count):
    rows = generator.normal(size=(count, FEATURES))
    rows[::5] = generator.choice(LATTICE, size=rows[::5].shape)
    rows[1] = rows[2]
    rows[3, 0], rows[4, 1], rows[6, 2], rows[7, 0] = math.nan, math.inf, 1e300, -0.0
    return rows


# -- samples of neighbours: the same coins for the rows that both have ---------------------------------------------------------


class GivenCoins:
    """Coins of one partition, as a list."""

    def __init__(self, shown):
        self._shown = np.array(shown, dtype=bool)

    def partition(self, number):
        assert number == 0
        return self

    def take(self, count):
        shown, self._shown = self._shown[:count], self._shown[count:]
        assert len(shown) == count
        return np.flatnonzero(shown)


@st.composite
def coupled_neighbours(draw):
    """Neighbours, and coins for the positions of each: those of a row that both have are the same, wherever it stands."""
    table = draw(st.lists(ROW, max_size=6))
    relation = draw(st.sampled_from(Relation))
    kept = draw(st.lists(st.booleans(), min_size=len(table), max_size=len(table)))
    place, own = draw(st.integers(0, len(table))), draw(st.booleans())
    replaced = [(draw(ROW), own)] if relation is Relation.REPLACE else []
    rows = list(zip(table, kept, strict=True))
    return [*rows[:place], (draw(ROW), own), *rows[place:]], [*rows[:place], *replaced, *rows[place:]], relation


@pytest.mark.parametrize("name", sorted(name for name, question in make_questions(0).items() if not question.raw))
@examples(20)
@given(pair=coupled_neighbours(), seed=st.integers(0, 3))
def test_samples_of_neighbours_stay_within_the_claimed_distance(name, pair, seed):
    *tables, relation = pair
    question = make_questions(seed)[name]
    answers = []
    for table in tables:
        rows = np.array([row for row, _ in table]).reshape(-1, FEATURES)
        sample = open_rows(rows, n_jobs=1).sample(GivenCoins([shown for _, shown in table]))
        answers.append(answer(question, *(seen(question, block) for block in (rows[:0], *sample.blocks()))))
    check_within(question, answers[0] - answers[1], relation)
