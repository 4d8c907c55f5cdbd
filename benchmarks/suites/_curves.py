# SPDX-License-Identifier: Apache-2.0
"""Figures 3 and 4 of the PE-means paper: loss against epsilon on real data, and against the number of clusters."""

from pathlib import Path

from .._data import shape_of
from .._jobs import Choice, Plan
from .._methods import LIMIT, LIMITS
from .._page import Block, Figure, Section, Table, say
from .._plots import Panel, draw_panels
from .._results import Results
from .._sources import sources
from .._stats import EPSILONS
from ._base import Suite, chosen_data, chosen_methods, failures, turn_by_turn
from ._board import Board, make_board, plain
from ._fit import KIND, fit_jobs

__all__ = ["Curves"]

REAL = ("birch2", "iris", "adult", "mnist", "letter", "gas")
FAMILIES = ("scale", "sklearn")
QUICK = ("iris", *(f"{family}_{k}_{d}" for family in FAMILIES for d in (4, 16) for k in (4, 16, 64) if k * d <= 256))
EPSILON = 1.0  # of Figure 4
REPEATS = {"quick": 3, "paper": 50}


class Curves(Suite):
    """The same fits as in Table I, drawn as curves; results of either suite serve both."""

    name = "curves"
    kinds = (KIND,)

    def plan(self, choice: Choice) -> Plan:
        paper = [*REAL, *(name for name in sources() if _family(name))]
        data, left_out = chosen_data(choice, QUICK if choice.profile == "quick" else paper)
        methods, repeats = chosen_methods(choice), choice.repeats or REPEATS[choice.profile]
        by_epsilon = [one for one in data if not _family(one[0])]
        by_clusters = [one for one in data if _family(one[0])]
        epsilons = choice.epsilons or EPSILONS
        jobs = fit_jobs(choice, by_epsilon, methods, epsilons, repeats)
        jobs += fit_jobs(choice, by_clusters, methods, (EPSILON,), repeats)
        return Plan(turn_by_turn(jobs), tuple(left_out))

    def section(self, results: Results, folder: Path) -> Section:
        board = make_board(results)
        blocks: list[Block] = []
        real = [panel for name in board.data if not _family(name) and (panel := _against_epsilon(board, name)).curves]
        if real:
            draw_panels(folder, "curves-epsilon", real, x="epsilon", y="mean squared distance")
            words = "Loss against epsilon; shaded, from 5 repeats on: 95 % interval; dotted: without privacy."
            blocks.append(Figure("curves-epsilon", words))
        grown = _against_clusters(board)
        if grown:
            draw_panels(folder, "curves-clusters", grown, x="number of clusters", y="mean squared distance", ticks=(4, 16, 64))
            blocks.append(Figure("curves-clusters", f"Loss against the number of clusters at epsilon = {EPSILON:g}."))
            blocks.append(_table(board))
        return Section(self.title, [*blocks, *failures(results)])


def _family(name: str) -> str:
    return next((family for family in FAMILIES if name.startswith(f"{family}_")), "")


def _against_epsilon(board: Board, name: str) -> Panel:
    found = {method: board.cells[name, method] for method in board.methods if (name, method) in board.cells}
    curves = {method: {epsilon: cell.at(epsilon) for epsilon in cell.epsilons} for method, cell in found.items()}
    limit = board.cells.get((name, LIMIT))
    return Panel(name, {method: curve for method, curve in curves.items() if curve}, limit and limit.at(None).value)


def _against_clusters(board: Board) -> list[Panel]:
    panels = []
    names = [name for name in board.data if _family(name)]
    for family in FAMILIES:
        for columns in sorted({shape_of(plain(name))[1] for name in names if _family(name) == family}):
            group = [name for name in names if _family(name) == family and shape_of(plain(name))[1] == columns]
            curves = {
                method: {
                    float(shape_of(plain(name))[2]): board.cells[name, method].at(epsilon)
                    for name in group
                    if (name, method) in board.cells
                    and (epsilon := None if method in LIMITS else EPSILON) in board.cells[name, method].losses
                }
                for method in (*board.methods, LIMIT)
            }
            panels.append(Panel(f"{family}, d = {columns}", {method: curve for method, curve in curves.items() if curve}))
    return panels


def _table(board: Board) -> Table:
    rows = []
    for name in (name for name in board.data if _family(name)):
        cells = [board.cells.get((name, method)) for method in board.methods]
        limit = board.cells.get((name, LIMIT))
        figures = [say(cell.at(EPSILON)) if cell is not None and EPSILON in cell.losses else "-" for cell in cells]
        rows.append([name, say(limit.at(None)) if limit is not None else "-", *figures])
    return Table(f"Loss at epsilon = {EPSILON:g}", ["data", LIMIT, *board.methods], rows)
