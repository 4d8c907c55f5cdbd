# SPDX-License-Identifier: Apache-2.0
"""Chains and trees of merges: what the receipt states covers whatever one person may have taken part in.

What a person may have spent is computed here anew, from the scale and sensitivity of every event: all ways to take part are
written out, and each is held against the guarantee by formulas of this file.
"""

import copy
import math
from dataclasses import dataclass, replace
from itertools import chain, product
from statistics import NormalDist

import numpy as np
import pytest

from cloister import GridSynopsis
from cloister.columns import PrivacyUnit
from cloister.exceptions import LedgerError, ParameterError, ReleaseError
from cloister.privacy import GDP, ZCDP, ApproxDP, PureDP, Receipt
from cloister.report import synopsis_html, synopsis_summary
from cloister.synopsis import read_synopsis

SLACK = 1 + 1e-9
DELTA_SLACK = 1 + 1e-6  # a delta moves far more than the mu behind it
NORMAL = NormalDist()
GUARANTEES = (PureDP(0.5), PureDP(2.0), ApproxDP(0.3, 1e-6), ApproxDP(2.0, 1e-5), ZCDP(0.02), ZCDP(1.0), GDP(0.4), GDP(2.0))
PERSONS = (None, {"max_rows_per_unit": 2}, {"max_rows_per_unit": 5})


# -- the same, by other formulas -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Leaf:
    """A fit."""

    synopsis: object

    def ways(self):
        return [list(self.synopsis.receipt.events)]

    def promises(self):
        return [[budget_of(self.synopsis.receipt.guarantee)]]


@dataclass(frozen=True)
class Merge:
    """A merge, with what it makes."""

    rows: str
    left: object
    right: object
    synopsis: object

    def ways(self):
        """Return every list of events that one person may have taken part in."""
        return self._together(self.left.ways(), self.right.ways())

    def promises(self):
        """Return what every such list could have cost at most: whether it is Gaussian, and its mu or epsilon."""
        return self._together(self.left.promises(), self.right.promises())

    def _together(self, left, right):
        return left + right if self.rows == "disjoint" else [one + other for one, other in product(left, right)]


def budget_of(guarantee):
    """Return what a fit reserves: whether its noise is Gaussian, and mu or epsilon."""
    if isinstance(guarantee, PureDP):
        return False, guarantee.epsilon
    if isinstance(guarantee, GDP):
        return True, guarantee.mu
    if isinstance(guarantee, ZCDP):
        return True, math.sqrt(2 * guarantee.rho)
    low, high = 0.0, 100.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if gaussian_delta(middle, guarantee.epsilon) <= guarantee.delta else (low, middle)
    return True, low / (1 + 1e-8)  # calibration leaves some slack


def ratio_of(event):
    return event if isinstance(event, tuple) else (event.mechanism == "rounded_gaussian", event.sensitivity / event.scale)


def loss(events):
    """Return mu squared of Gaussian events, and the epsilons of all others."""
    ratios = [ratio_of(event) for event in events]
    return math.fsum(one**2 for gaussian, one in ratios if gaussian), [one for gaussian, one in ratios if not gaussian]


def total_mu_squared(events):
    squared, pure = loss(events)
    return squared + math.fsum((2 * NORMAL.inv_cdf(1 / (1 + math.exp(-one)))) ** 2 for one in pure)


def rho(events):
    squared, pure = loss(events)
    return squared / 2 + math.fsum(one**2 / 2 for one in pure)


def gaussian_delta(mu, epsilon):
    def tail(x):
        return math.erfc(x / math.sqrt(2)) / 2

    return tail(epsilon / mu - mu / 2) - math.exp(epsilon) * tail(epsilon / mu + mu / 2)


def covers(guarantee, events):
    squared, pure = loss(events)
    is_pure = squared == 0
    if isinstance(guarantee, PureDP):
        return is_pure and math.fsum(pure) <= guarantee.epsilon * SLACK
    if isinstance(guarantee, ZCDP):
        return rho(events) <= guarantee.rho * SLACK
    if isinstance(guarantee, GDP):
        return total_mu_squared(events) <= guarantee.mu**2 * SLACK
    if is_pure and math.fsum(pure) <= guarantee.epsilon * SLACK:
        return True
    mu = math.sqrt(total_mu_squared(events))
    return mu == 0 or gaussian_delta(mu, guarantee.epsilon) <= guarantee.delta * DELTA_SLACK


# -- random trees --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def pools():
    """Return fits of tiny tables under all guarantees: of rows and of persons, and under both relations."""
    table, ids = np.full((6, 2), 0.5), list("aabbcd")

    def fit(guarantee, persons, neighbours, count):
        given = {"guarantee": guarantee, "bounds": (0, 1), "rule": 2, "neighbours": neighbours, "missing": "middle"}
        model = GridSynopsis(2, **given, **(persons or {}), n_rows=count)
        return model.fit(table, **({} if persons is None else {"privacy_unit": ids})).synopsis_

    return [
        [fit(one, persons, neighbours, count) for one in GUARANTEES for persons in which for count in (None, 6)]
        for which in ((None,), PERSONS[1:])
        for neighbours in ("add-remove", "replace")
    ]


def bounds_of(tree):
    """Return how many rows of a person the fits use."""
    one = tree.synopsis.receipt.privacy_unit
    return {one and one.max_rows} if isinstance(tree, Leaf) else bounds_of(tree.left) | bounds_of(tree.right)


def grow(generator, pool, n_leaves):
    """Merge random fits in a random tree; what cannot be counted twice, as other rows are used, is merged as disjoint.

    Some are merged with themselves, and some have been saved and loaded on the way.
    """
    trees = [Leaf(pool[generator.integers(len(pool))]) for _ in range(n_leaves)]
    while len(trees) > 1:
        left, right = (trees.pop(generator.integers(len(trees))) for _ in range(2))
        trees.append(merged(generator, left, right))
        if generator.random() < 0.1:
            trees.append(merged(generator, trees[-1], trees.pop()))
    return trees[0]


def merged(generator, left, right):
    same = generator.random() < 0.45 and bounds_of(left) == bounds_of(right)
    rows = "same" if same else "disjoint"
    synopsis = travelled(generator, left.synopsis).merge(right.synopsis, rows=rows)
    return Merge(rows, left, right, travelled(generator, synopsis))


def travelled(generator, synopsis):
    """Return a synopsis as it is, or from a file, of two kinds."""
    way = generator.integers(6)
    return synopsis if way > 1 else read_synopsis(synopsis.to_bytes(["json", "parquet"][way]), name="a file")


def check_tree(tree):
    receipt, ways = tree.synopsis.receipt, tree.ways()
    for events in chain(ways, tree.promises()):
        assert covers(receipt.guarantee, events)
    assert receipt.promised.all_mu**2 == pytest.approx(max(map(total_mu_squared, tree.promises())), rel=1e-6)
    assert receipt.promised.rho == pytest.approx(max(map(rho, tree.promises())), rel=1e-6)
    # And no more than that is stated: each number is that of the one who has spent most.
    assert receipt.spent.all_mu**2 == pytest.approx(max(map(total_mu_squared, ways)), rel=1e-6)
    assert receipt.spent.rho == pytest.approx(max(map(rho, ways)), rel=1e-9)
    assert receipt.spent.epsilon_sum == pytest.approx(max(math.fsum(loss(events)[1]) for events in ways), rel=1e-9)
    assert receipt.spent.mu_squared == pytest.approx(max(loss(events)[0] for events in ways), rel=1e-9)
    for guarantee in GUARANTEES:
        if not receipt.spent.fits(guarantee):
            assert not all(covers(guarantee.with_strength(guarantee.strength / SLACK**2), events) for events in ways)
        else:
            assert all(covers(guarantee, events) for events in ways)
    assert Receipt.from_dict(receipt.to_dict()) == receipt
    assert (receipt.privacy_unit and receipt.privacy_unit.max_rows) == max(bounds_of(tree), key=lambda rows: rows or 0)


def test_the_guarantee_of_a_tree_of_merges_covers_every_way_to_take_part(pools, seed):
    generator = np.random.default_rng(seed)
    for index in range(60):
        check_tree(grow(generator, pools[index % len(pools)], int(generator.integers(2, 8))))


# -- the chains that once stated too little ------------------------------------------------------------------------------


def of_mu(fit, *strengths):
    return (fit(rule=4, guarantee=GDP(mu), missing="middle") for mu in strengths)


def test_a_chain_of_disjoint_tables_covers_the_people_of_the_middle_one(fit):
    first, weak, last = of_mu(fit, 0.5, 2.36, 0.5)
    for chained in (first.merge(weak).merge(last), weak.merge(first).merge(last), last.merge(first.merge(weak))):
        assert chained.receipt.guarantee == GDP(2.36)
        assert chained.receipt.spent.all_mu == pytest.approx(2.36, rel=1e-6)
    # The first promised as little as the weak one, but spent less: what follows must not forget the events of the weak one.
    idle = replace(first, receipt=replace(first.receipt, guarantee=GDP(2.36)))
    receipt = idle.merge(weak).merge(last).receipt
    assert receipt.guarantee == GDP(2.36)
    assert receipt.spent.all_mu == pytest.approx(2.36, rel=1e-6)


def test_one_table_counted_again_after_a_disjoint_merge(fit):
    small, weak, again = of_mu(fit, 0.5, 2.36, 0.39)
    idle = replace(small, receipt=replace(small.receipt, guarantee=GDP(2.36)))
    receipt = idle.merge(weak).merge(again, rows="same").receipt
    assert receipt.guarantee.mu == pytest.approx(math.hypot(2.36, 0.39), rel=1e-6)
    assert len(receipt.events) == 3 * len(weak.receipt.events)


def test_worst_depends_on_the_guarantee(fit):
    """Pure noise is worst where epsilons count, Gaussian noise where they do not."""
    pure, gaussian = fit(rule=4, epsilon=1.0, missing="middle"), fit(rule=4, guarantee=GDP(0.9), missing="middle")
    spent = pure.merge(gaussian).receipt.spent
    assert spent.epsilon_sum == pytest.approx(1.0)
    assert spent.all_mu == pytest.approx(max(0.9, pure.receipt.spent.all_mu), rel=1e-6)
    assert not spent.fits(PureDP(100.0))
    assert spent.describe(PureDP(1.0)) == "epsilon inf"
    assert spent.epsilon_at(1e-6) == max(one.receipt.spent.epsilon_at(1e-6) for one in (pure, gaussian))
    assert spent.delta_at(0.5) == max(one.receipt.spent.delta_at(0.5) for one in (pure, gaussian))
    assert pure.merge(gaussian).receipt.guarantee == GDP(pure.merge(gaussian).receipt.promised.all_mu)


def test_the_guarantee_covers_what_was_promised_not_only_what_was_spent(fit):
    """What was spent may depend on answers; composition is about totals that were fixed before the first one."""
    one, other = of_mu(fit, 0.5, 0.5)
    frugal = replace(one, receipt=replace(one.receipt, guarantee=GDP(2.0)))
    assert frugal.merge(other, rows="same").receipt.guarantee.mu == pytest.approx(math.hypot(2.0, 0.5), rel=1e-6)
    assert frugal.merge(other).receipt.guarantee == other.merge(frugal).receipt.guarantee == GDP(2.0)
    assert frugal.merge(other).receipt.spent.all_mu == pytest.approx(0.5, rel=1e-6)


def test_guarantees_of_different_kinds_are_stated_in_terms_that_cover_both(fit):
    one, other = (fit(rule=4, guarantee=guarantee, missing="middle") for guarantee in (ZCDP(0.5), PureDP(3.0)))
    stated = one.merge(other).receipt.guarantee
    assert isinstance(stated, ZCDP)
    assert stated.rho == pytest.approx(4.5)
    approx = fit(rule=4, guarantee=ApproxDP(1.0, 1e-6), missing="middle")
    twice = approx.merge(approx, rows="same").receipt.guarantee
    assert twice.delta == 1e-6
    assert twice.epsilon == pytest.approx(approx.receipt.spent.epsilon_at(1e-6) * math.sqrt(2), rel=0.1)


# -- what it says --------------------------------------------------------------------------------------------------------


def test_a_merged_receipt_says_what_it_rests_on(fit):
    one, other = (fit(rule=4, epsilon=epsilon, missing="middle", neighbours="replace") for epsilon in (2.0, 1.0))
    words = " ".join(one.merge(other).receipt.explain())
    assert "Merged from 2 fits. That tables share no row was stated, not checked." in words
    assert "A row that is replaced stays in its table." in words
    assert "Spent: epsilon 2, in 2 noisy answers" in words
    words = " ".join(one.merge(other, rows="same").receipt.explain())
    assert "Covers 2 fits of the same rows, whose costs add up (epsilon = 2 (pure); epsilon = 1 (pure))." in words
    assert "Spent: epsilon 3" in words
    assert "Merged" not in " ".join(one.receipt.explain())


def test_the_page_shows_the_worst_and_keeps_fits_apart(fit):
    small, weak, again = of_mu(fit, 0.5, 2.36, 0.39)
    merged = small.merge(weak).merge(again, rows="same")
    receipt = synopsis_summary(merged)["receipt"]
    assert receipt["spent"] == "mu 2.392"
    assert receipt["meaning"]["mu"] == pytest.approx(math.hypot(2.36, 0.39), rel=1e-6)
    assert [line["fit"] for line in receipt["events"]] == [1, 2, 3]
    page = synopsis_html(merged)
    assert "This page covers several fits, each paid for by itself." in page
    assert "paid from a budget of its own" not in page
    assert "paid from a budget of its own" in synopsis_html(weak)


def test_a_seeded_part_marks_the_whole(fit):
    assert fit(rule=4).merge(fit(rule=4, random_state=None)).receipt.seeded
    assert fit(rule=4, random_state=None).merge(fit(rule=4)).receipt.seeded


def of_persons(synopsis, **parts):
    unit = PrivacyUnit(**{"name": "pid", "max_rows": 3, **parts})
    return replace(synopsis, receipt=replace(synopsis.receipt, privacy_unit=unit))


def test_units_are_not_mixed(fit):
    synopsis = fit(rule=4)
    persons = of_persons(synopsis)
    for rows in ("disjoint", "same"):
        with pytest.raises(ParameterError, match=r"expected the same unit of privacy, got 'one pid, with at most 3 rows each'"):
            synopsis.merge(persons, rows=rows)
        with pytest.raises(ParameterError, match=r"expected the same unit of privacy, got 'one row'\. Fit both with the same"):
            persons.merge(synopsis, rows=rows)
        with pytest.raises(ParameterError, match=r"expected the same unit of privacy, got 'one household,"):
            persons.merge(of_persons(synopsis, name="household"), rows=rows)
        with pytest.raises(ParameterError, match=r"expected counts of rows, got 'persons'"):
            persons.merge(of_persons(synopsis, weighting="person"), rows=rows)


def test_persons_of_a_chain_have_the_rows_of_the_widest_part(fit):
    synopsis = fit(rule=4, missing="middle")
    few, many, stated = (of_persons(synopsis, max_rows=m, stated=s) for m, s in ((3, False), (7, False), (7, True)))
    chained = few.merge(many).merge(few)
    assert chained.receipt.protects == "one pid, with at most 7 rows each"
    assert [one.privacy_unit.max_rows for one in chained.receipt.fits] == [3, 7, 3]
    assert chained.merge(stated).receipt.privacy_unit.stated  # half of it rests on a statement
    assert chained.cut(2).receipt.privacy_unit == chained.receipt.privacy_unit
    # Somebody with five rows must not be told that they are covered, where three at most were stated of their table.
    small = of_persons(synopsis, stated=True)
    for one in (chained.merge(small), small.merge(many), small.merge(stated), stated.merge(few).merge(small)):
        assert one.receipt.privacy_unit == PrivacyUnit(name="pid", max_rows=3, stated=True)
    assert few.merge(many).merge(few.merge(many), rows="same").receipt.privacy_unit == many.receipt.privacy_unit
    # One table counted twice: the counts are of different rows, so that their mean would be of neither.
    with pytest.raises(ParameterError, match=r"expected at most 3 rows of a person, as here, got 7"):
        few.merge(many, rows="same")
    with pytest.raises(ParameterError, match="rows of a person, as here"):
        few.merge(many).merge(many, rows="same")


# -- files ---------------------------------------------------------------------------------------------------------------


def test_a_receipt_of_one_fit_is_written_as_ever(fit):
    assert not {"joined", "parts"} & set(fit(rule=4).receipt.to_dict())


DAMAGES = {
    "part lost": lambda receipt: receipt["parts"].pop(),
    "no parts": lambda receipt: receipt.update(parts=[]),
    "unknown": lambda receipt: receipt.update(joined="apart"),
    "not said": lambda receipt: receipt.pop("joined"),
    "weaker part": lambda receipt: receipt["parts"][0]["events"][0].update(scale=1.0),
    "stronger guarantee": lambda receipt: receipt.update(guarantee={"kind": "gdp", "mu": 1.0}),
    "other relation": lambda receipt: receipt.update(neighbours="replace"),
    "other relation of a part": lambda receipt: receipt["parts"][0].update(neighbours="replace", events=[]),
    "persons": lambda receipt: receipt.update(privacy_unit={"name": "", "max_rows": 2, "weighting": "row"}),
    "persons of a part": lambda receipt: receipt["parts"][0].update(
        privacy_unit={"name": "", "max_rows": 2, "weighting": "row"}
    ),
    "parts that are none": lambda receipt: receipt.update(parts=[1, 2]),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_damaged_receipts_are_refused(damage, fit):
    merged = fit(rule=4, guarantee=GDP(2.36)).merge(fit(rule=4, guarantee=GDP(0.5)))
    data = copy.deepcopy(merged.to_dict())
    damage(data["receipt"])
    with pytest.raises(ReleaseError, match="the file is damaged"):
        type(merged).from_dict(data)


def test_merges_of_both_kinds_in_turn_are_limited(fit):
    one = fit(rule=4)
    merged = one
    for rows in (*("disjoint", "same") * 7, "disjoint"):
        merged = merged.merge(one, rows=rows)
    with pytest.raises(LedgerError, match=r"more than 16 merges of both kinds in turn\. Merge all of one kind first"):
        merged.merge(one, rows="same")
    assert type(merged).from_dict(merged.to_dict()).receipt == merged.receipt  # the deepest one can be read
    long = one
    for _ in range(100):  # of one kind, as many as you like
        long = long.merge(one)
    assert len(long.receipt.parts) == 101
    assert long.receipt.guarantee == one.receipt.guarantee


def test_steps_of_both_are_kept(fit):
    counted, known = fit(rule=4, n_rows=None), fit(rule=4, epsilon=1.0)
    merged = known.merge(counted)
    assert {step.name for step in merged.steps} == {step.name for step in chain(counted.steps, known.steps)}
    assert not any("count_error" in step.figures for step in merged.steps if step.name == "grid")
