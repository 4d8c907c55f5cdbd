# SPDX-License-Identifier: Apache-2.0
"""``cloister compare``: several methods on public or made-up rows, to choose one before private rows are touched."""

from typing import Any

import click

from cloister.cli._private import EPSILON_HELP, domain_of, open_table, split_names

__all__ = ["compare"]


@click.command(short_help="Compare methods on public or made-up rows.")
@click.argument("public", metavar="[PUBLIC]", required=False)
@click.option("-k", "--clusters", type=int, required=True, help="Number of clusters.")
@click.option("--rows", type=int, help="Rows to make up, if there is no PUBLIC table.")
@click.option("--width", type=int, help="Columns to make up.")
@click.option("--epsilon", type=float, required=True, help=EPSILON_HELP)
@click.option("--delta", type=float, default=1e-6, show_default=True, help="Well below 1 over the number of rows; 0 is pure.")
@click.option("--bounds", multiple=True, metavar="BOUNDS", help="Where rows of PUBLIC may lie, as for 'cloister fit'.")
@click.option("--columns", metavar="A,B,C", help="Columns of PUBLIC to use.")
@click.option("--methods", metavar="A,B,C", help="Estimators by name, such as KMeans,PEMeans. Default: all.")
@click.option("--repeats", type=int, default=5, show_default=True, help="Fits of each method.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the rows that are made up and of all fits.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def compare(public: str | None, *, as_json: bool, **options: Any) -> None:
    """Fit several methods to the same rows and print how far from the loss without privacy each of them ends.

    PUBLIC is a table that is public: the figures are exact and protect nobody. Without it rows are made up, of the shape that
    your private table has. Nothing private is read and nothing is spent.

    \b
    Examples:
      cloister compare -k 8 --rows 20000 --width 6 --epsilon 1
      cloister compare last-year.csv -k 8 --epsilon 1 --bounds 0,1 --methods KMeans,PEMeans,FastLloyd
    """  # noqa: D301
    import sys

    from cloister import compare as compare_methods
    from cloister.cli._bounds import read_bounds
    from cloister.cli._print import open_console, print_json

    given: dict[str, Any] = {"n_rows": options["rows"], "n_features": options["width"]}
    if public is not None:
        bounds = read_bounds(options["bounds"])
        rows = open_table(public, bounds, split_names(options["columns"]))
        given |= {"rows": rows, **domain_of(rows, bounds, "auto")}
    if options["methods"] is not None:
        given["methods"] = split_names(options["methods"])
    found = compare_methods(
        n_clusters=options["clusters"],
        epsilon=options["epsilon"],
        delta=options["delta"],
        repeats=options["repeats"],
        random_state=options["seed"],
        progress=sys.stderr.isatty(),
        **given,
    )
    if as_json:
        print_json(found.to_dict())
        return
    console = open_console()
    head, *lines = str(found).splitlines()
    console.print(head, style="bold")
    for line in lines:
        console.print(line, soft_wrap=True, highlight=False)
