# SPDX-License-Identifier: Apache-2.0
"""``cloister compare``: several methods on public or made-up rows, to choose one before private rows are touched."""

import sys
from typing import Any

import click

from cloister.cli._bounds import read_bounds
from cloister.cli._method_options import variant_parameters
from cloister.cli._options import (
    APPROXIMATE_DELTA,
    CLUSTERS,
    COLUMNS,
    EPSILON,
    JSON,
    MAX_ROWS_PER_UNIT,
    WEIGHTING,
    file_options,
    method_lines,
    shape_options,
)
from cloister.cli._privacy_unit import refuse_without_unit
from cloister.cli._private import domain_of, file_settings, open_table, split_names
from cloister.methods import METHODS, comparable, find_method

__all__ = ["compare"]

SOURCE_TARGET = "source-target"  # a kind of method that is compared elsewhere


@click.command(
    short_help="Compare methods on public or made-up rows.",
    epilog=method_lines(METHODS[name] for name in comparable("centers", "synopsis")),
)
@click.argument("public", metavar="[PUBLIC]", required=False)
@CLUSTERS
@shape_options(
    required=False,
    rows="Rows to make up, if there is no PUBLIC table.",
    features="Columns to make up.",
)
@EPSILON
@APPROXIMATE_DELTA
@click.option("--bounds", multiple=True, metavar="BOUNDS", help="Where rows of PUBLIC may lie, as for 'cloister fit'.")
@COLUMNS
@click.option("--privacy-unit", metavar="COLUMN", help="Compare fits that protect whoever this column of PUBLIC names.")
@MAX_ROWS_PER_UNIT
@WEIGHTING
@file_options
@click.option(
    "--methods",
    metavar="A,B:NAME=VALUE",
    help="Methods to compare, such as kmeans,pe-means, each with options of its own if you like: pe-means:rounds=8. "
    "Default: all that find centres.",
)
@click.option("--repeats", type=int, default=5, show_default=True, help="Fits of each method.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the rows that are made up and of all fits.")
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
    from cloister.cli._print import print_text

    refuse_without_unit(options)
    found = compare_methods(
        n_clusters=options["clusters"],
        epsilon=options["epsilon"],
        delta=options["delta"],
        privacy_unit=options["privacy_unit"],
        max_rows_per_unit=options["max_rows_per_unit"],
        weighting=options["weighting"],
        repeats=options["repeats"],
        random_state=options["seed"],
        progress=sys.stderr.isatty(),
        **_rows(public, options),
        **_methods(options["methods"]),
    )
    print_text(found, as_json=as_json)


def _rows(public: str | None, options: dict[str, Any]) -> dict[str, Any]:
    shape = {"n_rows": options["n_rows"], "n_features": options["features"]}
    if public is None:
        return shape
    bounds = read_bounds(options["bounds"])
    bounds.refuse_declared("compare")
    ids = {} if options["privacy_unit"] is None else {"privacy_unit": options["privacy_unit"]}
    rows = open_table(public, bounds, split_names(options["columns"]), where="compare", **ids, **file_settings(options))
    widths = [high - low for low, high in bounds.pairs(rows.feature_names or ())]
    scaling = "bounds" if max(widths) > min(widths) * (1 + 1e-12) else "none"
    return {**shape, "rows": rows, **domain_of(rows, bounds, scaling)}


def _methods(names: str | None) -> dict[str, Any]:
    """Return the estimators, with their own parameters if any are given; what is no method is left to be refused."""
    if names is None:
        return {}
    return {"methods": [_method(name) for name in split_names(names, option="--methods", example="kmeans,pe-means") or ()]}


def _method(words: str) -> Any:
    name, *parameters = (word.strip() for word in words.split(":"))
    method = find_method(name)
    if method is None or method.kind == SOURCE_TARGET or not parameters:
        return name if method is None else method.name
    return method.estimator(**variant_parameters(method, parameters))
