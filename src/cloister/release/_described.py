# SPDX-License-Identifier: Apache-2.0
"""Profiles as plain data and as columns of a frame: means, spreads, quartiles, shares, and differences from the whole."""

import math
from collections.abc import Iterator
from typing import Any

from cloister.columns import KINDS, Coordinate
from cloister.release._distributions import MISSING, OTHER, ColumnProfile, Estimate, Profiles

__all__ = ["describe_clusters", "frame_columns"]


def describe_clusters(profiles: Profiles) -> list[dict[str, Any]]:
    """Return what each column is in each cluster, by its name; None where a cluster does not stand out of the noise."""
    columns = [(one.name, _described(one)) for one in profiles]
    return [{name: found[label] for name, found in columns} for label in range(profiles.columns[0].n_clusters)]


def _described(profile: ColumnProfile) -> list[dict[str, Any]]:
    about = {"type": profile.kind, "clustered": profile.clustered}
    missing, difference = profile.missing(), profile.difference()
    if profile.edges is None:
        shares = profile.shares()
        return [
            {
                **about,
                "shares": _by_level(profile, shares, label),
                "differences": _by_level(profile, difference, label),
                "other": _pair(shares, (label, len(profile.bins) - 2)),
                "missing": _pair(missing, label),
            }
            for label in range(profile.n_clusters)
        ]
    mean, spread, quartiles = profile.mean(), profile.spread(), profile.quantiles()
    axis = _axis_of(profile)
    return [
        {
            **about,
            "mean": axis.plain(mean.value[label]),
            "mean_error": _plain(mean.error[label]),
            "spread": _plain(spread.value[label]),
            "spread_error": _plain(spread.error[label]),
            "quartiles": [axis.plain(one) for one in quartiles.value[label]],
            "difference": _plain(difference.value[label]),
            "difference_error": _plain(difference.error[label]),
            "missing": _pair(missing, label),
        }
        for label in range(profile.n_clusters)
    ]


def _by_level(profile: ColumnProfile, found: Estimate, label: int) -> dict[str, Any]:
    assert profile.levels is not None
    return {level: _pair(found, (label, place)) for place, level in enumerate(profile.levels)}


def _pair(found: Estimate, place: Any) -> list[float | None]:
    return [_plain(found.value[place]), _plain(found.error[place])]


def _plain(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _axis_of(profile: ColumnProfile) -> Coordinate:
    """Return how values of a column are written."""
    assert profile.edges is not None
    return KINDS[profile.kind].axis(profile.name, float(profile.edges[0]), float(profile.edges[-1]))


def frame_columns(profiles: Profiles) -> Iterator[tuple[str, list[Any]]]:
    """Yield names and values: spreads of numbers and dates, and of columns that are only described also means and shares."""
    for one in profiles:
        if one.edges is None:
            if not one.clustered:
                yield from _share_columns(one)
            continue
        if not one.clustered:
            mean = one.mean()
            axis = _axis_of(one)
            yield one.name, [axis.cell(value) for value in mean.value.tolist()]
            yield f"{one.name}_error", mean.error.tolist()
        spread = one.spread()
        yield f"{one.name}_spread", spread.value.tolist()
        yield f"{one.name}_spread_error", spread.error.tolist()


def _share_columns(profile: ColumnProfile) -> Iterator[tuple[str, list[Any]]]:
    shares = profile.shares()
    for place, level in enumerate(profile.bins):
        if level in (OTHER, MISSING):
            continue
        yield f"{profile.name}={level}", shares.value[:, place].tolist()
        yield f"{profile.name}={level}_error", shares.error[:, place].tolist()
