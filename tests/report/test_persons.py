# SPDX-License-Identifier: Apache-2.0
"""What pages, cards and pictures say where a person is protected with all of their rows, and where one row is."""

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.releases import release_by_hand

from cloister import GridSynopsis, KMeans, PointSynopsis, PureDP, Release, SourceTargetKMedoids, questions, rivals
from cloister.columns import PrivacyUnit
from cloister.privacy import Receipt
from cloister.report import report_html, summary, synopsis_html
from cloister.report._receipt import QUESTIONS, question_words

from .test_render import Page

ROWS = np.random.default_rng(0).uniform(0, 1, (600, 2))
IDS = np.repeat([f"secret-{index}" for index in range(150)], 4)
PATIENTS = PrivacyUnit(name="patient_id", max_rows=5)
OF_ROWS = ("one row", "every other row", "Rows (noisy)", "People with several rows", "noisy number of rows.")


def receipt(privacy_unit: PrivacyUnit | None, neighbours: str = "add-remove") -> Receipt:
    return Receipt(guarantee=PureDP(1.0), neighbours=neighbours, events=(), privacy_unit=privacy_unit)


def page(privacy_unit: PrivacyUnit | None, neighbours: str = "add-remove", **parts: Any) -> str:
    return Page(report_html(release_by_hand(receipt=receipt(privacy_unit, neighbours), **parts))).text


@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
def test_a_card_and_a_summary_say_what_is_protected_and_a_page_about_rows_what_it_said(neighbours: str) -> None:
    words = page(None, neighbours)
    assert all(part in words for part in OF_ROWS)
    assert "patient_id" not in words
    assert "ersons" not in words
    for unit in (None, PATIENTS, replace(PATIENTS, weighting="person")):
        release = release_by_hand(receipt=receipt(unit, neighbours))
        for card in (repr(release), release._repr_html_()):
            words = " ".join(card.split())
            assert ("any one row" in words, "Protects one patient_id" in words) == (unit is None, unit is not None)
        persons = summary(release)["receipt"]["persons"]
        assert persons is None if unit is None else persons["max_rows"] == 5


@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
@pytest.mark.parametrize("weighting", ["row", "person"])
def test_a_page_about_persons_never_says_that_one_row_is_protected(neighbours: str, weighting: str) -> None:
    words = page(replace(PATIENTS, weighting=weighting), neighbours)
    assert not [part for part in OF_ROWS if part in words]
    assert "Protects one patient_id, with at most 5 rows each." in words
    assert "with at most 5 rows each, " + ("replaced" if neighbours == "replace" else "added or removed") in words
    assert "one patient_id with all of their rows changes the probability" in words
    assert "someone who knows the rows of everybody else" in words
    assert "can move when one patient_id changes" in words
    assert "Several ids of one person" in words
    assert "Families and households" in words
    assert "Rows without an id were left out, and how many there are is not published" in words


def test_counts_are_numbers_of_rows_that_are_used_or_of_persons() -> None:
    rows, persons = (page(replace(PATIENTS, weighting=weighting)) for weighting in ("row", "person"))
    assert "Rows used (noisy)" in rows
    assert "each with a noisy number of rows used." in rows
    assert "Numbers are numbers of the rows that were used." in rows
    assert "Persons (noisy)" in persons
    assert "each with a noisy number of persons." in persons
    assert "counts in parts in each of them" in persons
    assert re.search(r"Cluster 0: \S+ ± \S+ persons", persons)
    release = release_by_hand(n_features=1, receipt=receipt(replace(PATIENTS, weighting="person")))
    assert "persons" in repr(release).splitlines()[1]
    assert "Protects one patient_id, with at most 5 rows each." in " ".join(repr(release).split())
    assert repr(release_by_hand()).splitlines()[1].split()[:2] == ["cluster", "rows"]
    pytest.importorskip("matplotlib").use("agg")
    axes = release.plot("map")
    assert axes.get_ylabel() == "persons (noisy)"
    assert axes.get_legend().get_texts()[0].get_text().endswith(" persons")


def test_what_was_stated_is_said_to_be_stated() -> None:
    words = page(replace(PATIENTS, stated=True))
    assert "The limit was asserted, not checked." in words
    assert "People with more than 5 rows" in words
    assert "so at most 5 of them were used" not in words


@pytest.mark.parametrize(
    ("privacy_unit", "words"),
    [
        (PrivacyUnit(max_rows=1), "Protects one person, with at most 1 row each."),
        (PrivacyUnit(max_rows=1), "Ids said whose row it is. The fit used at most 1 row of each person."),
        (PrivacyUnit(name="PatientID", max_rows=2), "Adding or removing one PatientID with all of their rows changes"),
        (PrivacyUnit(name="<b>id</b>", max_rows=2), "one <b>id</b>"),
    ],
)
def test_a_unit_is_called_by_its_name(privacy_unit: PrivacyUnit, words: str) -> None:
    assert words in page(privacy_unit)


def test_every_question_has_words() -> None:
    kinds = [kind for room in (questions, rivals) for kind in vars(room).values()]
    names = {kind.name for kind in kinds if isinstance(kind, type) and isinstance(getattr(kind, "name", None), str)}
    assert "rows_per_unit" in names
    assert names <= set(QUESTIONS)
    assert question_words("row_count") == "How many rows there are"
    assert question_words("rows_per_unit", counted="persons") == "How many persons have how many rows"


@pytest.fixture(scope="module")
def fitted() -> Release:
    model = KMeans(2, epsilon=4.0, bounds=(0, 1), weighting="person", describe=0.2, random_state=0)
    return model.fit(ROWS, privacy_unit=IDS).release_


def test_the_step_that_found_the_number_of_rows_says_it(fitted: Release) -> None:
    assert fitted.receipt.privacy_unit is not None
    step = next(step for step in fitted.steps if step.name == "rows per person")
    assert step.figures["max_rows"] == fitted.receipt.privacy_unit.max_rows
    html = report_html(fitted)
    assert "secret-" not in html + fitted.to_json() + repr(fitted), "no id is on a page"
    words = Page(html).text
    assert "Rows per person How many persons have how many rows" in words
    assert "Rows used per person" in words


@pytest.mark.slow
@pytest.mark.parametrize("kind", [GridSynopsis, PointSynopsis])
@pytest.mark.parametrize("weighting", ["row", "person"])
def test_the_page_of_a_synopsis_names_the_unit(kind: Any, weighting: str) -> None:
    model = kind(epsilon=4.0, bounds=(0, 1), weighting=weighting, max_rows_per_unit=2, random_state=0)
    synopsis = model.fit(ROWS, privacy_unit=IDS).synopsis_
    counted = {"row": "rows", "person": "persons"}[weighting]
    html = synopsis_html(synopsis, random_state=0)
    assert "Protects one person, with at most 2 rows each." in Page(html).text
    assert f'"counted":"{counted}"' in html
    assert ("Persons" in repr(synopsis)) == (weighting == "person")
    assert "secret-" not in html


def test_the_page_of_a_private_source_names_the_unit() -> None:
    model = SourceTargetKMedoids(2, epsilon=4.0, weighting="person", max_rows_per_unit=2, random_state=0)
    words = Page(report_html(model.fit(ROWS[:40], source=ROWS, privacy_unit=IDS).release_)).text
    assert "Protects one person, with at most 2 rows each." in words
    assert "one row" not in words
