# SPDX-License-Identifier: Apache-2.0
"""``cloister plan``: forecast a fit from public numbers. Reads no table and costs nothing."""

from typing import TYPE_CHECKING

import click

from cloister.cli._private import EPSILON_HELP

if TYPE_CHECKING:
    from cloister.cluster import Forecast

__all__ = ["plan"]


@click.command(short_help="Forecast a fit from public numbers.")
@click.option("--rows", type=int, required=True, help="About how many rows there are: a public number, or a guess.")
@click.option("--columns", type=int, required=True, help="Number of columns.")
@click.option("-k", "--clusters", type=int, required=True, help="Number of clusters.")
@click.option("--epsilon", type=float, required=True, help=EPSILON_HELP)
@click.option("--delta", type=float, default=1e-6, show_default=True, help="Well below 1 over the number of rows; 0 is pure.")
@click.option(
    "--neighbours",
    type=click.Choice(["add-remove", "replace"]),
    default="add-remove",
    show_default=True,
    help="Which tables count as neighbours.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def plan(rows: int, columns: int, clusters: int, epsilon: float, delta: float, neighbours: str, *, as_json: bool) -> None:
    """Say what a fit with these numbers can be expected to find, and how noisy each of its questions will be.

    No table is read and nothing is spent. The errors are those of round clusters that lie well apart; they are given in
    parts of a cluster's own radius, the root mean square distance of its rows.

    \b
    Examples:
      cloister plan --rows 50000 --columns 6 -k 5 --epsilon 1
      cloister plan --rows 150 --columns 4 -k 3 --epsilon 0.25
      cloister plan --rows 50000 --columns 6 -k 5 --epsilon 1 --json | jq .smallest_cluster
    """  # noqa: D301
    from cloister.cli._print import print_json
    from cloister.cluster import plan as forecast_fit

    told = forecast_fit(rows, columns, clusters, epsilon=epsilon, delta=delta, neighbours=neighbours)
    if as_json:
        print_json(told.to_dict())
    else:
        _show(told)


def _show(forecast: "Forecast") -> None:
    from cloister.cli._print import open_console

    console = open_console()
    head, *lines = str(forecast).splitlines()
    console.print(head, style="bold")
    for line in lines:
        console.print(line)
