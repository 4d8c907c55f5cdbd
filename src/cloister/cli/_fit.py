# SPDX-License-Identifier: Apache-2.0
"""``cloister fit`` and ``cloister synopsis fit``: spend budget on a file, then print and write what may be published."""

from collections.abc import Mapping
from typing import Any

import click

from cloister.cli._options import (
    DELTA_HELP,
    DESCRIBE,
    RELEASE_OUTPUT,
    WHOLE_OR_AUTO,
    Rule,
    default_delta,
    guarantee_options,
    method_lines,
    method_options,
    option,
    output_options,
    own_parameters,
)
from cloister.cli._output import RELEASE, SYNOPSIS
from cloister.cli._private import fit_privately
from cloister.exceptions import ParameterError
from cloister.methods import METHODS, commands

GRID, POINTS = METHODS["GridSynopsis"], METHODS["PointSynopsis"]
GRID_COLUMNS = 3  # up to so many columns of numbers, auto chooses a grid
OWN_OPTIONS = {  # of the kinds of synopses
    "grid": {"n_clusters": "--clusters", "rule": "--rule", "counts": "--counts"},
    "points": {"max_clusters": "--max-clusters", "n_points": "--points"},
}


@click.command(short_help="Cluster a table under a privacy guarantee.", epilog=method_lines(commands().values()))
@click.argument("data", metavar="DATA")
@option(
    "-k",
    "--clusters",
    "n_clusters",
    type=WHOLE_OR_AUTO,
    required=True,
    help="Number of clusters; auto finds it, at no further cost (kmeans only).",
)
@option("--max-clusters", type=int, help="Largest number that '-k auto' considers. Default: 30.")
@option("--method", words=commands(), default=next(iter(commands())), help="How to cluster.")
@method_options
@option("--delta", type=float, help=f"{DELTA_HELP} {default_delta(commands().values())}")
@guarantee_options
@DESCRIBE
@option(
    "--describe-columns",
    multiple=True,
    metavar="BOUNDS",
    help="Further columns to describe and never to cluster by, as in --bounds. May be repeated.",
)
@RELEASE_OUTPUT
@output_options
def fit(data: str, method: str, max_clusters: int | None, **options: Any) -> None:
    """Cluster the rows of DATA and print what may be published.

    DATA is a Parquet, CSV, Arrow or JSON-lines file, a folder of them, or an address such as s3://bucket/rows.parquet, read in
    batches. Everything is checked before any budget is spent.

    \b
    BOUNDS say what columns are and must be known without looking at the data. They are one of
      0,1                              the same interval for all columns
      age=0:120,bmi=10:60              numbers, joined by commas, semicolons or spaces, or repeated
      sex=f|m                          a category with these levels
      smoker=flag                      yes or no
      admitted=2020-01-01:2026-12-31   a date
      hour=cyclic:24                   a number that begins again after a period
      dose=number:1:10000:log          a number on a logarithmic scale
      income=private                   a number whose bounds are found with noise, for a share of the budget
      private                          the same for all columns
      schema.json, schema.toml         a file, as 'cloister schema DATA' drafts it: {"age": [0, 120], "smoker": "flag"}
      bounds.csv                       a file with the header column,low,high
    A pair, or the word private, and named columns may be combined; it is then for the other columns.

    \b
    Examples:
      cloister fit points.csv -k 8 --epsilon 1 --bounds 0,1
      cloister fit points.csv -k auto --max-clusters 20 --epsilon 1 --bounds 0,1
      cloister fit patients.parquet -k 5 --epsilon 0.5 --bounds age=0:120 --bounds "glucose=40:320" \\
          --bounds "sex=f|m" --ledger budget.sqlite --output release.json --report report.html
      cloister fit patients.parquet -k 5 --epsilon 1 --bounds schema.json --output - | cloister show -
      cloister fit patients.parquet -k 5 --epsilon 1 --bounds schema.json --describe 0.1 \\
          --describe-columns "ward=general|cardiology|geriatrics" --report report.html
      cloister fit points.csv -k 8 --epsilon 1 --bounds 0,1 --method pe-means --rounds 12 --selection top-k
    """  # noqa: D301
    chosen, clusters = commands()[method], options["n_clusters"]
    own = own_parameters(chosen, options)
    if clusters == "auto" and not chosen.finds_number:
        able = " or ".join(name for name, one in commands().items() if one.finds_number)
        raise ParameterError(
            f"--clusters: expected a number for --method {method}, got auto. Pass a number, or --method {able}."
        )
    if max_clusters is not None and clusters != "auto":
        raise ParameterError(f"--max-clusters: expected '-k auto' beside it, got '-k {clusters}'. Leave one of them out.")
    if max_clusters is not None:
        own["max_clusters"] = max_clusters

    def run(parameters: dict[str, Any], rows: Any) -> Any:
        return chosen.estimator(**parameters, **own).fit(rows).release_

    fit_privately(RELEASE, data, options, run)


@click.command("fit", short_help="Fit a synopsis of a table: counts of a grid, or weighted points.")
@click.argument("data", metavar="DATA")
@option(
    "--kind",
    words=["auto", "grid", "points"],
    default="auto",
    help=f"Counts in the cells of a grid, or weighted points. auto: a grid for up to {GRID_COLUMNS} columns of numbers, dates "
    "and flags of equal weight, points otherwise; --rule decides for a grid, --points and --max-clusters for points.",
)
@option(
    "-k",
    "--clusters",
    "n_clusters",
    type=int,
    help="Grid: how many clusters it should resolve, a hint and no limit. Default: 8.",
)
@option("--rule", type=Rule(), help="Grid: cells per axis: rugnik, eugkm, adaptive, a number, or N,N,... Default: rugnik.")
@option(
    "--counts",
    words=["nonnegative-total", "clip", "none"],
    help="Grid: how noisy counts of cells become weights. Default: nonnegative-total.",
)
@option("--max-clusters", type=int, help="Points: how many clusters they should resolve, a hint and no limit. Default: 30.")
@option(
    "--points",
    "n_points",
    type=int,
    help="Points: how many. Default: two for each cluster, or as many as rows and budget carry.",
)
@option(
    "--delta",
    type=float,
    help=f"0: Laplace noise, pure. Above 0: Gaussian noise. Default: {GRID.delta:g} for a grid, {POINTS.delta:g} for points.",
)
@guarantee_options
@option("-o", "--output", metavar="FILE", help="Write the synopsis as .json or .parquet; '-' is standard output, as JSON.")
@output_options
def fit_synopsis(data: str, kind: str, **options: Any) -> None:
    """Fit a synopsis of DATA, with noise, and write it. This is the only command here that spends budget.

    A grid has a noisy number of rows for each cell: it also answers 'query' and 'density', and is for a few columns of
    numbers. Points have a noisy number of rows and a spread each: they are for any number of columns of any kind. Both are
    clustered for any k. DATA and BOUNDS are as for 'cloister fit': bounds are a pair 0,1 for all columns, or
    age=0:120,bmi=10:60, or a JSON, TOML or CSV file, known without looking at the data.

    \b
    Examples:
      cloister synopsis fit points.csv --epsilon 1 --bounds 0,1 --output synopsis.json
      cloister synopsis fit patients.parquet -k 5 --epsilon 0.5 --bounds age=0:120,bmi=10:60 --rule 24,20 \\
          --ledger budget.sqlite --output synopsis.parquet --report report.html
      cloister synopsis fit patients.parquet --kind points --epsilon 1 --bounds schema.json --output synopsis.json
    """  # noqa: D301
    points, cells = _given("points", options), _given("grid", {**options, "n_clusters": None})
    if points and cells:
        raise ParameterError(f"{points[0]}: is for points, and {cells[0]} for a grid. Leave one of them out.")
    if kind != "auto":
        _refuse_other(kind, f"--kind {kind}", options)

    def run(parameters: dict[str, Any], rows: Any) -> Any:
        why = _why_points(options, parameters, len(rows.feature_names or ())) if kind == "auto" else ""
        if why:
            _refuse_other("points", why, options)
        method = POINTS if why or kind == "points" else GRID
        own = {name: options[name] for name in method.parameters if options.get(name) is not None}
        return method.estimator(**parameters, **own).fit(rows).synopsis_

    n_clusters = 8 if options["n_clusters"] is None else options["n_clusters"]
    fit_privately(SYNOPSIS, data, {**options, "n_clusters": n_clusters}, run)


def _why_points(options: Mapping[str, Any], parameters: Mapping[str, Any], n_columns: int) -> str:
    """Say why points are fitted and not a grid, by public facts: options, and how many columns there are of what kind."""
    if options["rule"] is not None or options["counts"] is not None:
        return ""
    if given := _given("points", options):
        return " and ".join(given)
    if n_columns > GRID_COLUMNS:
        return f"{n_columns} columns"
    if parameters["scaling"] == "spread":
        return "--scaling spread"
    declared = parameters["bounds"].values() if isinstance(parameters["bounds"], dict) else ()
    if all(isinstance(one, tuple | str) or (one.is_interval and one.weight == 1.0) for one in declared):
        return ""
    return "columns that are not all numbers of equal weight"


def _refuse_other(kind: str, why: str, options: Mapping[str, Any]) -> None:
    """Refuse options of the kind that is not fitted."""
    other, owner = ("points", "points") if kind == "grid" else ("grid", "a grid")
    for word in _given(other, options):
        instead = f"Pass --max-clusters {options['n_clusters']} instead" if word == "--clusters" else "Leave it out"
        raise ParameterError(f"{word}: is for {owner}, got it with {why}. {instead}, or pass --kind {other}.")


def _given(kind: str, options: Mapping[str, Any]) -> list[str]:
    """Return the options of one kind of synopsis that were given."""
    return [word for name, word in OWN_OPTIONS[kind].items() if options[name] is not None]
