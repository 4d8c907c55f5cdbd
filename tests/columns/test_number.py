# SPDX-License-Identifier: Apache-2.0
"""Numbers on a logarithmic scale: equal factors are equally far apart, and what is published is in the units of the input."""

import json
import math

import numpy as np
import pandas as pd
import pytest

from cloister import GridSynopsis, KMeans, Number, PointSynopsis, Release
from cloister.cli._bounds import read_bounds
from cloister.columns import Table, declare_columns, factor_words
from cloister.exceptions import ParameterError
from cloister.release import rank_table
from cloister.report import write_report

DOSE = Number(1, 10_000, scale="log")


def place(values, column=DOSE, scaling="bounds"):
    frame = Table((column,)).frame(scaling=scaling)
    return frame.clean(np.reshape(values, (-1, 1)))[:, 0] * frame.distance_unit


def patients(generator, n_rows=2000):
    """Two groups whose doses differ by a factor of a hundred; some doses are missing."""
    dose = np.concatenate([generator.lognormal(1, 0.3, n_rows), generator.lognormal(5.6, 0.3, n_rows)])
    dose[::9] = np.nan
    return pd.DataFrame({"dose": dose, "age": generator.uniform(20, 80, 2 * n_rows)})


def test_equal_factors_lie_equally_far_apart():
    assert np.diff(place([1, 10, 100, 1000, 10_000])) == pytest.approx([0.5] * 4, rel=1e-5)
    weighted = place([1, 10_000], Number(1, 10_000, scale="log", weight=3))
    assert weighted[1] - weighted[0] == pytest.approx(6, rel=1e-5)
    own = place([1, 10_000], scaling="none")
    assert own[1] - own[0] == pytest.approx(math.log(10_000), rel=1e-5)


def test_what_is_not_positive_is_moved_to_the_smallest_number():
    assert (place([0.5, 0.0, -3.0, -1e300]) == place([1])).all()
    assert place([1e300]) == place([10_000])
    assert (place([math.nan, math.inf]) == place([100])).all()  # in the middle of the factors


@pytest.mark.parametrize("missing", ["mean", "own"])
def test_a_fit_publishes_doses_in_their_own_units(missing, generator, tmp_path):
    table = patients(generator)
    bounds = {"dose": Number(1, 10_000, scale="log", missing=missing), "age": (0, 120)}
    release = KMeans(2, epsilon=100.0, bounds=bounds, describe=0.3, n_init=4, random_state=2).fit(table).release_
    assert json.loads(release.to_json())["domain"]["columns"][0]["scale"] == "log"
    assert Release.from_dict(json.loads(release.to_json())).to_json() == release.to_json()
    if missing == "mean":
        assert rank_table(release)[0] == 0
        told = sorted(one["columns"]["dose"]["value"] for one in release.profile())
        assert told == pytest.approx(np.exp([1, 5.6]), rel=0.1)
        means = sorted(one["distributions"]["dose"]["mean"] for one in release.profile())
        assert means == pytest.approx([3.0, 280], rel=0.25)
    edges = release.profiles["dose"].edges
    assert edges[[0, -1]].tolist() == pytest.approx([1, 10_000])
    steps = np.diff(np.log(edges))
    assert max(steps[np.searchsorted(edges, np.exp(place)) - 1] for place in (1, 5.6)) < np.median(steps)  # where doses lie
    write_report(release, tmp_path / "report.html", allow_seeded=True)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "1 to 10,000 (log scale: geometric means)" in page
    for one in release.profile():
        told = one["columns"]["dose"]
        assert told["factor"] == pytest.approx(np.exp(told["error"] / told["value"]))
        assert factor_words(told["value"], told["factor"]) in page
    assert "×/÷" in repr(release)  # noqa: RUF001


def test_errors_are_a_part_of_the_value():
    frame = Table((DOSE,)).frame()
    points = frame.to_unit([[10.0], [1000.0]])
    small, large = frame.errors_from_unit(np.full((2, 1), 1e-6), points)[:, 0]
    assert large == pytest.approx(100 * small)
    assert small == pytest.approx(10 * 1e-6 * math.log(100), rel=1e-3)


def test_a_synopsis_draws_doses_between_the_bounds(generator):
    synopsis = PointSynopsis(epsilon=50.0, bounds={"dose": DOSE, "age": (0, 120)}, random_state=0).fit(patients(generator))
    doses = synopsis.synopsis_.sample_table(2000, random_state=0)["dose"].to_numpy()
    assert ((doses >= 1) & (doses <= 10_000)).all()
    assert np.mean(doses < 30) == pytest.approx(0.5, abs=0.1)


REFUSED = {
    "a bound that is not positive": (lambda: Number(0, 1, scale="log"), r"Number.low: expected a number of at least 1e-100"),
    "private bounds": (lambda: Number("private", scale="log"), r'Number: expected public bounds for scale="log"'),
    "another scale": (lambda: Number(1, 2, scale="sqrt"), r"Number.scale: expected one of 'linear', 'log'"),
    "a grid": (lambda: GridSynopsis(bounds={"dose": DOSE}).fit(pd.DataFrame({"dose": [1.0]})), r"as a grid cuts intervals"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_logarithms_is_refused(name):
    make, words = REFUSED[name]
    with pytest.raises(ParameterError, match=words):
        make()


def test_files_and_the_command_line_name_it():
    assert declare_columns("bounds", {"dose": {"low": 1, "high": 10_000, "scale": "log"}})["dose"] == DOSE
    assert read_bounds(["dose=number:1:10000:log"]).named == {"dose": DOSE}
    assert repr(DOSE) == "Number(1.0, 10000.0, scale='log')"
