# SPDX-License-Identifier: Apache-2.0
"""``cloister ledger``: create a budget in a file, print what was spent of it, check that nobody has altered it."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from cloister.exceptions import LedgerError

if TYPE_CHECKING:
    from cloister.privacy import Ledger

__all__ = ["ledger"]


@click.group(short_help="Create, print and check a privacy budget.")
def ledger() -> None:
    """Create, print and check a privacy budget that many fits share.

    One ledger should cover one table of people. It is a SQLite file to which lines are only ever added; each line
    carries the digest of the one before.
    """


@ledger.command(short_help="Create a ledger.")
@click.argument("path", metavar="PATH")
@click.option("--epsilon", type=float, required=True, help="The total that all fits together may spend.")
@click.option("--delta", type=float, default=1e-6, show_default=True, help="Of the total; 0 is pure differential privacy.")
@click.option(
    "--neighbours",
    type=click.Choice(["add-remove", "replace"]),
    default="add-remove",
    show_default=True,
    help="Which tables count as neighbours.",
)
@click.option("--name", default="", help="What the budget is for.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def create(path: str, epsilon: float, delta: float, neighbours: str, name: str, *, as_json: bool) -> None:
    """Create a ledger with a total budget at PATH. A file that exists is never replaced.

    \b
    Example:
      cloister ledger create budget.sqlite --epsilon 2 --delta 1e-6 --name "patients 2026"
    """  # noqa: D301
    from cloister.cli._print import print_json
    from cloister.privacy import Ledger

    if Path(path).exists():
        raise LedgerError(f"ledger create: {path!r} exists. A budget is never replaced; choose another name.")
    with Ledger.open(path, epsilon=epsilon, delta=delta, neighbours=neighbours, name=name) as made:
        if as_json:
            print_json(made.summary())
        else:
            click.echo(f"Created {path} with a budget of {made.budget} ({made.neighbours} neighbours).")


@ledger.command(short_help="Print budget, spending and what is left.")
@click.argument("path", metavar="PATH")
@click.option("--events", is_flag=True, help="Also print every noisy answer: what was asked, its noise, its sensitivity, when.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def show(path: str, *, events: bool, as_json: bool) -> None:
    """Print the budget at PATH, what was spent, and what is left.

    \b
    Examples:
      cloister ledger show budget.sqlite
      cloister ledger show budget.sqlite --events
      cloister ledger show budget.sqlite --json | jq .left
    """  # noqa: D301
    from cloister.cli._print import open_console, print_events, print_json, print_ledger

    with _open(path) as found:
        told, budget = found.summary(), str(found.budget)
        debits = [line for line in found.lines if line["kind"] == "debit"] if events else []
    if as_json:
        print_json({**told, "events": debits} if events else told)
        return
    console = open_console()
    print_ledger(console, told, budget)
    if events and debits:
        print_events(console, debits)


@ledger.command(short_help="Check that no line was altered.")
@click.argument("path", metavar="PATH")
def verify(path: str) -> None:
    """Read every line at PATH, check the chain of digests, and add the debits up again.

    Without a copy of an earlier state nobody can tell whether lines at the very end were removed: keep backups.
    """
    with _open(path) as found:
        lines, told = found.lines, found.summary()
    debits = sum(line["kind"] == "debit" for line in lines)
    click.echo(f"{path} is in order: {len(lines)} lines, {debits} noisy answers, spent {told['spent']}.")


def _open(path: str) -> "Ledger":
    from cloister.privacy import Ledger

    if not Path(path).exists():
        raise LedgerError(f"ledger: there is no file {path!r}. Create it with 'cloister ledger create'.")
    return Ledger.open(path)
