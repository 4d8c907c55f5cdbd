# SPDX-License-Identifier: Apache-2.0
"""Profiles of the clusters as a table of colours: how far each centre lies from the mean, column by column.

The longer side of the table runs down the page. Colours are those of the style sheet, four steps to each side of the mean. A
sign stands in cells that are too narrow for their value, so that the table can be read in grey.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cloister.columns import MINUS, Coordinate
from cloister.plotting import deviations_of
from cloister.release import Release, coordinates_of, rank_columns
from cloister.text import plain_text

FEWEST_COORDINATES = 3  # of fewer, the map says it all
MOST_COORDINATES = 60  # of more, those that tell clusters apart best
STEPS = 4
WIDEST_WITH_VALUES = 12  # cells side by side that have room for their values
UPRIGHT_HEADS = 8  # up to so many names stand side by side


@dataclass(frozen=True)
class HeatCell:
    """A colour, what stands in the cell in few letters, its value with its error, and how far it is from the mean."""

    kind: str
    brief: str
    words: str
    far: str

    @property
    def sign(self) -> str:
        """What stands in a cell that is too narrow for its value, from the second step on."""
        return "" if self.kind[-1:] not in "234" else "+" if self.kind.startswith("up") else MINUS


@dataclass(frozen=True)
class Shades:
    """The columns that are shown, and the cells of every cluster of each release, coloured on one scale."""

    names: Sequence[str]
    unit: str
    legend: Sequence[tuple[str, str]]  # steps, from far below to far above, with words; none if nothing is coloured
    left_out: int
    cells: Sequence[Sequence[Sequence[HeatCell]]]


def shade(releases: Sequence[Release], chosen: Release, *, most: int) -> Shades:
    """Return the profiles of several releases of the same table, in the columns that tell the chosen one's clusters apart."""
    picked = sorted(rank_columns(chosen)[:most])
    known = coordinates_of(chosen.domain, chosen.columns)
    columns, unit = [known[index] for index in picked], "spread" if chosen.scaling == "spread" else "range"
    units = np.array([one.unit for one in columns])
    parts = [
        deviations_of(one.cluster_centers[:, picked], one.center_errors[:, picked], one.cluster_counts, units)
        for one in releases
    ]
    top = max(float(np.max(np.abs(far), where=noticed, initial=0.0)) for far, noticed in parts)
    cells = []
    for release, (deviations, noticed) in zip(releases, parts, strict=True):
        steps = np.where(noticed, np.rint(STEPS * deviations / max(top, 1e-300)), 0.0).astype(int)
        values = zip(release.cluster_centers[:, picked], release.center_errors[:, picked], deviations, steps, strict=True)
        cells.append([[_cell(*one, unit) for one in zip(columns, *line, strict=True)] for line in values])
    ends = {-STEPS: f"{MINUS}{top:.2g}", 0: "mean", STEPS: f"+{top:.2g}"}
    legend = [(_kind(step), ends.get(step, "")) for step in range(-STEPS, STEPS + 1)] if top else []
    return Shades([plain_text(one.name) for one in columns], unit, legend, len(known) - len(picked), cells)


def _cell(column: Coordinate, value: float, error: float, deviation: float, step: int, unit: str) -> HeatCell:
    far = f"{abs(deviation):.2g} of the {unit} {'above' if deviation > 0 else 'below'} the mean" if step else "about the mean"
    return HeatCell(_kind(step), column.brief(value), " ± ".join(column.words(value, error)), far)


def _kind(step: int) -> str:
    """Return the class of a colour."""
    return "zero" if step == 0 else f"{'up' if step > 0 else 'down'}{abs(step)}"


def heat_of(release: Release) -> dict[str, Any] | None:
    """Return the profiles of a release as a table of colours; None where there is one cluster or hardly a column.

    `corner` says what runs down, `across` what runs across; `turned` heads stand upright. Of `rows`, each has a name, and cells
    with their titles.
    """
    if release.n_clusters < 2 or release.n_features < FEWEST_COORDINATES:
        return None
    shades = shade([release], release, most=MOST_COORDINATES)
    names, labels = shades.names, [str(label) for label in range(release.n_clusters)]
    cells = [
        [(cell, f"Cluster {label}, {name}: {cell.words}, {cell.far}") for name, cell in zip(names, line, strict=True)]
        for label, line in zip(labels, shades.cells[0], strict=True)
    ]
    down = len(names) >= len(labels)  # whether columns run down the page
    heads, sides = (labels, names) if down else (names, labels)
    corner, across = ("Column", "Cluster") if down else ("Cluster", "Column")
    return {
        "corner": corner,
        "across": across,
        "heads": heads,
        "rows": list(zip(sides, zip(*cells, strict=True) if down else cells, strict=True)),
        "shades": shades,
        "turned": not down and len(heads) > UPRIGHT_HEADS,
        "narrow": len(heads) > WIDEST_WITH_VALUES,
    }
