# SPDX-License-Identifier: Apache-2.0
"""The page of source-target clustering: a map of the public target, the chosen points and the sanitised source."""

import math
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from cloister.domain import FloatArray
from cloister.exceptions import ReleaseError
from cloister.release import Release
from cloister.report._figures import MAP_WIDTH, Point, fit_map
from cloister.report._format import number
from cloister.report._html import about, count_of, header, page, receipt, table, text

__all__ = ["source_target_html", "source_target_map", "source_target_summary"]

DRAWN_SOURCE = 600  # sanitised points, those with the largest counts
LABELLED_POINTS = 40
LISTED_COLUMNS = 16
LARGEST_DIAMOND = 13.0  # half its width
MARGIN = 30.0


def source_target_summary(release: Release) -> dict[str, Any]:
    """Return what the target, the chosen points and the source have to do with each other, as numbers and in words.

    Examples
    --------
    >>> from cloister import SourceTargetKMedoids
    >>> model = SourceTargetKMedoids(1, epsilon=5.0, random_state=0).fit([[0.0], [1.0]], source=[[1.0]] * 50)
    >>> source_target_summary(model.release_)["n_target"]
    2
    """
    details, whole = release.details, False
    with suppress(KeyError, TypeError, ValueError):
        n_target, served, sources = int(details["n_target"]), int(details["served_by_source"]), len(details["sanitized_source"])
        cost, chosen, alone = (float(details[name]) for name in ("target_cost", "cost_of_chosen", "cost_alone"))
        rows = [int(row) for row in details["medoid_indices"]]
        whole = n_target >= 1 and len(rows) == release.n_clusters
    if not whole:
        raise ReleaseError("release: its details are damaged. Write it again from the fit.")
    without = f"{number(chosen)} without it; {number(alone)} if the points had been chosen as if there were no source."
    through = f"through {count_of(sources, 'sanitised point')}" if sources else "no part of it stands out from the noise"
    return {
        "n_target": n_target,
        "rows": rows,
        "served_by_source": served,
        "n_sanitized": sources,
        "cost": cost,
        "cost_of_chosen": chosen,
        "cost_alone": alone,
        "words": [
            f"The source, as sanitised, serves {served:,} of {n_target:,} target points ({served / n_target:.0%}): {through}.",
            f"Mean distance of a target point to its nearest centre: {number(cost)} with the sanitised source, {without}",
        ],
    }


def source_target_map(release: Release) -> dict[str, Any]:
    """Return the target, the chosen points and the sanitised source in a plane, and what its axes are."""
    width = release.n_features
    source = np.zeros((0, width)) if release.free_centers is None else release.free_centers
    whole = False
    with suppress(KeyError, TypeError, ValueError):
        target = np.array(release.details["target"], dtype=np.float64).reshape(-1, width)
        counts = np.array(release.details["sanitized_counts"], dtype=np.float64).reshape(len(source))
        whole = len(target) > 0 and bool(np.isfinite(target).all() and np.isfinite(counts).all())
    if not whole:
        raise ReleaseError("release: its details are damaged. Write it again from the fit.")
    drawn = np.argsort(-counts, kind="stable")[:DRAWN_SOURCE]
    middle, axes, share = _axes(target)

    def place(points: FloatArray) -> list[list[float]]:
        flat: list[list[float]] = ((points - middle) @ axes.T).tolist()
        return flat

    return {
        "target": place(target),
        "chosen": place(release.cluster_centers),
        "source": place(source[drawn]),
        "counts": counts[drawn].tolist(),
        "n_source": len(source),
        "share": share,
        "axes": list(release.columns[:2]) if width == 2 else ["axis 1", "axis 2"] if width > 2 else [release.columns[0], ""],
    }


def source_target_html(told: dict[str, Any]) -> str:
    """Return the page, from what :func:`summary` told."""
    found = told["source_target"]
    title = f"{count_of(told['n_clusters'], 'point')} chosen from a public target of {found['n_target']:,}"
    return page(title, [_header(told, title), _released(told), _map(told), _chosen(told), receipt(told), about(told)])


# -- sections -----------------------------------------------------------------------------------------------------------


def _header(told: dict[str, Any], title: str) -> str:
    found = told["source_target"]
    served = f"{found['served_by_source'] / found['n_target']:.0%} of the target, by sanitised points"
    facts = [
        ("Served by the source", f"{found['served_by_source']:,}", served),
        ("Mean distance", number(found["cost"]), f"{number(found['cost_alone'])} had the source been ignored"),
    ]
    return header(told, title, facts)


def _released(told: dict[str, Any]) -> str:
    found = told["source_target"]
    asked = "mean position of" if told["parameters"].get("method") == "nas" else "number and mean position of"
    return (
        '<section id="released"><h2>What was released</h2>'
        f'<p class="lead">{count_of(told["n_clusters"], "point")} of the target, and '
        f"{count_of(found['n_sanitized'], 'sanitised point')} that stand for the source. <b>Only the source is private.</b> "
        "The target is public, which is why this page may show it.</p>"
        f"<p>Of the source, only the noisy {asked} the rows near each of a set of target points was seen. No row and no exact "
        "count of the source is part of this page or of the release behind it. Which target points were chosen, whom they "
        "serve and how far those are is computed from the target and the sanitised points alone.</p>"
        + "".join(f"<p>{text(line)}</p>" for line in found["words"])
        + "</section>"
    )


def _map(told: dict[str, Any]) -> str:
    drawn, found = told["map"], told["source_target"]
    if told["n_features"] > 2:
        seen = f"on its first two principal axes, which hold {drawn['share']:.0%} of its spread"
    else:
        seen = "in the units of the input"
    part = f"{len(drawn['target']):,} of {found['n_target']:,} are drawn" if len(drawn["target"]) < found["n_target"] else ""
    hidden = (
        f"the {len(drawn['source']):,} largest of {drawn['n_source']:,}" if len(drawn["source"]) < drawn["n_source"] else ""
    )
    area = "all of one size" if len(set(drawn["counts"])) < 2 else "the larger, the more source rows (a noisy count)"
    marks = "numbered circles" if told["n_clusters"] <= LABELLED_POINTS else "circles"
    return (
        f'<section id="map"><h2>The map</h2><figure class="side">{_picture(drawn)}<figcaption><p>The target {text(seen)}.</p>'
        f"<p><b>Grey dots</b>: target points, public{text(f'; {part}') if part else ''}.</p>"
        f"<p><b>{marks.capitalize()}</b>: the target points that were chosen.</p>"
        f"<p><b>Diamonds</b>: the sanitised source, {area}{text(f'; {hidden}') if hidden else ''}. Each is a noisy average: "
        "there need not be a source row at that place.</p></figcaption></figure></section>"
    )


def _chosen(told: dict[str, Any]) -> str:
    found, picked = told["source_target"], sorted(told["ranking"][:LISTED_COLUMNS])
    heads = ["Label", "Row of the target", "Points served", *(told["columns"][index] for index in picked)]
    rows = [
        [str(one["label"]), str(row), number(one["count"]), *(number(one["center"][index]) for index in picked)]
        for one, row in zip(told["clusters"], found["rows"], strict=True)
    ]
    note = f" Of {told['n_features']} columns, {len(picked)} are shown." if len(picked) < told["n_features"] else ""
    return (
        '<section id="clusters"><h2>The chosen points</h2>'
        '<p class="small">Rows of the target are counted from 0. The points served are exact: they are counted in the public '
        "target. The labels are those that <code>predict</code> returns; it returns -1 where a sanitised source point is "
        f"nearer.{note}</p>{table(heads, rows, numeric=range(len(heads)))}</section>"
    )


# -- the picture --------------------------------------------------------------------------------------------------------


def _picture(drawn: dict[str, Any]) -> str:
    target, chosen, source = ([(x, y) for x, y in drawn[name]] for name in ("target", "chosen", "source"))
    place, height = fit_map([*target, *chosen, *source], MARGIN)
    dots = "".join(f"M{x:.1f} {y:.1f}h0" for x, y in map(place, target))
    largest = max([*drawn["counts"], 1.0])
    crowd = LARGEST_DIAMOND * min(1.0, math.sqrt(25 / max(len(source), 1)))
    diamonds = "".join(
        _diamond(place(point), crowd * math.sqrt(max(count, 0.0) / largest), count)
        for point, count in zip(source, drawn["counts"], strict=True)
    )
    across, up = (text(name) if name else "" for name in drawn["axes"])
    return (
        f'<svg class="map" viewBox="0 0 {MAP_WIDTH:g} {height:.0f}" role="img" aria-label="Target, chosen points and sanitised '
        f'source"><path class="served" d="{dots}"/><g class="source">{diamonds}</g>{_badges([place(one) for one in chosen])}'
        f'<text class="axis" x="{MAP_WIDTH - 8:g}" y="{height - 8:.0f}" text-anchor="end">{across}</text>'
        f'<text class="axis" transform="translate(16 8) rotate(-90)" text-anchor="end">{up}</text></svg>'
    )


def _diamond(at: Point, half: float, count: float) -> str:
    reach = f"{max(half, 2.5):.1f}"
    return (
        f'<path d="M{at[0]:.1f} {at[1] - float(reach):.1f}l{reach} {reach}l-{reach} {reach}l-{reach} -{reach}z">'
        f"<title>Sanitised source: about {number(round(count, 1))}</title></path>"
    )


def _badges(points: Sequence[Point]) -> str:
    if len(points) > LABELLED_POINTS:
        return "".join(f'<circle class="badge" cx="{x:.1f}" cy="{y:.1f}" r="4"/>' for x, y in points)
    return "".join(
        f'<g><title>Chosen point {label}</title><circle class="badge" cx="{x:.1f}" cy="{y:.1f}" r="9.5"/>'
        f'<text x="{x:.1f}" y="{y + 4.5:.1f}" text-anchor="middle" font-weight="700">{label}</text></g>'
        for label, (x, y) in enumerate(points)
    )


def _axes(target: FloatArray) -> tuple[FloatArray, FloatArray, float]:
    """Return origin, two axes, and what part of the target's spread they hold: the columns themselves if there are two."""
    width = target.shape[1]
    if width <= 2:
        return np.zeros(width), np.eye(2, width), 1.0
    middle = target.mean(axis=0)
    _, lengths, rows = np.linalg.svd(target - middle, full_matrices=False)
    axes = np.zeros((2, width))
    axes[: min(2, len(rows))] = rows[:2]
    total = float(np.sum(lengths**2))
    # The sign of an axis is arbitrary; pictures of one target should be comparable.
    axes *= np.where(axes[np.arange(2), np.abs(axes).argmax(axis=1)] < 0, -1.0, 1.0)[:, None]
    return middle, axes, float(np.sum(lengths[:2] ** 2)) / total if total > 0 else 1.0
