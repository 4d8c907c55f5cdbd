# SPDX-License-Identifier: Apache-2.0
"""Profiles as plain data and as columns of a frame: means, spreads, quartiles, shares, and differences from the whole."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from cloister.columns import FloatArray
from cloister.release._distributions import ColumnProfile, Estimate, Profiles


def describe_clusters(profiles: Profiles) -> list[dict[str, Any]]:
    """Return what each column is in each cluster, by its name; None where a cluster does not stand out of the noise."""
    columns = [(one.name, _described(one)) for one in profiles]
    return [{name: found[label] for name, found in columns} for label in range(profiles.columns[0].n_clusters)]


def _described(profile: ColumnProfile) -> list[dict[str, Any]]:
    """Return what a column is in each cluster."""
    difference, fields = profile.difference(), dict[str, list[Any]]()
    if profile.levels is None:
        axis, mean, spread = profile.axis, profile.mean(), profile.spread()
        fields["mean"], fields["mean_error"] = list(map(axis.plain, mean.value)), _plain(mean.error)
        fields["spread"], fields["spread_error"] = _plain(spread.value), _plain(spread.error)
        fields["quartiles"] = [list(map(axis.plain, one)) for one in profile.quantiles().value]
        fields["difference"], fields["difference_error"] = _plain(difference.value), _plain(difference.error)
    else:
        shares = _pairs(profile.shares())
        fields["shares"] = [dict(zip(profile.levels, pairs, strict=False)) for pairs in shares]
        fields["differences"] = [dict(zip(profile.levels, pairs, strict=False)) for pairs in _pairs(difference)]
        fields["other"] = [pairs[-2] for pairs in shares]
    fields["missing"] = _pairs(profile.missing())
    about = {"type": profile.kind, "clustered": profile.clustered}
    return [{**about, **dict(zip(fields, values, strict=True))} for values in zip(*fields.values(), strict=True)]


def _pairs(found: Estimate) -> list[Any]:
    """Return pairs of a number and its error, in lists within lists."""
    return _plain(np.stack([found.value, found.error], axis=-1))


def _plain(values: FloatArray) -> list[Any]:
    plain = values.astype(object)
    plain[~np.isfinite(values)] = None
    return list(plain.tolist())


def frame_columns(profiles: Profiles) -> Iterator[tuple[str, list[Any]]]:
    """Yield names and values: spreads of numbers and dates, and of columns that are only described also means and shares."""
    for one in profiles:
        if one.edges is None:
            shares = one.shares()
            for place, level in enumerate(() if one.clustered else one.levels or ()):
                yield f"{one.name}={level}", shares.value[:, place].tolist()
                yield f"{one.name}={level}_error", shares.error[:, place].tolist()
            continue
        if not one.clustered:
            mean, axis = one.mean(), one.axis
            yield one.name, [axis.cell(value) for value in mean.value.tolist()]
            yield f"{one.name}_error", mean.error.tolist()
        spread = one.spread()
        yield f"{one.name}_spread", spread.value.tolist()
        yield f"{one.name}_spread_error", spread.error.tolist()
