# SPDX-License-Identifier: Apache-2.0
"""``cloister synopsis fit``: the one command of synopses that spends. It counts rows in a grid, or around weighted points."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import click

from cloister.cli._options import delta_option, guarantee_options, output_options, read_rule
from cloister.cli._output import STANDARD_OUTPUT, SYNOPSIS
from cloister.cli._private import fit_privately
from cloister.exceptions import ParameterError
from cloister.methods import METHODS

__all__ = ["fit", "is_device"]

METHOD_OF = {"grid": "GridSynopsis", "points": "PointSynopsis"}
GRID_COLUMNS = 3  # up to so many columns of numbers, auto chooses a grid
GRID_OPTIONS = {"clusters": "--clusters", "rule": "--rule", "counts": "--counts"}
POINT_OPTIONS = {"max_clusters": "--max-clusters", "points": "--points"}
DELTAS = (METHODS["GridSynopsis"].delta, METHODS["PointSynopsis"].delta)


@dataclass(frozen=True)
class _Choice:
    """Of what a synopsis is made, and why."""

    kind: str
    reason: str


@click.command(short_help="Fit a synopsis of a table: counts of a grid, or weighted points.")
@click.argument("data", metavar="DATA")
@click.option(
    "--kind",
    type=click.Choice(["auto", "grid", "points"]),
    default="auto",
    show_default=True,
    help=f"Counts in the cells of a grid, or weighted points. auto: a grid for up to {GRID_COLUMNS} columns of numbers, dates "
    "and flags of equal weight, points otherwise; --rule decides for a grid, --points and --max-clusters for points.",
)
@click.option("-k", "--clusters", type=int, help="Grid: how many clusters it should resolve, a hint and no limit. Default: 8.")
@click.option(
    "--rule", metavar="RULE", help="Grid: cells per axis: rugnik, eugkm, adaptive, a number, or N,N,... Default: rugnik."
)
@click.option(
    "--counts",
    type=click.Choice(["nonnegative-total", "clip", "none"]),
    help="Grid: how noisy counts of cells become weights. Default: nonnegative-total.",
)
@click.option(
    "--max-clusters", type=int, help="Points: how many clusters they should resolve, a hint and no limit. Default: 30."
)
@click.option(
    "--points", type=int, help="Points: how many. Default: two for each cluster, or as many as rows and budget carry."
)
@delta_option(
    f"0: Laplace noise, pure. Above 0: Gaussian noise. Default: {DELTAS[0]:g} for a grid, {DELTAS[1]:g} for points.",
    default=None,
)
@guarantee_options
@click.option(
    "-o", "--output", metavar="FILE", help="Write the synopsis as .json or .parquet; '-' is standard output, as JSON."
)
@output_options
def fit(data: str, kind: str, **options: Any) -> None:
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
    cells = None if options["rule"] is None else read_rule(options["rule"])
    _check_kind(options["output"])
    given = dict(options)
    _refuse_both(given)
    if kind != "auto":
        _refuse_other(_Choice(kind, f"--kind {kind}"), given)
    options["clusters"] = 8 if options["clusters"] is None else options["clusters"]

    def run(parameters: dict[str, Any], rows: Any) -> Any:
        chosen = _Choice(kind, "") if kind != "auto" else _choose_kind(given, parameters, len(rows.feature_names or ()))
        _refuse_other(chosen, given)
        method = METHODS[METHOD_OF[chosen.kind]]
        if given["delta"] is None:
            parameters["delta"] = method.delta
        if chosen.kind == "grid":
            wanted = {"rule": cells, "counts": given["counts"]}
        else:
            wanted = {"max_clusters": given["max_clusters"], "n_points": given["points"]}
        more = {name: value for name, value in wanted.items() if value is not None}
        return method.estimator(**parameters, **more).fit(rows).synopsis_

    fit_privately(SYNOPSIS, data, options, run, delta=0.0)


def is_device(path: str) -> bool:
    """Whether a path is neither a file nor a folder, such as a pipe."""
    return os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)


def _choose_kind(given: Mapping[str, Any], parameters: Mapping[str, Any], n_columns: int) -> _Choice:
    """Choose by public facts: which options were given, how many columns there are, and what they are."""
    if given["rule"] is not None or given["counts"] is not None:
        return _Choice("grid", "--counts" if given["rule"] is None else "--rule")
    if any(given[name] is not None for name in POINT_OPTIONS):
        return _Choice("points", " and ".join(option for name, option in POINT_OPTIONS.items() if given[name] is not None))
    if n_columns > GRID_COLUMNS:
        return _Choice("points", f"{n_columns} columns")
    if parameters["scaling"] == "spread":
        return _Choice("points", "--scaling spread")
    if isinstance(parameters["bounds"], dict) and not all(map(_is_interval, parameters["bounds"].values())):
        return _Choice("points", "columns that are not all numbers of equal weight")
    return _Choice("grid", f"{n_columns} columns of numbers")


def _is_interval(declared: Any) -> bool:
    """Whether a grid can cut a column: a number, a date or a flag without a weight or a place of its own for missing values."""
    from cloister.columns import Category

    if isinstance(declared, tuple | str):
        return True
    return not isinstance(declared, Category) and declared.weight == 1.0 and declared.missing != "own"


def _refuse_both(given: Mapping[str, Any]) -> None:
    """Refuse options of a grid beside options of points."""
    for cells in ("rule", "counts"):
        for name, option in POINT_OPTIONS.items():
            if None not in (given[name], given[cells]):
                raise ParameterError(f"{option}: is for points, and --{cells} for a grid. Leave one of them out.")


def _refuse_other(chosen: _Choice, given: Mapping[str, Any]) -> None:
    """Refuse options of the other kind."""
    others, owner = (POINT_OPTIONS, "points") if chosen.kind == "grid" else (GRID_OPTIONS, "a grid")
    for name, option in others.items():
        if given[name] is None:
            continue
        remedy = f"Leave it out, or pass --kind {'points' if chosen.kind == 'grid' else 'grid'}."
        if name == "clusters":
            remedy = f"Pass --max-clusters {given[name]} instead, or --kind grid."
        raise ParameterError(f"{option}: is for {owner}, got it with {chosen.reason or chosen.kind}. {remedy}")


def _check_kind(output: str | None) -> None:
    from cloister.synopsis import file_kind

    if output is not None and output != STANDARD_OUTPUT and not is_device(output):
        file_kind("--output", output)
