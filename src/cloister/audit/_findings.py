# SPDX-License-Identifier: Apache-2.0
"""What a check is, and what it found: how many cases, the worst ratio of found to allowed, every violation in public numbers.

An audit of correct code raises an alarm with probability at most FALSE_ALARM. Every statistical check has a part of it and
divides it among its tests by the union bound; every test is an exact binomial one, so the rate is a bound and no approximation.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

FALSE_ALARM = 1e-6  # of a whole audit
MOST_LISTED = 12  # violations of one check that are listed; all are counted
LARGEST_RATIO = 1e6  # stated where nothing is allowed


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What an audit does.

    Parameters
    ----------
    quick : bool
        Fewer cases and draws.
    seed : int
        Of tables, public choices and noise; an audit with the same seed repeats.
    methods : tuple of str
        Methods to attack by name; empty stands for all.
    engines : tuple of str
        Engines to read tables with; empty stands for all that are installed.
    plant : str
        Name of the planted fault, for processes that the audit starts; empty for none.
    scale : float
        Factor on numbers of cases and draws, for tests and plants.
    first : bool
        Whether a check ends at its first violation.
    """

    quick: bool = False
    seed: int = 0
    methods: tuple[str, ...] = ()
    engines: tuple[str, ...] = ()
    plant: str = ""
    scale: float = 1.0
    first: bool = False

    def amount(self, quick: int, full: int) -> int:
        """Return how many cases or draws to make."""
        return max(1, round((quick if self.quick else full) * self.scale))

    def wanted(self, names: Iterable[str]) -> list[str]:
        """Return the names that stand for a method to attack: "KMeans" does for each of its variants, "KMeans, auto"."""
        return [name for name in names if not self.methods or {name, name.split(",")[0]} & set(self.methods)]


@dataclass(frozen=True)
class Case:
    """One thing to try, of a part of a check such as one method; `run` notes what it finds."""

    name: str
    part: str
    run: Callable[["CheckResult"], None]


@dataclass(frozen=True, kw_only=True)
class Check:
    """A check: what its ratio means, its cases, which may use a folder, and its part of the rate of false alarms."""

    title: str
    meaning: str
    cases: Callable[[Settings, Path], Iterable[Case]]
    false_alarms: float = 0.0


@dataclass
class CheckPart:
    """A part of a check: its cases and the worst ratio among them."""

    name: str
    cases: int = 0
    worst: float = 0.0


@dataclass
class CheckResult:
    """What one check found so far; public numbers only."""

    name: str
    title: str
    parts: dict[str, CheckPart] = field(default_factory=dict)
    n_violations: int = 0
    violations: list[str] = field(default_factory=list)  # the first few
    notes: list[str] = field(default_factory=list)
    n_tests: int = 0  # statistical ones
    seconds: float = 0.0
    case: Case = Case("", "", lambda found: None)  # the present one

    @property
    def cases(self) -> int:
        """How many cases were tried."""
        return sum(part.cases for part in self.parts.values())

    @property
    def worst(self) -> float:
        """The largest ratio of what was found to what is allowed; above 1 is a violation."""
        return max((part.worst for part in self.parts.values()), default=0.0)

    @property
    def passed(self) -> bool:
        """Whether nothing was found."""
        return not self.n_violations

    @property
    def verdict(self) -> str:
        """The verdict in one word."""
        return "passed" if self.passed else "VIOLATED"

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain data."""
        names = ("name", "title", "cases", "worst", "passed", "n_violations", "violations", "notes", "seconds")
        return {**{name: getattr(self, name) for name in names}, "parts": [asdict(part) for part in self.parts.values()]}

    def run(self, case: Case) -> None:
        """Try one more case."""
        self.case = case
        self.parts.setdefault(case.part, CheckPart(case.part)).cases += 1
        case.run(self)

    def ratio(self, value: float) -> None:
        """Note a ratio of found to allowed."""
        part = self.parts[self.case.part]
        part.worst = max(part.worst, value)

    def check_limit(self, found: float, allowed: float, message: str, *, slack: float = 0.0) -> None:
        """Note that `found` must not exceed `allowed` by more than a relative slack for rounding."""
        ratio = found / allowed if allowed > 0 else (0.0 if found <= 0 else LARGEST_RATIO)
        ratio = min(ratio, LARGEST_RATIO) if not math.isnan(ratio) else LARGEST_RATIO
        self.ratio(ratio)
        if ratio > 1 + slack:
            self.violation(f"{message}: {found:.6g} found, {allowed:.6g} allowed")

    def check_p_value(self, p_value: float, level: float, message: str) -> None:
        """Note the p-value of a test; correct code stays above `level` but for false alarms."""
        self.n_tests += 1
        ratio = math.log(max(p_value, 1e-300)) / math.log(level)
        self.ratio(ratio)
        if ratio > 1:
            self.violation(f"{message}: probability {p_value:.2g} on correct code, alarm below {level:.2g}")

    def note(self, words: str) -> None:
        """Note what is no violation."""
        self.notes.append(words)

    def violation(self, message: str) -> None:
        """Note a violation of the present case."""
        self.n_violations += 1
        if len(self.violations) < MOST_LISTED:
            self.violations.append(f"{self.case.name}: {message}" if self.case.name else message)
