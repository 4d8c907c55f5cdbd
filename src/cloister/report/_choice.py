# SPDX-License-Identifier: Apache-2.0
"""How many clusters there are, in a picture and in words, as ``choose_k`` found it."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cloister.release import Release
from cloister.report._axes import WHISKER
from cloister.report._figures import Chart
from cloister.report._pages import Picture
from cloister.text import count_of

__all__ = ["ChoiceView", "Curve", "choice_of", "choice_view", "choice_words", "curve_of"]

SERIES = ("loss", "held_out", "held_out_error", "even")
EVEN = {
    "grid": "on rows spread evenly over the box",
    "points": "on rows without clusters, spread evenly along the principal axes of these",
}


@dataclass(frozen=True)
class Curve:
    """The losses of all numbers of clusters, and where each number stands in the picture."""

    svg: str
    places: Mapping[int, float]


@dataclass(frozen=True)
class ChoiceView:
    """What a page says of the number of clusters."""

    picture: Picture
    curve: Curve
    caption: str
    words: Sequence[str]


def choice_of(details: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the choice that the details of a release hold; None if there is none that can be drawn."""
    choice = details.get("choice")
    try:
        numbers = [int(one) for one in choice["n_clusters"]]  # type: ignore[index]
        series = {name: [float(one) for one in choice[name]] for name in SERIES}  # type: ignore[index]
        best, elbow, supported = (int(choice[name]) for name in ("best", "elbow", "supported"))  # type: ignore[index]
        as_good = [int(one) for one in choice.get("as_good", ())]  # type: ignore[union-attr]
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError):
        return None
    fits = all(len(values) == len(numbers) and all(map(math.isfinite, values)) for values in series.values())
    if not fits or not {best, *as_good} <= set(numbers):
        return None
    return {"n_clusters": numbers, **series, "best": best, "elbow": elbow, "supported": supported, "as_good": as_good}


def choice_words(release: Release) -> list[str]:
    """Return how the number of clusters of a release was chosen, in sentences; none where it was given.

    Examples
    --------
    >>> from cloister import KMeans
    >>> rows = [[0.1, 0.1], [0.9, 0.8]] * 500
    >>> model = KMeans("auto", max_clusters=4, epsilon=5.0, bounds=(0, 1), random_state=0).fit(rows)
    >>> choice_words(model.release_)[0]
    'The number of clusters was chosen from the same noisy answers, at no further cost: 2.'
    """
    choice = choice_of(release.details)
    if choice is None:
        return []
    chosen = f"The number of clusters was chosen from the same noisy answers, at no further cost: {choice['best']}."
    return [chosen, *_words(choice)]


def choice_view(choice: dict[str, Any], *, kind: str, at: int | None = None) -> ChoiceView:
    """Return picture and words; `kind` is that of the synopsis, `at` the number that a line marks."""
    curve = curve_of(choice, at=at)
    caption = (
        "The mean squared distance to the nearest centre (the loss), by number of clusters, on a logarithmic axis. Line with "
        "small circles: on the numbers that the centres were fitted to. Dots: held out, on a half of the noise that the "
        "centres have not seen, with bars of 1.96 standard errors to each side; clusters made of noise do not help there. "
        f"Dashed: what the same number of clusters achieves {EVEN[kind]}. Large ring: the best number; smaller rings: numbers "
        "about as good."
    )
    return ChoiceView(Picture("", curve.svg), curve, caption, _words(choice))


def _words(choice: dict[str, Any]) -> list[str]:
    numbers, best = choice["n_clusters"], choice["best"]
    others = [str(count) for count in choice["as_good"] if count != best]
    found = (
        f"Beyond {count_of(choice['elbow'], 'cluster')}, further ones lower the loss no more than they would for rows without "
        f"clusters; the noise supports up to {choice['supported']}. Best of {numbers[0]} to {numbers[-1]}: {best}."
    )
    if best == 1:
        return [found, "Nothing speaks for more than one cluster."]
    good = f"About as good: {', '.join(others)}." if others else "No other number is about as good."
    return [found, good]


def curve_of(choice: dict[str, Any], *, at: int | None = None) -> Curve:
    """Draw the loss, the held-out loss with its errors, and that of rows without clusters, for each number of clusters."""
    numbers, best = choice["n_clusters"], choice["best"]
    values = [value for name in ("loss", "held_out", "even") for value in choice[name] if value > 0]
    lowest, largest = min(values, default=1.0) / 1.4, max(values, default=1.0) * 1.4
    chart = Chart(len(numbers), largest, names=[str(count) for count in numbers], lowest=lowest, across="number of clusters")

    def line(values: Sequence[float]) -> str:
        return "".join(f"{'L' if index else 'M'}{chart.x(index):.1f} {chart.y(one):.1f}" for index, one in enumerate(values))

    rings, bars, dots = [], [], []
    for index, (loss, value, error) in enumerate(
        zip(choice["loss"], choice["held_out"], choice["held_out_error"], strict=True)
    ):
        x = chart.x(index)
        rings.append(f'<circle class="open" cx="{x:.1f}" cy="{chart.y(loss):.1f}" r="3.2"/>')
        bars.append(f"M{x:.1f} {chart.y(value - WHISKER * error):.1f}V{chart.y(value + WHISKER * error):.1f}")
        dots.append(f"M{x:.1f} {chart.y(value):.1f}h0")
    good = "".join(
        f'<circle class="ring near" cx="{chart.x(index):.1f}" cy="{chart.y(choice["held_out"][index]):.1f}" r="6"/>'
        for index, count in enumerate(numbers)
        if count in choice["as_good"] and count != best
    )
    places = {count: round(chart.x(index), 1) for index, count in enumerate(numbers)}
    return Curve(
        chart.svg(
            f"{_marker(places, at, chart)}"
            f'<path class="even" d="{line(choice["even"])}"/><path class="line" d="{line(choice["loss"])}"/>{"".join(rings)}'
            f'<path class="whisker" d="{"".join(bars)}"/><path class="dots" d="{"".join(dots)}"/>{good}'
            f"{_best(choice, chart)}",
            "Loss for each number of clusters",
        ),
        places,
    )


def _best(choice: dict[str, Any], chart: Chart) -> str:
    index = choice["n_clusters"].index(choice["best"])
    at, right = chart.x(index), index > 0.7 * len(choice["n_clusters"])
    anchor = ' text-anchor="end"' if right else ""
    return (
        f'<circle class="ring" cx="{at:.1f}" cy="{chart.y(choice["held_out"][index]):.1f}" r="8"/>'
        f'<text class="name" x="{at + (-4 if right else 4):.1f}" y="{chart.y(choice["loss"][index]) - 13:.1f}"{anchor}>'
        f"best: {choice['best']}</text>"
    )


def _marker(places: Mapping[int, float], at: int | None, chart: Chart) -> str:
    """Draw a line that marks one number, where a page has such a line."""
    if at is None:
        return ""
    hidden = "" if at in places else ' visibility="hidden"'
    return (
        f'<g id="curve-at" transform="translate({places.get(at, 0.0):g} 0)"{hidden}>'
        f'<path class="cut" d="M0 {chart.top:g}V{chart.bottom:g}"/></g>'
    )
