# SPDX-License-Identifier: Apache-2.0
"""What all pictures share: axes to draw on, and colours that stay apart in grey and for colour-blind readers."""

import importlib.util
from typing import TYPE_CHECKING, Any

from cloister import validate
from cloister.text import plain_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["ACCENT", "FAINT", "INK", "axes_for", "mark_seeded", "short_name"]

INK, FAINT, ACCENT, RED = "#1f2430", "#8a8f9c", "#2f6fb0", "#c62828"
SEEDED = "SEEDED: not for publication"
LONGEST_NAME = 24


def axes_for(where: str, ax: Any, *, size: tuple[float, float]) -> "Axes":
    """Return the given axes, or those of a new figure whose labels do not overlap."""
    if importlib.util.find_spec("matplotlib") is None:
        remedy = "Run pip install 'cloister[plot]'."
        validate.refuse(where, "matplotlib, which draws the picture", "none installed", remedy=remedy)
    from matplotlib import pyplot
    from matplotlib.axes import Axes

    if ax is None:
        _, ax = pyplot.subplots(figsize=size, layout="constrained")
    if not isinstance(ax, Axes):
        validate.refuse(f"{where}.ax", "the Axes of matplotlib, or None", ax, remedy="Pass ax=figure.subplots().")
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    return ax


def mark_seeded(ax: "Axes", *, seeded: bool) -> "Axes":
    """Return the axes; with a title in red, at the right, where what they show has seeded noise."""
    if seeded:
        ax.set_title(SEEDED, loc="right", color=RED, fontsize="small")
    return ax


def short_name(name: object, longest: int = LONGEST_NAME) -> str:
    """Return a name as a label: cut where it is long, with the signs that matplotlib reads as formulas taken literally."""
    text = plain_text(name)
    return (text if len(text) <= longest else f"{text[: longest - 1]}…").replace("$", r"\$")
