# SPDX-License-Identifier: Apache-2.0
"""How :class:`cloister.KMeans` found its centres: what each stage asked and cost, where the centres were, what loss is left.

All of it is read off the events and the history of a release. A file may have been edited: what does not fit is left out.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from cloister.privacy import Event, StepRecord
from cloister.release import Release
from cloister.report._figures import Chart, round_panels
from cloister.report._format import number, with_error
from cloister.report._html import count_of, table
from cloister.report._shares import shares_of

__all__ = ["loss_summary", "placing_html", "placing_panels", "placing_summary"]

Paid: TypeAlias = tuple[Event, float]  # with its share of the cost

START = ("nearest_sums", "distance_histogram")  # the mean, and how far rows lie from it
ROUND = ("distance_histogram", "nearest_counts", "nearest_sums")  # what a round of counts and sums asks, in order
CLEAR = 2.0  # standard errors by which a gain must exceed zero to be told
LEAST_GAIN = 0.005  # of the loss of one centre: what is less reads 0 %


def loss_summary(release: Release) -> dict[str, Any] | None:
    """Return the private estimate of the loss, with its error and a sentence about it; None if the method makes none.

    Examples
    --------
    >>> from cloister import KMeans
    >>> model = KMeans(n_clusters=2, epsilon=9.0, bounds=(0, 1), random_state=0).fit([[0.1, 0.1], [0.9, 0.8]] * 500)
    >>> loss_summary(model.release_)["words"][:51]
    'Estimated mean squared distance of a row to its cen'
    """
    try:
        value, error, single = (float(release.details[name]) for name in ("loss", "loss_error", "loss_of_one_centre"))
    except (KeyError, TypeError, ValueError):
        return None
    if not all(map(math.isfinite, (value, error, single))):
        return None
    words = _loss_words(value, error, single, release)
    return {"value": value, "error": error, "of_one_centre": single, "words": words}


def _loss_words(value: float, error: float, single: float, release: Release) -> str:
    shown, spread = with_error(value, error)
    unit = "half widths of the bounds" if release.scaling == "bounds" else "the units of the input"
    told = f"Estimated mean squared distance of a row to its centre: {shown} ± {spread} (distances in {unit})."
    around = f"Around a single centre it would be about {number(float(f'{single:.3g}'))}"
    gain, takes = 1 - value / single if single > 0 else 0.0, "takes" if release.n_clusters == 1 else "take"
    if single - value < CLEAR * error or gain < LEAST_GAIN:
        return f"{told} {around}: no gain that stands out from the noise."
    return f"{told} {around}; {count_of(release.n_clusters, 'centre')} {takes} {gain:.0%} of it away."


def placing_summary(release: Release) -> dict[str, Any] | None:
    """Return what each stage asked and cost, and the rounds of counts and sums; None for other methods."""
    if release.method != "KMeans":
        return None
    events = release.receipt.events
    stages = _split(list(zip(events, shares_of(events), strict=True)))
    if stages is None:
        return None
    rounds = [_round(index, paid, release) for index, paid in enumerate(stages.rounds)]
    names = ("How many rows there are", "Their mean, and how far they lie from it", "Votes for the nearest candidate")
    told = [
        {"stage": name, "answers": len(paid), "share": _total(paid)}
        for name, paid in zip(names, (stages.size, stages.scale, stages.votes), strict=True)
        if paid
    ]
    told += [{"stage": f"Round {one['round']} of counts and sums", "answers": 3, "share": one["share"]} for one in rounds]
    return {
        "stages": told,
        "n_candidates": max((event.size for event, _ in stages.votes), default=0),
        "vote_error": max((event.standard_deviation for event, _ in stages.votes), default=0.0),
        "rounds": rounds,
    }


@dataclass(frozen=True)
class _Stages:
    """Events with their shares of the cost, stage by stage."""

    size: list[Paid]
    scale: list[Paid]
    votes: list[Paid]
    rounds: list[list[Paid]]


def _split(paid: list[Paid]) -> _Stages | None:
    """Cut the events where the stages begin; None if they are not those of KMeans."""
    size = [one for one in paid if one[0].question_name == "row_count"]
    rest = [one for one in paid if one[0].question_name != "row_count"]
    asked = [event.question_name for event, _ in rest]
    n_rounds = asked.count("nearest_sums") - 1
    start = len(rest) - len(ROUND) * n_rounds
    votes = asked[2:start]
    if n_rounds < 1 or start < 2 or asked != [*START, *["nearest_counts"] * len(votes), *ROUND * n_rounds]:
        return None
    rounds = [rest[first : first + len(ROUND)] for first in range(start, len(rest), len(ROUND))]
    return _Stages(size, rest[:2], rest[2:start], rounds)


def _total(paid: Sequence[Paid]) -> float:
    return math.fsum(share for _, share in paid)


def _round(index: int, paid: Sequence[Paid], release: Release) -> dict[str, Any]:
    (_, _), (counts, _), (sums, _) = paid
    return {
        "round": index + 1,
        "n_centers": counts.size,
        "radius": _radius(sums, release),
        "count_error": counts.standard_deviation,
        "share": _total(paid),
    }


def _radius(sums: Event, release: Release) -> float:
    """Return what offsets were clipped at, as `transform` measures distances: the sensitivity, undone."""
    reach = float(release.frame.scale[0]) if release.scaling == "none" else release.n_features**0.5
    norm = sums.sensitivity * sums.unit / (2.0 if sums.relation == "replace" else 1.0)
    return reach * norm / (1.0 if sums.mechanism == "rounded_gaussian" else release.n_features**0.5)


def placing_panels(release: Release) -> list[dict[str, Any]]:
    """Return the votes and the rounds as they can be drawn: discs before, crosses after."""
    if release.method != "KMeans":
        return []
    panels: list[dict[str, Any]] = []
    try:
        for step in (one for one in release.steps if "centers" in one.picture):
            picture = step.picture
            centers = [[float(x), float(y)] for x, y in picture["centers"]]
            points = [[float(x), float(y)] for x, y in picture.get("candidates", panels[-1]["centers"] if panels else centers)]
            votes = [float(vote) for vote in picture.get("votes", [1.0] * len(points))]
            panels.append({"candidates": points, "votes": votes, "centers": centers, **_caption(step)})
    except (AttributeError, KeyError, TypeError, ValueError):
        return []
    return panels


def _caption(step: StepRecord) -> dict[str, Any]:
    asked, left = int(step.figures["n_points"]), int(step.figures["n_kept"])
    if "votes" in step.picture:
        return {"title": "Votes", "caption": f"{count_of(asked, 'candidate')}, {left:,} kept votes"}
    return {
        "title": step.name.capitalize(),
        "caption": count_of(asked, "centre") + (f", {left:,} left" if left < asked else ""),
    }


def placing_html(told: dict[str, Any]) -> str:
    """Return the section that tells how the centres were found; nothing for other methods."""
    placing = told.get("placing")
    if not placing:
        return ""
    rounds = placing["rounds"]
    return (
        '<section id="placing"><h2>How the centres were found</h2>'
        f"<p>Rows voted for the nearest of {count_of(placing['n_candidates'], 'public candidate')}, and noisy totals of the "
        "votes showed where rows are many. Then every round asked for the number of rows at each centre and the sum of their "
        "offsets from it, each offset clipped at a radius that a noisy histogram of distances had suggested. A centre moved by "
        "as much of the noisy mean offset as stands out from the noise, and surplus centres were joined.</p>"
        f"{_panels(told.get('panels', []))}"
        f'<div class="pair"><figure><h3>Centres in each round</h3>{_centers_chart(rounds)}</figure>'
        f"<figure><h3>Radius at which offsets were clipped</h3>{_radius_chart(rounds)}</figure></div>"
        f"<h3>Where the budget went</h3>{_stage_table(placing['stages'])}</section>"
    )


def _panels(panels: Sequence[dict[str, Any]]) -> str:
    drawn = round_panels(panels)
    if not drawn:
        return ""
    return (
        f'<div class="panels">{drawn}</div><p class="small">In the plane of the final centres, all at one scale. Votes: discs '
        "by noisy votes, for at most 150 candidates, and crosses for the centres to start from. Rounds: discs where centres "
        "were before, crosses where they went.</p>"
    )


def _centers_chart(rounds: Sequence[dict[str, Any]]) -> str:
    sizes = [max(float(one["n_centers"]), 0.0) for one in rounds]
    chart = Chart(len(rounds), max(sizes, default=0.0))
    bars = "".join(f'<path class="full" d="{chart.bar(index, size)}"/>' for index, size in enumerate(sizes))
    return chart.svg(bars, "Centres asked about in each round")


def _radius_chart(rounds: Sequence[dict[str, Any]]) -> str:
    radii = [max(float(one["radius"]), 0.0) for one in rounds]
    chart = Chart(len(rounds), max(radii, default=0.0))
    places = [(chart.x(index), chart.y(radius)) for index, radius in enumerate(radii)]
    line = "".join(f"{'L' if index else 'M'}{x:.1f} {y:.1f}" for index, (x, y) in enumerate(places))
    dots = "".join(f"M{x:.1f} {y:.1f}h0" for x, y in places)
    return chart.svg(f'<path class="line" d="{line}"/><path class="dots" d="{dots}"/>', "Radius of clipping in each round")


def _stage_table(stages: Sequence[dict[str, Any]]) -> str:
    rows = [[one["stage"], str(one["answers"]), f"{one['share']:.1%}"] for one in stages]
    return table(["Stage", "Noisy answers", "Share of the cost"], rows, numeric=(1, 2))
