# SPDX-License-Identifier: Apache-2.0
"""The options of the commands, each declared once. Choices and defaults of methods and engines come from their tables."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any, TypeAlias

import click

from cloister.engines import DEFAULT_ENGINE, ENGINES
from cloister.methods import Method, commands

__all__ = [
    "APPROXIMATE_DELTA",
    "CLUSTERS",
    "CLUSTERS_OR_AUTO",
    "COLUMNS",
    "DELTA_HELP",
    "DESCRIBE",
    "EPSILON",
    "EPSILON_HELP",
    "FORCE",
    "JSON",
    "MAX_CLUSTERS",
    "MAX_ROWS_PER_UNIT",
    "METHOD",
    "RELEASE_OUTPUT",
    "REPORT",
    "WEIGHTING",
    "default_delta",
    "delta_option",
    "describe_options",
    "file_options",
    "guarantee_options",
    "method_lines",
    "neighbours_option",
    "output_options",
    "private_options",
    "shape_options",
    "unit_options",
]

Decorator: TypeAlias = Callable[[Any], Any]

EPSILON_HELP = "Privacy of this fit: smaller is more private, 0.1 to 10 is usual."
DELTA_HELP = "Well below 1 over the number of rows, or of persons; 0 is pure."
N_ROWS_HELP = "Number of rows, with --privacy-unit of persons, if it is public. Otherwise 2 % of the budget estimates it."
NEIGHBOURS_HELP = "Which tables count as neighbours."


def _number_or_auto(context: click.Context, parameter: click.Parameter, value: str) -> int | str:
    """Read a whole number, or the word auto."""
    if value.strip().lower() == "auto":
        return "auto"
    with suppress(ValueError):
        return int(value)
    raise click.BadParameter(f"{value!r} is not a valid integer, nor auto.", context, parameter)


CLUSTERS = click.option("-k", "--clusters", type=int, required=True, help="Number of clusters.")
CLUSTERS_OR_AUTO = click.option(
    "-k",
    "--clusters",
    metavar="INTEGER|auto",
    callback=_number_or_auto,
    required=True,
    help="Number of clusters; auto finds it, at no further cost (kmeans only).",
)
MAX_CLUSTERS = click.option("--max-clusters", type=int, help="Largest number that '-k auto' considers. Default: 30.")
COLUMNS = click.option("--columns", metavar="A,B,C", help="Columns to use. Default: those with bounds of their own, else all.")
DESCRIBE = click.option(
    "--describe",
    type=float,
    default=0.0,
    show_default=True,
    metavar="SHARE",
    help="Part of the budget, such as 0.1, that says what the clusters look like: histograms of every column in each.",
)
EPSILON = click.option("--epsilon", type=float, required=True, help=EPSILON_HELP)
ALLOW_SEEDED = click.option(
    "--allow-seeded",
    is_flag=True,
    help="Write files of a seeded fit, whose noise can be drawn again: for tests and benchmarks.",
)
FORCE = click.option("--force", is_flag=True, help="Replace files that exist.")
JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
RELEASE_OUTPUT = click.option("-o", "--output", metavar="FILE", help="Write the release as JSON; '-' is standard output.")
REPORT = click.option("--report", metavar="FILE", help="Write the report as one HTML file; '-' is standard output.")
MAX_ROWS_PER_UNIT = click.option(
    "--max-rows-per-unit",
    metavar="INTEGER|auto",
    callback=_number_or_auto,
    default="auto",
    show_default=True,
    help="Rows of one person that are used, at most; auto finds it with noise, for 2 % of the budget.",
)
WEIGHTING = click.option(
    "--weighting",
    type=click.Choice(["row", "person"]),
    default="row",
    show_default=True,
    help="Whether every row that is used counts 1, or every person, in equal parts for each of their rows that are used.",
)
METHOD = click.option(
    "--method", type=click.Choice(list(commands())), default=next(iter(commands())), show_default=True, help="How to cluster."
)


def delta_option(help: str = DELTA_HELP, *, default: float | None) -> Decorator:  # noqa: A002
    """Return ``--delta``. None leaves the default to the method, and to the words of the help."""
    return click.option("--delta", type=float, default=default, show_default=default is not None, help=help)


APPROXIMATE_DELTA = delta_option(default=Method.delta)


def neighbours_option(help: str = NEIGHBOURS_HELP, *, default: str | None = "add-remove") -> Decorator:  # noqa: A002
    """Return ``--neighbours``."""
    choice = click.Choice(["add-remove", "replace"])
    return click.option("--neighbours", type=choice, default=default, show_default=default is not None, help=help)


def shape_options(*, required: bool, rows: str, features: str) -> Decorator:
    """Return ``--n-rows`` and ``--features``: how large a table is."""
    return _together(
        click.option("--n-rows", type=int, required=required, help=rows),
        click.option("--features", type=int, required=required, help=features),
    )


def file_options(command: Any) -> Any:
    """Add how files of text are written. What they are called is what ``open_rows`` takes."""
    return _together(
        click.option(
            "--delimiter",
            metavar="CHARACTER",
            help="What separates the columns of CSV files, such as ';' or tab. Default: a comma, in .tsv files a tab.",
        ),
        click.option(
            "--decimal",
            type=click.Choice([".", ","]),
            default=".",
            show_default=True,
            help="What stands before the decimals of numbers in CSV files.",
        ),
        click.option(
            "--encoding",
            metavar="NAME",
            default="utf-8",
            show_default=True,
            help="Encoding of CSV and JSON-lines files, such as latin-1.",
        ),
        click.option(
            "--rows",
            type=click.Choice(["records", "lines"]),
            default="records",
            show_default=True,
            help="What rows of CSV files are: records, which may hold line breaks in quotes, or lines, if nothing is quoted.",
        ),
    )(command)


def unit_options(command: Any) -> Any:
    """Add what says whose rows they are, and how many of each person are used."""
    return _together(
        click.option(
            "--privacy-unit",
            metavar="COLUMN",
            help="Protect whoever this column names, with all of their rows, instead of single rows. It is never clustered by.",
        ),
        MAX_ROWS_PER_UNIT,
        WEIGHTING,
        click.option(
            "--units-bounded",
            is_flag=True,
            help="Nobody has more than --max-rows-per-unit rows: it is known, so that nobody's rows are counted.",
        ),
    )(command)


def private_options(command: Any) -> Any:
    """Add the options of every command that reads private rows and spends budget."""
    return _together(
        click.option(
            "--bounds",
            multiple=True,
            metavar="BOUNDS",
            help="What columns are and where rows may lie, known without looking at them. May be repeated.",
        ),
        COLUMNS,
        unit_options,
        file_options,
        click.option("--name", default="", help="What the data set is called. Public: kept in ledger, release and report."),
        click.option("--purpose", default="", help="What the fit is for. Public: kept in ledger, release and report."),
        click.option("--ledger", metavar="PATH", help="Take the budget from this ledger ('cloister ledger create')."),
        neighbours_option(f"{NEIGHBOURS_HELP} Default: as in the ledger, else add-remove.", default=None),
        click.option(
            "--engine",
            type=click.Choice(sorted(ENGINES, key=lambda name: name != DEFAULT_ENGINE)),
            default=DEFAULT_ENGINE,
            show_default=True,
            help="Who reads the rows: this process, or workers of a cluster that see the same files.",
        ),
        click.option("--scheduler", metavar="ADDRESS", help="Dask scheduler or Spark master. Default: this machine."),
        click.option("--n-rows", type=int, help=N_ROWS_HELP),
        click.option(
            "--seed",
            type=int,
            help="Repeat a run exactly. For tests: files need --allow-seeded, and the result is marked as not for publication.",
        ),
    )(command)


def describe_options(command: Any) -> Any:
    """Add what says how clusters are described."""
    return _together(
        DESCRIBE,
        click.option(
            "--describe-columns",
            multiple=True,
            metavar="BOUNDS",
            help="Further columns to describe and never to cluster by, as in --bounds. May be repeated.",
        ),
    )(command)


def guarantee_options(command: Any) -> Any:
    """Add what says how rows are protected and measured, besides the delta."""
    scaling = click.option(
        "--scaling",
        type=click.Choice(["auto", "none", "bounds", "spread"]),
        default="auto",
        show_default=True,
        help="Measure distances in input units (none), relative to the bounds, or to a spread of each column found with noise. "
        "auto: bounds, unless all columns are numbers of one width.",
    )
    return _together(EPSILON, private_options, scaling)(command)


def output_options(command: Any) -> Any:
    """Add what says what is written and printed, besides the output itself."""
    quiet = click.option(
        "-q", "--quiet", is_flag=True, help="No progress, no summary: only errors, and what '-' or --json ask for."
    )
    return _together(
        REPORT, FORCE, ALLOW_SEEDED, JSON, click.option("--jobs", type=int, help="Threads. Default: all processors."), quiet
    )(command)


def method_lines(methods: Iterable[Method]) -> str:
    """Return one line for each method, as the end of a help page."""
    named = {method.word: method.summary for method in methods}
    width = max(map(len, named))
    return "\b\nMethods:\n" + "\n".join(f"  {name:<{width}}  {summary}" for name, summary in named.items())


def default_delta(methods: Iterable[Method]) -> str:
    """Say in words what delta is where it is left out."""
    found = list(methods)
    usual = max({method.delta for method in found}, key=lambda delta: sum(method.delta == delta for method in found))
    others: dict[float, list[str]] = {}
    for method in found:
        if method.delta != usual:
            others.setdefault(method.delta, []).append(method.word)
    exceptions = "".join(f", and {delta:g} for {_listed(names)}" for delta, names in others.items())
    return f"Default: {usual:g}{exceptions}."


def _listed(names: list[str]) -> str:
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def _together(*options: Decorator) -> Decorator:
    """Return a decorator that adds options in this order."""

    def add(command: Any) -> Any:
        for option in reversed(options):
            command = option(command)
        return command

    return add
