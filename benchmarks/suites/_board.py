# SPDX-License-Identifier: Apache-2.0
"""Fits under the protocol of Table I, sorted by data set and method: what its table and the curves are made of."""

from collections.abc import Sequence
from dataclasses import dataclass

from .._methods import LIMIT, LIMITS, METHODS, ONE_START
from .._results import Cell, Results
from .._sources import sources
from .._stats import EPSILONS, Estimate, constant_area

__all__ = ["Board", "label_of", "make_board", "plain", "unit_of"]


@dataclass(frozen=True)
class Board:
    """Figures of all methods on all data sets: the area over the epsilons of a data set, or the loss if there is but one."""

    data: list[str]
    origins: dict[str, str]
    epsilons: dict[str, tuple[float, ...]]
    methods: list[str]
    figures: dict[tuple[str, str], Estimate]  # by data set and method; incomplete ones are absent
    limits: dict[str, float]  # the best that is not private, in the same unit
    one_start: dict[str, Estimate]
    cells: dict[tuple[str, str], Cell]

    def is_complete(self, name: str) -> bool:
        """Return whether a data set was measured at the epsilons of the paper."""
        return self.epsilons[name] == EPSILONS


def make_board(results: Results) -> Board:
    """Sort the results; a data set that came about in two ways is shown twice."""
    found = {(label_of(data, origin, results), method): cell for (data, origin, method), cell in results.cells().items()}
    order = {name: index for index, name in enumerate(sources())}
    data = sorted({name for name, _ in found}, key=lambda name: (order.get(plain(name), len(order)), name))
    private = [method for method in results.names("method") if method not in LIMITS]
    methods = sorted(private, key=lambda method: list(METHODS).index(method) if method in METHODS else len(METHODS))
    epsilons = {name: _epsilons(name, found) for name in data}
    return Board(
        data,
        {name: next(cell.origin for (one, _), cell in found.items() if one == name) for name in data},
        epsilons,
        methods,
        {key: _figure(cell) for key, cell in found.items() if cell.epsilons and cell.epsilons == epsilons[key[0]]},
        {name: found[name, LIMIT].at(None).value * unit_of(epsilons[name]) for name in data if (name, LIMIT) in found},
        {name: found[name, ONE_START].at(None) for name in data if (name, ONE_START) in found},
        found,
    )


def label_of(data: str, origin: str, results: Results) -> str:
    """Name a data set, with its origin where results of several origins lie side by side."""
    origins = {record["origin"] for record in results if record["data"] == data}
    return data if len(origins) == 1 else f"{data} ({origin})"


def plain(label: str) -> str:
    """Return the name of a data set without its origin."""
    return label.split(" ")[0]


def _epsilons(name: str, found: dict[tuple[str, str], Cell]) -> tuple[float, ...]:
    return tuple(sorted({epsilon for (data, _), cell in found.items() if data == name for epsilon in cell.epsilons}))


def unit_of(epsilons: Sequence[float]) -> float:
    """Return the figure of a loss of 1."""
    return constant_area(epsilons) if len(epsilons) > 1 else 1.0


def _figure(cell: Cell) -> Estimate:
    return cell.area if len(cell.epsilons) > 1 else cell.at(cell.epsilons[0])
