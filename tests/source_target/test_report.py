# SPDX-License-Identifier: Apache-2.0
"""The map of a source-target release: all three kinds of points, in any number of columns, and nothing that is not public."""

import re

import numpy as np
import pandas as pd
import pytest

from cloister import Release
from cloister.exceptions import ReleaseError
from cloister.report import report_html, source_target_of, summary

from .conftest import SURE


@pytest.fixture
def fit(make, generator):
    def fitted(n_features, n_clusters=3, **extra):
        middles = 10 * np.eye(2, n_features)
        target = np.vstack([middle + generator.normal(size=(40, n_features)) for middle in middles])
        names = [f"<b>{index}</b>" for index in range(n_features)]
        source = pd.DataFrame(middles[1] + generator.normal(size=(900, n_features)), columns=names)
        return make(n_clusters, **extra).fit(target, source=source).release_

    return fitted


@pytest.mark.parametrize("n_features", [1, 2, 3, 20])
@pytest.mark.parametrize("method", ["nna", "nas"])
def test_the_map_shows_target_choice_and_source(fit, n_features, method):
    release = fit(n_features, method=method)
    html = report_html(release)
    svg = re.search(r'<svg class="map".*?</svg>', html, flags=re.S)[0]
    dots = re.search(r'<path class="served" d="([^"]*)"', svg)[1]
    assert dots.count("M") == 80
    assert svg.count('class="badge"') == 3
    assert svg.count("<title>Sanitised source") == len(release.free_centers)
    assert "nan" not in svg
    assert "Only the source is private" in html
    assert "The target is public" in html
    assert "<b>0</b>" not in html
    assert ("principal axes" in html) == (n_features > 2)


def test_without_anything_above_the_noise(make, target):
    release = make(2, confidence=SURE).fit(target, source=np.empty((0, 2))).release_
    assert len(release.free_centers) == 0
    assert "no part of it stands out from the noise" in report_html(release)


def test_one_point(make):
    html = report_html(make(1).fit([[1.0, 1.0]], source=np.ones((50, 2))).release_)
    assert "1 point chosen from a public target of 1<" in html


def test_many_points_are_not_labelled(make, generator):
    target = generator.normal(size=(200, 2))
    html = report_html(make(60).fit(target, source=target).release_)
    assert html.count('class="badge"') == 60
    assert "Chosen point" not in html


def test_larger_counts_are_drawn_larger(make, generator):
    target = np.repeat([[0.0, 0.0], [10.0, 0.0], [5.0, 9.0]], 20, axis=0) + generator.normal(0, 0.1, (60, 2))
    source = np.vstack([np.zeros((900, 2)), np.tile([[10.0, 0.0]], (100, 1))])
    found = summary(make(1, epsilon=50.0, coreset_radius=0.2).fit(target, source=source).release_)
    assert found["map"]["counts"] == sorted(found["map"]["counts"], reverse=True)
    assert found["map"]["source"][0] == pytest.approx([0.0, 0.0], abs=1)


def test_the_summary_is_the_release_in_words(fit):
    found = source_target_of(fit(2))["source_target"]
    assert found["n_target"] == 80
    assert f"serves {found['served_by_source']} of 80 target points" in found["words"][0]


@pytest.mark.parametrize("name", ["target", "sanitized_counts", "medoid_indices", "n_target", "target_cost"])
def test_a_damaged_release_is_refused(fit, name):
    data = fit(2).to_dict()
    data["details"] = {**data["details"], name: "x"}
    with pytest.raises(ReleaseError, match="damaged"):
        report_html(Release.from_dict(data))


def test_a_damaged_source_is_found_when_it_is_read(fit):
    data = fit(2).to_dict()
    data["details"] = {**data["details"], "sanitized_source": [[0.0]]}
    with pytest.raises(ReleaseError, match="damaged"):
        Release.from_dict(data)


def test_a_distance_that_is_none_is_found_when_it_is_read(fit):
    data = fit(2).to_dict()
    data["parameters"] = {**data["parameters"], "metric": "far"}
    with pytest.raises(ReleaseError, match="damaged"):
        Release.from_dict(data)
