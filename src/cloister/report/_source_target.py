# SPDX-License-Identifier: Apache-2.0
"""The page of source-target clustering: a map of the public target, the chosen points and the sanitised source."""

import math
from typing import Any

import numpy as np

from cloister.algorithms import Plane, plane_of
from cloister.release import Release, cluster_table, rank_columns
from cloister.report._pages import Picture, Table
from cloister.report._plot import Axis, numbered_badges, plot_columns, plot_plane
from cloister.text import count_of, number, plain_text, share_text

DRAWN_SOURCE = 600  # sanitised points, those with the largest counts
LABELLED_POINTS = 40
LISTED_COLUMNS = 16
LARGEST_DIAMOND = 13.0  # half its width
MARGIN = 30.0
MAP_HEIGHT = 420.0
BADGE = 12.0  # radius of a chosen point: two digits fit


def source_target_of(release: Release) -> dict[str, Any]:
    """Return what the target, the chosen points and the source have to do with each other, and a map of them."""
    found, width = release.source_target, release.n_features
    if found is None:
        return {}
    n_target, sources = found.n_target, len(found.source)
    served, through = share_text(found.served / n_target), "no part of it stands out from the noise"
    if sources:
        through = f"through {count_of(sources, 'sanitised point')}"
    costs = [number(one) for one in (found.cost, found.cost_of_chosen, found.cost_alone)]
    without = f"{costs[1]} without it; {costs[2]} if the points had been chosen as if there were no source."
    words = [
        f"The source, as sanitised, serves {found.served:,} of {n_target:,} target points ({served}): {through}.",
        f"Mean distance of a target point to its nearest centre: {costs[0]} with the sanitised source, {without}",
    ]
    if found.error_bound:
        likely, bound = f"With probability {2 * found.confidence - 1:.4g}", number(found.error_bound)
        words.append(f"{likely} the sanitised source misjudges the cost of no choice by more than {bound}.")
    drawn = np.argsort(-found.counts, kind="stable")[:DRAWN_SOURCE]
    # The plane to draw the target in: its own columns if there are two.
    plane = plane_of(found.target) if width > 2 else Plane(np.zeros(width), np.eye(width, 2), (1.0, 0.0))
    return {
        "source_target": {
            "n_target": n_target,
            "rows": list(found.rows),
            "served_by_source": found.served,
            "n_sanitized": sources,
            "cost": found.cost,
            "cost_of_chosen": found.cost_of_chosen,
            "cost_alone": found.cost_alone,
            "words": words,
        },
        "map": {
            "target": plane.project(found.target).tolist(),
            "chosen": plane.project(release.cluster_centers).tolist(),
            "source": plane.project(found.source[drawn]).tolist(),
            "counts": found.counts[drawn].tolist(),
            "n_source": sources,
            "share": sum(plane.shares),
            "in_units": width == 2,
            "axes": ["axis 1", "axis 2"] if width > 2 else [*release.columns, ""][:2],
        },
    }


def source_target_page(release: Release, found: dict[str, Any]) -> dict[str, Any]:
    """Return what the page of a source-target release says beside the receipt, from what :func:`summary` returned."""
    about, drawn = found["source_target"], found["map"]
    picked = sorted(rank_columns(release)[:LISTED_COLUMNS])
    (_, _, *names), rows = cluster_table(release, picked)
    heads = ["Label", "Row of the target", "Points served", *names]
    rows = [[label, str(row), *words] for row, (label, *words) in zip(about["rows"], rows, strict=True)]
    served = f"{share_text(about['served_by_source'] / about['n_target'])} of the target, by sanitised points"
    return {
        "title": f"{count_of(release.n_clusters, 'point')} chosen from a public target of {about['n_target']:,}",
        "about": about,
        "drawn": drawn,
        "facts": [
            ("Served by the source", f"{about['served_by_source']:,}", served),
            ("Mean distance", number(about["cost"]), f"{number(about['cost_alone'])} had the source been ignored"),
        ],
        "map": Picture(_picture(drawn)),
        "labelled": release.n_clusters <= LABELLED_POINTS,
        "chosen": Table(heads, rows, numeric=range(len(heads))),
        "n_listed": len(picked),
    }


def _picture(drawn: dict[str, Any]) -> str:
    target, chosen, source = ([(x, y) for x, y in drawn[name]] for name in ("target", "chosen", "source"))
    everything = [*target, *chosen, *source]
    if drawn["in_units"]:
        axes = []
        for name, values in zip(drawn["axes"], zip(*everything, strict=True), strict=True):
            extra = 0.04 * (max(values) - min(values)) or 1.0
            axes.append(Axis(plain_text(name), min(values) - extra, max(values) + extra))
        plot = plot_columns(axes[0], axes[1], MAP_HEIGHT)
    else:
        plot = plot_plane(everything, MARGIN)
    largest = max([*drawn["counts"], 1.0])
    crowd = LARGEST_DIAMOND * min(1.0, math.sqrt(25 / max(len(source), 1)))
    diamonds = ""
    for point, count in zip(source, drawn["counts"], strict=True):
        (x, y), reach = plot.place(point), f"{max(crowd * math.sqrt(max(count, 0.0) / largest), 2.5):.1f}"
        path = f'<path d="M{x:.1f} {y - float(reach):.1f}l{reach} {reach}l-{reach} {reach}l-{reach} -{reach}z">'
        diamonds += f"{path}<title>Sanitised source: about {number(round(count, 1))}</title></path>"
    badges = numbered_badges(
        list(map(plot.place, chosen)), plot.frame, name="Chosen point", most=LABELLED_POINTS, radius=BADGE, dot=4
    )
    marks = f'<path class="served" d="{plot.dots(target)}"/><g class="source">{diamonds}</g>{badges}'
    return plot.svg(marks, "Target, chosen points and sanitised source")
