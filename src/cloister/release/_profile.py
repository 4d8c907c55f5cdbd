# SPDX-License-Identifier: Apache-2.0
"""Centres in the columns' own words: numbers, dates, shares of levels, each with its standard error.

Arithmetic on published numbers. pandas and polars are optional and imported where they are used.
"""

from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from cloister import validate
from cloister.columns import AnyDeclaration, Category, ColumnDomain, Date, Flag, Number, iso_date
from cloister.exceptions import ParameterError
from cloister.release._described import describe_clusters, frame_columns

if TYPE_CHECKING:
    from cloister.release._release import Release

__all__ = ["columns_of", "date_of", "described_columns", "profile_of", "to_frame"]

LIBRARIES = ("pandas", "polars")


def profile_of(release: "Release") -> list[dict[str, Any]]:
    """Return one entry per cluster: label, noisy number of rows, and what each column is there."""
    described = None if release.profiles is None else describe_clusters(release.profiles)
    seen = release.stands_out
    return [
        {
            "label": label,
            "rows": float(release.cluster_counts[label]),
            "rows_error": float(release.count_errors[label]),
            "stands_out": bool(seen[label]),
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
    return [
        [{"name": name, **_words(declared, *_numbers(release, label, cut))} for name, declared, cut in columns]
        for label in (range(release.n_clusters) if labels is None else labels)
    ]


def date_of(declared: Date, days: float) -> str:
    """Return a released date as people write it: a day, or a time where the bounds are times."""
    return iso_date(float(round(days)) if _in_whole_days(declared) else days)


def to_frame(release: "Release", library: str) -> Any:
    """Return one line per cluster as a data frame."""
    validate.one_of("Release.to_frame", library, LIBRARIES)
    columns = _frame_columns(release)
    try:
        return _pandas_frame(columns) if library == "pandas" else _polars_frame(columns)
    except ImportError:
        pass
    raise ParameterError(
        f"Release.to_frame: expected a library that is installed, got {library!r}. Run 'pip install {library}', or use "
        "Release.profile(), which needs none."
    )


def described_columns(release: "Release") -> list[tuple[str, AnyDeclaration | None, slice]]:
    """Return name, declaration and published coordinates of every column; a box and a ball hold numbers."""
    domain = release.domain
    names = release.feature_names or tuple(f"x{index}" for index in range(release.n_columns))
    if isinstance(domain, ColumnDomain):
        return list(zip(names, domain.columns, domain.slices(), strict=True))
    return [(name, None, slice(index, index + 1)) for index, name in enumerate(names)]


def _numbers(release: "Release", label: int, cut: slice) -> tuple[list[float], list[float]]:
    return release.cluster_centers[label, cut].tolist(), release.center_errors[label, cut].tolist()


def _words(declared: AnyDeclaration | None, values: list[float], errors: list[float]) -> dict[str, Any]:
    """Return what a column is in one cluster; the last number of one that tells missing values apart is their share."""
    if isinstance(declared, Category):
        pairs = [[value, error] for value, error in zip(values, errors, strict=True)]
        found: dict[str, Any] = {"type": "category", "shares": dict(zip(declared.names, pairs, strict=False))}
        size = len(declared.names)
    elif isinstance(declared, Flag):
        found, size = {"type": "flag", "share": values[0], "error": errors[0]}, 1
    elif isinstance(declared, Date):
        found, size = {"type": "date", "value": date_of(declared, values[0]), "error_days": errors[0]}, 1
    else:
        found, size = {"type": Number.kind, "value": values[0], "error": errors[0]}, 1
    return found if len(values) == size else {**found, "missing": [values[size], errors[size]]}


def _in_whole_days(declared: Date) -> bool:
    return all(float(end).is_integer() for end in declared.days)


def _frame_columns(release: "Release") -> dict[str, list[Any]]:
    """Return the columns of the frame; a name that is taken gets an underscore."""
    columns: dict[str, list[Any]] = {
        "label": list(range(release.n_clusters)),
        "rows": release.cluster_counts.tolist(),
        "rows_error": release.count_errors.tolist(),
        "stands_out": release.stands_out.tolist(),
        **({} if release.stability is None else {"stability": release.stability.tolist()}),
    }
    published = release.columns
    for _, declared, cut in described_columns(release):
        dated = cut.start if isinstance(declared, Date) else None
        for index, heading in enumerate(published[cut], start=cut.start):
            values = release.cluster_centers[:, index].tolist()
            _add(columns, heading, [_moment(declared, one) for one in values] if index == dated else values)
            _add(columns, f"{heading}_error", release.center_errors[:, index].tolist())
    for heading, found in () if release.profiles is None else frame_columns(release.profiles):
        _add(columns, heading, found)
    return columns


def _add(columns: dict[str, list[Any]], name: str, values: list[Any]) -> None:
    while name in columns:
        name += "_"
    columns[name] = values


def _moment(declared: Any, days: float) -> date | datetime:
    text = date_of(declared, days)
    return date.fromisoformat(text) if _in_whole_days(declared) else datetime.fromisoformat(text).replace(tzinfo=UTC)


def _pandas_frame(columns: Mapping[str, list[Any]]) -> Any:
    import pandas

    return pandas.DataFrame({name: _datetimes(values) for name, values in columns.items()})


def _datetimes(values: list[Any]) -> Any:
    """Return dates as NumPy has them, which pandas keeps; times are in UTC, and what is hidden by the noise is no time."""
    if not any(isinstance(one, date) for one in values):
        return values
    days = [one.replace(tzinfo=None) if isinstance(one, datetime) else one for one in values]
    return np.array(["NaT" if one is None else one.isoformat() for one in days], dtype="datetime64[s]")


def _polars_frame(columns: Mapping[str, list[Any]]) -> Any:
    import polars

    return polars.DataFrame(dict(columns))
