# SPDX-License-Identifier: Apache-2.0
"""``cloister ledger``: create a budget in a file, print what was spent, check it, settle what killed fits left open."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cloister.cli._options import JSON, NEIGHBOURS, option
from cloister.cli._print import (
    describe_remaining,
    open_console,
    print_events,
    print_json,
    print_ledger,
    unit_words,
)
from cloister.exceptions import LedgerError

if TYPE_CHECKING:
    from cloister.privacy import Ledger


@click.group(short_help="Create, print, check and settle a privacy budget.")
def ledger() -> None:
    """Create, print, check and settle a privacy budget that many fits share.

    One ledger should cover one table of people. It is a SQLite file to which lines are only ever added; each line
    carries the digest of the one before.
    """


@ledger.command(short_help="Create a ledger.")
@click.argument("path", metavar="PATH")
@option("--epsilon", type=float, required=True, help="The total that all fits together may spend.")
@option("--delta", type=float, default=1e-6, help="Of the total; 0 is pure differential privacy.")
@NEIGHBOURS
@option(
    "--unit",
    words=["row", "person"],
    default="row",
    help="Whom the budget protects: fits with --privacy-unit protect a person, others a row. Other fits are refused.",
)
@option(
    "--pure-epsilon",
    default=0.0,
    help="The part of epsilon set aside for pure fits (--delta 0), if you plan fits of both kinds.",
)
@click.option("--name", default="", help="What the budget is for.")
@JSON
def create(path: str, *, as_json: bool, **terms: Any) -> None:
    """Create a ledger with a total budget at PATH. A file that exists is never replaced.

    \b
    Examples:
      cloister ledger create budget.sqlite --epsilon 2 --delta 1e-6 --name "patients 2026"
      cloister ledger create visits.sqlite --epsilon 2 --unit person --name "visits 2026"
    """  # noqa: D301
    from cloister.privacy import Ledger

    with Ledger.create(path, **terms) as made:
        if as_json:
            print_json(made.summary())
        else:
            click.echo(
                f"Created {path} with a budget of {made.budget} ({made.neighbours} neighbours). It {unit_words(made.unit)}."
            )


@ledger.command(short_help="Print budget, spending and what is left.")
@click.argument("path", metavar="PATH")
@click.option("--events", is_flag=True, help="Also print every noisy answer: its step, question, noise, sensitivity and day.")
@JSON
def show(path: str, *, events: bool, as_json: bool) -> None:
    """Print the budget at PATH, what was spent, and what is left.

    \b
    Examples:
      cloister ledger show budget.sqlite
      cloister ledger show budget.sqlite --events
      cloister ledger show budget.sqlite --json | jq .left
    """  # noqa: D301
    with open_ledger(path) as found:
        summary, budget = found.summary(), str(found.budget)
        debits = [line for line in found.lines if line["kind"] == "debit"] if events else []
    if as_json:
        print_json({**summary, "events": debits} if events else summary)
        return
    console = open_console()
    print_ledger(console, summary, budget)
    if events and debits:
        print_events(console, debits)


@ledger.command(short_help="Check that no line was altered.")
@click.argument("path", metavar="PATH")
@click.option("--checkpoint", help="What 'ledger show' or 'ledger verify' printed earlier: finds lines cut off the end, too.")
def verify(path: str, *, checkpoint: str | None) -> None:
    """Read every line at PATH, check the chain of digests, and add the debits up again.

    An edit is found in any case. Lines cut off the end are found only by comparing with a checkpoint that was kept elsewhere:
    the file itself cannot know what was once behind its last line.

    \b
    Examples:
      cloister ledger verify budget.sqlite
      cloister ledger verify budget.sqlite --checkpoint 17:5f2a...
    """  # noqa: D301
    with open_ledger(path, checkpoint=checkpoint) as found:
        lines, summary = found.lines, found.summary()
    debits = sum(line["kind"] == "debit" for line in lines)
    click.echo(f"{path} is in order: {len(lines)} lines, {debits} noisy answers, spent {summary['spent']}.")
    if checkpoint is not None:
        click.echo("It holds all it held at the checkpoint.")
    click.echo(f"Checkpoint: {summary['checkpoint']}")


@ledger.command(short_help="Close the accounts of fits that were killed.")
@click.argument("path", metavar="PATH")
@click.argument("account", required=False)
@click.option("--force", is_flag=True, help="Close ACCOUNT even if its fit may still run; it then fails at its next question.")
@JSON
def settle(path: str, account: str | None, *, force: bool, as_json: bool) -> None:
    """Close accounts at PATH whose process is gone: what counts is then what they debited, not all they reserved.

    A fit closes its account when it ends, also by an error; one that was killed leaves it open. Without ACCOUNT, all accounts
    are closed whose process is known to be gone. Nothing that was answered becomes free.

    \b
    Examples:
      cloister ledger settle budget.sqlite
      cloister ledger settle budget.sqlite 4f2a90c1d7e3 --force
    """  # noqa: D301
    with open_ledger(path) as found:
        closed, summary = found.settle(account, force=force), found.summary()
    if as_json:
        print_json({**summary, "closed": list(closed)})
        return
    accounts = {one["account"]: one for one in summary["accounts"]}
    for name in closed:
        one = accounts[name]
        click.echo(f"Closed {name} ({one['purpose']}, {one['when']}): counts as {one['cost']}.")
    still = [name for name, one in accounts.items() if one["open"]]
    if still:
        click.echo(f"Still open, as their fits may run: {', '.join(still)}.")
    if not closed and not still:
        click.echo("No account is open.")
    click.echo(f"Left: {describe_remaining(summary)}.")


def open_ledger(path: str, *, where: str = "ledger", checkpoint: str | None = None) -> "Ledger":
    """Open a ledger that exists."""
    from cloister.privacy import Ledger

    if not Path(path).exists():
        raise LedgerError(f"{where}: there is no file {path!r}. Create it with 'cloister ledger create'.")
    return Ledger.open(path, checkpoint=checkpoint)
