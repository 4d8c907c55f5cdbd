# SPDX-License-Identifier: Apache-2.0
"""Results of a folder, sorted by what was measured."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ._errors import BenchError
from ._stats import Estimate, area_of, mean_of
from ._store import read_results, read_runs

__all__ = ["Cell", "Results", "open_results"]


@dataclass(frozen=True)
class Cell:
    """A method on a data set: the losses of its runs by epsilon."""

    data: str
    origin: str
    method: str
    losses: Mapping[float | None, Sequence[float]]

    @property
    def epsilons(self) -> tuple[float, ...]:
        """The epsilons that were measured."""
        return tuple(sorted(epsilon for epsilon in self.losses if epsilon is not None))

    @property
    def area(self) -> Estimate:
        """The area under the mean loss."""
        return area_of({epsilon: self.losses[epsilon] for epsilon in self.epsilons})

    def at(self, epsilon: float | None) -> Estimate:
        """The mean loss at one epsilon."""
        return mean_of(self.losses[epsilon])


@dataclass(frozen=True)
class Results:
    """Records of one folder, or some of them."""

    records: tuple[dict[str, Any], ...]
    runs: tuple[dict[str, Any], ...] = ()

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.records)

    def __len__(self) -> int:
        return len(self.records)

    def of(self, **facts: Any) -> "Results":
        """Return the records with these facts."""
        kept = (record for record in self.records if all(record[name] == value for name, value in facts.items()))
        return Results(tuple(kept), self.runs)

    @property
    def good(self) -> "Results":
        """Those that did not fail."""
        return self.of(status="ok")

    @property
    def failed(self) -> "Results":
        """Those that failed."""
        return Results(tuple(record for record in self.records if record["status"] != "ok"), self.runs)

    def names(self, fact: str) -> list[Any]:
        """Return the values of a fact, in the order of their first appearance."""
        return list(dict.fromkeys(record[fact] for record in self.records))

    def cells(self) -> dict[tuple[str, str, str], Cell]:
        """Return the good losses by data set, origin and method."""
        losses: dict[tuple[str, str, str], dict[float | None, list[float]]] = defaultdict(lambda: defaultdict(list))
        for record in self.good:
            losses[record["data"], record["origin"], record["method"]][record["epsilon"]].append(record["loss"])
        return {key: Cell(*key, found) for key, found in losses.items()}

    def commits(self) -> list[str]:
        """Return the commits that were measured."""
        return sorted({record.get("commit", "unknown") for record in self.records})


def open_results(folder: Path) -> Results:
    """Return what a folder holds; refuse one without results."""
    records = read_results(folder)
    if not records:
        raise BenchError(f"{str(folder)!r} holds no results. Run 'python -m benchmarks SUITE --output {folder}' first.")
    return Results(tuple(records), tuple(read_runs(folder)))
