# SPDX-License-Identifier: Apache-2.0
"""The command ``python -m benchmarks``: a command for each suite, ``list``, ``report`` and ``compare``."""

import os
import re
import sys
import time
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any

import click

from cloister.cli import OneLineGroup

from ._compare import compare as compare_runs
from ._errors import BenchError
from ._foreign import named_pythons, read_pythons
from ._jobs import Choice, Context, Plan
from ._methods import METHODS
from ._page import PAGE, Table, table_markdown
from ._progress import spell_time
from ._report import Page, make_page, need_matplotlib
from ._run import Outcome, Settings, n_processors, run_plan
from ._sources import ORIGINS, sources
from .suites import SUITES, Suite

__all__ = ["PROGRAM", "bench"]

PROGRAM = "python -m benchmarks"
MISSED, INTERRUPTED = 1, 130
HOME = Path("benchmark-results")


@click.group(cls=OneLineGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
def bench() -> None:
    """Run every method on the same data under the same accounting, and set the figures beside the papers'.

    \b
    Examples:
      python -m benchmarks list --data DIR
      python -m benchmarks table1                      # the quick profile: 8 small data sets, minutes
      python -m benchmarks table1 --profile paper --data DIR --output results
      python -m benchmarks table1 --datasets 'sklearn_*_4,iris' --methods PEMeans --repeats 10
      python -m benchmarks all                         # every table and figure, drawn small
      python -m benchmarks source-target --methods "NNA, paper's noise" --methods NAS
      python -m benchmarks report results
      python -m benchmarks compare before after
    A run that was stopped goes on where it was when the same command is given again.
    """


def _names(_: click.Context, option: click.Parameter, given: Sequence[str]) -> tuple[str, ...] | None:
    """Split names at commas; None if none is given."""
    return tuple(word for part in given for word in part.replace(",", " ").split()) or None


def _method_names(_: click.Context, option: click.Parameter, given: Sequence[str]) -> tuple[str, ...] | None:
    """Split names at commas and spaces, but for those that are part of a name, such as "NNA, paper's noise"."""
    known = {*METHODS, *(name for suite in SUITES.values() for name in suite.own_methods)}
    return tuple(name for part in given for name in _split_known(part, known)) or None


def _split_known(words: str, known: Collection[str]) -> list[str]:
    """Return the longest known names that the words begin with, in turn; what is unknown ends at a comma or a space."""
    found, rest = [], words.strip(" ,")
    while rest:
        begun = [name for name in known if rest.startswith(name) and rest[len(name) : len(name) + 1] in ("", ",", " ")]
        found.append(max(begun, key=len) if begun else re.split(r"[, ]", rest, maxsplit=1)[0])
        rest = rest[len(found[-1]) :].strip(" ,")
    return found


def _numbers(_: click.Context, option: click.Parameter, given: Sequence[str]) -> tuple[float, ...] | None:
    words = _names(_, option, given)
    try:
        numbers = tuple(sorted({float(word) for word in words or ()}))
    except ValueError:
        numbers = (-1.0,)
    if any(not 0 < number < float("inf") for number in numbers):
        raise click.BadParameter(f"expected numbers above 0, got {', '.join(words or ())!r}. For example 0.5,1,2.")
    return numbers or None


def _pythons(_: click.Context, option: click.Parameter, given: Sequence[str]) -> dict[str, str]:
    """Return the interpreters of other libraries: those of the environment, then those of the option."""
    return {**named_pythons(), **read_pythons(given, owner="--python")}


Option = Callable[[Any], Any]
PROFILE: list[Option] = [
    click.option("--profile", type=click.Choice(["quick", "paper"]), default="quick", show_default=True, help="How much."),
    click.option("--data", metavar="DIR", help="Folder with the real data sets. Default: CLOISTER_DATA."),
]
SCOPE: list[Option] = [  # differs from suite to suite
    click.option("--datasets", multiple=True, callback=_names, metavar="A,B", help="Only these; patterns such as 'sklearn_*'."),
    click.option(
        "--methods", multiple=True, callback=_method_names, metavar="A,B", help="Only these, or your own: module:factory."
    ),
    click.option("--epsilons", multiple=True, callback=_numbers, metavar="E,F", help="Only these."),
]
MEANS: list[Option] = [
    click.option("--repeats", type=click.IntRange(1), help="Runs of each fit."),
    click.option("--jobs", type=click.IntRange(1), help="Worker processes. Default: all processors; 1 where time is measured."),
    click.option("--output", metavar="DIR", type=Path, help="Where results lie. Default: benchmark-results/SUITE-PROFILE."),
    click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Another one repeats with other draws."),
    click.option("--timeout", type=click.FloatRange(0, min_open=True), metavar="SECONDS", help="Give a fit up after so long."),
    click.option("--retry-failed", is_flag=True, help="Try fits again that failed before."),
    click.option(
        "--python", "pythons", multiple=True, callback=_pythons, metavar="NAME=PATH", help="Interpreter of another library."
    ),
    click.option("-q", "--quiet", is_flag=True, help="Print only where the page lies."),
]


def _add_suite(suite: Suite) -> None:
    @click.command(suite.name, help=f"{suite.about[0].upper()}{suite.about[1:]}.", short_help=suite.about)
    def command(**options: Any) -> int:
        return _run(suite, **options)

    for option in (*PROFILE, *SCOPE, *MEANS):
        command = option(command)
    bench.add_command(command)


for _suite in SUITES.values():
    _add_suite(_suite)


@bench.command("all", short_help="Every suite, one after the other.")
def run_all(output: Path | None, *, quiet: bool, **options: Any) -> int:
    """Run every suite, one after the other: all tables and figures, each suite in a folder of its own.

    The pages link to each other. A run that was stopped goes on where it was when the same command is given again.
    """
    home, anything = output or HOME / f"all-{options['profile']}", dict.fromkeys(("datasets", "methods", "epsilons"))
    started, folders = time.monotonic(), {name: home / name for name in SUITES}
    for name, folder in folders.items():
        if not _measure(SUITES[name], output=folder, quiet=quiet, **anything, **options):
            return INTERRUPTED
    codes = []
    for folder in folders.values():
        (folder / PAGE).touch()  # a page links to those that lie beside it
    for name, folder in folders.items():
        _say(quiet, f"{name}:")
        codes.append(_show(make_page(folder), quiet=quiet))
    _say(quiet, f"{len(SUITES)} suites in {spell_time(time.monotonic() - started)}.")
    return max(codes)


for _option in (*PROFILE, *MEANS):
    run_all = _option(run_all)


def _run(suite: Suite, *, quiet: bool, **options: Any) -> int:
    folder = _measure(suite, quiet=quiet, **options)
    return INTERRUPTED if folder is None else _show(make_page(folder), quiet=quiet)


def _measure(
    suite: Suite,
    *,
    profile: str,
    data: str | None,
    pythons: dict[str, str],
    jobs: int | None,
    output: Path | None,
    quiet: bool,
    timeout: float | None,
    retry_failed: bool,
    **chosen: Any,
) -> Path | None:
    """Measure what is not measured yet. Return the folder; None if the run was stopped."""
    if data is not None and not Path(data).is_dir():
        raise BenchError(f"--data: expected a folder, got {data!r}. 'python -m benchmarks list' says what it should hold.")
    if any(":" in name for name in chosen["methods"] or ()):
        sys.path.insert(0, os.getcwd())  # a method of one's own is looked for here first
    folder = str(Path(data).resolve()) if data else None
    choice = Choice(profile=profile, context=Context(folder=folder, pythons=pythons), **chosen)
    settings = Settings(
        output=output or HOME / f"{suite.name}-{profile}",
        n_workers=jobs or (1 if suite.alone else n_processors()),
        timeout=timeout,
        retry_failed=retry_failed,
        quiet=quiet,
    )
    need_matplotlib()
    plan = suite.plan(choice)
    started = time.monotonic()
    _say(quiet, *_opening(suite, plan, settings))
    outcome = run_plan(suite.name, plan, choice, settings)
    if outcome.interrupted:
        _say_stopped(outcome, settings)
        return None
    _say(quiet, *_closing(outcome, time.monotonic() - started))
    return settings.output


def _opening(suite: Suite, plan: Plan, settings: Settings) -> list[str]:
    workers = "one process" if settings.n_workers == 1 else f"{settings.n_workers} processes"
    lines = [f"{suite.name}: {len(plan.jobs):,} fits in {workers}; results in {settings.output}"]
    return lines + [f"left out: {words}" for words in plan.left_out]


def _closing(outcome: Outcome, seconds: float) -> list[str]:
    lines = [f"{outcome.measured:,} measured in {spell_time(seconds)}, {outcome.kept:,} kept, {outcome.failed:,} failed."]
    if outcome.kept:
        lines.append(f"Kept results are of commit {', '.join(outcome.commits)}; measure all anew in another folder.")
    return lines


def _say_stopped(outcome: Outcome, settings: Settings) -> None:
    done = outcome.kept + outcome.measured
    click.echo(
        f"Stopped: {done:,} of {outcome.planned:,} are done and kept in {settings.output}. "
        "Give the same command again to go on.",
        err=True,
    )


def _show(page: Page, *, quiet: bool) -> int:
    checks = [check for section in page.sections for check in section.checks]
    for check in () if quiet else checks:
        click.echo(f"   {'ok  ' if check.ok else 'MISS'} {check.what}: {check.value} (bar: {check.bar})")
    click.echo(f"{page.markdown}\n{page.html}")
    return MISSED if page.missed else 0


def _say(quiet: bool, *lines: str) -> None:
    for line in () if quiet else lines:
        click.echo(line, err=True)


@bench.command("list", short_help="Suites, data sets and methods, and which can be had.")
@click.option("--data", metavar="DIR", help="Folder with the real data sets. Default: CLOISTER_DATA.")
@click.option(
    "--python", "pythons", multiple=True, callback=_pythons, metavar="NAME=PATH", help="Interpreter of another library."
)
def list_all(data: str | None, pythons: dict[str, str]) -> None:
    """Print suites, data sets and methods; say what is missing and where it comes from."""
    click.echo("Suites")
    for suite in SUITES.values():
        click.echo(f"  {suite.name:16s}{suite.about}")
    click.echo("\nMethods")
    for method in METHODS.values():
        lack = method.missing(pythons)
        state = "yes" if lack is None and (method.by_default or not method.private) else "by name" if lack is None else "no"
        click.echo(f"  {method.name:24s}{state:9s}{method.about}" + (f" ({lack})" if lack else ""))
    click.echo("\nData sets (N, d, k)")
    for source in sources().values():
        origin = source.origin(data)
        words = ORIGINS[origin] if origin else f"missing: {source.file}.npz in --data DIR, from {source.comes_from}"
        size = f"{source.n_rows:>6,} x {source.n_features:<4d}k = {source.n_clusters}"
        click.echo(f"  {source.name:16s}{size:24s}{words}")


@bench.command(short_help="Make the page of a folder anew.")
@click.argument("folder", metavar="DIR", type=Path)
def report(folder: Path) -> int:
    """Write page.md, page.html and the figures of DIR anew from its results."""
    return _show(make_page(folder), quiet=False)


@bench.command(short_help="Two runs side by side.")
@click.argument("first", metavar="DIR1", type=Path)
@click.argument("second", metavar="DIR2", type=Path)
@click.option("--output", metavar="FILE", type=Path, help="Write the table as Markdown as well.")
def compare(first: Path, second: Path, output: Path | None) -> None:
    """Print every figure that both folders hold, with the ratio of the second to the first and its 95 % interval."""
    table = compare_runs(first, second)
    if not table.rows:
        raise BenchError("compare: the two folders have no figure in common. Run the same suite in both.")
    _print_table(table)
    if output is not None:
        output.write_text(table_markdown(table) + "\n", encoding="utf-8")


def _print_table(table: Table) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table as Rich

    wide = None if sys.stdout.isatty() else 160
    console = Console(width=wide, highlight=False, markup=False, emoji=False)
    drawn = Rich(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for index, name in enumerate(table.columns):
        drawn.add_column(name, justify="left" if index in table.words else "right", overflow="fold")
    for row in table.rows:
        drawn.add_row(*row)
    console.print(drawn)
    console.print(table.note)
