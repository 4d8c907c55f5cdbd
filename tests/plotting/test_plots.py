# SPDX-License-Identifier: Apache-2.0
"""Pictures: what is drawn where, with what words; how they fail without matplotlib; that no window opens."""

import importlib.util
import subprocess
import sys

import matplotlib
import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.collections import LineCollection
from matplotlib.dates import AutoDateLocator
from scipy.cluster.hierarchy import linkage
from tests.releases import declared_release, release_by_hand

from cloister import GridSynopsis, KMeans, PointSynopsis
from cloister.exceptions import ParameterError
from cloister.plotting import plot_curve, plot_tree

matplotlib.use("agg")


@pytest.fixture(autouse=True)
def closed_figures(monkeypatch):
    monkeypatch.setattr(pyplot, "show", lambda *args, **options: pytest.fail("a window was opened"))
    yield
    pyplot.close("all")


def boxes_of(ax, artists):
    """Return where texts lie on the canvas, in pixels."""
    ax.figure.canvas.draw()
    return [artist.get_window_extent() for artist in artists]


def overlapping(boxes):
    """Return pairs of boxes that cover each other by more than a pixel either way."""
    shrunk = [box.padded(-1) for box in boxes]
    return [(i, j) for i in range(len(boxes)) for j in range(i) if shrunk[i].overlaps(shrunk[j])]


# -- the map -------------------------------------------------------------------------------------------------------------


def test_two_columns_are_the_axes():
    release = release_by_hand(4, feature_names=("age", "$income"))
    ax = release.plot()
    discs = ax.collections[-1]
    assert np.allclose(discs.get_offsets(), release.cluster_centers)
    assert np.allclose(discs.get_sizes() / discs.get_sizes()[0], release.cluster_counts / release.cluster_counts[0])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("age", r"\$income")
    assert {text.get_text(): text.xy for text in ax.texts} == {
        str(label): pytest.approx(center) for label, center in enumerate(release.cluster_centers)
    }
    bars = [one for one in ax.collections if isinstance(one, LineCollection)]
    assert np.ptp(bars[0].get_segments()[0][:, 0]) == pytest.approx(2 * release.center_errors[0, 0])
    assert np.ptp(bars[1].get_segments()[0][:, 1]) == pytest.approx(2 * release.center_errors[0, 1])
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["200 rows"]


def test_more_columns_are_drawn_in_their_plane():
    release = release_by_hand(5, 4, feature_names=("a", "b", "c", "d"))
    ax = release.plot("map")
    places = ax.collections[-1].get_offsets()
    # The centres lie on a line: distances along the first axis are those between centres, over the domain's radius.
    steps = np.linalg.norm(np.diff(release.cluster_centers, axis=0), axis=1) / release.frame.distance_unit
    assert np.allclose(np.abs(np.diff(places[:, 0])), steps)
    assert np.allclose(places[:, 1], 0.0, atol=1e-9)
    assert "(100 % of the spread)" in ax.get_xlabel()
    assert ax.get_ylabel() == "no spread"
    named = release.plot("map", columns=["d", 0])
    assert (named.get_xlabel(), named.get_ylabel()) == ("d", "a")
    assert np.allclose(named.collections[-1].get_offsets(), release.cluster_centers[:, [3, 0]])


def test_one_column_is_drawn_against_its_counts():
    release = release_by_hand(3, 1, feature_names=("age",))
    ax = release.plot()
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("age", "rows (noisy)")
    expected = np.column_stack([release.cluster_centers[:, 0], release.cluster_counts])
    assert np.allclose(ax.collections[-1].get_offsets(), expected)


def test_dates_and_shares_say_so():
    ax = declared_release().plot(columns=["admitted", "smoker"])
    assert isinstance(ax.xaxis.get_major_locator(), AutoDateLocator)
    assert ax.get_ylabel() == "smoker (share)"


def test_counts_of_no_rows_are_hollow():
    release = release_by_hand(3, cluster_counts=np.array([50.0, -4.0, 9.0]), count_errors=np.full(3, 8.0))
    ax = release.plot()
    full, hollow = ax.collections[-2:]
    assert np.allclose(full.get_offsets(), release.cluster_centers[:1])
    assert np.allclose(hollow.get_offsets(), release.cluster_centers[1:])
    assert len(hollow.get_facecolors()) == 0
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["50 rows", "no rows above the noise"]
    assert release_by_hand(2, cluster_counts=np.array([-1.0, -2.0])).plot().get_legend() is not None


def test_labels_do_not_overlap(generator):
    places = np.repeat(generator.uniform(10, 90, (6, 2)), 2, axis=0)  # two centres each in one place
    ax = release_by_hand(12, cluster_centers=places, cluster_counts=generator.uniform(5, 5000, 12)).plot()
    assert overlapping(boxes_of(ax, ax.texts)) == []
    for box in boxes_of(ax, [*ax.texts, ax.xaxis.label, ax.yaxis.label, *ax.get_legend().get_texts()]):
        assert ax.figure.bbox.contains(box.x0, box.y0)
        assert ax.figure.bbox.contains(box.x1, box.y1)


# -- profiles ------------------------------------------------------------------------------------------------------------


def test_profiles_colour_differences_from_the_mean_of_all_rows():
    centers = np.array([[10.0, 50.0], [40.0, 50.2]])
    release = release_by_hand(2, cluster_centers=centers, cluster_counts=np.array([300.0, 100.0]))
    ax = release.plot("profiles")
    shown = ax.images[0].get_array()
    mean = (3 * 10 + 40) / 4
    assert shown[:, 0].tolist() == pytest.approx([(10 - mean) / (40 - mean), 1.0])
    assert np.abs(shown[:, 1]).max() < 0.35, "differences within the noise stay pale"
    assert [text.get_text() for text in ax.texts] == ["10.00", "50.00", "40.00", "50.20"]
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["0", "1"]
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["x0", "x1"]
    assert ax.get_ylabel() == "cluster"


def test_many_columns_are_readable():
    ax = release_by_hand(12, 40, feature_names=tuple(f"column {index}" for index in range(40))).plot("profiles")
    assert ax.images[0].get_array().shape == (12, 40)
    assert not ax.texts
    ticks = [tick for tick in ax.get_xticklabels() if tick.get_text()]
    assert len(ticks) == 40
    assert overlapping(boxes_of(ax, ticks)) == []
    assert overlapping(boxes_of(ax, ax.get_yticklabels())) == []


def test_of_very_many_columns_those_that_differ_are_drawn(generator):
    centers = np.full((3, 60), 50.0)
    telling = np.sort(generator.choice(60, 40, replace=False))
    centers[:, telling] += 20 * generator.normal(size=(3, 40))
    ax = release_by_hand(3, 60, cluster_centers=np.clip(centers, 0, 100)).plot("profiles")
    assert [tick.get_text() for tick in ax.get_xticklabels()] == [f"x{index}" for index in telling]
    few = release_by_hand(3, 60).plot("profiles", columns=["x7", 3])
    assert [tick.get_text() for tick in few.get_xticklabels()] == ["x7", "x3"]


def test_declared_columns_are_written_in_their_own_words():
    words = [text.get_text() for text in declared_release().plot("profiles").texts]
    assert {"30.25", "90.5", "62 %", "2021-03-04"} <= set(words)


@pytest.mark.slow
@pytest.mark.parametrize(("n_clusters", "n_features"), [(1, 300), (300, 1)])
@pytest.mark.parametrize("kind", ["map", "profiles"])
def test_any_size_can_be_drawn(kind, n_clusters, n_features):
    ax = release_by_hand(n_clusters, n_features).plot(kind)
    ax.figure.canvas.draw()
    assert np.isfinite(ax.figure.get_size_inches()).all()


# -- curves and trees ----------------------------------------------------------------------------------------------------


def test_a_curve_has_its_points_errors_and_choice():
    ax = plot_curve([1, 2, 4], [4.0, 1.0, 0.9], [0.5, 0.25, 0.25], 2, None, where="Release.plot")
    assert ax.lines[0].get_xydata().tolist() == [[1, 4.0], [2, 1.0], [4, 0.9]]
    bars = next(one for one in ax.collections if isinstance(one, LineCollection))
    assert [np.ptp(segment[:, 1]) for segment in bars.get_segments()] == pytest.approx([1.0, 0.5, 0.5])
    assert ax.lines[-1].get_xdata() == [2, 2]
    assert ax.texts[0].get_text() == "2 clusters"
    assert ax.get_xlabel() == "number of clusters"
    ax.figure.canvas.draw()
    assert all(float(tick).is_integer() for tick in ax.get_xticks())


@pytest.fixture(scope="module")
def synopses():
    generator = np.random.default_rng(5)
    rows = np.repeat([[0.2, 0.2], [0.8, 0.3], [0.5, 0.8]], 400, axis=0) + 0.03 * generator.normal(size=(1200, 2))
    common = {"epsilon": 4.0, "bounds": (0, 1), "random_state": 1}
    grid = GridSynopsis(3, rule=10, **common).fit(rows).synopsis_
    return {"grid": grid, "points": PointSynopsis(max_clusters=6, **common).fit(rows).synopsis_}


@pytest.mark.parametrize(("kind", "largest"), [("grid", 12), ("points", 6)])
def test_a_synopsis_draws_its_tree_and_its_curve(synopses, kind, largest):
    synopsis = synopses[kind]
    ax = synopsis.plot("tree", n_clusters=3, random_state=3)
    joins, leaves = synopsis.tree(random_state=3), synopsis.tree_points(random_state=3)
    assert ax.texts[0].get_text() == "3 clusters"
    heights = sorted(bracket[:, 1].max() for bracket in ax.collections[0].get_segments())
    assert heights == pytest.approx(sorted(joins[:, 2]))
    assert sorted(tick.get_text() for tick in ax.get_xticklabels()) == sorted(f"{one:,.0f}" for one in leaves.weights)
    ax, choice = synopsis.plot("curve", random_state=2), synopsis.choose_k(random_state=2)
    assert np.allclose(ax.lines[0].get_xydata(), np.column_stack([choice.n_clusters, choice.held_out]))
    assert ax.lines[0].get_xdata()[-1] == largest
    assert ax.texts[0].get_text() == f"{choice.best} clusters"
    drawn = synopsis.plot("curve", n_clusters=range(2, 5), random_state=2).lines[0]
    assert drawn.get_xdata().tolist() == [2, 3, 4]


def test_a_release_draws_the_curve_of_its_choice(generator):
    rows = generator.normal([[20.0, 20.0], [80.0, 70.0]], 3.0, (1000, 2, 2)).reshape(-1, 2)
    release = KMeans("auto", max_clusters=5, epsilon=2.0, bounds=(0, 100), random_state=0).fit(rows).release_
    ax = release.plot("curve")
    assert ax.lines[0].get_xdata().tolist() == [1, 2, 3, 4, 5]
    assert ax.get_ylabel() == "held-out mean squared distance"


def test_what_a_synopsis_does_not_draw_is_refused(synopses):
    for kind, n_clusters, words in (
        ("map", None, r"Synopsis\.plot.*'curve', 'tree'.*got 'map'"),
        ("curve", 3, r"Synopsis\.plot\.n_clusters: expected numbers to compare, got 3"),
        ("tree", range(3), r"Synopsis\.plot\.n_clusters: expected an integer"),
        ("tree", 1000, r"Synopsis\.plot\.n_clusters: expected an integer"),
    ):
        with pytest.raises(ParameterError, match=words):
            synopses["points"].plot(kind, n_clusters=n_clusters)


def test_a_tree_joins_what_the_linkage_joins(generator):
    points = np.repeat([0.0, 5.0, 20.0], 4)[:, None] + 0.1 * generator.normal(size=(12, 1))
    joins = linkage(points, "ward")
    ax = plot_tree(joins, [f"point {index}" for index in range(12)], 3, None, where="Synopsis.plot")
    names = [tick.get_text() for tick in ax.get_xticklabels()]
    assert sorted(names) == sorted(f"point {index}" for index in range(12))
    groups = [{int(name.split()[1]) // 4 for name in names[start : start + 4]} for start in (0, 4, 8)]
    assert [len(group) for group in groups] == [1, 1, 1]
    height = ax.lines[0].get_ydata()[0]
    assert joins[-3, 2] < height < joins[-2, 2], "three clusters at the line"
    assert ax.texts[0].get_text() == "3 clusters"
    assert overlapping(boxes_of(ax, ax.get_xticklabels())) == []


def test_a_tree_may_be_cut_anywhere(generator):
    joins = linkage(generator.normal(size=(5, 2)), "ward")
    whole, first, last = (plot_tree(joins, list("abcde"), cut, None, where="Synopsis.plot").lines for cut in (None, 1, 5))
    assert not whole
    assert first[0].get_ydata()[0] > joins[-1, 2]
    assert 0 < last[0].get_ydata()[0] < joins[0, 2]


# -- where and with what -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["map", "profiles"])
def test_given_axes_are_drawn_on_and_returned(kind):
    figure, axes = pyplot.subplots(1, 2)
    assert release_by_hand().plot(kind, axes[1]) is axes[1]
    assert not axes[0].collections
    assert not axes[0].images
    assert release_by_hand().plot(kind).figure is not figure


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"kind": "pie"}, r"Release\.plot: expected one of 'curve', 'map', 'profiles', got 'pie'"),
        ({"kind": "tree"}, r"Release\.plot: expected one of .*, got 'tree'\. Draw it of a synopsis: synopsis\.plot\("),
        ({"kind": "curve"}, r"Release\.plot\.kind: expected a release whose number .* was chosen, got 'curve'\. Fit KMeans"),
        ({"ax": "here"}, r"Release\.plot\.ax: expected the Axes of matplotlib, or None, got 'here'"),
        ({"columns": ["x9"]}, r"Release\.plot\.columns: expected names of columns, got 'x9'\. The columns are: x0, x1, x2\."),
        ({"columns": [0, 1, 2]}, r"Release\.plot\.columns: expected one or two columns of a map"),
        ({"columns": []}, r"Release\.plot\.columns: expected one or more columns"),
    ],
)
def test_other_requests_are_refused(options, match):
    with pytest.raises(ParameterError, match=match):
        release_by_hand(3, 3).plot(**options)


def test_without_matplotlib_the_error_says_what_to_install(monkeypatch, synopses):
    known = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *rest: None if name == "matplotlib" else known(name, *rest))
    for draw in (
        lambda: release_by_hand().plot(),
        lambda: release_by_hand().plot("profiles"),
        lambda: synopses["points"].plot("curve"),
        lambda: synopses["points"].plot("tree"),
    ):
        with pytest.raises(ParameterError, match=r"Run pip install 'cloister\[plot\]'"):
            draw()


@pytest.mark.slow
def test_no_screen_is_needed(tmp_path):
    code = (
        "import sys, pathlib; from tests.releases import release_by_hand\n"
        "assert 'matplotlib' not in sys.modules\n"
        f"release_by_hand().plot().figure.savefig({str(tmp_path / 'map.png')!r})"
    )
    environment = {"PYTHONPATH": ":".join(path for path in ["", *sys.path] if path), "PATH": "", "HOME": str(tmp_path)}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment, cwd=tmp_path)
    assert (tmp_path / "map.png").read_bytes()[:4] == b"\x89PNG"
