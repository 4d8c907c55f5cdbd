# SPDX-License-Identifier: Apache-2.0
"""What a terminal and a notebook show: on one screen whatever the size, in the columns' own words, escaped."""

import dataclasses
import re

import numpy as np
import pytest
import sklearn
from tests.releases import declared_release, release_by_hand, synopsis_by_hand
from tests.report.test_render import Page

from cloister import GridSynopsis, KMeans, PrivateScaler, SourceTargetKMedoids
from cloister.card import Card
from cloister.privacy import PureDP, Receipt

HOSTILE = ('<script>alert("x")</script>', "a & b\nc\x1b[31m", "long " * 80)


def check_screen(text):
    lines = text.splitlines()
    assert len(lines) <= 20
    assert max(map(len, lines)) <= 100
    assert text == text.strip()
    return lines


@pytest.mark.parametrize(("n_features", "n_clusters"), [(1, 1), (7, 2), (7, 40), (2, 1000), (1000, 7), (1000, 1000)])
def test_a_release_fits_on_a_screen(n_clusters, n_features):
    release = release_by_hand(n_clusters, n_features)
    lines, html = check_screen(repr(release)), release._repr_html_()
    clusters, columns = ("s" * (number != 1) for number in (n_clusters, n_features))
    assert lines[0] == f"Release of KMeans: {n_clusters:,} cluster{clusters} in {n_features:,} column{columns}"
    shown = [line for line in lines if re.match(r" *\d+  ", line)]
    assert len(shown) == min(n_clusters, 8)
    assert len(shown[0].split("±")) == 2 + min(n_features, 5)
    assert ("more cluster" in repr(release)) == (n_clusters > 8)
    assert ("more column" in repr(release)) == (n_features > 5)
    page = Page(html)
    assert page.tags.count("tr") == 1 + min(n_clusters, 20)
    assert page.tags.count("th") == 2 + min(n_features, 12)
    assert len(html) < 30_000


def test_a_card_has_counts_centres_errors_and_the_guarantee():
    receipt = Receipt(guarantee=PureDP(1.0), neighbours="add-remove", events=(), dataset="patients", purpose="a study")
    release = release_by_hand(2, feature_names=("age", "income"), cluster_counts=np.array([1200.0, -3.0]), receipt=receipt)
    for text in (repr(release), " ".join(Page(release._repr_html_()).words)):
        for words in ("age", "income", "1,200.0 ± 7.0", "none above the noise", "10.00 ± 0.25", "95.00 ± 0.25"):
            assert words in text
        assert "Guarantee: epsilon = 1 (pure). This limits how much adding or removing any one row" in text
        assert "SEEDED" not in text


def test_the_columns_that_tell_clusters_apart_are_shown():
    centers = np.full((2, 30), 50.0)
    centers[1, [4, 17]] = 90.0
    head = repr(release_by_hand(2, 30, cluster_centers=centers)).splitlines()[1].split()
    assert {"x4", "x17"} <= set(head)
    assert head[2:] == sorted(head[2:], key=lambda name: int(name[1:]))


def test_declared_columns_are_shown_in_their_own_words():
    html = declared_release()._repr_html_()
    for words in ("f 62 %, m 38 % (± 1 %)", "2021-03-04", "34 % ± 1 %", "missing 12 % ± 1 %"):
        assert words in html
    check_screen(repr(declared_release()))


@pytest.mark.parametrize("name", HOSTILE)
def test_names_are_escaped_and_stay_on_their_line(name):
    release = release_by_hand(2, feature_names=(name, "b"), method=name)
    check_screen(repr(release))
    assert "\x1b" not in repr(release) + release._repr_html_()
    synopsis = synopsis_by_hand(np.ones((3, 3)), feature_names=(name, "b"))
    check_screen(repr(synopsis))
    for html in (release._repr_html_(), synopsis._repr_html_()):
        assert set(Page(html).tags) == {"div", "p", "strong", "table", "thead", "tbody", "tr", "th", "td"}
        assert len(html) < 5_000


def test_chosen_points_have_no_errors(generator):
    model = SourceTargetKMedoids(3, epsilon=2.0)
    release = model.fit(generator.normal(size=(40, 2)), source=generator.normal(size=(200, 2))).release_
    lines = check_screen(repr(release))
    assert "points served" in lines[1]
    assert "±" not in repr(release)
    assert "points served" in model._repr_html_()


@pytest.mark.parametrize("cells", [(1,), (12, 7), (1000, 1000), (2,) * 20, (1,) * 60])
def test_a_synopsis_fits_on_a_screen(cells):
    synopsis = synopsis_by_hand(np.ones(cells), sigma=1.5, total=12.0)
    text = repr(synopsis)
    lines = check_screen(text)
    size = int(np.prod(cells))
    assert f"a grid of {size:,} cell{'s' * (size > 1)} in {len(cells)} column{'s' * (len(cells) > 1)}" in lines[0]
    assert "Rows: 12 (public). Noise of standard deviation 1.5 in each cell." in text
    assert ("more column" in text) == (len(cells) > 8)
    assert Page(synopsis._repr_html_()).tags.count("tr") == 1 + min(len(cells), 20)


# -- estimators ----------------------------------------------------------------------------------------------------------


def test_a_fitted_estimator_shows_parameters_and_its_release(generator):
    model = KMeans(2, epsilon=3.0, bounds=(0, 1), random_state=5)
    before = model._repr_html_()
    assert "random_state" in before
    assert "Release of" not in before
    model.fit(generator.random((300, 2)))
    assert model._published_html() == model.release_._repr_html_()  # an older scikit-learn reads no fitted attributes
    for page in (model._repr_html_(), model._repr_mimebundle_()["text/html"]):
        assert "random_state" in page
        assert page.endswith(model.release_._repr_html_())
        assert "SEEDED" in page
        assert "labels_" not in page
    assert model._repr_mimebundle_()["text/plain"] == repr(model)


def test_other_estimators_show_what_they_publish(generator):
    rows = generator.random((300, 2))
    synopsis = GridSynopsis(2, bounds=(0, 1)).fit(rows)
    assert synopsis._repr_html_().endswith(synopsis.synopsis_._repr_html_())
    assert "Guarantee: epsilon = 0.1" in PrivateScaler(bounds=(-10, 10)).fit(rows)._repr_html_()


def test_text_is_shown_where_it_is_preferred(generator):
    model = KMeans(2, bounds=(0, 1)).fit(generator.random((100, 2)))
    with sklearn.config_context(display="text"):
        assert not hasattr(model, "_repr_html_")
        assert set(model._repr_mimebundle_()) == {"text/plain"}


# -- cards ---------------------------------------------------------------------------------------------------------------


def test_a_wide_card_says_what_it_leaves_out():
    card = Card("t", [f"head {index}" for index in range(40)], [["9" * 12] * 40] * 30, n_fixed=1)
    check_screen(card.text())
    assert "... and 22 more rows and 33 more columns." in card.text()
    assert "... and 10 more rows and 27 more columns." in card.html()
    assert "..." not in dataclasses.replace(card, heads=["a"], rows=[["1"]], n_fixed=0).text()


def test_sentences_are_wrapped_and_long_ones_cut():
    text = Card("t", sentences=["word " * 2000, "end."]).text()
    assert check_screen(text)[-1] == "end."
    assert "[...]" in text
