# SPDX-License-Identifier: Apache-2.0
"""What every command that spends budget shares: the way from a file to what may be published."""

import sys
import warnings
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cloister.cli._bounds import Bounds, read_bounds
from cloister.cli._describe import described_parameters, read_described, refuse_clustered
from cloister.cli._privacy_unit import refuse_other_unit, unit_parameters, unit_source
from cloister.cli._product import OutputOptions, Product, open_outputs, publish
from cloister.exceptions import AccuracyWarning, LedgerError, ParameterError, PrivacyWarning

if TYPE_CHECKING:
    from cloister.data import Rows
    from cloister.privacy import Ledger

__all__ = [
    "domain_of",
    "file_settings",
    "fit_privately",
    "open_table",
    "plain_warnings",
    "shared_parameters",
    "source_options",
    "spend",
    "split_names",
]


KEEP_BOTH = "Pass --ledger to count it and --output to keep it."


def fit_privately(
    product: Product, data: str, options: dict[str, Any], run: Callable[[dict[str, Any], "Rows"], Any], *, delta: float
) -> None:
    """Check everything, fit, write and print. `run` gets the parameters that all estimators share, and the rows.

    `delta` is used where the options leave it out.
    """
    output = OutputOptions.read(options)
    output.check([("DATA", data), ("--ledger", options["ledger"])], output_ends=product.ends, seed=options["seed"])
    bounds, described = read_bounds(options["bounds"]), read_described(options.get("describe_columns", ()))
    columns = split_names(options["columns"])
    rows = open_table(data, bounds, columns, described=described, where="fit", **source_options(options))

    def fit(ledger: "Ledger | None") -> Any:
        parameters = {
            **shared_parameters(ledger, options),
            **domain_of(rows, bounds, options["scaling"], described=described),
            **described_parameters(options, described),
            "epsilon": options["epsilon"],
            "delta": delta if options["delta"] is None else options["delta"],
        }
        return run(parameters, rows)

    spend(product, output, options, fit)


def spend(product: Product, output: OutputOptions, options: dict[str, Any], run: Callable[["Ledger | None"], Any]) -> None:
    """Try the outputs, open the ledger, run what spends from it, write and print."""
    with ExitStack() as stack:
        stack.enter_context(plain_warnings())
        outputs = stack.enter_context(open_outputs(output))
        ledger = None if options["ledger"] is None else stack.enter_context(_open_ledger(options["ledger"]))
        if ledger is not None:
            refuse_other_unit(ledger, options)
        value = run(ledger)
        if options["ledger"] is None and not (output.output or output.report or output.as_json):
            _say_warning(f"--ledger: nobody adds up what this fit has spent, and no {product.name} is kept. {KEEP_BOTH}")
        files = {product.name if name == "output" else name: path for name, path in outputs.files.items()}
        more = {"ledger": None if ledger is None else ledger.summary(), "files": files}
        publish(product, value, outputs, ledger=ledger, more=more, paid=True)


@contextmanager
def plain_warnings() -> Iterator[None]:
    """Print what is warned of, from public numbers alone, as one line."""
    with warnings.catch_warnings():
        for ours in (AccuracyWarning, PrivacyWarning):
            warnings.simplefilter("always", ours)
        usual = warnings.showwarning

        def show(message: Warning | str, category: type[Warning], *place: Any) -> None:
            ours = issubclass(category, AccuracyWarning | PrivacyWarning)
            _say_warning(str(message)) if ours else usual(message, category, *place)

        warnings.showwarning = show  # type: ignore[assignment]
        yield


def _say_warning(message: str) -> None:
    click.echo(f"Warning: {' '.join(message.split())}", err=True)


def domain_of(rows: "Rows", bounds: Bounds, scaling: str, *, described: Collection[str] = ()) -> dict[str, Any]:
    """Return the parameters that say what columns are, where rows may lie and how distances are measured."""
    from cloister.columns import Box

    columns = [name for name in rows.feature_names or () if name not in described]
    if described or not bounds.are_pairs:
        return {"bounds": bounds.of(columns), "scaling": scaling}
    pairs = bounds.pairs(columns)
    return {"bounds": Box([low for low, _ in pairs], [high for _, high in pairs]), "scaling": scaling}


def shared_parameters(ledger: "Ledger | None", options: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters that every estimator takes as they are."""
    return {
        "n_clusters": options["clusters"],
        "neighbours": options["neighbours"] or (ledger.neighbours if ledger is not None else "add-remove"),
        "n_rows": options["n_rows"],
        **unit_parameters(options),
        "dataset": options["name"],
        "purpose": options["purpose"],
        "ledger": ledger,
        "random_state": options["seed"],
        "n_jobs": options["jobs"],
        "progress": sys.stderr.isatty() and not options["quiet"],
    }


def split_names(value: str | None, *, option: str = "--columns", example: str = "age,bmi") -> list[str] | None:
    """Read an option that holds names joined by commas."""
    if value is None:
        return None
    names = [name.strip() for name in value.split(",")]
    if not all(names):
        raise ParameterError(f"{option}: expected names joined by commas, got {value!r}. Pass {option} {example}.")
    return names


def source_options(options: dict[str, Any]) -> dict[str, Any]:
    """Return how the private table is opened, from the options of a command."""
    return {
        "engine": options["engine"],
        "scheduler": options["scheduler"],
        "n_jobs": options["jobs"],
        **unit_source(options),
        **file_settings(options),
    }


def file_settings(options: dict[str, Any]) -> dict[str, Any]:
    """Return how files of text are written, from the options of a command."""
    return {name: options[name] for name in ("delimiter", "decimal", "encoding", "rows") if name in options}


def open_table(
    data: str,
    bounds: Bounds,
    columns: list[str] | None,
    *,
    where: str,
    described: dict[str, Any] | None = None,
    **source: Any,
) -> "Rows":
    """Open the table with the columns that are wanted, read as they are declared, and check that bounds match columns.

    Behind them come those that are only described. The column that says whose row it is is none of them.
    """
    from cloister.data import open_rows

    text, behind = file_settings(source), described or {}
    if columns is None and (bounds.named or behind):
        named = list(bounds.named) if bounds.default is None else _all_columns(data, bounds, where, text)
        unwanted = {*behind, source.get("privacy_unit")}
        columns = named if bounds.default is None else [name for name in named if name not in unwanted]
    if columns is None:
        rows = open_rows(data, where=where, **source)
        columns = list(rows.feature_names or ())
        return rows if bounds.are_pairs else open_rows(data, bounds.of(columns), where=where, **source)
    _refuse_twice(columns, where)
    _refuse_ids(source.get("privacy_unit"), {*columns, *bounds.named, *behind})
    wanted = bounds.of(columns)
    refuse_clustered(behind, wanted)
    extra = {name: one for name, one in bounds.named.items() if name not in wanted}
    if extra:
        open_rows(data, _chosen(bounds, {**wanted, **extra}), where=where, **text)  # names a column that is not in the table
    by_default = [name for name in columns if name not in bounds.named]
    if by_default:
        open_rows(data, by_default, where=where, **text)  # what is not declared must hold numbers
    chosen = {**wanted, **behind} if behind else _chosen(bounds, wanted)
    return open_rows(data, chosen, where=where, **source)


def _all_columns(data: str, bounds: Bounds, where: str, text: dict[str, Any]) -> list[str]:
    """Return the names of all columns of a table, among which must be all that are declared."""
    from cloister.data import describe_columns

    names = [column.name for column in describe_columns(data, where=where, **text)]
    bounds.refuse_unknown(names)
    return names


def _chosen(bounds: Bounds, wanted: dict[str, Any]) -> dict[str, Any] | list[str]:
    """Return how the columns are opened: by what they are, or by their names where all are numbers."""
    return list(wanted) if bounds.are_pairs else wanted


def _refuse_twice(columns: list[str], where: str) -> None:
    if len(set(columns)) != len(columns):
        raise ParameterError(f"{where}: expected every column once, got one twice. Check --columns.")


def _refuse_ids(privacy_unit: str | None, columns: Collection[str]) -> None:
    if privacy_unit in columns:
        raise ParameterError(
            f"--privacy-unit: expected a column that is none of those to cluster by or to describe, got {privacy_unit!r}. "
            "Leave it out of --columns, --bounds and --describe-columns, or name another one."
        )


def _open_ledger(path: str) -> "Ledger":
    from cloister.privacy import Ledger

    if not Path(path).exists():
        raise LedgerError(f"--ledger: there is no file {path!r}. Create it with 'cloister ledger create'.")
    return Ledger.open(path)
