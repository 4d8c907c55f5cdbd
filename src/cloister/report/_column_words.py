# SPDX-License-Identifier: Apache-2.0
"""Columns as plain data and in words: what a centre is in each of them, what was missing, and what was declared.

The command line and the page write the same words, made from what :func:`summary` returned.
"""

from collections.abc import Mapping, Sequence
from statistics import NormalDist
from typing import Any

import numpy as np

from cloister.columns import Ball, Category, ColumnDomain, Date, Domain, Flag, Number
from cloister.release import Release, column_words, date_of, days_words, largest_levels, percent
from cloister.synopsis import Synopsis, WeightedPoints
from cloister.text import number, plain_text

__all__ = [
    "cell_words",
    "cells_of",
    "column_words",
    "days_words",
    "declared_words",
    "found_words",
    "is_noticed",
    "largest_levels",
    "missing_fact",
    "percent",
    "table_of",
]

GUESS = "guess"  # bounds that were taken because nothing stood out of the noise
FOUND_WORDS = {"noise": "bounds found with noise", GUESS: "bounds taken, as nothing stood out of the noise"}
NOTICED = 2.0  # standard errors above which a part is mentioned, at least
FALSE_ALARMS = 0.05  # chance that, by noise alone, any part of any column is mentioned
MORE = "..."
PLACES = {"middle": "the middle", "own": "a place of their own"}


# -- plain data ------------------------------------------------------------------------------------------------------------


def table_of(published: Release | Synopsis | WeightedPoints) -> list[dict[str, Any]]:
    """Return what is known of each column of the table: name, type, bounds or levels, and what was found with noise."""
    domain: Domain
    if isinstance(published, Synopsis):
        domain, n_columns = published.declared or published.domain, published.n_features
    elif isinstance(published, WeightedPoints):
        domain = published.domain
        n_columns = domain.n_columns if isinstance(domain, ColumnDomain) else published.n_features
    else:
        domain, n_columns = published.domain, published.n_columns
    names = published.feature_names or tuple(f"x{index}" for index in range(n_columns))
    if isinstance(domain, ColumnDomain):
        plain = domain.to_dict()["columns"]
        return [{"missing": "mean", "weight": 1.0, "name": name, **one} for name, one in zip(names, plain, strict=True)]
    if isinstance(domain, Ball):
        low, high = domain.center - domain.radius, domain.center + domain.radius
    else:
        low, high = domain.low, domain.high
    ends = [np.broadcast_to(end, n_columns).tolist() for end in (low, high)]
    return [
        {"name": name, "type": Number.kind, "low": first, "high": last} for name, first, last in zip(names, *ends, strict=True)
    ]


def cells_of(published: Release | Synopsis | WeightedPoints) -> dict[str, Any] | None:
    """Return what part of each column was missing or outside, and where missing values were placed; None if nobody asked."""
    cells = published.cells if isinstance(published, Release) else published.column_cells
    if cells is None or cells.missing is None or cells.outside is None:
        return None
    domain = published.domain
    names = list(published.columns) if isinstance(published, Synopsis) else [one["name"] for one in table_of(published)]
    cuts = domain.slices() if isinstance(domain, ColumnDomain) else [slice(index, index + 1) for index in range(len(names))]
    declared = domain.columns if isinstance(domain, ColumnDomain) else [None] * len(names)
    places = [None if cells.places is None else cells.places[cut].tolist() for cut in cuts]
    parts = zip(names, cells.missing.tolist(), cells.outside.tolist(), declared, places, strict=True)
    columns = [
        {"name": name, "missing": missing, "outside": outside, "placed": _placed(one, place)}
        for name, missing, outside, one, place in parts
    ]
    return {"error": cells.error, "columns": columns}


def _placed(declared: Any, place: Sequence[float] | None) -> str:
    """Say where a missing value of a column was placed."""
    chosen = "mean" if declared is None else declared.missing
    if chosen != "mean":
        return PLACES.get(chosen, str(chosen)) if isinstance(chosen, str) else str(chosen)
    if place is None:
        return PLACES["middle"]
    if isinstance(declared, Category):
        pairs = [(name, share, 0.0) for name, share in zip(declared.names, place, strict=True)]
        parts = [f"{plain_text(name)} {100 * share:.0f} %" for name, share, _ in largest_levels(pairs, 3)]
        return ", ".join([*parts, *([MORE] if len(pairs) > 3 else [])])
    if isinstance(declared, Flag):
        return f"{100 * place[0]:.0f} % yes"
    return date_of(declared, place[0]) if isinstance(declared, Date) else _rounded(place[0])


def _rounded(value: float) -> str:
    """Return a number that comes from noise, to four digits."""
    return number(float(f"{value:.4g}"))


# -- words -----------------------------------------------------------------------------------------------------------------


def is_noticed(part: float, cells: Mapping[str, Any]) -> bool:
    """Whether a noisy part stands out from the noise, among all parts of all columns."""
    largest = NormalDist().inv_cdf(1 - FALSE_ALARMS / (2 * len(cells["columns"])))
    return part > max(NOTICED, largest) * float(cells["error"])


def cell_words(cells: Mapping[str, Any] | None) -> str:
    """Say in a sentence what was missing or outside; nothing where nobody asked."""
    if cells is None:
        return ""
    error, noticed = cells["error"], []
    for one in cells["columns"]:
        parts = [(kind, one[kind]) for kind in ("missing", "outside") if is_noticed(one[kind], cells)]
        words = " and ".join(f"{percent(part, error)[0]} % {kind}" for kind, part in parts)
        placed = f" (placed at {one['placed']})" if parts and parts[0][0] == "missing" else ""
        if parts:
            noticed.append(f"{plain_text(one['name'])} {words}{placed}")
    spread = percent(0.0, error)[1]
    if not noticed:
        return f"Missing or outside the bounds: no share that stands out from the noise (± {spread} %) in any column."
    return f"Missing or outside the bounds, ± {spread} %: {'; '.join(noticed)}."


def missing_fact(cells: Mapping[str, Any] | None) -> list[tuple[str, str, str]]:
    """Return the largest part that was missing, and the largest that was outside, as one entry of the page's head."""
    if cells is None or not cells["columns"]:
        return []
    found = []
    for kind in ("missing", "outside"):
        most = max(cells["columns"], key=lambda one: one[kind])
        noticed = is_noticed(most[kind], cells)
        share = f"{percent(most[kind], cells['error'])[0]} %" if noticed else "none noticed"
        found.append((share, plain_text(most["name"]) if noticed else ""))
    (missing, where), (outside, edge) = found
    words = f"of {where}; " if where else ""
    return [("Missing", missing, f"{words}outside bounds: {outside}{f' of {edge}' if edge else ''}")]


def found_words(table: Sequence[Mapping[str, Any]]) -> str:
    """Say which bounds were found with noise, and which were taken because nothing stood out; nothing if all were declared."""
    found = [one for one in table if one.get("found") and one["found"] != GUESS]
    words = [f"Bounds found with noise: {_list_bounds(found)}."] if found else []
    guessed = [one for one in table if one.get("found") == GUESS]
    if guessed:
        words.append(f"Nothing stood out of the noise, so that these bounds were taken: {_list_bounds(guessed)}.")
    return " ".join(words)


def _list_bounds(columns: Sequence[Mapping[str, Any]]) -> str:
    return ", ".join(f"{plain_text(one['name'])} {_rounded(one['low'])} to {_rounded(one['high'])}" for one in columns)


def declared_words(one: Mapping[str, Any]) -> list[str]:
    """Return a column of the table as words: name, what it is, where it lies, and what else is said of it."""
    kind = one["type"]
    if kind == "category":
        levels = [plain_text(level) for level in one["levels"]]
        inside = ", ".join(levels[:12]) + (f", {MORE} ({len(levels)} levels)" if len(levels) > 12 else "")
    elif kind == "flag":
        inside = "yes or no"
    else:
        show = _rounded if one.get("found") else number
        ends = [end if isinstance(end, str) else show(end) for end in (one["low"], one["high"])]
        inside = f"{ends[0]} to {ends[1]}"
    notes = [
        FOUND_WORDS.get(str(one.get("found", "")), ""),
        f"spread {_rounded(one['spread'])}" if "spread" in one else "",
        "" if one.get("weight", 1.0) == 1.0 else f"weight {number(one['weight'])}",
        "" if one.get("missing", "mean") == "mean" else f"missing: {PLACES.get(str(one['missing']), one['missing'])}",
    ]
    return [one["name"], kind, inside, ", ".join(note for note in notes if note) or "-"]
