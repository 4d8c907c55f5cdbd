# SPDX-License-Identifier: Apache-2.0
"""Warnings after a fit: what misleads is said, with its remedy, wherever a result is shown; what noise may have made is not."""

import json

import numpy as np
import pyarrow as pa
import pytest

from cloister import Category, Date, GridSynopsis, KMeans, Number, PrivateScaler, Release, load_synopsis
from cloister.release import CellSummary, cell_cautions
from cloister.report import report_html

N_ROWS = 6000


@pytest.fixture
def people(generator):
    """A table in two groups: every column can be declared well and badly."""
    group = generator.integers(0, 2, N_ROWS)
    return pa.table(
        {
            "age": 30 + 40 * group + generator.normal(0, 4, N_ROWS),
            "cost": generator.lognormal(7 + group, 0.5),
            "ward": generator.choice(["General", "Surgery"], N_ROWS),
            "day": np.datetime64("2024-01-01") + generator.integers(0, 365, N_ROWS),
            "gaps": np.where(generator.random(N_ROWS) < 0.7, np.nan, 40 * group + generator.normal(20, 4, N_ROWS)),
        }
    )


WELL = {
    "age": (0, 120),
    "cost": Number(50, 50_000, scale="log"),
    "ward": Category(["General", "Surgery"], weight=0.2),
    "day": Date("2024-01-01", "2024-12-31"),
}
BADLY = {
    "the unit": ("age", (0, 1), "lie outside its bounds, 0 to 1", "Check the unit"),
    "the scale": ("cost", (0, 1e6), "uses little of its bounds, 0 to 1,000,000: its mean is about ", 'scale="log"'),
    "levels": ("ward", Category(["general", "surgery"]), "are none of the declared levels", "Check the spelling"),
    "dates": ("day", Date("2024-01-01", "2099-12-31"), "uses little of its bounds", "declare narrower bounds"),
    "gaps": ("gaps", (0, 120), "of the values are missing", "leave the column out"),
}


def fit(table, bounds, **options):
    return KMeans(2, epsilon=2.0, n_init=1, n_jobs=1, bounds=bounds, **options).fit(table)


@pytest.mark.parametrize(
    ("mistake", "scaling"), [*((one, "bounds") for one in BADLY), ("the unit", "spread"), ("dates", "spread")]
)
def test_a_mistake_is_said_with_its_remedy(mistake, scaling, people):
    name, declared, what, remedy = BADLY[mistake]
    found = [one for one in fit(people, {**WELL, name: declared}, scaling=scaling).warnings_ if one.column == name]
    assert len(found) == 1
    assert what in found[0].what
    assert found[0].what.startswith(name)
    assert remedy in found[0].remedy


def test_a_table_that_is_declared_well_has_none(people):
    for scaling in ("bounds", "spread"):
        assert fit(people, WELL, scaling=scaling).warnings_ == []


def test_bounds_much_too_wide_on_both_sides_are_seen_by_the_loss(generator):
    rows = generator.normal(0, 1, (N_ROWS, 2))
    assert {one.column for one in fit(rows, (-1e4, 1e4)).warnings_ if one.column} == {"x0", "x1"}
    assert not [one for one in fit(rows, (-8, 8)).warnings_ if one.column]


def test_a_column_that_makes_all_distances_is_named(generator):
    rows = np.column_stack([generator.choice([-50, 50], N_ROWS), generator.uniform(-5, 5, N_ROWS)])
    (found,) = (one for one in fit(rows, (-60, 60)).warnings_ if "distances" in one.what)
    assert found.column == "x0"
    assert 'scaling="spread"' in found.remedy


def test_delta_beside_a_noisy_number_of_rows(generator):
    rows = generator.uniform(0, 1, (N_ROWS, 2))
    assert any("delta is 0.01" in one.what for one in fit(rows, (0, 1), delta=0.01).warnings_)
    assert not any("delta" in one.what for one in fit(rows, (0, 1)).warnings_)


def test_clusters_that_cannot_be_told_from_noise(generator):
    (first, *_) = fit(generator.uniform(0, 1, (20, 2)), (0, 1)).warnings_
    assert "noise" in first.what
    assert "larger epsilon" in first.remedy


@pytest.mark.parametrize("kind", ["missing", "outside"])
def test_nothing_is_said_where_the_noise_leaves_doubt(kind, people):
    domain, part = fit(people, WELL).release_.domain, {"missing": 0.6, "outside": 0.2}[kind]
    parts = {"missing": np.zeros(4), "outside": np.zeros(4), kind: np.array([part, 0, 0, 0])}
    assert [one.column for one in cell_cautions(domain, None, CellSummary(**parts, error=0.03))] == ["x0"]
    assert list(cell_cautions(domain, None, CellSummary(**parts, error=0.04))) == []


def test_they_are_shown_wherever_a_result_is(people):
    model = fit(people, {**WELL, "age": (0, 1)}, random_state=0)
    release = model.release_
    (words,) = (str(one) for one in model.warnings_ if one.column == "age")
    plain = " ".join(repr(release).split())
    assert f"Warning: {words}" in plain
    assert words in release._repr_html_()
    assert report_html(release).index("Check the unit") < report_html(release).index("What was released")
    stored = json.loads(release.to_json())["warnings"]
    assert [f"{one['what']} {one['remedy']}" for one in stored] == [str(one) for one in model.warnings_]
    assert Release.from_dict(release.to_dict()).warnings == release.warnings


def test_a_synopsis_and_a_scaler_say_them_too(generator, tmp_path):
    rows = generator.uniform(0, 100, (N_ROWS, 2))
    synopsis = GridSynopsis(2, epsilon=2.0, bounds=(0, 1), n_rows=N_ROWS).fit(rows)
    scaler = PrivateScaler(epsilon=2.0, bounds=(0, 1), scaling="bounds").fit(rows)
    for model in (synopsis, scaler):
        assert [one.column for one in model.warnings_] == ["x0", "x1"]
    synopsis.synopsis_.save(tmp_path / "found.json")
    assert load_synopsis(tmp_path / "found.json").warnings == synopsis.synopsis_.warnings
    assert "Warning: x0" in repr(synopsis.synopsis_)
