# SPDX-License-Identifier: Apache-2.0
"""``cloister audit``: attack the installed version on this machine, and say what was found."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from cloister.cli._options import JSON
from cloister.cli._output import open_target
from cloister.exceptions import ParameterError

if TYPE_CHECKING:
    from cloister.audit import AuditResult, PlantResult, Settings

__all__ = ["audit"]

PAGE = "cloister-audit.html"
ALL = "all"
VIOLATED = 1


@click.command(short_help="Attack the installed version and print what was found.")
@click.option("--quick", is_flag=True, help="Fewer cases: about a minute instead of some minutes.")
@click.option("--plant", metavar="NAME", help="Plant a fault that must be caught, or 'all' of them in turn.")
@click.option("--list-plants", is_flag=True, help="List the faults that can be planted.")
@click.option("--check", "checks", multiple=True, metavar="NAME", help="Only this check; may be repeated.")
@click.option("--method", "methods", multiple=True, metavar="NAME", help="Only this estimator; may be repeated.")
@click.option("--engine", "engines", multiple=True, metavar="NAME", help="Only this engine; may be repeated.")
@click.option("-o", "--output", default=PAGE, show_default=True, metavar="FILE", help="The page, replaced if it exists.")
@JSON
@click.option("--seed", type=int, help="Repeat an audit. Default: a new one every time.")
@click.option("-q", "--quiet", is_flag=True, help="No progress.")
def audit(*, plant: str | None, list_plants: bool, output: str, as_json: bool, **options: Any) -> int:
    """Attack the installed version on this machine: replay, attacks, persons, samplers, spending, kills, receipts.

    All rows are made up; no table of yours is read. The exit code is 1 if a check finds a violation. A correct version is
    accused with probability at most one in a million. With --plant a fault is planted for the length of the command, and the
    check that must catch it is run: exit code 1 says that it was caught. With --plant all the exit code is 0 if every
    fault is caught.

    \b
    Examples:
      cloister audit --quick
      cloister audit --method KMeans --engine parquet
      cloister audit --plant noise-halved
      cloister audit --plant all
    """  # noqa: D301
    from cloister.audit import PLANTS

    if list_plants:
        _print_list(as_json=as_json)
        return 0
    if plant is not None and plant != ALL and plant not in PLANTS:
        raise ParameterError(f"--plant: expected 'all' or one of {', '.join(PLANTS)}, got {plant!r}. See --list-plants.")
    settings = _settings("" if plant in (None, ALL) else str(plant), options)
    if plant == ALL:
        return _all_plants(settings, as_json=as_json, quiet=options["quiet"])
    return _one_audit(settings, options, output=output, as_json=as_json)


def _settings(plant: str, options: dict[str, Any]) -> "Settings":
    from cloister.audit import Settings
    from cloister.privacy import Entropy

    seed = options["seed"]
    if seed is None:
        seed = int(Entropy(None).words(1)[0]) >> 32
    elif not 0 <= seed < 1 << 32:
        raise ParameterError(f"--seed: expected a whole number from 0 to {(1 << 32) - 1}, got {seed}. Pass another one.")
    return Settings(
        quick=options["quick"] or bool(plant), seed=seed, methods=options["methods"], engines=options["engines"], plant=plant
    )


def _one_audit(settings: "Settings", options: dict[str, Any], *, output: str, as_json: bool) -> int:
    from cloister.audit import audit_html, run_audit
    from cloister.cli._print import open_console, print_json

    with open_target("--output", output, force=True) as target:
        with _progress(enabled=not options["quiet"]) as watch:
            result = run_audit(settings, checks=options["checks"], watch=watch)
        target.write(audit_html(result))
    if as_json:
        print_json(result.to_dict())
    else:
        _print_audit(open_console(error=target.is_standard), result, "" if target.is_standard else output)
    return 0 if result.passed else VIOLATED


def _all_plants(settings: "Settings", *, as_json: bool, quiet: bool) -> int:
    from dataclasses import asdict

    from cloister.audit import run_plants
    from cloister.cli._print import open_console, print_json

    with _progress(enabled=not quiet) as watch:
        results = run_plants(settings, watch=watch)
    if as_json:
        print_json([asdict(one) for one in results])
    else:
        _print_plants(open_console(), results)
    return 0 if all(one.right for one in results) else VIOLATED


@contextmanager
def _progress(*, enabled: bool) -> Iterator[Any]:
    """Show what is being done on standard error, if that is a terminal."""
    if not (enabled and sys.stderr.isatty()):
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    columns = (BarColumn(), TaskProgressColumn(), TimeElapsedColumn(), TextColumn("{task.description}", markup=False))
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("audit", total=1.0)
        yield lambda words, part: bar.update(task, description=words[:80], completed=part)


def _print_audit(console: Any, result: "AuditResult", page: str) -> None:
    from cloister.audit import FALSE_ALARM, PLANTS
    from cloister.cli._print import print_table

    plant = result.settings.plant
    if plant:
        console.print(f"Planted: {PLANTS[plant].description}", style="bold")
    heads = [("check", False), ("", False), ("cases", True), ("worst, found/allowed", True), ("seconds", True), ("", False)]
    rows = [
        (one.name, one.title, f"{one.cases:,}", f"{one.worst:.6g}", f"{one.seconds:.1f}", one.verdict) for one in result.checks
    ]
    print_table(console, heads, rows)
    for one in result.checks:
        for words in (*one.violations, *one.notes):
            console.print(f"{one.name}: {words}", soft_wrap=True)
    kind = "Caught by " + ", ".join(result.caught_by) if plant and not result.passed else "No violation found"
    if plant and result.passed:
        kind = "MISSED: the fault was not caught"
    elif not plant and not result.passed:
        kind = f"VIOLATED: {', '.join(result.caught_by)}"
    console.print(f"{kind}. Seed {result.settings.seed}; false alarms at most {FALSE_ALARM:.0e}.", style="bold")
    if page:
        console.print(f"Page: {page}")


def _print_plants(console: Any, results: "list[PlantResult]") -> None:
    from cloister.cli._print import print_table

    rows = [(one.name, one.description, one.check, f"{one.seconds:.1f}", one.verdict) for one in results]
    print_table(console, [("plant", False), ("what it does", False), ("check", False), ("seconds", True), ("", False)], rows)
    wrong = [f"{one.name} ({one.verdict})" for one in results if not one.right]
    number = sum(not one.control for one in results)
    words = f"WRONG: {', '.join(wrong)}." if wrong else f"All {number} planted faults were caught, and nothing else."
    console.print(words, style="bold")


def _print_list(*, as_json: bool) -> None:
    from cloister.audit import PLANTS
    from cloister.cli._print import open_console, print_json, print_table

    rows = [(one.name, one.description, one.check) for one in PLANTS.values()]
    if as_json:
        print_json([dict(zip(("name", "description", "check"), row, strict=True)) for row in rows])
        return
    print_table(open_console(), [("plant", False), ("what it does", False), ("caught by", False)], rows)
