# SPDX-License-Identifier: Apache-2.0
"""What a check found: how many cases, the worst ratio of found to allowed, and every violation in public numbers."""

import math
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any, TypeAlias

__all__ = ["CheckPart", "CheckResult", "Findings", "FirstViolationError", "Settings", "Step"]

Step: TypeAlias = Callable[[str], None]  # receives what a check is about to do; for progress

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


@dataclass(frozen=True)
class CheckPart:
    """A part of a check, such as one method: its cases and the worst ratio among them."""

    name: str
    cases: int
    worst: float


@dataclass(frozen=True, kw_only=True)
class CheckResult:
    """What one check says; public numbers only."""

    name: str
    title: str
    cases: int
    worst: float  # found over allowed: above 1 is a violation
    n_violations: int
    violations: tuple[str, ...]  # the first few
    notes: tuple[str, ...]
    seconds: float
    parts: tuple[CheckPart, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether nothing was found."""
        return not self.n_violations

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain data."""
        return {**asdict(self), "passed": self.passed}


class FirstViolationError(Exception):
    """Ends a check at its first violation."""

    def __init__(self, result: CheckResult) -> None:
        super().__init__("first violation")
        self.result = result


@dataclass
class Findings:
    """A check in progress."""

    name: str
    title: str
    step: Step = field(default=lambda message: None)
    first: bool = False
    cases: int = 0
    worst: float = 0.0
    n_violations: int = 0
    listed: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    began: float = field(default_factory=time.monotonic)
    parts: dict[str, CheckPart] = field(default_factory=dict)
    part: str = ""  # the present one

    def begin(self, message: str, *, part: str = "") -> None:
        """Begin one more case, of the part that is named."""
        self.cases += 1
        self.part = part
        if part:
            before = self.parts.get(part, CheckPart(part, 0, 0.0))
            self.parts[part] = CheckPart(part, before.cases + 1, before.worst)
        self.step(message)

    def ratio(self, value: float) -> None:
        """Note a ratio of found to allowed."""
        self.worst = max(self.worst, value)
        if self.part:
            before = self.parts[self.part]
            self.parts[self.part] = CheckPart(self.part, before.cases, max(before.worst, value))

    def check_limit(self, found: float, allowed: float, message: str, *, slack: float = 0.0) -> None:
        """Note that `found` must not exceed `allowed` by more than a relative slack for rounding."""
        ratio = found / allowed if allowed > 0 else (0.0 if found <= 0 else LARGEST_RATIO)
        ratio = min(ratio, LARGEST_RATIO) if not math.isnan(ratio) else LARGEST_RATIO
        self.ratio(ratio)
        if ratio > 1 + slack:
            self.violation(f"{message}: {found:.6g} found, {allowed:.6g} allowed")

    def check_p_value(self, p_value: float, level: float, message: str) -> None:
        """Note the p-value of a test; correct code stays above `level` but for false alarms."""
        ratio = math.log(max(p_value, 1e-300)) / math.log(level)
        self.ratio(ratio)
        if ratio > 1:
            self.violation(f"{message}: probability {p_value:.2g} on correct code, alarm below {level:.2g}")

    def violation(self, message: str) -> None:
        """Note a violation."""
        self.n_violations += 1
        if len(self.listed) < MOST_LISTED:
            self.listed.append(message)
        if self.first:
            raise FirstViolationError(self.result())

    def result(self) -> CheckResult:
        """Return what was found."""
        return CheckResult(
            name=self.name,
            title=self.title,
            cases=self.cases,
            worst=self.worst,
            n_violations=self.n_violations,
            violations=tuple(self.listed),
            notes=tuple(self.notes),
            seconds=time.monotonic() - self.began,
            parts=tuple(self.parts.values()),
        )
