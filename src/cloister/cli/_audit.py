# SPDX-License-Identifier: Apache-2.0
"""``cloister audit``: attack the installed version on this machine, and say what was found."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from cloister.cli._options import JSON, option
from cloister.cli._output import open_target
from cloister.cli._print import open_console, print_json, print_table
from cloister.exceptions import ParameterError

if TYPE_CHECKING:
    from cloister.audit import AuditResult, PlantResult

ALL = "all"
VIOLATED = 1


@click.command(short_help="Attack the installed version and print what was found.")
@option("--quick", is_flag=True, help="Fewer cases: about a minute instead of some minutes.")
@option("--plant", metavar="NAME", help="Plant a fault that must be caught, or 'all' of them in turn.")
@option("--list-plants", is_flag=True, help="List the faults that can be planted.")
@option("--check", "checks", multiple=True, metavar="NAME", help="Only this check; may be repeated.")
@option("--method", "methods", multiple=True, metavar="NAME", help="Only this estimator; may be repeated.")
@option("--engine", "engines", multiple=True, metavar="NAME", help="Only this engine; may be repeated.")
@option("-o", "--output", default="cloister-audit.html", metavar="FILE", help="The page, replaced if it exists.")
@JSON
@option("--seed", type=click.IntRange(0, 2**32 - 1), help="Repeat an audit. Default: a new one every time.")
@option("-q", "--quiet", is_flag=True, help="No progress.")
def audit(
    *, plant: str | None, list_plants: bool, checks: tuple[str, ...], output: str, as_json: bool, quiet: bool, **options: Any
) -> int:
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
    from cloister.audit import PLANTS, Settings, audit_html, run_audit, run_plants
    from cloister.privacy import Entropy

    if list_plants:
        listed = [{"name": one.name, "description": one.description, "check": one.check} for one in PLANTS.values()]
        if as_json:
            print_json(listed)
        else:
            heads = [("plant", False), ("what it does", False), ("caught by", False)]
            print_table(open_console(), heads, [list(one.values()) for one in listed])
        return 0
    if plant is not None and plant != ALL and plant not in PLANTS:
        raise ParameterError(f"--plant: expected 'all' or one of {', '.join(PLANTS)}, got {plant!r}. See --list-plants.")
    one_plant = "" if plant in (None, ALL) else str(plant)
    if options["seed"] is None:
        options["seed"] = int(Entropy(None).words(1)[0]) >> 32
    settings = Settings(**{**options, "quick": options["quick"] or bool(one_plant)}, plant=one_plant)
    if plant == ALL:
        with _progress(quiet=quiet) as watch:
            results = run_plants(settings, watch=watch)
        if as_json:
            print_json([asdict(one) for one in results])
        else:
            _print_plants(open_console(), results)
        return 0 if all(one.right for one in results) else VIOLATED
    with open_target("--output", output, force=True) as target:
        with _progress(quiet=quiet) as watch:
            result = run_audit(settings, checks=checks, watch=watch)
        target.write(audit_html(result))
    if as_json:
        print_json(result.to_dict())
    else:
        _print_audit(open_console(error=target.is_standard), result, "" if target.is_standard else output)
    return 0 if result.passed else VIOLATED


@contextmanager
def _progress(*, quiet: bool) -> Iterator[Any]:
    """Show what is being done on standard error, if that is a terminal."""
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    hidden = quiet or not sys.stderr.isatty()
    columns = (BarColumn(), TaskProgressColumn(), TimeElapsedColumn(), TextColumn("{task.description}", markup=False))
    with Progress(*columns, console=open_console(error=True), transient=True, disable=hidden) as bar:
        task = bar.add_task("audit", total=1.0)
        yield lambda words, part: bar.update(task, description=words[:80], completed=part)


def _print_audit(console: Any, result: "AuditResult", page: str) -> None:
    from cloister.audit import FALSE_ALARM, PLANTS

    plant, caught_by = result.settings.plant, ", ".join(result.caught_by)
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
    if result.passed:
        verdict = "MISSED: the fault was not caught" if plant else "No violation found"
    else:
        verdict = f"Caught by {caught_by}" if plant else f"VIOLATED: {caught_by}"
    console.print(f"{verdict}. Seed {result.settings.seed}; false alarms at most {FALSE_ALARM:.0e}.", style="bold")
    if page:
        console.print(f"Page: {page}")


def _print_plants(console: Any, results: "list[PlantResult]") -> None:
    rows = [(one.name, one.description, one.check, f"{one.seconds:.1f}", one.verdict) for one in results]
    print_table(console, [("plant", False), ("what it does", False), ("check", False), ("seconds", True), ("", False)], rows)
    wrong = [f"{one.name} ({one.verdict})" for one in results if not one.right]
    number = sum(not one.control for one in results)
    words = f"WRONG: {', '.join(wrong)}." if wrong else f"All {number} planted faults were caught, and nothing else."
    console.print(words, style="bold")
