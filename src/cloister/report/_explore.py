# SPDX-License-Identifier: Apache-2.0
"""The part of a synopsis' page on which k can be moved: numbers and marks of every cut, made beforehand.

The same data are written twice: as markup of the chosen cut, which needs no script, and as JSON that the page's own script
reads to show the others. The script writes words as text only; markup comes from here and holds numbers of our own.
"""

import base64
import hashlib
import json
from typing import Any

import numpy as np

from cloister.columns import FloatArray
from cloister.report._cuts import Cuts, Dendrogram, dendrogram_of, flows_between
from cloister.report._figures import Curve
from cloister.report._heat import Shades, shade
from cloister.report._maps import COLOURS, ScatterMap, count_words, scatter_map
from cloister.report._pages import TEMPLATES, Picture
from cloister.text import number, share_text, with_error

MOST_COORDINATES = 40  # with profiles; of more, those that tell clusters apart best
CLUSTERS_DOWN = 8  # up to so many columns, clusters run down the page; of more columns, these do
WITH_VALUES = 12  # cells side by side that have room for their values
LEAST_FLOW = 0.5  # rows: less does not go anywhere


def explore(cuts: Cuts, *, chosen: int, curve: Curve) -> dict[str, Any]:
    """Return what the page shows of the cut it opens with, that of `chosen` clusters, and all cuts as JSON."""
    drawn, tree = scatter_map(cuts), dendrogram_of(cuts.tree, len(cuts.cuts))
    releases = [cut.release for cut in cuts.cuts]
    shades = shade(releases, releases[chosen - 1], most=MOST_COORDINATES)
    plain = [_cut(cuts, index, drawn, tree, shades, curve) for index in range(len(cuts.cuts))]
    down = len(shades.names) <= CLUSTERS_DOWN
    data = {
        "chosen": chosen,
        "counted": releases[0].receipt.counted,
        "names": shades.names,
        "clustersDown": down,
        "withValues": WITH_VALUES,
        "brackets": tree.brackets,
        "cuts": plain,
    }
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    # In a script element no letter may end the element or begin another.
    safe = text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    found = plain[chosen - 1]
    return {
        "chosen": found,
        "n_cuts": len(plain),
        "shades": shades,
        "clusters_down": down,
        "map": drawn,
        "tree": tree,
        "colours": [found["clusters"][owner]["colour"] for owner in found["owners"]],  # of the points
        "data": Picture(safe),
    }


def page_script() -> tuple[Picture, str]:
    """Return the script of the page, and the digest by which the page's policy allows it and no other."""
    text = (TEMPLATES / "explore.js").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return Picture(text), f"sha256-{digest}"


# -- one cut ---------------------------------------------------------------------------------------------------------------


def _cut(cuts: Cuts, index: int, drawn: ScatterMap, tree: Dendrogram, shades: Shades, curve: Curve) -> dict[str, Any]:
    cut, weights = cuts.cuts[index], cuts.points.weights
    before = None if index == 0 else flows_between(cut, cuts.cuts[index - 1], weights)
    after = None if index + 1 == len(cuts.cuts) else flows_between(cut, cuts.cuts[index + 1], weights)
    release, loss = cut.release, " ± ".join(with_error(cut.loss.value, cut.loss.error))
    return {
        "k": release.n_clusters,
        "words": f"k = {release.n_clusters}, loss {loss}, silhouette {cut.silhouette:.2f}",
        "owners": cut.owners.tolist(),
        "marks": drawn.marks[index],
        "treeAt": tree.cuts[index],
        "curveAt": curve.places.get(release.n_clusters),
        "clusters": [
            {
                "label": label,
                "colour": cut.lines[label] % COLOURS,
                "line": cut.lines[label],
                "rows": count_words(release, label),
                "stability": "" if release.stability is None else share_text(float(release.stability[label])),
                "cells": [[cell.kind, cell.brief, cell.words] for cell in shades.cells[index][label]],
                "from": _flow(before, label),
                "to": _flow(after, label),
            }
            for label in range(release.n_clusters)
        ],
    }


def _flow(flows: FloatArray | None, label: int) -> list[list[Any]] | None:
    """Return which clusters of another cut the rows of a cluster are in, the largest part first; None where there is no cut."""
    if flows is None:
        return None
    own = flows[label]
    return [
        [int(other), number(round(float(own[other])))] for other in np.argsort(-own, kind="stable") if own[other] >= LEAST_FLOW
    ]
