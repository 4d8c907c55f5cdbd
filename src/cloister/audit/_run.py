# SPDX-License-Identifier: Apache-2.0
"""Run an audit: all checks in turn, with or without a planted fault. Used by ``cloister audit`` and by the tests."""

import platform
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from cloister import validate
from cloister._version import __version__
from cloister.audit._attacks import ATTACKS, CHOICES, check_attacks
from cloister.audit._chance import FALSE_ALARM
from cloister.audit._files import check_files, count_file_cases
from cloister.audit._findings import CheckResult, Findings, FirstViolationError, Settings, Step
from cloister.audit._kills import check_kills, kill_trials
from cloister.audit._methods import METHODS
from cloister.audit._persons import check_persons, count_person_cases
from cloister.audit._plants import PLANTS, Plant, planted
from cloister.audit._receipts import check_receipts, count_receipt_cases
from cloister.audit._replays import all_cases, check_replay
from cloister.audit._samplers import N_CASES, check_samplers
from cloister.audit._spending import check_spending, count_spending_cases
from cloister.audit._tables import AUDIT_ENGINES
from cloister.privacy import PROCESS
from cloister.release import library_versions

__all__ = ["CHECKS", "AuditResult", "PlantResult", "run_audit", "run_plants"]

Check: TypeAlias = Callable[[Settings, Step], CheckResult]
Watch: TypeAlias = Callable[[str, float], None]  # receives what is being done, and which part is done
CHECKS: dict[str, Check] = {
    "replay": check_replay,
    "attacks": check_attacks,
    "persons": check_persons,
    "samplers": check_samplers,
    "spending": check_spending,
    "files": check_files,
    "kills": check_kills,
    "receipts": check_receipts,
}
WORK = {
    "replay": 1.0,
    "attacks": 18.0,
    "persons": 2.0,
    "samplers": 6.0,
    "spending": 0.8,
    "files": 0.3,
    "kills": 8.0,
    "receipts": 0.3,
}  # of a case, for the progress bar
# Which part of a quick audit a plant needs to be caught: it is far from subtle where it is looked for.
PLANT_SCALE = {
    "replay": 0.5,
    "attacks": 0.5,
    "persons": 1.0,
    "samplers": 1.0,
    "spending": 0.5,
    "files": 1.0,
    "kills": 0.35,
    "receipts": 0.5,
}
PLANT_METHODS = {
    "replay": ("KMeans", "LloydKMeans", "GridSynopsis"),
    "persons": ("KMeans", "GridSynopsis"),
    "spending": ("KMeans", "TreeKMeans"),
    "receipts": ("KMeans", "GridSynopsis", "TreeKMeans"),
}


@dataclass(frozen=True, kw_only=True)
class AuditResult:
    """What an audit found, in public numbers."""

    checks: tuple[CheckResult, ...]
    settings: Settings
    seconds: float

    @property
    def passed(self) -> bool:
        """Whether no check found a violation."""
        return all(check.passed for check in self.checks)

    @property
    def caught_by(self) -> tuple[str, ...]:
        """The checks that found a violation."""
        return tuple(check.name for check in self.checks if not check.passed)

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain data."""
        return {
            "version": __version__,
            "python": platform.python_version(),
            "libraries": library_versions(),
            "quick": self.settings.quick,
            "seed": self.settings.seed,
            "plant": self.settings.plant,
            "false_alarm_rate": FALSE_ALARM,
            "passed": self.passed,
            "seconds": self.seconds,
            "checks": [check.to_dict() for check in self.checks],
        }


@dataclass(frozen=True, kw_only=True)
class PlantResult:
    """Whether the check that must catch a planted fault did so."""

    name: str
    description: str
    check: str
    control: bool  # nothing was planted, and nothing must be found
    found: bool
    violation: str  # the first one
    seconds: float

    @property
    def right(self) -> bool:
        """Whether a fault was found, or nothing where nothing was planted."""
        return self.found != self.control


def run_audit(settings: Settings, *, checks: Sequence[str] = (), watch: Watch | None = None) -> AuditResult:
    """Attack the installed version on this machine.

    Parameters
    ----------
    settings : Settings
        Size, seed, methods and engines; with ``plant``, the fault of that name is planted meanwhile.
    checks : sequence of str, optional
        Names of the checks to run; all by default, or for a plant the one that must catch it.
    watch : callable, optional
        Receives what is being done and which part is done, for progress.

    Returns
    -------
    AuditResult
        One result for each check.

    Raises
    ------
    ParameterError
        If a name is not known.

    Notes
    -----
    **Privacy.** Rows are made up; no table of yours is read.

    Examples
    --------
    >>> run_audit(Settings(quick=True, methods=("GridSynopsis",)), checks=["spending"]).passed
    True
    """
    _refuse_unknown(settings, checks)
    chosen = tuple(checks) or ((PLANTS[settings.plant].check,) if settings.plant else tuple(CHECKS))
    began = time.monotonic()
    progress = _Progress(watch, sum(WORK[name] * count_cases(name, settings) for name in chosen))
    with planted(settings.plant):
        results = tuple(_run(name, settings, progress) for name in chosen)
    return AuditResult(checks=results, settings=settings, seconds=time.monotonic() - began)


def run_plants(settings: Settings, *, names: Sequence[str] = (), watch: Watch | None = None) -> list[PlantResult]:
    """Plant one fault after another and say which were caught by the check that must catch them.

    The same checks run without a fault first, as a control: they must find nothing.
    """
    chosen = [PLANTS[name] for name in names or PLANTS]
    controls = [
        Plant(f"none ({check})", "nothing: the control", check, ()) for check in dict.fromkeys(one.check for one in chosen)
    ]
    trials = (*controls, *chosen)
    results = []
    for number, plant in enumerate(trials):
        if watch is not None:
            watch(f"{plant.name}: {plant.description}", number / len(trials))
        results.append(_try(plant, settings))
    return results


def _try(plant: Plant, settings: Settings) -> PlantResult:
    """Plant one fault, run the check that must catch it until its first violation."""
    control = not plant.changes
    small = replace(
        settings,
        quick=True,
        plant="" if control else plant.name,
        scale=PLANT_SCALE[plant.check],
        methods=PLANT_METHODS.get(plant.check, ()),
        engines=("numpy",),
        first=True,
    )
    found = run_audit(small, checks=[plant.check])
    return PlantResult(
        name=plant.name,
        description=plant.description,
        check=plant.check,
        control=control,
        found=not found.passed,
        violation=next((one for check in found.checks for one in check.violations), ""),
        seconds=found.seconds,
    )


def count_cases(check: str, settings: Settings) -> int:
    """Return how many cases a check will have."""
    if check == "replay":
        return len(all_cases(settings))
    if check == "spending":
        return count_spending_cases(settings)
    if check == "persons":
        return count_person_cases(settings)
    if check == "files":
        return count_file_cases(settings)
    if check == "receipts":
        return count_receipt_cases(settings)
    if check == "kills":
        return len(kill_trials(settings, Path()))
    return len(ATTACKS) + len(CHOICES) if check == "attacks" else N_CASES


@dataclass
class _Progress:
    """Passes on which part of the work is done."""

    watch: Watch | None
    total: float
    done: float = 0.0

    def step(self, check: str, message: str) -> None:
        if self.watch is not None:
            self.watch(f"{check}: {message}", min(self.done / self.total, 1.0))
        self.done += WORK[check]


def _run(name: str, settings: Settings, progress: _Progress) -> CheckResult:
    """Run one check; a check that a fault stops has found it."""
    began = time.monotonic()
    try:
        with np.errstate(all="ignore"), PROCESS.apart():
            return CHECKS[name](settings, partial(progress.step, name))
    except FirstViolationError as stopped:
        return stopped.result
    except Exception as error:  # a fault may raise anything, anywhere
        found = Findings(name, name, began=began)
        found.violation(f"the check was stopped by {type(error).__name__}")
        return found.result()


def _refuse_unknown(settings: Settings, checks: Sequence[str]) -> None:
    for one in checks:
        validate.one_of("audit.check", one, tuple(CHECKS))
    known = {name.split(",")[0] for name in METHODS} | set(METHODS)
    for one in settings.methods:
        validate.one_of("audit.method", one, sorted(known))
    for one in settings.engines:
        validate.one_of("audit.engine", one, AUDIT_ENGINES)
    if settings.plant:
        validate.one_of("audit.plant", settings.plant, tuple(PLANTS))
