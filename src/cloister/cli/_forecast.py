# SPDX-License-Identifier: Apache-2.0
"""``cloister plan`` and ``cloister compare``: what to expect, before any budget is spent and any private row is touched."""

import sys
from typing import Any

import click

from cloister.cli._bounds import read_bounds
from cloister.cli._options import (
    CLUSTERS,
    COLUMNS,
    DELTA_HELP,
    DESCRIBE,
    EPSILON,
    JSON,
    NEIGHBOURS,
    OPTIONS,
    default_delta,
    file_options,
    method_lines,
    method_options,
    option,
    own_parameters,
    unit_rows_options,
    variant_parameters,
)
from cloister.cli._print import print_text
from cloister.cli._private import domain_of, file_settings, open_table, refuse_without_unit, split_names
from cloister.methods import METHODS, Method, commands, comparable, find_method, words


@click.command(short_help="Forecast a fit from public numbers.")
@option(
    "--n-rows",
    type=int,
    required=True,
    help="About how many rows there are, with --privacy-unit persons: a public number, or a guess.",
)
@option("--features", "n_features", type=int, required=True, help="Number of columns.")
@CLUSTERS
@option(
    "--method",
    words=words(),
    default=next(iter(commands())),
    help="How to cluster; with a synopsis or source-target, what these commands ask.",
)
@method_options
@EPSILON
@option("--delta", type=float, help=f"{DELTA_HELP} {default_delta(words().values())}")
@NEIGHBOURS
@option("--privacy-unit", is_flag=True, help="Persons are protected, each with all of their rows, instead of single rows.")
@option(
    "--rows-per-unit",
    default=10,
    help="With --privacy-unit: persons have from 1 to so many rows, all numbers equally often. Your guess, an assumption.",
)
@unit_rows_options
@DESCRIBE
@JSON
def plan(*, method: str, as_json: bool, **options: Any) -> None:
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

    own, names = own_parameters(words()[method], options), {one.parameter for one in OPTIONS}
    shared = {name: value for name, value in options.items() if name not in names}
    print_text(forecast(**shared, method=method, options=own), as_json=as_json)


@click.command(
    short_help="Compare methods on public or made-up rows.",
    epilog=method_lines(METHODS[name] for name in comparable("centers", "synopsis")),
)
@click.argument("public", metavar="[PUBLIC]", required=False)
@CLUSTERS
@option("--n-rows", type=int, help="Rows to make up, if there is no PUBLIC table.")
@option("--features", "n_features", type=int, help="Columns to make up.")
@EPSILON
@option("--delta", type=float, default=Method.delta, help=DELTA_HELP)
@option("--bounds", multiple=True, metavar="BOUNDS", help="Where rows of PUBLIC may lie, as for 'cloister fit'.")
@COLUMNS
@option("--privacy-unit", metavar="COLUMN", help="Compare fits that protect whoever this column of PUBLIC names.")
@unit_rows_options
@file_options
@option(
    "--methods",
    metavar="A,B:NAME=VALUE",
    help="Methods to compare, such as kmeans,pe-means, each with options of its own if you like: pe-means:rounds=8. "
    "Default: all that find centres.",
)
@option("--repeats", default=5, help="Fits of each method.")
@option("--seed", "random_state", default=0, help="Of the rows that are made up and of all fits.")
@JSON
def compare(public: str | None, *, as_json: bool, **options: Any) -> None:
    """Fit several methods to the same rows and print how far from the loss without privacy each of them ends.

    PUBLIC is a table that is public: the figures are exact and protect nobody. Without it rows are made up, of the shape that
    your private table has. Nothing private is read and nothing is spent.

    \b
    Examples:
      cloister compare -k 8 --n-rows 20000 --features 6 --epsilon 1
      cloister compare last-year.csv -k 8 --epsilon 1 --bounds 0,1 --methods kmeans,pe-means,fast-lloyd
      cloister compare -k 8 --n-rows 20000 --features 6 --epsilon 1 --methods pe-means,pe-means:selection=top-k:rounds=8
      cloister compare visits-2019.csv -k 8 --epsilon 1 --bounds 0,1 --privacy-unit patient_id
    """  # noqa: D301
    from cloister import compare as compare_methods

    refuse_without_unit(options)
    names = "n_clusters", "n_rows", "n_features", "epsilon", "delta", "privacy_unit", "repeats", "random_state"
    settings = {name: options[name] for name in (*names, "max_rows_per_unit", "weighting")}
    if public is not None:
        bounds = read_bounds(options["bounds"])
        bounds.refuse_declared("compare")
        ids = {} if options["privacy_unit"] is None else {"privacy_unit": options["privacy_unit"]}
        rows = open_table(public, bounds, split_names(options["columns"]), where="compare", **ids, **file_settings(options))
        widths = [high - low for low, high in bounds.of(rows.feature_names or ()).values()]
        scaling = "bounds" if max(widths) > min(widths) * (1 + 1e-12) else "none"
        settings |= {"rows": rows, "bounds": domain_of(rows, bounds), "scaling": scaling}
    if options["methods"] is not None:
        chosen = split_names(options["methods"], option="--methods", example="kmeans,pe-means") or ()
        settings["methods"] = [_method(name) for name in chosen]
    print_text(compare_methods(**settings, progress=sys.stderr.isatty()), as_json=as_json)


def _method(written: str) -> Any:
    """Return an estimator with parameters of its own, or the name of one; what is no method is left to be refused."""
    name, *parameters = (word.strip() for word in written.split(":"))
    method = find_method(name)
    if method is None or method.kind == "source-target" or not parameters:
        return name if method is None else method.name
    return method.estimator(**variant_parameters(method, parameters))
