# SPDX-License-Identifier: Apache-2.0
"""A release: written whole, read back to the same predictor, refused when damaged, and free of rows and paths."""

import copy
import importlib
import json
import math
from dataclasses import replace
from unittest.mock import Mock

import numpy as np
import pytest
from tests.release.test_damage import damaged
from tests.releases import release_by_hand

import cloister
from cloister import GDP, ZCDP, Ball, PEMeans, PureDP, Release, load_release, load_synopsis
from cloister.exceptions import DataError, ReleaseError
from cloister.release import read_release

QUICK = {"n_rounds": 3, "n_variations": 10, "n_init": 1}


@pytest.fixture
def rows(generator):
    return generator.uniform(-1, 1, size=(200, 2))


@pytest.fixture
def release(rows):
    return PEMeans(3, epsilon=2.0, bounds=(-1, 1), **QUICK).fit(rows).release_


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"bounds": Ball(2.0, [0.5, 0.0])},
        {"bounds": ([-1, 0], [1, 5]), "scaling": "bounds"},
        {"delta": 0},
        {"guarantee": PureDP(3.0)},
        {"guarantee": ZCDP(0.5), "neighbours": "replace"},
        {"guarantee": GDP(1.0), "n_rows": 200},
        {"n_clusters": np.int64(4), "epsilon": np.float32(1.5)},
        {"projection": 1, "random_state": 3},
    ],
)
def test_a_release_survives_its_file(parameters, rows, tmp_path):
    model = PEMeans(**{"n_clusters": 3, "epsilon": 2.0, "bounds": (-1, 1), **QUICK, **parameters}).fit(rows)
    path = tmp_path / "release.json"
    model.release_.save(path, allow_seeded="random_state" in parameters)
    again = load_release(path)
    assert again.to_dict() == model.release_.to_dict() == json.loads(path.read_text())
    far = np.vstack([rows * 3, [[np.nan, 0.0], [np.inf, 1e300]]])
    assert np.array_equal(again.predict(far), model.predict(far))
    assert again.receipt == model.privacy_receipt_
    assert ("guarantee" in parameters) == (not {"epsilon", "delta"} & set(again.parameters))
    assert {"cloister", "numpy", "python", "scikit-learn", "scipy"} <= set(again.versions)
    assert again.receipt.seeded == ("random_state" in parameters)


def test_names_of_columns_are_kept_or_made_up(release):
    assert release.feature_names is None
    assert release.columns == ("x0", "x1")
    data = release.to_dict() | {"feature_names": ["age", "glucose"]}
    assert Release.from_dict(data).columns == ("age", "glucose")


def test_every_event_belongs_to_a_step(release):
    again = Release.from_dict(release.to_dict())
    assert again.steps == release.steps
    assert [step.name for step in again.steps] == ["count", "cells", "vote 1", "vote 2", "vote 3"]
    found = [event.question_name for step in again.steps for event in again.events_of(step)]
    assert found == [event.question_name for event in release.receipt.events]
    assert again.events_of("vote 2") == again.events_of(again.steps[3])
    assert again.events_of("another") == ()


@pytest.mark.parametrize("shape", [(4, 1), (4, 3), (2,), (0, 5), (2, 2, 2)])
def test_rows_of_another_width_are_refused(shape, release):
    with pytest.raises(DataError, match=r"Release\.predict: expected a table of 2 columns\. Pass the columns of the release"):
        release.predict(np.zeros(shape))
    assert release.predict(np.empty((0, 2))).shape == (0,), "no rows have no labels"


# -- files ---------------------------------------------------------------------------------------------------------------


def test_an_existing_file_is_replaced_whole_or_not_at_all(release, tmp_path, monkeypatch):
    path = tmp_path / "release.json"
    release.save(path)
    before = path.read_text()
    broken = copy.copy(release)
    object.__setattr__(broken, "parameters", {"x": math.nan})
    with pytest.raises(ReleaseError, match=r"Release\.save: 'release\.json' exists\. Pass overwrite=True to replace it"):
        release.save(path)
    release.save(path, overwrite=True)
    with pytest.raises(ValueError, match="Out of range float values"):
        broken.save(path, overwrite=True)
    assert path.read_text() == before
    monkeypatch.setattr("pathlib.Path.replace", Mock(side_effect=OSError(28, "no space")))
    with pytest.raises(ReleaseError, match=r"Release\.save: cannot write 'release\.json' \(no space\)\. Choose another place"):
        release.save(path, overwrite=True)
    assert path.read_text() == before
    assert [file.name for file in tmp_path.iterdir()] == ["release.json"]


def test_a_place_that_cannot_be_written_is_refused_by_name(release, tmp_path):
    with pytest.raises(ReleaseError, match=r"cannot write 'r\.json' \(No such file or directory\)"):
        release.save(tmp_path / "missing" / "r.json")
    with pytest.raises(ReleaseError, match=r"cannot write '.*' \(Is a directory\)"):
        release.save(tmp_path)
    for name in ("", "a\x00b"):
        with pytest.raises(ReleaseError, match=r"Release\.save: cannot write .* \(.+\)\. Choose another place"):
            release.save(name)


def test_neither_rows_nor_paths_are_inside(generator, tmp_path):
    rows = generator.uniform(-1, 1, size=(50, 2))
    path = tmp_path / "very-secret-name.csv"
    np.savetxt(path, rows, delimiter=",", header="a,b", comments="", fmt="%.17g")
    text = PEMeans(2, bounds=(-1, 1), **QUICK).fit(path).release_.to_json()
    assert "secret" not in text
    assert str(tmp_path) not in text
    assert not [value for value in rows.ravel() if f"{value:.12f}"[:-1] in text]


# -- refusals ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("noun", ["release", "synopsis"])
@pytest.mark.parametrize(
    ("content", "message"),
    [
        *((content, r"'broken\.json' is not {no}\.") for content in (b"", b"{", b"\xff\xfe\x00", b"PAR1 and then nothing")),
        *(
            (content, r"'broken\.json' is not {no}\.")
            for content in (b"[" * 100_000, b"1" * 5000, b'{"format": ' + b"1" * 5000)
        ),
        *((content, "expected a Cloister {noun}, got another file") for content in (b"[]", b"null", b'{"format": "geojson"}')),
        (b'{"format": "cloister.scaler", "version": 1}', "expected a Cloister {noun}, got another file"),
        (b'{"format": "cloister.NOUN"}', r"expected version 1, got None\. Upgrade"),
        (b'{"format": "cloister.NOUN", "version": 2}', r"expected version 1, got 2\. Upgrade cloister to read it"),
        (b'{"format": "cloister.NOUN", "version": 1}', "the file is damaged"),
    ],
)
def test_other_files_are_refused(content, message, noun, tmp_path):
    path = tmp_path / "broken.json"
    path.write_bytes(content.replace(b"NOUN", noun.encode()))
    load, no = {"release": (load_release, "JSON"), "synopsis": (load_synopsis, "a synopsis")}[noun]
    with pytest.raises(ReleaseError, match=f"load_{noun}: {message.format(noun=noun, no=no)}"):
        load(path)


# What only this reader can tell; every field is damaged in many ways in test_damage.py, and types are those of the schema.
DAMAGE = [
    *((("cluster_centers",), value) for value in ([[0.0]], [], [[0.0, math.nan]] * 3, [0.0, 1.0, 2.0])),
    (("cluster_centers", 0, 0), 1e19),  # not in the domain
    (("cluster_counts",), [1.0]),
    (("count_errors",), None),
    (("domain",), {"kind": "box", "low": [1], "high": [0]}),
    (("domain",), {"kind": "ball", "radius": 1.0, "center": [0.0] * 9}),
    (("scaling",), "unknown"),
    (("feature_names",), ["one"]),
    (("receipt", "events", 0, "v"), 99),
    (("receipt", "events", 0, "scale"), 1e-9),  # more was spent than the guarantee allows
    (("receipt", "neighbours"), "replace"),  # of the events: add-remove
    (("receipt", "guarantee", "epsilon"), -1),
    *((("receipt", "privacy_unit"), {"name": "pid", "max_rows": most, "weighting": "row"}) for most in (None, 0, 1001)),
    (("receipt", "privacy_unit"), {"name": "a\nb", "max_rows": 5, "weighting": "row"}),
    (("receipt", "privacy_unit"), {"max_rows": 5, "weighting": "row"}),
    (("steps",), [7]),
    (("steps",), json.loads("[" * 60 + "]" * 60)),
    (("steps", 0, "name"), "vote 1"),  # as another one
    (("steps", 0, "figures"), {"radius": "wide"}),
    (("steps", 0, "picture"), {"centers": [[10**400]]}),
    (("versions", "numpy"), math.inf),
    (("details", "loss"), 10**400),
]


@pytest.mark.parametrize(("place", "value"), DAMAGE)
def test_damaged_releases_are_refused(place, value, release):
    data = json.dumps(damaged(json.loads(release.to_json()), place, value))
    with pytest.raises(ReleaseError, match=r"load_release: the file is damaged \(.*\)\. Write it again from the fit"):
        read_release(data.encode(), name="a file")


@pytest.mark.parametrize(
    "method", ["KMeans", "PEMeans", "GridKMeans", "LloydKMeans", "CoresetKMeans", "TreeKMeans", "FastLloyd"]
)
def test_the_number_of_rows_has_the_error_of_its_own_answer(method, generator):
    """Errors that only move rows between clusters are none of the total's."""
    rows = generator.normal([[-0.5, -0.5], [0.5, 0.5]], 0.2, (1000, 2, 2)).reshape(-1, 2)
    make = getattr(cloister, method, None) or getattr(importlib.import_module("cloister.rivals"), method)
    found = make(4, epsilon=2.0, bounds=(-2, 2), random_state=0).fit(rows).release_
    assert abs(found.n_rows - 2000) < 5 * found.n_rows_error
    counted = [event for event in found.receipt.own_events if event.question_name == "row_count"]
    if counted:
        assert found.n_rows_error <= counted[0].standard_deviation * (1 + 1e-9)
    public = make(4, epsilon=2.0, bounds=(-2, 2), n_rows=2000, random_state=0).fit(rows).release_
    assert (public.n_rows, public.n_rows_error) == (2000, 0)
    assert Release.from_dict(found.to_dict()).n_rows_error == found.n_rows_error


def test_a_total_that_was_not_counted_is_the_sum_of_the_counts_with_their_noise():
    release = release_by_hand()
    assert release.n_rows == release.cluster_counts.sum()
    assert release.n_rows_error == pytest.approx(np.linalg.norm(release.count_errors))
    wider = replace(release, count_errors=10 * release.count_errors, count_noise=release.count_errors)
    assert wider.n_rows_error == release.n_rows_error
    odd = replace(release, details={"n_rows": "many", "n_rows_error": -1})
    assert odd.n_rows == release.n_rows
