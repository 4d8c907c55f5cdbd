# SPDX-License-Identifier: Apache-2.0
"""Run an audit: all checks in turn, with or without a planted fault. Used by ``cloister audit`` and by the tests."""

import platform
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from cloister import validate
from cloister._version import __version__
from cloister.audit._attacks import ATTACKING
from cloister.audit._files import FILES
from cloister.audit._findings import FALSE_ALARM, CheckResult, Settings
from cloister.audit._kills import KILLS
from cloister.audit._methods import METHODS
from cloister.audit._persons import PERSONS
from cloister.audit._plants import PLANTS, planted
from cloister.audit._replays import REPLAYS
from cloister.audit._samplers import SAMPLERS
from cloister.audit._spending import RECEIPTS, SPENDING
from cloister.audit._tables import AUDIT_ENGINES
from cloister.privacy import PROCESS
from cloister.release import library_versions
from cloister.report import Table, render_page

Watch: TypeAlias = Callable[[str, float], None]  # receives what is being done, and which part is done
CHECKS = {
    "replay": REPLAYS,
    "attacks": ATTACKING,
    "persons": PERSONS,
    "samplers": SAMPLERS,
    "spending": SPENDING,
    "files": FILES,
    "kills": KILLS,
    "receipts": RECEIPTS,
}
PLANT_SCALE = 0.5  # of a quick audit: a plant is far from subtle where it is looked for
PLANT_METHODS = ("KMeans", "LloydKMeans", "GridSynopsis")


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


@dataclass(frozen=True)
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

    @property
    def verdict(self) -> str:
        """The verdict in one word."""
        if self.control:
            return "clean" if self.right else "FALSE ALARM"
        return "caught" if self.right else "MISSED"


def _unwatched(words: str, part: float) -> None:
    """Show nothing of what is being done."""


def run_audit(settings: Settings, *, checks: Sequence[str] = (), watch: Watch = _unwatched) -> AuditResult:
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
    known = sorted({name.split(",")[0] for name in METHODS} | set(METHODS))
    for what, names, allowed in (
        ("check", checks, CHECKS),
        ("method", settings.methods, known),
        ("engine", settings.engines, AUDIT_ENGINES),
        ("plant", filter(None, [settings.plant]), PLANTS),
    ):
        for name in names:
            validate.one_of(f"audit.{what}", name, tuple(allowed))
    chosen = tuple(checks) or ((PLANTS[settings.plant].check,) if settings.plant else tuple(CHECKS))
    began = time.monotonic()
    with planted(settings.plant):
        found = [_run(name, settings, watch, place, len(chosen)) for place, name in enumerate(chosen)]
    return AuditResult(checks=tuple(found), settings=settings, seconds=time.monotonic() - began)


def _run(name: str, settings: Settings, watch: Watch, place: int, n_checks: int) -> CheckResult:
    """Run one of several checks; a check that a fault stops has found it."""
    check, began = CHECKS[name], time.monotonic()
    found = CheckResult(name, check.title)
    try:
        with (
            np.errstate(all="ignore"),
            warnings.catch_warnings(action="ignore", category=UserWarning),  # of privacy and accuracy: rows are made up
            PROCESS.apart(),
            tempfile.TemporaryDirectory() as folder,
        ):
            cases = list(check.cases(settings, Path(folder)))
            for number, case in enumerate(cases):
                watch(f"{name}: {case.name}", (place + number / len(cases)) / n_checks)
                found.run(case)
                if settings.first and not found.passed:
                    break
    except Exception as error:  # a fault may raise anything, anywhere
        found.violation(f"the check was stopped by {type(error).__name__}")
    if check.false_alarms:
        found.notes.append(f"{check.false_alarms:.0%} of all false alarms: {FALSE_ALARM * check.false_alarms:.1g}")
    found.seconds = time.monotonic() - began
    return found


# -- plants --------------------------------------------------------------------------------------------------------------


def run_plants(settings: Settings, *, watch: Watch = _unwatched) -> list[PlantResult]:
    """Plant one fault after another and say which were caught by the check that must catch them.

    The same checks run without a fault first, as a control: they must find nothing.
    """
    checks = dict.fromkeys(one.check for one in PLANTS.values())
    trials = [(f"none ({check})", "nothing: the control", check, True) for check in checks]
    trials += [(one.name, one.description, one.check, False) for one in PLANTS.values()]
    one_trial = replace(settings, quick=True, scale=PLANT_SCALE, methods=PLANT_METHODS, engines=("numpy",), first=True)
    results = []
    for number, (name, description, check, control) in enumerate(trials):
        watch(f"{name}: {description}", number / len(trials))
        result = run_audit(replace(one_trial, plant="" if control else name), checks=[check])
        first = next(iter(result.checks[0].violations), "")
        results.append(PlantResult(name, description, check, control, not result.passed, first, result.seconds))
    return results


# -- the page ------------------------------------------------------------------------------------------------------------


def audit_html(result: AuditResult) -> str:
    """Return the page of an audit: one HTML file that loads nothing."""
    data, checks = result.to_dict(), result.checks
    title = "No violation found" if result.passed else "The guarantee is broken"
    if data["plant"]:
        title = "The planted fault was missed" if result.passed else "The planted fault was caught"
    heads, numeric = ["Cases", "Worst, found over allowed"], (1, 2)
    return render_page(
        "audit.html",
        folder=Path(__file__).parent / "templates",
        title=title,
        data=data,
        plant=PLANTS[data["plant"]].description if data["plant"] else None,
        facts=[
            ("Cases", f"{sum(one.cases for one in checks):,}", f"in {len(checks)} checks"),
            ("Violations", f"{sum(one.n_violations for one in checks):,}", ""),
            ("False alarms", f"{FALSE_ALARM:.0e}", "at most, on correct code"),
            ("Seed", str(data["seed"]), "repeats this audit"),
        ],
        meaning={name: check.meaning for name, check in CHECKS.items()},
        checks=checks,
        overview=Table(
            ["Check", *heads, "Seconds", "Verdict"],
            [[one.title, f"{one.cases:,}", f"{one.worst:.6g}", f"{one.seconds:.1f}", one.verdict] for one in checks],
            numeric=(*numeric, 3),
        ),
        part_tables=[
            Table(["Part", *heads], [[one.name, f"{one.cases:,}", f"{one.worst:.6g}"] for one in check.parts.values()], numeric)
            for check in checks
        ],
        versions=Table(["Library", "Version"], [[*one] for one in ({"python": data["python"]} | data["libraries"]).items()]),
    )
