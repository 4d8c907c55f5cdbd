# SPDX-License-Identifier: Apache-2.0
"""What the PE-means paper mentions beside its own choices: PEMeans with one choice changed, over PEMeans as it is."""

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from scipy import stats

from .._jobs import Choice, Plan
from .._methods import PE_ALTERNATIVES, find_method
from .._page import Block, Figure, Section, Table, say, say_ratio
from .._plots import draw_marks
from .._results import Results
from .._stats import EPSILONS, Estimate, ratio_of
from ._base import Suite, chosen_data, chosen_methods, failures, turn_by_turn
from ._board import Board, make_board
from ._fit import KIND, fit_jobs

__all__ = ["Alternatives", "mean_ratio"]

DEFAULT = "PEMeans"
QUICK = ("iris", "blobs_400_4_4", "blobs_1600_2_8", "blobs_1600_8_8")
PAPER = ("iris", *(f"sklearn_{k}_{d}" for d in (4, 16) for k in (4, 16)), *QUICK[1:], "blobs_6400_4_8", "blobs_1600_16_8")
REPEATS = {"quick": 2, "paper": 10}
LEAD = (
    "Areas under the loss, protocol of Table I. Every alternative changes one choice of PEMeans, nothing else, with the same "
    "budget, seeds and, but for uniform ones, first candidates. Below 1 it is better than the default."
)


class Alternatives(Suite):
    """Fits as in Table I, of PEMeans and of its alternatives."""

    name = "alternatives"
    kinds = (KIND,)

    def plan(self, choice: Choice) -> Plan:
        data, left_out = chosen_data(choice, QUICK if choice.profile == "quick" else PAPER)
        named = (
            [find_method(name) for name in (DEFAULT, *PE_ALTERNATIVES)] if choice.methods is None else chosen_methods(choice)
        )
        methods = list(dict.fromkeys([find_method(DEFAULT), *named]))
        repeats = choice.repeats or REPEATS[choice.profile]
        jobs = fit_jobs(choice, data, methods, choice.epsilons or EPSILONS, repeats, limits=False)
        return Plan(turn_by_turn(jobs), tuple(left_out))

    def section(self, results: Results, folder: Path) -> Section:
        board = make_board(results)
        methods = [method for method in board.methods if method != DEFAULT]
        ratios = {method: _ratios(board, method) for method in methods}
        known = {method: found for method, found in ratios.items() if found}
        blocks: list[Block] = [LEAD, _table(board, known), *_draw(folder, board, known), *failures(results)]
        return Section(self.title, blocks)


def mean_ratio(ratios: Sequence[Estimate]) -> Estimate:
    """Return the geometric mean over data sets; its interval is that of the mean of the logarithms over the data sets."""
    logs = np.log([ratio.value for ratio in ratios])
    middle = float(np.exp(logs.mean()))
    if len(logs) < 2:
        return Estimate(middle)
    spread = float(stats.sem(logs))
    return Estimate(middle, (middle * spread) ** 2, len(logs) - 1, len(logs))


def _ratios(board: Board, method: str) -> dict[str, Estimate]:
    pairs = {name: (board.figures.get((name, method)), board.figures.get((name, DEFAULT))) for name in board.data}
    found = {name: ratio_of(one, two) for name, (one, two) in pairs.items() if one is not None and two is not None}
    return {name: ratio for name, ratio in found.items() if not math.isnan(ratio.value)}


def _table(board: Board, ratios: dict[str, dict[str, Estimate]]) -> Table:
    rows = []
    for name in board.data:
        cells = [say_ratio(found.get(name)) for found in ratios.values()]
        rows.append([name, say(board.figures.get((name, DEFAULT))), *cells])
    means = [say_ratio(mean_ratio(list(found.values()))) for found in ratios.values()]
    rows.append(["geometric mean", "", *means])
    note = "In brackets: 95 % interval over the repeats, and of the mean over the data sets."
    return Table("Area over that of PEMeans", ["data", f"{DEFAULT}, area", *ratios], rows, note=note)


def _draw(folder: Path, board: Board, ratios: dict[str, dict[str, Estimate]]) -> list[Figure]:
    if not ratios:
        return []
    draw_marks(folder, "alternatives", board.data, ratios, y="area over that of PEMeans")
    return [Figure("alternatives", "Alternatives over the default; below the line they are better. Lines: 95 % intervals.")]
