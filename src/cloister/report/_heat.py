# SPDX-License-Identifier: Apache-2.0
"""Profiles of the clusters as a table of colours: how far each centre lies from the mean, column by column.

The longer side of the table runs down the page. Colours are those of the style sheet, four steps to each side of the mean. A
sign stands in cells that are too narrow for their value, so that the table can be read in grey.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from cloister.columns import FloatArray, iso_date
from cloister.report._column_words import days_words, percent
from cloister.text import plain_text, with_error

__all__ = [
    "MINUS",
    "HeatCell",
    "HeatTable",
    "brief_value",
    "colour_steps",
    "deviations_of",
    "heat_kind",
    "heat_legend",
    "heat_of",
    "value_words",
]

FEWEST_COORDINATES = 3  # of fewer, the map says it all
MOST_COORDINATES = 60  # of more, those that tell clusters apart best
STEPS = 4
NOTICED = 2.0  # standard errors: what lies nearer to the mean is not coloured
WIDEST_WITH_VALUES = 12  # cells side by side that have room for their values
UPRIGHT_HEADS = 8  # up to so many names stand side by side
SIGNED = 2  # from this step on, a narrow cell has a sign
MINUS = "\u2212"


@dataclass(frozen=True)
class HeatCell:
    """A colour, what stands in the cell, and what it means in words."""

    kind: str
    words: str
    title: str


@dataclass(frozen=True)
class HeatTable:
    """A table of colours. `corner` says what runs down, `across` what runs across; `turned` heads stand upright."""

    corner: str
    across: str
    heads: Sequence[str]
    rows: Sequence[tuple[str, Sequence[HeatCell]]]
    legend: Sequence[tuple[str, str]]
    unit: str
    turned: bool
    narrow: bool
    left_out: int


def heat_of(summary: dict[str, Any]) -> HeatTable | None:
    """Return the profiles of what :func:`summary` returned; None where there is one cluster or hardly a column."""
    if summary["n_clusters"] < 2 or summary["n_features"] < FEWEST_COORDINATES:
        return None
    clusters, picked = summary["clusters"], sorted(summary["ranking"][:MOST_COORDINATES])
    coordinates = [summary["coordinates"][index] for index in picked]
    centers, errors = (
        np.array([cluster[name] for cluster in clusters], dtype=np.float64)[:, picked] for name in ("center", "center_error")
    )
    counts, units = np.array([cluster["count"] for cluster in clusters]), np.array([one["unit"] for one in coordinates])
    deviations, noticed = deviations_of(centers, errors, counts, units)
    top = float(np.max(np.abs(deviations), where=noticed, initial=0.0))
    steps, unit = colour_steps(deviations, noticed, top), "spread" if summary["scaling"] == "spread" else "range"
    names, labels = [plain_text(one["name"]) for one in coordinates], [str(cluster["label"]) for cluster in clusters]
    down = len(names) >= len(labels)  # whether columns run down the page
    heads, sides = (labels, names) if down else (names, labels)
    narrow = len(heads) > WIDEST_WITH_VALUES

    def cell(place: int, position: int) -> HeatCell:
        kind, value, deviation = coordinates[position]["kind"], float(centers[place, position]), deviations[place, position]
        step = int(steps[place, position])
        far = (
            f"{abs(deviation):.2g} of the {unit} {'above' if deviation > 0 else 'below'} the mean" if step else "about the mean"
        )
        sign = ("+" if step > 0 else MINUS) if abs(step) >= SIGNED else ""
        return HeatCell(
            heat_kind(step),
            sign if narrow else brief_value(kind, value),
            f"Cluster {labels[place]}, {names[position]}: {value_words(kind, value, float(errors[place, position]))}, {far}",
        )

    size = range(len(heads))
    return HeatTable(
        corner="Column" if down else "Cluster",
        across="Cluster" if down else "Column",
        heads=heads,
        rows=[(side, [cell(one, line) if down else cell(line, one) for one in size]) for line, side in enumerate(sides)],
        legend=heat_legend(top),
        unit=unit,
        turned=not down and len(heads) > UPRIGHT_HEADS,
        narrow=narrow,
        left_out=summary["n_features"] - len(names),
    )


def deviations_of(
    centers: FloatArray, errors: FloatArray, counts: FloatArray, units: FloatArray
) -> tuple[FloatArray, npt.NDArray[np.bool_]]:
    """Return how far centres lie from the mean of all rows, in units of each column, and whether that stands out."""
    weights = np.maximum(counts, 0.0)
    weights = weights / weights.sum() if weights.sum() > 0 else np.full(len(weights), 1 / len(weights))
    deviations = (centers - weights @ centers) / units
    return deviations, np.abs(deviations) > NOTICED * errors / units


def colour_steps(deviations: FloatArray, noticed: npt.NDArray[np.bool_], top: float) -> npt.NDArray[np.int64]:
    """Return the steps in which deviations are coloured, from -4 to 4; `top` is the largest that has a colour."""
    return np.where(noticed, np.rint(STEPS * deviations / max(top, 1e-300)), 0.0).astype(np.int64)


def heat_kind(step: int) -> str:
    """Return the class of a colour."""
    return "zero" if step == 0 else f"{'up' if step > 0 else 'down'}{abs(step)}"


def value_words(kind: str, value: float, error: float) -> str:
    """Return a value with its error, as its kind is written."""
    if kind == "date":
        return f"{iso_date(round(value))} ± {days_words(error)}"
    return "{} % ± {} %".format(*percent(value, error)) if kind == "share" else "{} ± {}".format(*with_error(value, error))


def brief_value(kind: str, value: float) -> str:
    """Return a value in few letters."""
    if kind == "date":
        return iso_date(round(value))[:7]
    if kind == "share":
        return f"{100 * value:.0f} %"
    if value != 0 and not 1e-3 <= abs(value) < 1e5:
        return f"{value:.1e}"
    decimals = min(max(0, 2 - math.floor(math.log10(max(abs(value), 1e-3)))), 4)
    text = f"{value:,.{decimals}f}"
    return text.lstrip("-") if not text.strip("-0.,") else text.replace("-", MINUS)


def heat_legend(top: float) -> list[tuple[str, str]]:
    """Return the steps, from far below to far above, with words at the ends and in the middle; none if nothing is coloured."""
    ends = {-STEPS: f"{MINUS}{top:.2g}", 0: "mean", STEPS: f"+{top:.2g}"}
    return [(heat_kind(step), ends.get(step, "")) for step in range(-STEPS, STEPS + 1)] if top else []
