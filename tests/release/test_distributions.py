# SPDX-License-Identifier: Apache-2.0
"""Profiles of columns: what follows from noisy histograms, with errors that hold, and files that are read again."""

import dataclasses
import json
import math

import numpy as np
import pandas as pd
import pytest

from cloister import KMeans, Number, Release
from cloister.algorithms import look_edges, place_edges
from cloister.exceptions import ParameterError
from cloister.release import ColumnProfile, Profiles
from cloister.release._within import Within
from cloister.report._profiles import profile_section

EDGES = np.linspace(0, 100, 21)
WIDTH = 5.0


def number(counts, sigma=1.0, edges=EDGES, **more):
    return ColumnProfile(name="age", kind="number", edges=edges, noisy_counts=np.atleast_2d(counts), sigma=sigma, **more)


def levels(counts, sigma=1.0):
    return ColumnProfile(name="ward", kind="category", levels=("n", "s"), noisy_counts=np.atleast_2d(counts), sigma=sigma)


def histogram(values, n_missing=0):
    return np.append(np.histogram(np.clip(values, 0, 99.99), EDGES)[0], n_missing).astype(float)


def test_shares_are_not_negative_and_add_up_to_one(generator):
    counts = generator.normal(0, 30, (40, 21)) + histogram(generator.normal(40, 8, 3000), 200)
    found = number(counts, sigma=30.0).shares()
    assert (found.value >= 0).all()
    assert found.value.sum(axis=1) == pytest.approx(1)
    assert found.value.shape == found.error.shape == (40, 21)
    exact = levels([[60.0, 30.0, 10.0, 0.0]])
    assert exact.shares().value[0] == pytest.approx([0.6, 0.3, 0.1, 0.0])
    assert exact.bins == ("n", "s", "(other)", "(missing)")
    assert exact.missing().value == pytest.approx([0.0])


DRAWS = {
    "normal": lambda generator, size: generator.normal(40, 8, size),
    "two groups": lambda generator, size: generator.normal(np.where(generator.random(size) < 0.5, 20, 75), 4),
    "even": lambda generator, size: generator.uniform(0, 100, size),
}


@pytest.mark.parametrize("sigma", [5.0, 30.0])
@pytest.mark.parametrize("kind", DRAWS)
def test_errors_cover_what_noise_does(kind, sigma, generator):
    """Of 400 draws of the noise, 1.96 standard errors cover the truth in about 95 %: never below 88 % here."""
    values = np.clip(DRAWS[kind](generator, 5000), 0, 99.99)
    counts = histogram(values, 500)
    profile = number(counts + generator.normal(0, sigma, (400, 21)), sigma=sigma)
    shares = levels(np.array([600.0, 300.0, 100.0, 80.0]) + generator.normal(0, sigma, (400, 4)), sigma=sigma).shares()
    assert (np.mean(np.abs(shares.value - np.array([600, 300, 100, 80]) / 1080) <= 1.96 * shares.error, axis=0) >= 0.88).all()
    for found, true in ((profile.mean(), values.mean()), (profile.spread(), values.std()), (profile.missing(), 500 / 5500)):
        assert np.mean(np.abs(found.value - true) <= 1.96 * found.error) >= 0.88
        # Not by errors that are always huge: they allow for the noise, and for where in its bin a value lies.
        assert np.median(found.error) <= 2.5 * math.hypot(np.std(found.value), 0.05 * WIDTH)


@pytest.mark.parametrize("kind", ["normal", "even"])
def test_quantiles_cover_what_noise_and_bins_do(kind, generator):
    values = np.clip(DRAWS[kind](generator, 5000), 0, 99.99)
    profile = number(histogram(values) + generator.normal(0, 20, (400, 21)), sigma=20.0)
    found = profile.quantiles()
    true = np.quantile(values, [0.25, 0.5, 0.75])
    assert (np.mean(np.abs(found.value - true) <= 1.96 * found.error, axis=0) >= 0.88).all()
    assert (np.diff(found.value, axis=1) >= 0).all()
    ends = profile.quantiles([0.0, 1.0])
    assert (ends.value[:, 0] <= found.value[:, 0]).all()
    assert (ends.value[:, 1] >= found.value[:, 2]).all()


@pytest.mark.parametrize("place", [0.0, 0.2, 0.5, 0.999])
def test_a_value_that_all_rows_share_may_lie_anywhere_in_its_bin(place):
    """Without noise the counts are the same wherever in the bin it lies: all answers must be within the errors."""
    value = 40 + place * WIDTH
    profile = number(histogram(np.full(5000, value)), sigma=1e-3)
    mean, spread, quantiles = profile.mean(), profile.spread(), profile.quantiles()
    assert abs(mean.value[0] - value) <= 1.96 * mean.error[0]
    assert spread.value[0] <= 2 * spread.error[0]
    assert (np.abs(quantiles.value - value) <= 1.96 * quantiles.error).all()


def test_a_density_that_falls_from_bin_to_bin_falls_within_bins_too(generator):
    """The middles of the bins lie above the means of what is in them: the error of a mean was all bias."""
    values = generator.exponential(6, 200_000)
    profile = number(histogram(values), sigma=1.0)
    middles = (EDGES[:-1] + EDGES[1:]) / 2
    naive = middles @ histogram(values)[:-1] / len(values)
    found = profile.mean()
    assert abs(found.value[0] - values.mean()) <= 1.96 * found.error[0]
    assert abs(found.value[0] - values.mean()) < 0.3 * abs(naive - values.mean())
    assert profile.quantiles().value[0] == pytest.approx(np.quantile(values, [0.25, 0.5, 0.75]), abs=0.15 * WIDTH)


def test_rows_that_noise_hides_in_a_tail_are_part_of_the_error(generator):
    """Of a skewed column the far bins hold rows, each fewer than the noise."""
    values = generator.exponential(12, 4000).clip(0, 99.99)
    profile = number(histogram(values) + generator.normal(0, 25, (200, 21)), sigma=25.0)
    for found, true in ((profile.mean(), values.mean()), (profile.spread(), values.std())):
        assert np.mean(np.abs(found.value - true) <= 1.96 * found.error) >= 0.88


KINDS_OF_COLUMNS = {
    "normal in wide bounds": (lambda draw, size, part: draw.normal(4 + 2 * part, 0.6, size), -500, 500),
    "lognormal": (lambda draw, size, part: draw.lognormal(9 + part, 0.9, size), 0, 1e6),
    "zero-inflated": (lambda draw, size, part: draw.gamma(2, 12, size) * (draw.random(size) > 0.7 - 0.3 * part), 0, 200),
    "whole numbers": (lambda draw, size, part: draw.poisson(2 + 3 * part, size), 0, 50),
    "exponential": (lambda draw, size, part: draw.exponential(5 + 8 * part, size), 0, 100),
    "beta": (lambda draw, size, part: 100 * draw.beta(0.5 + 0.3 * part, 0.5, size), 0, 100),
}


@pytest.mark.slow
@pytest.mark.parametrize("sigma", [15.0, 40.0])
@pytest.mark.parametrize("kind", KINDS_OF_COLUMNS)
def test_errors_cover_the_truth_of_columns_of_many_kinds(kind, sigma, generator):
    """Means, standard deviations and quantiles of five clusters of 4,000 rows; about 0.95 of the truths, never below 0.80."""
    draw, low, high = KINDS_OF_COLUMNS[kind]
    hits = {"mean": [], "spread": [], "quantiles": []}
    for _ in range(25):
        values = [np.clip(draw(generator, 4000, part), low, high) for part in np.linspace(0, 1, 5)]
        coarse, fine = look_edges(low, high)
        looks = [np.histogram(values, one)[0] + generator.normal(0, 2 * sigma, len(one) - 1) for one in (coarse, fine)]
        edges = place_edges(*looks, fine, 2 * sigma, int(np.clip(4000 / 6 / sigma, 5, 48)))
        counts = np.array([[*np.histogram(one, edges)[0], 0.0] for one in values])
        profile = number(counts + generator.normal(0, sigma, counts.shape), sigma=sigma, edges=edges)
        truths = {
            "mean": [one.mean() for one in values],
            "spread": [one.std() for one in values],
            "quantiles": [np.quantile(one, [0.25, 0.5, 0.75], method="inverted_cdf") for one in values],
        }
        for name, true in truths.items():
            found = getattr(profile, name)()
            hits[name].append(np.abs(found.value - true) <= 1.96 * found.error)
    for name, found in hits.items():
        assert np.mean(found) >= 0.80, name


def test_noise_far_away_does_not_widen_a_narrow_cluster(generator):
    """The part of noise that is not cut to zero lies on one side of zero: counted in, it would make every spread too large."""
    values = generator.normal(30, 6, 4000)
    profile = number(histogram(values) + generator.normal(0, 25, (200, 21)), sigma=25.0)
    found = profile.spread()
    assert np.median(found.value) == pytest.approx(values.std(), abs=1.0)
    assert np.mean(np.abs(found.value - values.std()) <= 1.96 * found.error) >= 0.88
    assert np.count_nonzero(profile.shares().value[:, -8:-1]) < 0.1 * 200 * 7


def test_differences_are_from_all_rows():
    low, high = np.zeros(21), np.zeros(21)
    low[4], high[14] = 1000.0, 1000.0
    both = number([low, high], sigma=0.5)
    assert both.spread().value == pytest.approx([WIDTH / math.sqrt(12)] * 2, rel=0.01), "a spread below a bin is not claimed"
    assert (both.whole().noisy_counts == low + high).all()
    assert both.whole().sigma == pytest.approx(0.5 * 2**0.5)
    found = both.difference()
    assert found.value == pytest.approx([-1, 1], abs=0.05)
    shares = levels([[100.0, 0.0, 0.0, 0.0], [0.0, 100.0, 0.0, 0.0]], sigma=0.5).difference()
    assert shares.value[:, :2].round(2).tolist() == [[0.5, -0.5], [-0.5, 0.5]]
    assert (shares.error > 0).all()


def test_of_a_cluster_below_the_noise_nothing_is_said(generator):
    profile = number(np.vstack([histogram(generator.normal(40, 8, 900)), generator.normal(0, 1, 21)]), sigma=20.0)
    assert profile.above_noise.tolist() == [True, False]
    for found in (profile.mean(), profile.spread(), profile.missing(), profile.difference()):
        assert np.isfinite(found.value[0])
        assert np.isnan(found.value[1])
    assert np.isnan(profile.shares().value[1]).all()
    assert np.isnan(profile.quantiles().value[1]).all()


def test_of_a_column_that_is_missing_throughout_there_is_no_mean():
    counts = np.zeros(21)
    counts[-1] = 1000.0
    found = number(counts, sigma=0.0)
    assert found.missing().value.tolist() == [1.0]
    assert np.isnan(found.mean().value).all()
    assert np.isnan(found.quantiles().value).all()


def test_levels_have_no_mean_and_a_quantile_is_a_part():
    for ask in ("mean", "spread", "quantiles"):
        with pytest.raises(ParameterError, match=r"ColumnProfile\['ward'\]: expected a number or a date, got 'category'\. Ask"):
            getattr(levels([[1.0, 2.0, 0.0, 0.0]]), ask)()
    for part in (-0.1, 1.5, math.nan, "half"):
        with pytest.raises(ParameterError, match=r"ColumnProfile\.quantiles: expected a finite number"):
            number(np.ones(21)).quantiles([part])


@pytest.mark.parametrize("edges", [[0.0, 1e-100, 2e-100, 1.0], [-1e60, 0.0, 1.0, 1e60], [0.0, 1.0], [0.0, 1.0, 2.0]])
@pytest.mark.parametrize("count", [1.0, 1e100])
@pytest.mark.parametrize("sigma", [0.0, 1e-3, 20.0])
def test_whatever_an_edited_file_holds_has_numbers_or_none(edges, count, sigma):
    for place in range(len(edges) - 1):
        counts = np.zeros(len(edges))
        counts[place] = count
        profile = number(np.vstack([counts, counts[::-1]]), sigma=sigma, edges=edges)
        for found in (profile.mean(), profile.spread(), profile.quantiles(), profile.difference()):
            assert found.value.shape[0] == 2


@pytest.mark.parametrize(
    "wrong",
    [
        {"kind": "word"},
        {"noisy_counts": [[1.0] * 20]},
        {"noisy_counts": []},
        {"edges": EDGES[::-1]},
        {"edges": None},
        {"levels": ("a",)},
        {"sigma": -1.0},
    ],
)
def test_what_does_not_belong_together_is_refused(wrong):
    given = {"name": "age", "kind": "number", "edges": EDGES, "noisy_counts": [[1.0] * 21], "sigma": 1.0}
    with pytest.raises(ValueError, match="profile of 'age'"):
        ColumnProfile(**{**given, **wrong})


# -- releases --------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def release():
    rows = np.random.default_rng(0).normal([[20.0, 5.0], [70.0, 5.0]], 3.0, size=(500, 2, 2)).reshape(-1, 2)
    return KMeans(2, epsilon=8.0, bounds=(0, 100), describe=0.3, n_init=1, random_state=0).fit(rows).release_


def test_the_profile_of_a_release_tells_distributions(release):
    assert release.profiles.names == ("x0", "x1")
    with pytest.raises(KeyError, match="income"):
        release.profiles["income"]
    first = release.profile()[0]["distributions"]["x0"]
    assert first["mean"] == pytest.approx(release.cluster_centers[0, 0], abs=3)
    assert {"spread", "spread_error", "quartiles", "difference", "difference_error", "missing", "mean_error"} < set(first)
    json.dumps(release.profile(), allow_nan=False)
    assert "distributions" not in dataclasses.replace(release, profiles=None).profile()[0]


def test_a_page_has_one_mean_of_a_column_that_clusters_were_found_by(release):
    assert np.ptp(release.profiles["x0"].centers.value - release.profiles["x0"]._estimate(Within.mean).value) > 0  # they differ
    read = Release.from_dict(json.loads(release.to_json()))
    assert read.to_json() == release.to_json()
    for one in (release, read):
        frame, section = one.to_frame(), profile_section(one)
        for index, name in enumerate(one.profiles.names):
            profile = one.profiles[name]
            assert profile.mean().value.tolist() == frame[name].tolist() == one.cluster_centers[:, index].tolist()
            assert (profile.mean().error <= one.center_errors[:, index]).all()
            for label, cluster in enumerate(one.profile()):
                assert cluster["distributions"][name]["mean"] == cluster["columns"][name]["value"]
                line = section["table"].columns[index].cells[label + 1].lines[0]
                assert float(line.value) == pytest.approx(one.cluster_centers[label, index], abs=0.05)
            weights = profile.noisy_counts[:, :-1].sum(axis=1)
            assert profile.whole().mean().value[0] == pytest.approx(np.average(profile.mean().value, weights=weights))


def test_a_mean_on_a_logarithmic_scale_is_not_taken_for_the_centre(generator):
    rows = pd.DataFrame({"dose": generator.lognormal(2.0, 0.8, 4000)})
    release = (
        KMeans(1, epsilon=8.0, bounds={"dose": Number(0.1, 1e4, scale="log")}, describe=0.3, random_state=0).fit(rows).release_
    )
    profile = release.profiles["dose"]
    assert profile.log
    assert profile.centers is None
    assert release.cluster_centers[0, 0] == pytest.approx(np.exp(2.0), rel=0.1)  # the geometric mean
    assert profile.mean().value[0] == pytest.approx(rows["dose"].mean(), rel=0.1)
    assert "arithmetic means" in profile_section(release)["table"].columns[0].note
    assert Release.from_dict(json.loads(release.to_json())).profiles["dose"].log


def test_a_frame_carries_spreads_and_columns_that_are_only_described(release):
    ward = ColumnProfile(
        name="ward", kind="category", levels=("n", "s"), clustered=False, noisy_counts=[[9.0, 1.0, 0.0, 0.0]] * 2, sigma=0.1
    )
    day = {"name": "day", "kind": "date", "edges": [0.0, 10.0, 20.0], "clustered": False, "sigma": 0.1}
    dated = ColumnProfile(**day, noisy_counts=[[90.0, 0.0, 0.0], [0.0, 90.0, 0.0]])
    richer = dataclasses.replace(release, profiles=Profiles(columns=(*release.profiles, ward, dated)))
    for library in ("pandas", "polars"):
        frame = richer.to_frame(library)
        assert {"x0_spread", "x0_spread_error", "ward=n", "ward=n_error", "day", "day_error", "day_spread"} <= set(
            frame.columns
        )
        assert list(frame["ward=n"]) == pytest.approx([0.9, 0.9])
    assert [str(one)[:10] for one in frame["day"]] == ["1970-01-06", "1970-01-16"]
    assert "x0_spread" not in dataclasses.replace(release, profiles=None).to_frame().columns
