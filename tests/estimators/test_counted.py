# SPDX-License-Identifier: Apache-2.0
"""Fits that no ledger counts: the second one in a process warns, and a ledger of the process counts all of them."""

import inspect
import pickle
import warnings
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from tests.privacy._processes import needs_fork, run_together
from tests.vaults import refusal

from cloister import (
    GDP,
    ZCDP,
    ApproxDP,
    GridSynopsis,
    KMeans,
    Ledger,
    PrivateScaler,
    PureDP,
    compare,
    plan,
)
from cloister.audit import replay
from cloister.exceptions import LedgerError, PrivacyWarning
from cloister.methods import METHODS
from cloister.privacy import PROCESS, Guarantee

from ..common._cases import Case

UNCOUNTED = (
    r"ledger: this is the {} fit in this process that no ledger counts; if they read the same people, their budgets add up"
)


@pytest.fixture(autouse=True)
def process(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A process in which nothing was fitted yet."""
    for name, value in vars(type(PROCESS)()).items():
        monkeypatch.setattr(PROCESS, name, value)
    yield
    Ledger.clear_default()


@pytest.fixture
def rows(generator: np.random.Generator) -> np.ndarray:
    return generator.uniform(-1, 1, (60, 2))


def quick(**options: Any) -> KMeans:
    return KMeans(**{"n_clusters": 2, "bounds": (-1, 1), "n_init": 1, "n_jobs": 1, **options})


def said(fit: Any) -> list[str]:
    """Return the warnings of uncounted fits that a call gives, as numbers: "2nd", "10th"."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fit()
    words = [str(one.message) for one in caught if "no ledger counts" in str(one.message)]
    assert all(one.category is PrivacyWarning for one in caught if "no ledger counts" in str(one.message))
    return [one.split("this is the ")[1].split()[0] for one in words]


# -- the warning --


def test_the_second_fit_that_nobody_counts_warns(rows: np.ndarray) -> None:
    assert said(lambda: quick().fit(rows)) == []
    with pytest.warns(PrivacyWarning, match=f"KMeans.{UNCOUNTED.format('2nd')}. Pass ledger=, or call Ledger"):
        quick().fit(rows)


@pytest.mark.parametrize("name", [*METHODS, "PrivateScaler"])
def test_of_every_kind(name: str, rows: np.ndarray) -> None:
    def fit() -> None:
        if name == "PrivateScaler":
            PrivateScaler(0.5, bounds=(-9, 9)).fit(rows)
            return
        Case(METHODS[name]).fit(rows, 2)

    assert said(fit) == []
    with pytest.warns(PrivacyWarning, match=UNCOUNTED.format("2nd")) as caught:
        fit()
    caller = __file__ if name == "PrivateScaler" else inspect.getfile(Case)
    assert {one.filename for one in caught if one.category is PrivacyWarning} == {caller}
    assert said(lambda: [fit() for _ in range(8)]) == ["10th"]


def test_the_warning_comes_before_anything_is_spent(rows: np.ndarray, monkeypatch: pytest.MonkeyPatch) -> None:
    quick().fit(rows)
    monkeypatch.setattr(Ledger, "reserve", lambda *args, **options: pytest.fail("reserved"))
    with warnings.catch_warnings():
        warnings.simplefilter("error", PrivacyWarning)
        with pytest.raises(PrivacyWarning, match=UNCOUNTED.format("2nd")):
            quick().fit(rows)


def test_a_search_warns_a_few_times_and_not_once_per_fit(rows: np.ndarray) -> None:
    search = GridSearchCV(quick(), {"n_clusters": [1, 2, 3, 4, 5]}, cv=5)
    assert said(lambda: search.fit(rows)) == ["2nd", "10th"]  # of 26 fits
    assert said(lambda: [PROCESS.count_uncounted() for _ in range(73)]) == []
    assert said(lambda: quick().fit(rows)) == ["100th"]


def test_it_depends_on_nothing_but_the_number_of_fits(rows: np.ndarray) -> None:
    tables = [rows, rows[:0], np.full((3, 2), np.nan), rows * 100]
    for _ in range(2):
        PROCESS._uncounted = 0
        assert [said(lambda table=table: quick().fit(table)) for table in tables] == [[], ["2nd"], [], []]
        tables.reverse()


def test_what_is_counted_or_not_for_publication_is_silent(rows: np.ndarray) -> None:
    ledger = Ledger(GDP(99.0))

    def all_of_them() -> None:
        for seed in range(3):
            quick(random_state=seed).fit(rows)
            quick(ledger=ledger).fit(rows)
            plan(500, 2, 2)
        compare(rows[:30], n_clusters=2, bounds=(-1, 1), epsilon=9.0, methods=["KMeans", "GridKMeans"], repeats=1)
        replay(lambda table: quick().fit(table), rows, rows[1:])

    assert said(all_of_them) == []
    assert PROCESS._uncounted == 0
    default = Ledger(epsilon=3.0, delta=1e-6)
    default.set_default()
    compare(rows[:30], n_clusters=2, bounds=(-1, 1), epsilon=9.0, methods=["KMeans"], repeats=1)
    replay(lambda table: quick().fit(table), rows, rows[1:])
    plan(500, 2, 2)
    assert len(default.lines) == 1


def test_a_scaler_and_the_fit_behind_it_are_one(rows: np.ndarray) -> None:
    scaler = PrivateScaler(0.5, bounds=(-9, 9))

    def pipeline() -> None:
        make_pipeline(scaler, KMeans(2, n_init=1)).fit(rows)

    assert said(pipeline) == []  # the receipt of the fit states both
    assert said(pipeline) == ["2nd"]
    scaled = scaler.transform(rows)
    PROCESS._uncounted = 1
    assert said(lambda: KMeans(2, n_init=1).fit(scaled)) == ["2nd"]  # of another fit behind the same scaler it does not


def test_a_fit_behind_a_scaler_that_was_seeded_or_paid_counts_itself(rows: np.ndarray) -> None:
    for scaler in (
        PrivateScaler(0.5, bounds=(-9, 9), random_state=0),
        PrivateScaler(0.5, bounds=(-9, 9), ledger=Ledger(GDP(9.0))),
    ):
        PROCESS._uncounted = 1
        assert said(lambda scaler=scaler: make_pipeline(scaler, KMeans(2, n_init=1)).fit(rows)) == ["2nd"]


# -- the ledger of a process --


def test_a_default_ledger_counts_every_fit_that_has_none_of_its_own(rows: np.ndarray) -> None:
    ledger, own = Ledger(epsilon=20.0, delta=1e-6, name="people"), Ledger(GDP(9.0))
    ledger.set_default()
    model = quick(random_state=1).fit(rows)
    assert model.ledger is None is pickle.loads(pickle.dumps(model)).ledger
    assert model.privacy_receipt_.ledger is not None
    assert (model.privacy_receipt_.ledger.name, model.privacy_receipt_.ledger.before) == ("people", "nothing")

    def fits() -> None:
        quick(random_state=0).fit(rows)
        GridSynopsis(epsilon=0.5, delta=0.0, bounds=(-1, 1)).fit(rows)
        make_pipeline(PrivateScaler(0.5, bounds=(-9, 9)), KMeans(2, n_init=1)).fit(rows)
        quick(ledger=own).fit(rows)

    assert said(fits) == []
    paid = [one["purpose"] for one in ledger.summary()["accounts"]]
    assert paid == ["KMeans", "KMeans", "GridSynopsis", "PrivateScaler", "KMeans"]
    assert len(own.summary()["accounts"]) == 1
    Ledger.clear_default()
    quick().fit(rows)
    assert len(ledger.summary()["accounts"]) == 5


# -- a delta above the ledger's --


@pytest.mark.parametrize("name", METHODS)
def test_a_delta_above_the_ledgers_is_refused_before_anything_is_reserved(name: str, rows: np.ndarray) -> None:
    ledger = Ledger(epsilon=9.0, delta=1e-6)
    fit = partial(Case(METHODS[name]).fit, rows, 2, ledger=ledger)
    for options in ({"epsilon": 0.1, "delta": 0.1}, {"guarantee": ApproxDP(0.1, 1.1e-6)}):
        with pytest.raises(
            LedgerError, match=r"expected a delta of at most 1e-06, the ledger's, got .* Pass delta=1e-06 .--delta. or less"
        ):
            fit(**options)
        assert len(ledger.lines) == 1
    for options in ({"epsilon": 0.1, "delta": 1e-6}, {"epsilon": 0.1, "delta": 1e-9}, {"guarantee": PureDP(0.1)}):
        fit(**options)
    fit(guarantee=GDP(0.1))  # states no delta


@pytest.mark.parametrize("budget", [GDP(3.0), ZCDP(4.5)], ids=str)
def test_a_ledger_that_states_no_delta_takes_any(budget: Guarantee, rows: np.ndarray) -> None:
    ledger = Ledger(budget)
    quick(epsilon=0.1, delta=0.1, ledger=ledger).fit(rows)
    assert ledger.spent.mu == pytest.approx(ApproxDP(0.1, 0.1).gaussian_budget().mu, rel=0.05)  # at what it costs


@pytest.mark.parametrize(
    ("terms", "match"),
    [
        ({"neighbours": "replace"}, "this ledger is about 'replace' neighbours"),
        ({"unit": "person"}, "this ledger protects one person, the fit one row"),
        ({"delta": 1e-9}, "expected a delta of at most 1e-09, the ledger's, got 1e-06"),
        ({"epsilon": 0.5}, r"but epsilon 0\.5 of 0\.5 is left"),
    ],
)
def test_a_default_ledger_refuses_what_a_ledger_refuses(terms: dict[str, Any], match: str, rows: np.ndarray) -> None:
    with refusal(LedgerError, match, **terms) as ledger:
        ledger.set_default()
        quick().fit(rows)


@needs_fork
def test_a_forked_child_pays_its_default_from_a_file_alone(rows: np.ndarray, tmp_path: Path) -> None:
    file = Ledger.create(tmp_path / "budget.sqlite", GDP(9.0))
    for ledger, said in ((Ledger(GDP(9.0)), "LedgerError: Ledger: a copy of a ledger in memory"), (file, "KMeans")):
        ledger.set_default()
        assert run_together(1, lambda: quick().fit(rows))[0].startswith(said)
        assert len(ledger.summary()["accounts"]) == (ledger is file)
    file.close()
