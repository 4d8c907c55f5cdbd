# SPDX-License-Identifier: Apache-2.0
"""``cloister fit``: cluster a file under a guarantee, then print and write what may be published."""

from typing import Any

import click

from cloister.cli._options import (
    DELTA_HELP,
    DESCRIBE,
    RELEASE_OUTPUT,
    WHOLE_OR_AUTO,
    default_delta,
    delta_option,
    guarantee_options,
    method_lines,
    method_options,
    option,
    output_options,
    own_parameters,
)
from cloister.cli._output import RELEASE
from cloister.cli._private import fit_privately
from cloister.exceptions import ParameterError
from cloister.methods import commands

__all__ = ["fit"]


@click.command(short_help="Cluster a table under a privacy guarantee.", epilog=method_lines(commands().values()))
@click.argument("data", metavar="DATA")
@option(
    "-k",
    "--clusters",
    type=WHOLE_OR_AUTO,
    required=True,
    help="Number of clusters; auto finds it, at no further cost (kmeans only).",
)
@option("--max-clusters", type=int, help="Largest number that '-k auto' considers. Default: 30.")
@option("--method", words=commands(), default=next(iter(commands())), help="How to cluster.")
@method_options
@delta_option(f"{DELTA_HELP} {default_delta(commands().values())}", default=None)
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
    chosen, clusters = commands()[method], options["clusters"]
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

    fit_privately(RELEASE, data, options, run, delta=chosen.delta)
