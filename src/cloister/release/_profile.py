# SPDX-License-Identifier: Apache-2.0
"""Centres in the columns' own words: numbers, dates, shares of levels, each with its standard error.

Arithmetic on published numbers. pandas and polars are optional and imported where they are used.
"""

from collections.abc import Iterable
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from cloister import validate
from cloister.columns import Declaration
from cloister.exceptions import ParameterError
from cloister.release._described import describe_clusters, frame_columns

if TYPE_CHECKING:
    from cloister.release._release import Release

LIBRARIES = ("pandas", "polars")


def profile_of(release: "Release") -> list[dict[str, Any]]:
    """Return one entry per cluster: label, noisy number of rows, and what each column is there."""
    described = None if release.profiles is None else describe_clusters(release.profiles)
    return [
        {
            "label": label,
            "rows": float(release.cluster_counts[label]),
            "rows_error": float(release.count_errors[label]),
            "stands_out": bool(release.stands_out[label]),
            "stability": None if release.stability is None else float(release.stability[label]),
            "columns": {one["name"]: {key: value for key, value in one.items() if key != "name"} for one in columns},
            **({} if described is None else {"distributions": described[label]}),
        }
        for label, columns in enumerate(columns_of(release))
    ]


def columns_of(
    release: "Release", *, labels: Iterable[int] | None = None, picked: Iterable[int] | None = None
) -> list[list[dict[str, Any]]]:
    """Return, for each cluster, what each column is there, in order and with its name: those of an edited file may be equal.

    All clusters and columns by default, else those with these positions.
    """
    described = described_columns(release)
    columns = described if picked is None else [described[index] for index in picked]
    centers, errors = release.cluster_centers.tolist(), release.center_errors.tolist()
    return [
        [{"name": name, **declared.told(centers[label][cut], errors[label][cut])} for name, declared, cut in columns]
        for label in (range(release.n_clusters) if labels is None else labels)
    ]


def to_frame(release: "Release", library: str) -> Any:
    """Return one line per cluster as a data frame."""
    validate.one_of("Release.to_frame", library, LIBRARIES)
    columns = _frame_columns(release)
    try:
        if library == "pandas":
            import pandas

            return pandas.DataFrame({name: _datetimes(values) for name, values in columns.items()})
        import polars

        return polars.DataFrame(columns)
    except ImportError:
        pass
    raise ParameterError(
        f"Release.to_frame: expected a library that is installed, got {library!r}. Run 'pip install {library}', or use "
        "Release.profile(), which needs none."
    )


def described_columns(release: "Release") -> list[tuple[str, Declaration, slice]]:
    """Return name, declaration and published coordinates of every column."""
    domain = release.domain
    return list(zip(domain.names(release.feature_names), domain.columns, domain.slices(), strict=True))


def _frame_columns(release: "Release") -> dict[str, list[Any]]:
    """Return the columns of the frame; a name that is taken gets an underscore."""
    columns: dict[str, list[Any]] = {
        "label": list(range(release.n_clusters)),
        "rows": release.cluster_counts.tolist(),
        "rows_error": release.count_errors.tolist(),
        "stands_out": release.stands_out.tolist(),
        **({} if release.stability is None else {"stability": release.stability.tolist()}),
    }
    published, centers, errors = release.columns, release.cluster_centers, release.center_errors
    for name, declared, cut in described_columns(release):
        drawn = [] if declared.has_levels else [declared.axis(name, *declared.interval)]
        if drawn and name not in published[cut]:  # the value that several coordinates tell
            values, spreads = declared.on_axis(centers[:, cut], errors[:, cut])
            _add(columns, name, [drawn[0].cell(one) for one in values.tolist()])
            _add(columns, f"{name}_error", spreads.tolist())
        for index, one in enumerate(declared.coordinates(published[cut]), start=cut.start):
            _add(columns, one.name, [one.cell(value) for value in centers[:, index].tolist()])
            _add(columns, f"{one.name}_error", errors[:, index].tolist())
    for heading, found in () if release.profiles is None else frame_columns(release.profiles):
        _add(columns, heading, found)
    return columns


def _add(columns: dict[str, list[Any]], name: str, values: list[Any]) -> None:
    while name in columns:
        name += "_"
    columns[name] = values


def _datetimes(values: list[Any]) -> Any:
    """Return dates as NumPy has them, which pandas keeps; times are in UTC, and what is hidden by the noise is no time."""
    if not any(isinstance(one, date) for one in values):
        return values
    days = [one.replace(tzinfo=None) if isinstance(one, datetime) else one for one in values]
    return np.array(["NaT" if one is None else one.isoformat() for one in days], dtype="datetime64[s]")
