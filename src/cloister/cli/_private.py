# SPDX-License-Identifier: Apache-2.0
"""What every command that spends budget shares: its options, and the way from a file to what may be published."""

import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from cloister.cli._bounds import Bounds, read_bounds
from cloister.cli._product import OutputOptions, Product, check_shown, open_outputs, publish
from cloister.exceptions import LedgerError, ParameterError

if TYPE_CHECKING:
    from cloister.data import Rows
    from cloister.privacy import Ledger

__all__ = [
    "EPSILON_HELP",
    "domain_of",
    "fit_privately",
    "guarantee_options",
    "open_table",
    "output_options",
    "output_options_of",
    "shared_options",
    "shared_parameters",
    "source_options",
    "spend",
    "split_names",
]

Command = TypeVar("Command", bound=Callable[..., Any])


EPSILON_HELP = "Privacy of this fit: smaller is more private, 0.1 to 10 is usual."


def shared_options(command: Command) -> Command:
    """Add the options of every command that spends budget."""
    return _add(
        command,
        click.option("--bounds", multiple=True, metavar="BOUNDS", help="Where rows may lie; see above. May be repeated."),
        click.option("--columns", metavar="A,B,C", help="Columns to use. Default: those with bounds of their own, else all."),
        click.option("--ledger", metavar="PATH", help="Take the budget from this ledger ('cloister ledger create')."),
        click.option(
            "--neighbours",
            type=click.Choice(["add-remove", "replace"]),
            help="Which tables count as neighbours. Default: as in the ledger, else add-remove.",
        ),
        click.option(
            "--engine",
            type=click.Choice(["numpy", "dask", "spark"]),
            default="numpy",
            show_default=True,
            help="Who reads the rows: this process, or workers of a cluster that see the same files.",
        ),
        click.option("--scheduler", metavar="ADDRESS", help="Dask scheduler or Spark master. Default: this machine."),
        click.option("--n-rows", type=int, help="Number of rows, if it is public. Otherwise 2 % of the budget estimates it."),
        click.option("--seed", type=int, help="Repeat a run exactly. For tests: the result is stamped as not for publication."),
    )


def guarantee_options(command: Command) -> Command:
    """Add the options that say what is promised, and to whom."""
    return _add(
        command,
        click.option("--epsilon", type=float, required=True, help=EPSILON_HELP),
        shared_options,
        click.option(
            "--scaling",
            type=click.Choice(["auto", "none", "bounds"]),
            default="auto",
            show_default=True,
            help="Measure distances in input units (none) or relative to the bounds; auto: bounds, if their widths differ.",
        ),
    )


def output_options(command: Command) -> Command:
    """Add the options that say what is kept and told."""
    return _add(
        command,
        click.option("--report", metavar="FILE", help="Write the report as one HTML file; '-' is standard output."),
        click.option("--force", is_flag=True, help="Replace files that exist. Without it they are kept, and nothing is spent."),
        click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON instead of a table."),
        click.option("--jobs", type=int, help="Threads. Default: all processors."),
        click.option(
            "-q", "--quiet", is_flag=True, help="No progress, no summary: only errors, and what '-' or --json ask for."
        ),
    )


def fit_privately(product: Product, data: str, options: dict[str, Any], run: Callable[[dict[str, Any], "Rows"], Any]) -> None:
    """Check everything, fit, write and tell. `run` gets the parameters that all estimators share, and the rows."""
    shown = output_options_of(options)
    check_shown(shown, [("DATA", data), ("--ledger", options["ledger"])])
    bounds = read_bounds(options["bounds"])
    rows = open_table(data, bounds, split_names(options["columns"]), **source_options(options))
    spend(product, shown, options, lambda ledger: run(_parameters(rows, bounds, ledger, options), rows))


def output_options_of(options: dict[str, Any]) -> OutputOptions:
    """Return how a command tells what it did, from its options."""
    return OutputOptions(
        output=options["output"],
        report=options["report"],
        indices=options.get("indices"),
        force=options["force"],
        json=options["as_json"],
        quiet=options["quiet"],
    )


def spend(product: Product, shown: OutputOptions, options: dict[str, Any], run: Callable[["Ledger | None"], Any]) -> None:
    """Try the outputs, open the ledger, run what spends from it, write and tell."""
    with ExitStack() as stack:
        outputs = stack.enter_context(open_outputs(shown))
        ledger = None if options["ledger"] is None else stack.enter_context(_open_ledger(options["ledger"]))
        value = run(ledger)
        files = {product.name if name == "output" else name: path for name, path in outputs.files.items()}
        more = {"ledger": None if ledger is None else ledger.summary(), "files": files}
        publish(product, value, outputs, ledger=ledger, more=more, paid=True)


def _parameters(rows: "Rows", bounds: Bounds, ledger: "Ledger | None", options: dict[str, Any]) -> dict[str, Any]:
    return {
        **shared_parameters(ledger, options),
        **({} if options["delta"] is None else {"delta": options["delta"]}),  # each estimator has its own default
        "epsilon": options["epsilon"],
        **domain_of(rows, bounds, options["scaling"]),
    }


def domain_of(rows: "Rows", bounds: Bounds, scaling: str) -> dict[str, Any]:
    """Return the parameters that say where rows may lie and how distances are measured."""
    from cloister.domain import Box

    pairs = bounds.pairs(rows.feature_names or ())
    widths = [high - low for low, high in pairs]
    if scaling == "auto":
        scaling = "bounds" if max(widths) > min(widths) * (1 + 1e-12) else "none"
    return {"bounds": Box([low for low, _ in pairs], [high for _, high in pairs]), "scaling": scaling}


def shared_parameters(ledger: "Ledger | None", options: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters that every estimator takes as they are."""
    return {
        "n_clusters": options["clusters"],
        "neighbours": options["neighbours"] or (ledger.neighbours if ledger is not None else "add-remove"),
        "n_rows": options["n_rows"],
        "ledger": ledger,
        "random_state": options["seed"],
        "n_jobs": options["jobs"],
        "progress": sys.stderr.isatty() and not options["quiet"],
    }


def _add(command: Command, *options: Callable[[Command], Command]) -> Command:
    for option in reversed(options):
        command = option(command)
    return command


def split_names(columns: str | None) -> list[str] | None:
    """Read ``--columns``."""
    if columns is None:
        return None
    names = [name.strip() for name in columns.split(",")]
    if not all(names):
        raise ParameterError(f"--columns: expected names joined by commas, got {columns!r}. Pass --columns age,bmi.")
    return names


def source_options(options: dict[str, Any]) -> dict[str, Any]:
    """Return how the private table is opened, from the options of a command."""
    return {"engine": options["engine"], "scheduler": options["scheduler"], "n_jobs": options["jobs"]}


def open_table(data: str, bounds: Bounds, columns: list[str] | None, *, where: str = "fit", **door: Any) -> "Rows":
    """Open the table with the columns that are asked for, and make sure that bounds and columns know each other."""
    from cloister.data import open_rows

    if columns is None and bounds.named and bounds.default is None:
        columns = list(bounds.named)
    if columns is not None:
        bounds.pairs(columns)
        extra = [name for name in bounds.named if name not in columns]
        if extra:
            open_rows(data, [*columns, *extra], where=where)  # names a column that is not in the table
    rows = open_rows(data, columns, where=where, **door)
    if columns is None:
        bounds.refuse_unknown(rows.feature_names or ())
    return rows


def _open_ledger(path: str) -> "Ledger":
    from cloister.privacy import Ledger

    if not Path(path).exists():
        raise LedgerError(f"--ledger: there is no file {path!r}. Create it with 'cloister ledger create'.")
    return Ledger.open(path)
