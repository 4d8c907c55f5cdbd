# SPDX-License-Identifier: Apache-2.0
"""The scoreboard from the stored measurements: ``python -m benchmarks.scoreboard [--check] [--store DIR ...]``.

Writes ``docs/scoreboard.md`` and its picture from ``benchmarks/measured/table1.jsonl``; no figure of the page comes from
elsewhere. ``--store`` first makes that file anew from the folders of runs, ``--check`` only says whether page and picture are
those of the file.
"""

import argparse
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from pathlib import Path

from cloister import methods

from ._data import shape_of
from ._errors import BenchError
from ._measured import HOME, Measurement, area_of_lines, condense, read_measured, write_measured
from ._methods import LIMIT, LIMITS, METHODS
from ._page import Table, say, table_markdown
from ._sources import ORIGINS, sources
from ._stats import EPSILONS, Estimate, constant_area, differs, log_mean

__all__ = ["IMAGE", "MEASURED", "PAGE", "Board", "draw", "main", "render"]

ROOT = Path(__file__).resolve().parents[1]
MEASURED, PAGE, IMAGE = HOME / "table1.jsonl", ROOT / "docs" / "scoreboard.md", ROOT / "docs" / "images" / "scoreboard.svg"
FEW = 6  # columns, up to which every method is defined
# What another library says of its own guarantee, and what its code does: see docs/rivals.md.
CLAIMS = {
    "diffprivlib": ("pure epsilon; **not kept**, see [rivals](rivals.md#diffprivlib)", "its own, not audited"),
    "dpmm-MST": ("(epsilon, delta) by zCDP", "its own, not audited"),
}
HEAD = """# Scoreboard

<!-- Made by python -m benchmarks.scoreboard from benchmarks/measured/table1.jsonl. Do not edit. -->

Private k-means by the protocol of Table I of the PE-means paper: rows centred and scaled to the unit ball, the number of rows
N public, delta = N^-1.1, neighbours by adding or removing a row. The figure is the area under the mean loss (squared distance
to the nearest centre) over epsilon 0.25, 0.5, 1, 2 and 4; the *limit* is the same area for scikit-learn's `KMeans` without
privacy, best of 10 starts. Less is better, and 1 times the limit is nothing lost. How it is measured:
[the benchmark](benchmarks.md).
"""
PICTURE = """
![Geometric mean of area over limit, by method](images/scoreboard.svg)
"""
RANKS = """Geometric mean of area over limit, with its 95 % interval over the repeats, the limits taken as exact. *All* are the
{n_all} data sets below, *few columns* the {n_few} of them with up to 6, where the grid is defined too. *Lowest* counts the data
sets on which a method has the lowest area, in brackets those on which it is below every other beyond chance (Welch's test at
5 %, not corrected for their number). *Seconds* are the mean of all fits, one thread, on cores shared with other work: a rough
guide."""
AREAS = """± is half a 95 % interval over the repeats. Bold: the lowest. '-': not defined for so many columns, or not measured.
The limit is the best of 10 starts and not the optimum, so a good search may fall below it. """
WARNING = """
These are {n_all} small data sets and {repeats} repeats: enough to see factors, not to see a few per cent. All methods of
Cloister on all 34 data sets of the paper are on [the page of results](results.md). What the other libraries are, how they were
run and which of their guarantees hold: [rivals](rivals.md#other-libraries-by-their-own-code).

What to keep in mind. This is our comparison, and the constants of our methods were chosen on data of this kind, in part on
these very sets ([KMeans](kmeans.md), [the others](rivals.md)); the other libraries were hardly tuned. Pure epsilon is a
stronger promise than (epsilon, delta) and costs accuracy, so set pure methods beside each other. A synthetic table can answer
other questions than k-means, which is not counted here.
"""
SOURCES = """
## Where the figures come from

Every figure above is computed from `benchmarks/measured/table1.jsonl`, which has for each data set, method and epsilon the
number of repeats, mean and standard deviation of the loss, and the run, with seed, commit, versions and command. It was
measured at commit {commits} with {versions} by

{commands}

and kept by `python -m benchmarks.scoreboard --store DIR ...`, with the folders of these runs. A run that was stopped has fewer
repeats than its command says; the table of repeats has what was done. Other libraries need interpreters of their own, which
`python -m benchmarks.rivals_env DIR` makes ([options](benchmarks.md#other-libraries)). The page and its picture are made by
`python -m benchmarks.scoreboard`; a test fails where they are not those of the file.
"""


@dataclass(frozen=True)
class Board:
    """Areas by data set and method."""

    lines: tuple[Measurement, ...]

    @cached_property
    def data(self) -> list[str]:
        """Data sets, in the paper's order."""
        order = list(sources())
        return sorted({line.data for line in self.lines}, key=order.index)

    @cached_property
    def areas(self) -> dict[tuple[str, str], Estimate]:
        """Areas of private methods; absent where an epsilon is missing."""
        found = {}
        for data, method in {(line.data, line.method): None for line in self.lines if line.method not in LIMITS}:
            area = area_of_lines(line for line in self.lines if (line.data, line.method) == (data, method))
            if area is not None:
                found[data, method] = area
        return found

    @cached_property
    def limits(self) -> dict[str, float]:
        """Areas that are not private."""
        return {line.data: line.mean * constant_area(EPSILONS) for line in self.lines if line.method == LIMIT}

    @cached_property
    def few(self) -> list[str]:
        """Data sets of few columns."""
        return [name for name in self.data if shape_of(name)[1] <= FEW]

    def mean(self, method: str, names: Sequence[str]) -> Estimate | None:
        """Return the logarithm of the geometric mean over the limit; None where a data set is missing."""
        if not names or any((name, method) not in self.areas for name in names):
            return None
        return log_mean([self.areas[name, method].times(1 / self.limits[name]) for name in names])

    def bars(self, names: Sequence[str]) -> list[tuple[str, float]]:
        """Return the methods that were measured on all of these data sets, with their geometric means."""
        means = {name: self.mean(name, names) for name in self.methods}
        return [(name, math.exp(mean.value)) for name, mean in means.items() if mean is not None]

    @cached_property
    def methods(self) -> list[str]:
        """Methods, the best first; those that are not measured on all data sets come last."""
        names = {method for _, method in self.areas}

        def key(name: str) -> tuple[bool, float]:
            everywhere, few = self.mean(name, self.data), self.mean(name, self.few)
            mean = everywhere or few
            return everywhere is None, math.inf if mean is None else mean.value

        return sorted(names, key=key)

    def lowest(self, data: str) -> str:
        """Return the method with the lowest area."""
        return min((method for name, method in self.areas if name == data), key=lambda method: self.areas[data, method].value)

    def stands_out(self, data: str, method: str) -> bool:
        """Return whether a method differs from all others on a data set beyond chance."""
        return all(
            differs(self.areas[data, method], area)
            for (name, other), area in self.areas.items()
            if name == data != other != method
        )

    def of(self, method: str) -> list[Measurement]:
        """Return the lines of a method."""
        return [line for line in self.lines if line.method == method]


def render(board: Board) -> str:
    """Return the page."""
    runs = sorted({line.n for line in board.lines if line.method not in LIMITS})
    repeats = str(runs[0]) if len(runs) == 1 else f"{runs[0]} to {runs[-1]}"
    tables = (_ranks(board), _areas(board), _ratios(board), _repeats(board))
    parts = [HEAD, PICTURE, table_markdown(tables[0])]
    parts += [WARNING.format(n_all=len(board.data), repeats=repeats)]
    parts += [f"\n## {table.title}\n\n{_body(table)}" for table in tables[1:]]
    parts += [_sources(board)]
    return "\n".join(part.strip("\n") + "\n" for part in parts)


def _ranks(board: Board) -> Table:
    rows = []
    for method in board.methods:
        wins = [data for data in board.data if board.lowest(data) == method]
        sure = sum(board.stands_out(data, method) for data in wins)
        seconds = [line.seconds for line in board.of(method)]
        rows.append(
            [
                f"`{method}`",
                _say_mean(board.mean(method, board.data)),
                _say_mean(board.mean(method, board.few)),
                f"{len(wins)} ({sure})",
                f"{sum(seconds) / len(seconds):.2g}",
                *_claim(board, method),
            ]
        )
    note = RANKS.format(n_all=len(board.data), n_few=len(board.few))
    columns = ["method", "all", "few columns", "lowest", "seconds", "code", "guarantee", "accounting"]
    return Table("Area over the limit", columns, rows, words=(0, 5, 6, 7), note=note)


def _claim(board: Board, method: str) -> tuple[str, str, str]:
    """Say whose code a method is, what it guarantees, and who has checked that."""
    library = METHODS[method].needs
    if library is not None:
        version = board.of(method)[0].versions[f"{library} (worker)"]
        return (f"{library} {version}", *CLAIMS[method])
    pure = methods.METHODS[method].delta == 0
    return "Cloister", "pure epsilon" if pure else "(epsilon, delta)", "one core, [audited](audit.md)"


def _areas(board: Board) -> Table:
    rows, best = [], set()
    for number, name in enumerate(board.data):
        best.add((number, 5 + board.methods.index(board.lowest(name))))
        size = shape_of(name)
        origin = next(line.origin for line in board.lines if line.data == name)
        mark = "" if origin == "exact" else f" [{origin}]"
        figures = [say(board.areas.get((name, method))) for method in board.methods]
        rows.append([name + mark, f"{size[0]:,}", *map(str, size[1:]), f"{board.limits[name]:.4g}", *figures])
    origins = {line.origin for line in board.lines} - {"exact"}
    note = AREAS + "; ".join(f"[{origin}]: {ORIGINS[origin]}" for origin in sorted(origins))
    return Table("Areas", ["data", "N", "d", "k", "limit", *board.methods], rows, note=note, best=frozenset(best))


def _ratios(board: Board) -> Table:
    rows = []
    for name in board.data:
        known = [board.areas.get((name, method)) for method in board.methods]
        rows.append([name, *("-" if area is None else f"{area.value / board.limits[name]:.3f}" for area in known)])
    means = [(board.mean(method, board.data), board.mean(method, board.few)) for method in board.methods]
    rows.append(["geometric mean", *(_say_value(everywhere) for everywhere, _ in means)])
    rows.append([f"up to {FEW} columns", *(_say_value(few) for _, few in means)])
    return Table("Area over the limit, by data set", ["data", *board.methods], rows)


def _repeats(board: Board) -> Table:
    rows = []
    for name in board.data:
        runs = [[line for line in board.of(method) if line.data == name] for method in board.methods]
        rows.append([name, *("-" if not lines else _say_runs(lines) for lines in runs)])
    note = "Repeats at each epsilon, the fewest and the most; 'failed' are fits that ended with an error and are in no figure."
    return Table("Repeats", ["data", *board.methods], rows, note=note)


def _say_runs(lines: Sequence[Measurement]) -> str:
    runs, failed = sorted({line.n for line in lines}), sum(line.failed for line in lines)
    words = str(runs[0]) if len(runs) == 1 else f"{runs[0]} to {runs[-1]}"
    return f"{words} ({failed} failed)" if failed else words


def _sources(board: Board) -> str:
    commands = list(dict.fromkeys(line.command for line in board.lines))
    commits = sorted({commit for line in board.lines for commit in line.commits})
    versions: dict[str, set[str]] = {}
    for line in board.lines:
        for name, version in line.versions.items():
            versions.setdefault(name, set()).add(version)
    said = ", ".join(f"{name} {' and '.join(sorted(found))}" for name, found in sorted(versions.items()))
    shown = "\n".join(f"    {command}" for command in commands)
    return SOURCES.format(commits=", ".join(commits), versions=said, commands=shown)


def _body(table: Table) -> str:
    """Return a table as Markdown without its title, which is the heading."""
    return table_markdown(table).split("\n", 2)[2]


def _say_value(log_mean: Estimate | None) -> str:
    return "-" if log_mean is None else f"{math.exp(log_mean.value):.3f}"


def _say_mean(log_mean: Estimate | None) -> str:
    if log_mean is None:
        return "-"
    words = _say_value(log_mean)
    if math.isnan(log_mean.half_width):
        return words
    return f"{words} ({math.exp(log_mean.low):.3f} to {math.exp(log_mean.high):.3f})"


WIDTH, LINE, NAMES, VALUES, TOP = 720, 28, 150, 80, 46
TITLE = "Area over the limit without privacy, geometric mean"
KEY = "dark: Cloister; grey: other libraries by their own code; logarithmic scale from 1; less is better"


def draw(board: Board) -> str:
    """Return a picture of the geometric means: bars for all data sets, and for those of few columns, where all are defined."""
    panels = [
        (f"{len(names)} data sets {words}", board.bars(names))
        for words, names in ((f"with up to {FEW} columns", board.few), ("in all", board.data))
        if board.bars(names)
    ]
    reach = max(math.log(value) for _, bars in panels for _, value in bars)
    lines, y = [], TOP
    for words, bars in panels:
        lines.append(f'<text x="{NAMES}" y="{y + 14}" font-weight="600">{words}</text>')
        y += 20
        lines.append(f'<path d="M{NAMES} {y}v{LINE * len(bars)}" stroke="#1f2933"/>')
        for name, value in sorted(bars, key=lambda bar: bar[1]):
            lines.append(_bar(name, value, y, max(3.0, (WIDTH - NAMES - VALUES) * math.log(value) / reach)))
            y += LINE
        y += 14
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y}" width="{WIDTH}" height="{y}" role="img" '
        f'aria-label="{escape(TITLE)}" font-family="system-ui, sans-serif" font-size="13" fill="#1f2933">\n'
        f'<rect width="{WIDTH}" height="{y}" fill="#ffffff"/>\n'
        f'<text x="12" y="18" font-weight="600">{escape(TITLE)}</text>\n'
        f'<text x="12" y="35" font-size="11">{escape(KEY)}</text>\n' + "\n".join(lines) + "\n</svg>\n"
    )


def _bar(name: str, value: float, y: int, length: float) -> str:
    colour = "#9aa5b1" if METHODS[name].needs else "#0b3c5d"
    return (
        f'<text x="{NAMES - 10}" y="{y + 18}" text-anchor="end">{escape(name)}</text>'
        f'<rect x="{NAMES}" y="{y + 5}" width="{length:.1f}" height="{LINE - 10}" fill="{colour}"/>'
        f'<text x="{NAMES + length + 8:.1f}" y="{y + 18}">{value:.2f} \u00d7</text>'
    )


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scoreboard", description=__doc__.split("\n")[0])
    parser.add_argument("--store", nargs="+", type=Path, metavar="DIR", help="make the file anew from the folders of runs")
    parser.add_argument("--check", action="store_true", help="write nothing; end with 1 if page or picture are not current")
    given = parser.parse_args(arguments)
    try:
        if given.store:
            write_measured(MEASURED, condense(given.store))
        board = Board(tuple(read_measured(MEASURED)))
    except BenchError as error:
        print(f"Error: {error}", file=sys.stderr)
        return 2
    stale = False
    for path, made in ((PAGE, render(board)), (IMAGE, draw(board))):
        old = path.read_text(encoding="utf-8") if path.exists() else ""
        stale |= old != made
        if not given.check:
            path.write_text(made, encoding="utf-8")
            print(path.relative_to(ROOT))
        elif old != made:
            print(f"{path.relative_to(ROOT)} is not current: run python -m benchmarks.scoreboard", file=sys.stderr)
    return int(given.check and stale)


if __name__ == "__main__":
    sys.exit(main())
