# SPDX-License-Identifier: Apache-2.0
"""Methods side by side on public or made-up rows."""

import json

import numpy as np
import pytest

from cloister import GDP, Ball, KMeans, compare
from cloister.exceptions import DataError, ParameterError

SMALL = {"n_rows": 1500, "n_features": 2, "n_clusters": 3, "repeats": 2}


def test_the_best_comes_first_and_what_fails_last_with_its_reason(generator):
    rows = Ball(1.0).clip(generator.normal([[-0.5, 0.0], [0.5, 0.0]], 0.05, (500, 2, 2)).reshape(-1, 2))
    found = compare(rows, n_clusters=2, bounds=Ball(1.0), methods=["GridKMeans", "LloydKMeans", "KMeans"], repeats=2)
    assert found.best == "KMeans" == found.contenders[0].method
    assert found.contenders[0].loss < found.contenders[1].loss
    last = found.contenders[-1]
    assert (last.method, last.loss, last.seconds) == ("GridKMeans", None, None)
    assert "expected a box" in last.failure


def test_figures_are_those_of_the_estimators(generator):
    rows = generator.normal([[0.2], [0.6]], 0.02, (2, 400)).reshape(-1, 1)
    found = compare(rows, n_clusters=2, bounds=(0, 1), guarantee=GDP(2.0), methods=["KMeans"], repeats=3, random_state=4)
    models = [KMeans(2, guarantee=GDP(2.0), bounds=(0, 1), n_rows=800, random_state=seed).fit(rows) for seed in (4, 5, 6)]
    losses = [-model.score(rows) / 800 for model in models]
    assert found.contenders[0].loss == pytest.approx(np.mean(losses))
    assert found.contenders[0].error == pytest.approx(np.std(losses, ddof=1) / 3**0.5)
    assert found.one_centre == pytest.approx(rows.var())
    assert found.limit <= min(losses)


def test_relative_distances_make_columns_alike(generator):
    rows = generator.random((500, 2))
    given = {"n_clusters": 2, "methods": ["KMeans"], "repeats": 1}
    plain = compare(rows, bounds=(0, 1), **given)
    scaled = compare(rows * [1, 1000], bounds=([0, 0], [1, 1000]), scaling="bounds", **given)
    assert scaled.contenders[0].loss == pytest.approx(plain.contenders[0].loss)


def test_it_is_reproducible_and_prints_everywhere():
    found, again = (compare(**SMALL, methods=["KMeans", "FastLloyd"]) for _ in range(2))
    assert [one.loss for one in found.contenders] == [one.loss for one in again.contenders]
    assert json.loads(json.dumps(found.to_dict()))["contenders"][0]["method"] == found.best
    assert "1,500 made-up rows x 2, k = 3, epsilon = 1, delta = 1e-06, 2 times" in str(found)
    assert str(found).splitlines()[3].startswith(found.best)
    assert f"<td>{found.best}</td>" in found._repr_html_()


def test_one_repeat_has_no_error():
    found = compare(**{**SMALL, "repeats": 1}, methods=["KMeans"])
    assert found.contenders[0].error is None
    assert "once" in str(found)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"n_clusters": 0}, "compare.n_clusters"),
        ({"n_rows": None}, "compare.rows: expected public rows, or n_rows and n_features"),
        ({"n_rows": 10**9}, "compare.n_rows: expected at most 67,108,864 rows of 2"),
        ({"bounds": (0, 1)}, "compare.bounds: expected left out for made-up rows"),
        ({"methods": ["KMean"]}, "compare.methods"),
        ({"methods": []}, "compare.methods: expected at least one method"),
        ({"repeats": 0}, "compare.repeats"),
        ({"epsilon": 0.0}, "compare.epsilon"),
        ({"guarantee": 3}, "compare.guarantee"),
        ({"scaling": "auto"}, "compare.scaling"),
        ({"neighbours": "all"}, "neighbours"),
    ],
)
def test_bad_parameters_are_named(given, words):
    with pytest.raises(ParameterError, match=words):
        compare(**{**SMALL, **given})


def test_bad_rows_are_public_and_may_be_named(generator):
    rows = generator.random((20, 2))
    with pytest.raises(ParameterError, match=r"compare\.n_rows: expected left out beside rows"):
        compare(rows, n_rows=20, bounds=(0, 1))
    with pytest.raises(ParameterError, match=r"compare\.bounds"):
        compare(rows)
    with pytest.raises(DataError, match="complex"):
        compare(np.array([[1j]]), bounds=Ball(1.0))
    rows[3, 1] = np.nan
    with pytest.raises(ParameterError, match=r"compare\.rows: expected finite numbers"):
        compare(rows, bounds=(0, 1))
