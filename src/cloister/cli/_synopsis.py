# SPDX-License-Identifier: Apache-2.0
"""``cloister synopsis``: noisy numbers that are paid for once; clusters, counts and synthetic rows of them cost nothing."""

import dataclasses
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import click

from cloister.cli._bounds import read_query
from cloister.cli._fit import fit_synopsis
from cloister.cli._options import ALLOW_SEEDED, CLUSTERS, FORCE, JSON, RELEASE_OUTPUT, option, report_options
from cloister.cli._output import (
    CHOICE,
    RELEASE,
    SYNOPSIS,
    OutputOptions,
    Product,
    open_target,
    publish_found,
    read_published,
    refuse_ending,
    refuse_same,
)
from cloister.cli._print import open_console, print_density, print_json, print_tree
from cloister.cli._private import plain_warnings
from cloister.exceptions import ParameterError

if TYPE_CHECKING:
    from cloister.synopsis import Synopsis

SEED = option(
    "--seed", "random_state", type=int, help="Repeat the result exactly. Only public numbers are used: this costs nothing."
)
SOURCE = click.argument("source", metavar="SYNOPSIS")


@click.group(short_help="Noisy numbers of a table, used again and again.")
def synopsis() -> None:
    """Fit noisy numbers to a table once, counts of a grid or weighted points; then cluster and sample them at no further cost.

    SYNOPSIS is the file that 'synopsis fit' wrote, JSON or Parquet; '-' reads standard input.

    \b
    Examples:
      cloister synopsis fit patients.parquet --epsilon 0.5 --bounds age=0:120,bmi=10:60 --output synopsis.json
      cloister synopsis choose-k synopsis.json
      cloister synopsis cut synopsis.json -k 5 --output release.json --report report.html
      cloister synopsis tree synopsis.json
      cloister synopsis density synopsis.json
      cloister synopsis query synopsis.json "age=18:65,bmi=25:30"
      cloister synopsis sample synopsis.json -n 1000 --output rows.csv
    """  # noqa: D301


synopsis.add_command(fit_synopsis)


@synopsis.command(short_help="Cluster the cells or points.")
@SOURCE
@CLUSTERS
@SEED
@RELEASE_OUTPUT
@report_options
def cut(source: str, n_clusters: int, random_state: int | None, **options: Any) -> None:
    """Cluster the cells or points of SYNOPSIS by their counts, and print the centres. 'cloister predict' reads the release.

    \b
    Examples:
      cloister synopsis cut synopsis.json -k 5
      cloister synopsis cut synopsis.json -k 5 --output release.json --report report.html
    """  # noqa: D301
    output = _read_output(source, options)
    found = read_published("synopsis", source)
    with plain_warnings():
        release = found.cut(n_clusters, random_state=random_state)
    publish_found(_reported(RELEASE, found, "release", random_state), release, output)


@synopsis.command("choose-k", short_help="Compare numbers of clusters.")
@SOURCE
@option(
    "--range",
    "numbers",
    metavar="FIRST:LAST",
    help="Numbers to compare. Default: 1:12 for a grid; for points, as many as they were made for.",
)
@SEED
@report_options
def choose_k(source: str, numbers: str | None, random_state: int | None, **options: Any) -> None:
    """Compare numbers of clusters: by the loss, and by the loss on a half of the noise the centres have not seen.

    \b
    Examples:
      cloister synopsis choose-k synopsis.json
      cloister synopsis choose-k synopsis.json --range 2:20 --json | jq .best
    """  # noqa: D301
    output, span = _read_output(source, options), []
    if numbers is not None:
        first, _, last = numbers.partition(":")
        with suppress(ValueError):
            span = [range(int(first), int(last) + 1)]
        if not span or not span[0] or span[0][0] < 1 or len(span[0]) > 1000:
            raise ParameterError(f"--range: expected FIRST:LAST, whole numbers from 1, got {numbers!r}. Pass --range 1:12.")
    found = read_published("synopsis", source)
    choice = found.choose_k(*span, random_state=random_state)
    publish_found(_reported(CHOICE, found, "choice", random_state), choice, output)
    _mark_seeded(found)


@synopsis.command(short_help="Print how clusters are joined.")
@SOURCE
@option(
    "-k", "--clusters", "n_clusters", type=click.IntRange(min=1), default=8, help="Print the tree down to so many clusters."
)
@SEED
@JSON
def tree(source: str, n_clusters: int, random_state: int | None, *, as_json: bool) -> None:
    """Print how the points, or cells, of SYNOPSIS are joined to ever fewer clusters (Ward's method), the last joins first.

    With --json all joins are printed: 'linkage' in the format of SciPy, and 'rows', the noisy number of rows of each leaf.

    \b
    Examples:
      cloister synopsis tree synopsis.json
      cloister synopsis tree synopsis.json -k 3 --json | jq .linkage
    """  # noqa: D301
    found = read_published("synopsis", source)
    seed = random_state or 0  # for a grid: the tree and its leaves come from the same draw
    linkage, rows = found.tree(random_state=seed), found.tree_points(random_state=seed).weights
    if as_json:
        print_json({"linkage": linkage.tolist(), "rows": rows.tolist()})
    else:
        print_tree(open_console(), linkage, rows, n_clusters)
    _mark_seeded(found)


@synopsis.command(short_help="Find clusters of any shape.")
@SOURCE
@option(
    "--min-density",
    default=1.0,
    help="How many times as dense as evenly spread rows a cluster must be; 0: whatever stands out of the noise.",
)
@option("--false-alarm", default=0.01, help="Chance of any cluster where no place is denser than that.")
@JSON
def density(source: str, min_density: float, false_alarm: float, *, as_json: bool) -> None:
    """Find connected regions of dense cells, and print their noisy numbers of rows and where they lie.

    \b
    Examples:
      cloister synopsis density synopsis.json
      cloister synopsis density synopsis.json --min-density 2 --json | jq .clusters
    """  # noqa: D301
    found = _read_grid(source, "density").density_clusters(min_density=min_density, false_alarm=false_alarm)
    print_json(found.to_dict()) if as_json else print_density(open_console(), found)
    _mark_seeded(found.synopsis)


@synopsis.command(short_help="Count rows in ranges.")
@SOURCE
@click.argument("queries", metavar="QUERY...", nargs=-1, required=True)
@JSON
def query(source: str, queries: tuple[str, ...], *, as_json: bool) -> None:
    """Print the noisy number of rows in each QUERY, ± its standard error. Columns that are not named are unrestricted.

    The standard error covers the noise and the cells that a range cuts through, whose rows are taken to be spread evenly.

    \b
    Examples:
      cloister synopsis query synopsis.json "age=18:65,bmi=25:30"
      cloister synopsis query synopsis.json age=0:40 age=40:80 age=80:120
    """  # noqa: D301
    from cloister.columns import Box
    from cloister.text import with_error

    ranges = [read_query(value) for value in queries]
    found = _read_grid(source, "query")
    ends, counts = list(zip(found.columns, found.grid.box.low, found.grid.box.high, strict=True)), []
    for one in ranges:
        one.refuse_unknown(found.columns)
        pairs = [one.named.get(name, one.default or (low, high)) for name, low, high in ends]
        counts.append(found.count(Box([low for low, _ in pairs], [high for _, high in pairs])))
    _mark_seeded(found)
    if as_json:
        answers = [{**dataclasses.asdict(count), "standard_error": count.standard_error} for count in counts]
        print_json([{"query": value, **one} for value, one in zip(queries, answers, strict=True)])
        return
    for value, count in zip(queries, counts, strict=True):
        number, error = with_error(count.value, count.standard_error)
        click.echo(f"{f'{value}: ' if len(queries) > 1 else ''}{number} ± {error}")


@synopsis.command(short_help="Draw synthetic rows.")
@SOURCE
@option("-n", "--n-rows", "n_rows", type=int, required=True, help="How many rows; any number, they cost nothing.")
@SEED
@option("-o", "--output", metavar="FILE", default="-", help="Where to write, .csv or .parquet; '-' is standard output, as CSV.")
@FORCE
@ALLOW_SEEDED
def sample(source: str, n_rows: int, random_state: int | None, output: str, *, force: bool, allow_seeded: bool) -> None:
    """Draw synthetic rows from SYNOPSIS: a cell or point in proportion to its noisy count, then a place in or around it.

    They have the columns of the original table: of a category a level, of a date a day.

    \b
    Examples:
      cloister synopsis sample synopsis.json -n 1000 --output rows.csv
      cloister synopsis sample synopsis.json -n 5
    """  # noqa: D301
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    from cloister.privacy import refuse_seeded

    refuse_ending("--output", output, (".csv", ".parquet"), what="synthetic rows are written as CSV or Parquet")
    refuse_same([("SYNOPSIS", source)], [("--output", output)])
    found = read_published("synopsis", source)
    refuse_seeded("--output", seeded=found.receipt.seeded, allow_seeded=allow_seeded)
    table = found.sample_table(n_rows, random_state=random_state)
    sink = pa.BufferOutputStream()
    if output.lower().endswith(".parquet"):
        pyarrow.parquet.write_table(table, sink)
    else:
        pyarrow.csv.write_csv(table, sink)
    with open_target("--output", output, force=force) as target:
        target.write(bytes(sink.getvalue()))
    _mark_seeded(found)


@synopsis.command(short_help="Print a synopsis, or write its report.")
@SOURCE
@report_options
def show(source: str, **options: Any) -> None:
    """Print what SYNOPSIS says: the grid or the points, their noise, and the receipt.

    \b
    Examples:
      cloister synopsis show synopsis.json
      cloister synopsis show synopsis.json --report report.html
    """  # noqa: D301
    output = _read_output(source, options)
    publish_found(SYNOPSIS, read_published("synopsis", source), output)


def _mark_seeded(found: "Synopsis") -> None:
    """Say in red, on standard error, that what is printed or written without a receipt comes from seeded noise."""
    if found.receipt.seeded:
        click.secho(found.receipt.alert, fg="red", bold=True, err=True)


def _read_output(source: str, options: dict[str, Any]) -> OutputOptions:
    return OutputOptions.read(options, [("SYNOPSIS", source)], RELEASE)


def _reported(product: Product, synopsis: "Synopsis", name: str, seed: int | None) -> Product:
    """Return a product with the receipt of the synopsis and its report, which has the product in it under this name."""

    def report(value: Any) -> str:
        from cloister.report import synopsis_html

        return synopsis_html(synopsis, random_state=seed, **{name: value})

    return dataclasses.replace(product, report=report, receipt=lambda value: synopsis.receipt)


def _read_grid(path: str, command: str) -> Any:
    """Read a synopsis of a grid; refuse one of points, which has no cells."""
    found = read_published("synopsis", path)
    if found.grid is None:
        raise ParameterError(
            f"synopsis {command}: expected a synopsis of a grid, got one of points. "
            "Fit one with 'cloister synopsis fit --kind grid'."
        )
    return found
