# SPDX-License-Identifier: Apache-2.0
"""``cloister plan``: forecast a fit from public numbers. Reads no table and costs nothing."""

from typing import Any

import click

from cloister.cli._method_options import OPTIONS, method_options, own_parameters
from cloister.cli._options import (
    CLUSTERS,
    DELTA_HELP,
    DESCRIBE,
    EPSILON,
    JSON,
    MAX_ROWS_PER_UNIT,
    WEIGHTING,
    default_delta,
    delta_option,
    neighbours_option,
    shape_options,
)
from cloister.methods import commands, words

__all__ = ["plan"]


@click.command(short_help="Forecast a fit from public numbers.")
@shape_options(
    required=True,
    rows="About how many rows there are, with --privacy-unit persons: a public number, or a guess.",
    features="Number of columns.",
)
@CLUSTERS
@click.option(
    "--method",
    type=click.Choice(list(words())),
    default=next(iter(commands())),
    show_default=True,
    help="How to cluster; with a synopsis or source-target, what these commands ask.",
)
@method_options
@EPSILON
@delta_option(f"{DELTA_HELP} {default_delta(words().values())}", default=None)
@neighbours_option()
@click.option(
    "--privacy-unit", is_flag=True, help="Persons are protected, each with all of their rows, instead of single rows."
)
@click.option(
    "--rows-per-unit",
    type=int,
    default=10,
    show_default=True,
    help="With --privacy-unit: persons have from 1 to so many rows, all numbers equally often. Your guess, an assumption.",
)
@MAX_ROWS_PER_UNIT
@WEIGHTING
@DESCRIBE
@JSON
def plan(n_rows: int, features: int, clusters: int, *, method: str, as_json: bool, **options: Any) -> None:
    """Say what a fit with these numbers can be expected to find, and how noisy each of its questions will be.

    No table is read and nothing is spent. The errors are those of round clusters that lie well apart; they are given in
    parts of a cluster's own radius, the root mean square distance of its rows. They are forecast for kmeans; of other methods
    it says what they ask, and how noisily. With --privacy-unit it also says what using 1, 2, 3, 5, 10 ... rows of a person
    costs in noise and loses in rows, and which number is recommended.

    \b
    Examples:
      cloister plan --n-rows 50000 --features 6 -k 5 --epsilon 1
      cloister plan --n-rows 150 --features 4 -k 3 --epsilon 0.25
      cloister plan --n-rows 50000 --features 6 -k 5 --epsilon 1 --method fast-lloyd
      cloister plan --n-rows 50000 --features 2 -k 5 --epsilon 1 --method grid --rule eugkm
      cloister plan --n-rows 20000 --features 6 -k 5 --epsilon 1 --privacy-unit --rows-per-unit 25
      cloister plan --n-rows 50000 --features 6 -k 5 --epsilon 1 --json | jq .smallest_cluster
    """  # noqa: D301
    from cloister import plan as forecast
    from cloister.cli._print import print_text

    own, names = own_parameters(words()[method], options), {one.parameter for one in OPTIONS}
    shared = {name: value for name, value in options.items() if name not in names}
    print_text(forecast(n_rows, features, clusters, method=method, options=own, **shared), as_json=as_json)
