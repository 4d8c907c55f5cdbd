# SPDX-License-Identifier: Apache-2.0
"""The report's sentences: what was released, what columns are, what was missing, how the number of clusters was chosen.

The command line and the page write the same words.
"""

from collections.abc import Mapping, Sequence
from statistics import NormalDist
from typing import Any

from cloister.columns import KINDS, percent
from cloister.release import Release, coordinates_of
from cloister.report._receipt import counted_words
from cloister.report._summary import PLACES, choice_of
from cloister.text import count_of, number, plain_text, rounded

NOTICED = 2.0  # standard errors above which a part is mentioned, at least
FALSE_ALARMS = 0.05  # chance that, by noise alone, any part of any column is mentioned
LISTED_LEVELS = 12


# -- what was released -------------------------------------------------------------------------------------------------------


def released_words(release: Release) -> str:
    """Say what the centres of a release are."""
    shares = [one.is_share for one in coordinates_of(release.domain, release.columns)]
    parts = [*(["in the units of the input"] if not all(shares) else []), *(["as shares of levels"] if any(shares) else [])]
    counted = f"a noisy number of {counted_words(release.receipt)}"
    return (
        f"{count_of(release.n_clusters, 'centre')} in {count_of(release.n_columns, 'column')}, {' or '.join(parts)}, "
        f"{'each ' if release.n_clusters > 1 else ''}with {counted}."
    )


# -- how many clusters -------------------------------------------------------------------------------------------------------


def choice_words(release: Release) -> list[str]:
    """Return how the number of clusters of a release was chosen, in sentences; none where it was given."""
    choice = choice_of(release.details)
    if choice is None:
        return []
    chosen = f"The number of clusters was chosen from the same noisy answers, at no further cost: {choice['best']}."
    return [chosen, *comparison_of_numbers(choice)]


def comparison_of_numbers(choice: dict[str, Any]) -> list[str]:
    """Say which numbers of clusters the losses speak for."""
    numbers, best = choice["n_clusters"], choice["best"]
    others = [str(count) for count in choice["as_good"] if count != best]
    found = (
        f"Beyond {count_of(choice['elbow'], 'cluster')}, further ones lower the loss no more than they would for rows without "
        f"clusters; the noise supports up to {choice['supported']}. Clusters with no gap between them count as one. Best of "
        f"{numbers[0]} to {numbers[-1]}: {best}."
    )
    if best == 1:
        return [found, "Nothing speaks for more than one cluster. A cut of the synopsis at any other number costs nothing."]
    good = f"About as good: {', '.join(others)}." if others else "No other number is about as good."
    return [found, good]


# -- columns -----------------------------------------------------------------------------------------------------------------


def declared_words(one: Mapping[str, Any]) -> list[str]:
    """Return a column of the table as words: name, what it is, where it lies, and what else is said of it."""
    inside = KINDS[one["type"]].extent_words(one, LISTED_LEVELS)
    notes = [
        "bounds found with noise" if one.get("found") else "",
        f"spread {rounded(one['spread'])}" if "spread" in one else "",
        "" if one.get("weight", 1.0) == 1.0 else f"weight {number(one['weight'])}",
        "" if one.get("missing", "mean") == "mean" else f"missing: {PLACES.get(str(one['missing']), one['missing'])}",
    ]
    return [one["name"], one["type"], inside, ", ".join(note for note in notes if note) or "-"]


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
    """Say which bounds were found with noise; nothing if all were declared."""
    found = [one for one in table if one.get("found")]
    bounds = ", ".join(f"{plain_text(one['name'])} {rounded(one['low'])} to {rounded(one['high'])}" for one in found)
    return f"Bounds found with noise: {bounds}." if found else ""
