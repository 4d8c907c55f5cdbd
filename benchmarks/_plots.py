# SPDX-License-Identifier: Apache-2.0
"""Plots as the papers draw them, readable without colour: every method has a marker and a line of its own."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ._methods import LIMIT, METHODS
from ._page import FIGURES
from ._stats import Estimate

__all__ = ["Panel", "draw_marks", "draw_panels", "new_figure", "plain_ticks", "save", "styles_of"]

COLOURS = (
    "#0b3c5d",
    "#d55e00",
    "#009e73",
    "#7a4fa3",
    "#c99700",
    "#56a5d8",
    "#8c2d19",
    "#555555",
    "#cc79a7",
    "#1b1b1b",
    "#8c564b",
    "#6b8e23",
    "#e8602c",
    "#2a7f9e",
    "#a0522d",
    "#4b0082",
    "#708090",
    "#b8336a",
)
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "<", ">", "p", "h", "d", "8", "H", "1", "2", "3")
LINES = (
    "-",
    "--",
    "-.",
    ":",
    (0, (5, 1)),
    (0, (1, 1)),
    (0, (3, 1, 1, 1)),
    (0, (7, 2)),
    (0, (3, 2)),
    (0, (1, 3)),
    (0, (9, 1, 1, 1)),
    (0, (5, 1, 1, 1, 1, 1)),
    (0, (4, 2, 2, 2)),
    (0, (2, 1)),
    (0, (6, 1, 2, 1)),
    (0, (2, 2)),
    (0, (8, 3, 1, 3)),
    (0, (1, 1, 4, 1)),
)
RC = {"font.size": 9, "axes.titlesize": 9, "axes.spines.top": False, "axes.spines.right": False, "svg.hashsalt": "cloister"}
PANELS_A_ROW = 4
FEWEST_RUNS = 5  # for an interval worth shading
FEWEST_MARKED = 3  # for one worth a line
NARROW = 1.6  # ratio of the ends of an axis, up to which it is as good as linear


@dataclass(frozen=True)
class Panel:
    """One small plot: curves by method, and a level that nothing private can beat."""

    title: str
    curves: Mapping[str, Mapping[float, Estimate]]
    limit: float | None = None
    margin: float = 1.25  # factor between the outermost values and the ends of the axis


def styles_of(methods: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Return marker, line and colour of each method: always the same for those of the registry, the free ones for others."""
    known = [name for name, method in METHODS.items() if method.private]
    names = list(dict.fromkeys(methods))
    taken = {name: known.index(name) % len(COLOURS) for name in names if name in known}
    free = [index for index in range(len(COLOURS)) if index not in taken.values()] or list(range(len(COLOURS)))
    others = [name for name in names if name not in taken and name != LIMIT]
    places = {**taken, **{name: free[number % len(free)] for number, name in enumerate(others)}}
    styles = {
        name: {
            "color": COLOURS[place],
            "marker": MARKERS[place],
            "linestyle": LINES[place],
            "markersize": 4.5,
            "linewidth": 1.3,
        }
        for name, place in places.items()
    }
    return {**styles, LIMIT: {"color": "black", "marker": ".", "linestyle": (0, (1, 1)), "markersize": 3, "linewidth": 0.9}}


def draw_panels(
    folder: Path,
    name: str,
    panels: Sequence[Panel],
    *,
    x: str,
    y: str,
    ticks: Sequence[float] | None = None,
    a_row: int = PANELS_A_ROW,
) -> None:
    """Draw small plots side by side, with one legend for all."""
    columns = max(1, min(a_row, len(panels)))
    lines = max(1, -(-len(panels) // columns))
    with new_figure(folder, name, (3.1 * columns, 2.5 * lines + 0.7)) as figure:
        axes = figure.subplots(lines, columns, squeeze=False)
        styles = styles_of(method for panel in panels for method in panel.curves)
        for axis, panel in zip(axes.flat, panels, strict=False):
            _draw(axis, panel, styles, ticks=ticks)
        for axis in list(axes.flat)[len(panels) :]:
            axis.set_axis_off()
        figure.supxlabel(x, fontsize=9)
        figure.supylabel(y, fontsize=9)
        _legend(figure, axes)


@contextmanager
def new_figure(folder: Path, name: str, size: tuple[float, float]) -> Iterator[Any]:
    """Yield an empty figure and save it as SVG and PNG."""
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(RC):
        figure = Figure(figsize=size, layout="constrained")
        yield figure
        save(figure, folder, name)


def save(figure: Any, folder: Path, name: str) -> None:
    """Write a figure as SVG and PNG."""
    place = folder / FIGURES
    place.mkdir(parents=True, exist_ok=True)
    figure.savefig(place / f"{name}.svg", metadata={"Date": None})
    figure.savefig(place / f"{name}.png", dpi=130)


def _draw(axis: Any, panel: Panel, styles: Mapping[str, dict[str, Any]], *, ticks: Sequence[float] | None) -> None:
    for method, curve in panel.curves.items():
        xs = sorted(curve)
        values = np.array([curve[x].value for x in xs])
        axis.plot(xs, values, label=method, **styles[method])
        if all(curve[x].n_runs >= FEWEST_RUNS for x in xs):
            low, high = np.array([curve[x].low for x in xs]), np.array([curve[x].high for x in xs])
            shade = {"color": styles[method]["color"], "alpha": 0.12, "linewidth": 0}
            axis.fill_between(xs, np.maximum(low, values * 0.2), high, **shade)
    if panel.limit is not None:
        axis.axhline(panel.limit, color="black", linewidth=0.9, linestyle=(0, (1, 1)), label=LIMIT)
    axis.set_title(panel.title)
    axis.set(xscale="log", yscale="log")
    values = [one.value for curve in panel.curves.values() for one in curve.values()]
    values += [] if panel.limit is None else [panel.limit]
    axis.set_ylim(min(values) / panel.margin, max(values) * panel.margin)  # intervals may reach further
    places = ticks or sorted({x for curve in panel.curves.values() for x in curve})
    axis.set_xticks(places, [f"{x:g}" if x < 10_000 else f"{x:.0e}".replace("e+0", "e") for x in places])
    axis.minorticks_off()
    plain_ticks(axis.yaxis)


def plain_ticks(axis: Any) -> None:
    """Label a logarithmic axis with a few plain numbers, also where it spans less than a power of ten."""
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

    low, high = axis.get_view_interval()
    subs = (1.0,) if high / low > 30 else (1.0, 2.0, 5.0) if high / low > 3 else (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0)
    axis.set_major_locator(LogLocator(base=10, subs=subs, numticks=8) if high / low > NARROW else MaxNLocator(5))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))


def _reach(one: Estimate) -> tuple[float, float]:
    """Return how far an interval reaches down (never to zero, on a logarithmic axis) and up."""
    if one.n_runs < FEWEST_MARKED:
        return 0.0, 0.0
    return one.value - max(one.low, 0.2 * one.value), one.high - one.value


def _legend(figure: Any, axes: Any) -> None:
    found: dict[str, Any] = {}
    for axis in axes.flat:
        for handle, label in zip(*axis.get_legend_handles_labels(), strict=True):
            found.setdefault(label, handle)
    if found:
        columns = min(len(found), max(1, int(figure.get_figwidth() / 1.5)))
        figure.legend(found.values(), found.keys(), loc="outside upper center", ncols=columns, frameon=False)


def draw_marks(
    folder: Path,
    name: str,
    labels: Sequence[str],
    marks: Mapping[str, Mapping[str, Estimate]],
    *,
    y: str,
    line: float | None = 1.0,
) -> None:
    """Draw one mark for each method above each label, with its interval."""
    with new_figure(folder, name, (max(5.0, 0.45 * len(labels) + 2.5), 4.2)) as figure:
        axes = figure.subplots(1, 1, squeeze=False)
        axis, styles = axes[0][0], styles_of(marks)
        for index, (method, values) in enumerate(marks.items()):
            shift = (index - (len(marks) - 1) / 2) * 0.7 / max(len(marks), 1)
            places = [labels.index(label) + shift for label in values]
            middle = [one.value for one in values.values()]
            reach = np.array([_reach(one) for one in values.values()]).T
            axis.errorbar(places, middle, reach, label=method, elinewidth=0.8, **{**styles[method], "linestyle": "none"})
        if line is not None:
            axis.axhline(line, color="black", linewidth=0.8, linestyle=(0, (1, 1)))
        for border in range(1, len(labels)):
            axis.axvline(border - 0.5, color="0.85", linewidth=0.6)
        axis.set(yscale="log", ylabel=y, xlim=(-0.6, len(labels) - 0.4))
        axis.set_xticks(range(len(labels)), labels, rotation=45, ha="right")
        plain_ticks(axis.yaxis)
        _legend(figure, axes)
