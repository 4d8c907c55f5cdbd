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
    about = source_target_of(release)["source_target"]
    assert f"serves {about['served_by_source']} of 80 target points" in about["words"][0]
    assert ("principal axes" in html) == (n_features > 2)


def test_without_anything_above_the_noise_and_of_one_point(make, target):
    release = make(2, confidence=SURE).fit(target, source=np.empty((0, 2))).release_
    assert len(release.free_centers) == 0
    assert "no part of it stands out from the noise" in report_html(release)
    html = report_html(make(1).fit([[1.0, 1.0]], source=np.ones((50, 2))).release_)
    assert "1 point chosen from a public target of 1<" in html


def test_many_points_are_not_labelled(make, generator):
    target = generator.normal(size=(200, 2))
    html = report_html(make(60).fit(target, source=target).release_)
    assert html.count('class="badge"') == 60
    assert 'class="label"' not in html


def test_larger_counts_are_drawn_larger(make, generator):
    target = np.repeat([[0.0, 0.0], [10.0, 0.0], [5.0, 9.0]], 20, axis=0) + generator.normal(0, 0.1, (60, 2))
    source = np.vstack([np.zeros((900, 2)), np.tile([[10.0, 0.0]], (100, 1))])
    found = summary(make(1, epsilon=50.0, coreset_radius=0.2).fit(target, source=source).release_)
    assert found["map"]["counts"] == sorted(found["map"]["counts"], reverse=True)
    assert found["map"]["source"][0] == pytest.approx([0.0, 0.0], abs=1)


@pytest.mark.parametrize(
    ("part", "name", "value"),
    [
        *(("details", name, "x") for name in ("target", "sanitized_counts", "medoid_indices", "n_target", "target_cost")),
        ("details", "sanitized_source", [[0.0]]),
        ("parameters", "metric", "far"),
    ],
)
def test_a_damaged_release_is_refused(fit, part, name, value):
    data = fit(2).to_dict()
    data[part] = {**data[part], name: value}
    with pytest.raises(ReleaseError, match="damaged"):
        Release.from_dict(data)
