# SPDX-License-Identifier: Apache-2.0
"""The part of a synopsis' page on which k can be moved: numbers and marks of every cut, made beforehand.

The same data are written twice: as markup of the chosen cut, which needs no script, and as JSON that the page's own script
reads to show the others. The script writes words as text only; markup comes from here and holds numbers of our own.
"""

import base64
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cloister.columns import FloatArray
from cloister.release import rank_columns, stability_words
from cloister.report._choice import Curve
from cloister.report._cuts import Cut, Cuts, flows_between
from cloister.report._dendrogram import Dendrogram, dendrogram_of
from cloister.report._heat import brief_value, colour_steps, deviations_of, heat_kind, heat_legend, value_words
from cloister.report._maps import COLOURS, ScatterMap, count_words, scatter_map
from cloister.report._pages import TEMPLATES, Picture
from cloister.report._summary import coordinates_of
from cloister.text import number, plain_text, with_error

__all__ = ["Exploration", "explore", "page_script"]

SCRIPT = "explore.js"
MOST_COORDINATES = 40  # with profiles; of more, those that tell clusters apart best
CLUSTERS_DOWN = 8  # up to so many columns, clusters run down the page; of more columns, these do
WITH_VALUES = 12  # cells side by side that have room for their values
LEAST_FLOW = 0.5  # rows: less does not go anywhere


@dataclass(frozen=True)
class Exploration:
    """What the page shows of the cut it opens with, and all cuts as JSON."""

    chosen: dict[str, Any]
    n_cuts: int
    names: Sequence[str]
    left_out: int
    legend: Sequence[tuple[str, str]]
    unit: str
    clusters_down: bool
    map: ScatterMap
    tree: Dendrogram
    colours: Sequence[int]  # of the points, at the chosen cut
    data: Picture


def explore(cuts: Cuts, summary: dict[str, Any], *, chosen: int, curve: Curve | None) -> Exploration:
    """Prepare all cuts; `summary` is that of the synopsis, `chosen` the number of clusters that the page opens with."""
    drawn, tree = scatter_map(cuts, summary), dendrogram_of(cuts.tree, len(cuts.cuts))
    profiles = _profiles(cuts, chosen)
    plain = [_cut(cuts, index, drawn, tree, profiles, curve) for index in range(len(cuts.cuts))]
    down = len(profiles.names) <= CLUSTERS_DOWN
    data = {
        "chosen": chosen,
        "counted": summary["receipt"]["counted"],
        "names": profiles.names,
        "clustersDown": down,
        "withValues": WITH_VALUES,
        "brackets": tree.brackets,
        "cuts": plain,
    }
    found = plain[chosen - 1]
    return Exploration(
        chosen=found,
        n_cuts=len(plain),
        names=profiles.names,
        left_out=profiles.left_out,
        legend=heat_legend(profiles.top),
        unit="spread" if summary["scaling"] == "spread" else "range",
        clusters_down=down,
        map=drawn,
        tree=tree,
        colours=[found["clusters"][owner]["colour"] for owner in found["owners"]],
        data=Picture("", _safe_json(data)),
    )


def page_script() -> tuple[Picture, str]:
    """Return the script of the page, and the digest by which the page's policy allows it and no other."""
    text = (TEMPLATES / Path(SCRIPT)).read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return Picture("", text), f"sha256-{digest}"


def _safe_json(data: object) -> str:
    """Return JSON that may stand in a script element: no letter of it can end the element or begin another."""
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


# -- profiles --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Profiles:
    """Columns that are shown, and the colour steps of every cut on one scale."""

    picked: Sequence[int]
    names: Sequence[str]
    kinds: Sequence[str]
    steps: Sequence[Any]
    top: float
    left_out: int


def _profiles(cuts: Cuts, chosen: int) -> _Profiles:
    best = cuts.cuts[chosen - 1].release
    picked = sorted(rank_columns(best)[:MOST_COORDINATES])
    coordinates = coordinates_of(best)
    units = np.array([coordinates[index]["unit"] for index in picked])
    parts = [
        deviations_of(one.cluster_centers[:, picked], one.center_errors[:, picked], one.cluster_counts, units)
        for one in (cut.release for cut in cuts.cuts)
    ]
    top = max(float(np.max(np.abs(far), where=noticed, initial=0.0)) for far, noticed in parts)
    return _Profiles(
        picked=picked,
        names=[plain_text(coordinates[index]["name"]) for index in picked],
        kinds=[coordinates[index]["kind"] for index in picked],
        steps=[colour_steps(far, noticed, top) for far, noticed in parts],
        top=top,
        left_out=best.n_features - len(picked),
    )


# -- one cut ---------------------------------------------------------------------------------------------------------------


def _cut(
    cuts: Cuts, index: int, drawn: ScatterMap, tree: Dendrogram, profiles: _Profiles, curve: Curve | None
) -> dict[str, Any]:
    cut, weights = cuts.cuts[index], cuts.points.weights
    before = None if index == 0 else flows_between(cut, cuts.cuts[index - 1], weights)
    after = None if index + 1 == len(cuts.cuts) else flows_between(cut, cuts.cuts[index + 1], weights)
    return {
        "k": cut.n_clusters,
        "words": _cut_words(cut),
        "owners": cut.owners.tolist(),
        "marks": drawn.marks[index],
        "treeAt": tree.cuts[index],
        "curveAt": None if curve is None else curve.places.get(cut.n_clusters),
        "clusters": [_cluster(cut, label, profiles, index, before=before, after=after) for label in range(cut.n_clusters)],
    }


def _cut_words(cut: Cut) -> str:
    loss, error = with_error(cut.loss.value, cut.loss.error)
    return f"k = {cut.n_clusters}, loss {loss} ± {error}, silhouette {cut.silhouette:.2f}"


def _cluster(
    cut: Cut, label: int, profiles: _Profiles, index: int, *, before: FloatArray | None, after: FloatArray | None
) -> dict[str, Any]:
    release = cut.release
    return {
        "label": label,
        "colour": cut.lines[label] % COLOURS,
        "line": cut.lines[label],
        "rows": count_words(cut, label),
        "stability": "" if release.stability is None else stability_words(float(release.stability[label])),
        "cells": [_cell(cut, label, profiles, index, position) for position in range(len(profiles.picked))],
        "from": _flow(before, label),
        "to": _flow(after, label),
    }


def _cell(cut: Cut, label: int, profiles: _Profiles, index: int, position: int) -> list[str]:
    """Return colour, short value and value with its error of one column."""
    column, kind = profiles.picked[position], profiles.kinds[position]
    value, error = (float(one[label, column]) for one in (cut.release.cluster_centers, cut.release.center_errors))
    return [heat_kind(int(profiles.steps[index][label, position])), brief_value(kind, value), value_words(kind, value, error)]


def _flow(flows: FloatArray | None, label: int) -> list[list[Any]] | None:
    """Return which clusters of another cut the rows of a cluster are in, the largest part first; None where there is no cut."""
    if flows is None:
        return None
    own = flows[label]
    return [
        [int(other), number(round(float(own[other])))] for other in np.argsort(-own, kind="stable") if own[other] >= LEAST_FLOW
    ]
