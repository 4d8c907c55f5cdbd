# SPDX-License-Identifier: Apache-2.0
"""What the report says to whoever answers for the data: factor, chances, pure beside Gaussian, ledger, data set, purpose."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from cloister import GDP, ZCDP, ApproxDP, GridSynopsis, KMeans, Ledger, PureDP, Release, SourceTargetKMedoids, write_report
from cloister.columns import percent
from cloister.exceptions import ParameterError
from cloister.privacy import Receipt
from cloister.report import report_html, summary, synopsis_html
from cloister.report._receipt import comparison_words, factor_words, meaning_of
from cloister.rivals import LloydKMeans
from cloister.text import share_text

from .test_render import Page

ROWS = np.random.default_rng(0).uniform(0, 1, (200, 2))


def fit(**parameters: object) -> Release:
    return LloydKMeans(2, bounds=(0, 1), n_rounds=2, random_state=0, **parameters).fit(ROWS).release_


def test_epsilon_is_a_factor_on_the_odds_also_in_words() -> None:
    receipt = fit(epsilon=1.0, delta=0.0).receipt
    for chance, least, most in meaning_of(receipt)["chances"]:
        odds = chance / (1 - chance)
        assert most / (1 - most) == pytest.approx(odds * math.e)
        assert least / (1 - least) == pytest.approx(odds / math.e)
    first, second = factor_words(receipt)
    assert first == (
        "Adding or removing one row changes the probability of any published result by a factor of at most e^1 = 2.72, up or "
        "down."
    )
    assert second == (
        "So someone who knows every other row and considers it 10 % likely (odds of 1 to 9) that one particular row is in the "
        "table will, after reading this page, consider it at most 23 % and at least 3.9 % likely."
    )


def test_delta_is_mentioned_where_there_is_one() -> None:
    words = factor_words(fit(epsilon=1.0, neighbours="replace").receipt)
    assert words[0].startswith("Replacing one row")
    assert "they add at most delta = 1e-06 to any probability" in words[0]
    assert words[1].endswith("likely, very rare results aside.")


@pytest.mark.parametrize("guarantee", [ZCDP(0.5), GDP(1.0)])
def test_other_terms_are_converted(guarantee: ZCDP | GDP) -> None:
    receipt = fit(guarantee=guarantee).receipt
    found = meaning_of(receipt)
    assert found["converted"]
    assert found["epsilon"] == guarantee.epsilon_at(1e-6)
    assert found["spent_epsilon"] <= found["epsilon"] * (1 + 1e-6)
    assert factor_words(receipt)[0].startswith(f"{guarantee} amounts to epsilon = ")


def test_a_larger_epsilon_with_delta_shows_a_smaller_chance_than_a_pure_one() -> None:
    receipts = [fit(epsilon=epsilon, delta=delta).receipt for epsilon, delta in ((1.0, 0.0), (2.0, 1e-6))]
    pure, gaussian = map(meaning_of, receipts)
    assert gaussian["epsilon"] > pure["epsilon"]
    # One pure answer of epsilon 1 allows 73 %; several that add up to it allow less.
    assert gaussian["best_guess"] < 0.73
    assert pure["best_guess"] <= pure["pure_guess"] + 1e-12
    assert gaussian["equal_pure"] < 1.0
    assert math.exp(gaussian["equal_pure"]) / (1 + math.exp(gaussian["equal_pure"])) == pytest.approx(gaussian["best_guess"])
    words = " ".join(comparison_words(receipts[1]))
    for figure in (*(share_text(gaussian[name], 1) for name in ("best_guess", "pure_guess")), f"mu = {gaussian['mu']:.3g}"):
        assert figure in words
    assert "Laplace" in comparison_words(receipts[0])[0]
    assert "epsilon = 2 and delta = 1e-06" in comparison_words(receipts[0])[1]


@pytest.mark.parametrize(
    "guarantee", [PureDP(1e-3), PureDP(1e4), ApproxDP(1e-3, 1e-9), ApproxDP(500.0, 0.5), GDP(60.0), ZCDP(1e3)]
)
def test_any_guarantee_can_be_told(guarantee: PureDP | ApproxDP | GDP | ZCDP) -> None:
    found = meaning_of(Receipt(guarantee=guarantee, neighbours="replace", events=fit(guarantee=guarantee).receipt.events[:0]))
    release = fit(guarantee=guarantee)
    json.dumps(summary(release), allow_nan=False)
    text = Page(report_html(release)).text
    assert "What epsilon means" in text
    assert "nan" not in text
    assert found["best_guess"] == 0.5  # nothing was answered


# -- data set, purpose, ledger, what was missing ---------------------------------------------------------------------------


def test_data_set_purpose_and_ledger_are_on_the_page() -> None:
    ledger = Ledger(epsilon=3.0, delta=1e-6, name="ledger <i>")
    fit(epsilon=0.5, ledger=ledger)
    release = fit(epsilon=1.0, ledger=ledger, dataset="Ward <b>3", purpose="Planning & staffing")
    page = Page(report_html(release))
    for words in (
        "Data set Ward <b>3",
        "Purpose Planning & staffing",
        "Ledger ledger <i> Amount",
        "Total budget epsilon = 3, delta = 1e-06",
        "Spent by earlier fits epsilon 0.5 at delta 1e-06",
        "This fit epsilon 1 at delta 1e-06",
        f"Left when it ended epsilon {ledger.left:.4g} at delta 1e-06",
        "add up by their squares",
    ):
        assert words in page.text
    assert {"b", "i"} & set(page.tags) <= {"b"}
    assert "Data set" not in Page(report_html(fit(epsilon=1.0))).text


def test_other_pages_have_them_too() -> None:
    stated = {"dataset": "Ward 3", "purpose": "Planning", "ledger": Ledger(epsilon=9.0, delta=0.0)}
    synopsis = GridSynopsis(2, bounds=(0, 1), rule=3, random_state=0, **stated).fit(ROWS).synopsis_
    medoids = SourceTargetKMedoids(1, epsilon=3.0, random_state=0, **stated).fit(ROWS[:20], source=ROWS)
    for html in (synopsis_html(synopsis, random_state=0), report_html(medoids.release_)):
        text = Page(html).text
        assert "Data set Ward 3 Purpose Planning" in text
        assert "Total budget epsilon = 9 (pure)" in text


def test_what_was_missing_is_in_the_head_and_in_bars() -> None:
    rows = np.random.default_rng(1).uniform(0, 1, (4000, 2))
    rows[:1000, 0], rows[:400, 1] = np.nan, 7.0
    release = KMeans(2, epsilon=4.0, bounds=(0, 1), random_state=0).fit(rows).release_
    assert release.cells is not None
    missing, outside = release.cells.missing[0], release.cells.outside[1]
    assert [missing, outside] == pytest.approx([0.25, 0.10], abs=0.01)
    shares = [percent(one, release.cells.error)[0] for one in (missing, outside)]
    assert f"Missing {shares[0]} % of x0; outside bounds: {shares[1]} % of x1" in Page(report_html(release)).text


def test_many_columns_without_anything_missing_are_folded() -> None:
    rows = np.random.default_rng(1).uniform(0, 1, (4000, 20))
    rows[:2000, 3] = np.nan
    text = Page(report_html(KMeans(2, epsilon=4.0, bounds=(0, 1), random_state=0).fit(rows).release_)).text
    assert "The other 19 columns, where nothing stands out from the noise" in text


# -- write_report ----------------------------------------------------------------------------------------------------------


def test_a_model_a_release_and_a_synopsis_are_written(tmp_path: Path) -> None:
    model = LloydKMeans(2, bounds=(0, 1), n_rounds=1, random_state=0).fit(ROWS)
    grid = GridSynopsis(2, bounds=(0, 1), rule=3, random_state=0).fit(ROWS)
    for index, one in enumerate((model, model.release_, grid, grid.synopsis_)):
        write_report(one, tmp_path / f"{index}.html", allow_seeded=True)
    pages = [(tmp_path / f"{index}.html").read_text(encoding="utf-8") for index in range(4)]
    assert pages[0] == pages[1]
    assert all("A grid of" in page for page in pages[2:])


@pytest.mark.parametrize("other", [None, 3, "release.json", LloydKMeans(2)])
def test_anything_else_is_refused(other: object, tmp_path: Path) -> None:
    match = r"write_report\.published: expected a release, a synopsis or a fitted model, got '\w+'\. Pass model\.fit\(rows\)"
    with pytest.raises(ParameterError, match=match):
        write_report(other, tmp_path / "report.html")
