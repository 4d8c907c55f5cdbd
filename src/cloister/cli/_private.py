# SPDX-License-Identifier: Apache-2.0
"""What every command that spends budget shares: the way from a file to what may be published."""

import sys
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import click

from cloister.cli._bounds import Bounds, read_bounds
from cloister.cli._ledger import open_ledger
from cloister.cli._output import OutputOptions, Product, publish
from cloister.exceptions import AccuracyWarning, LedgerError, ParameterError, PrivacyWarning

if TYPE_CHECKING:
    from cloister.data import Rows
    from cloister.privacy import Ledger

KEEP_BOTH = "Pass --ledger to count it and --output to keep it."
USUAL = {"max_rows_per_unit": "auto", "weighting": "row", "units_bounded": False}  # without --privacy-unit
DESCRIBED = "--describe-columns"


def fit_privately(product: Product, data: str, options: dict[str, Any], run: Callable[[dict[str, Any], "Rows"], Any]) -> None:
    """Check everything, fit, write and print. `run` gets the parameters that all estimators share, and the rows."""
    inputs = [("DATA", data), ("--ledger", options["ledger"])]
    output = OutputOptions.read(options, inputs, product, seed=options["random_state"])
    bounds, described = read_bounds(options["bounds"]), _read_described(options.get("describe_columns", ()))
    columns = split_names(options["columns"])
    rows = open_table(data, bounds, columns, described=described, where="fit", **source_options(options))

    def fit(ledger: "Ledger | None") -> Any:
        parameters = {
            **shared_parameters(ledger, options),
            "bounds": domain_of(rows, bounds, described=described),
            "scaling": options["scaling"],
            "epsilon": options["epsilon"],
        }
        if options["delta"] is not None:
            parameters["delta"] = options["delta"]
        if "describe" in options:
            parameters |= {"describe": options["describe"], "describe_columns": described or None}
        return run(parameters, rows)

    spend(product, output, options, fit)


def spend(product: Product, output: OutputOptions, options: dict[str, Any], run: Callable[["Ledger | None"], Any]) -> None:
    """Try the outputs, open the ledger, run what spends from it, write and print."""
    with ExitStack() as stack:
        stack.enter_context(plain_warnings())
        targets, ledger = stack.enter_context(output.open()), None
        if options["ledger"] is not None:
            ledger = stack.enter_context(open_ledger(options["ledger"], where="--ledger"))
            is_row = options["privacy_unit"] is None
            wanted, remedy = ("row", "Pass --privacy-unit COLUMN") if is_row else ("person", "Leave --privacy-unit out")
            if wanted != ledger.unit:
                raise LedgerError(
                    f"--ledger: this ledger protects one {ledger.unit}, the fit one {wanted}. {remedy}, or take a ledger that "
                    f"was created with --unit {wanted}."
                )
        value = run(ledger)
        if options["ledger"] is None and not (output.output or output.report or output.as_json):
            _say_warning(f"--ledger: nobody adds up what this fit has spent, and no {product.name} is kept. {KEEP_BOTH}")
        publish(product, value, output, targets, ledger=ledger, paid=True)


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


def domain_of(rows: "Rows", bounds: Bounds, *, described: Collection[str] = ()) -> Any:
    """Return what columns are and where rows may lie, as estimators take it."""
    from cloister.columns import Box

    columns = [name for name in rows.feature_names or () if name not in described]
    if described or not bounds.are_pairs:
        return bounds.of(columns)
    low, high = zip(*bounds.of(columns).values(), strict=True)
    return Box(low, high)


def shared_parameters(ledger: "Ledger | None", options: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters that every estimator takes as they are."""
    names = "n_clusters", "n_rows", "privacy_unit", *USUAL, "dataset", "purpose", "random_state", "n_jobs"
    return {
        **{name: options[name] for name in names},
        "neighbours": options["neighbours"] or (ledger.neighbours if ledger is not None else "add-remove"),
        "ledger": ledger,
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


def _read_described(values: Sequence[str]) -> dict[str, Any]:
    """Read all values of ``--describe-columns``: what each column is, in the syntax of ``--bounds``."""
    if not values:
        return {}
    try:
        found = read_bounds(values)
    except ParameterError as error:
        problem = str(error).replace("--bounds", DESCRIBED)
    else:
        if found.default is None:
            return dict(found.named)
        problem = f"{DESCRIBED}: expected columns by their names, got bounds for all. Pass column=low:high."
    raise ParameterError(problem)


# -- whose rows they are ------------------------------------------------------------------------------------------------


def refuse_without_unit(options: Mapping[str, Any]) -> None:
    """Refuse options of a privacy unit where rows are protected."""
    example = "Pass --privacy-unit patient_id, or leave it out."
    if options["privacy_unit"]:
        return
    if options["privacy_unit"] == "":
        raise ParameterError(f"--privacy-unit: expected the name of a column, got ''. {example}")
    for name, usual in USUAL.items():
        if options.get(name, usual) != usual:
            got = "" if options[name] is True else f", got {options[name]}"
            raise ParameterError(f"--{name.replace('_', '-')}: expected --privacy-unit beside it{got}. {example}")


# -- the table ----------------------------------------------------------------------------------------------------------


def source_options(options: dict[str, Any]) -> dict[str, Any]:
    """Return how the private table is opened, from the options of a command; with a seed a run can be repeated."""
    refuse_without_unit(options)
    source = {name: options[name] for name in ("engine", "scheduler", "n_jobs")}
    if options["privacy_unit"] is not None:
        from cloister.cluster import unit_options
        from cloister.privacy import Entropy

        entropy = Entropy(options["random_state"], where="--seed")
        source |= unit_options(options["privacy_unit"], units_bounded=options["units_bounded"], entropy=entropy)
    return {**source, **file_settings(options)}


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
    from cloister.data import describe_columns, open_rows

    text, behind, unit = file_settings(source), described or {}, source.get("privacy_unit")
    if columns is None and (bounds.named or behind):
        columns = list(bounds.named)
        if bounds.default is not None:
            names = [column.name for column in describe_columns(data, where=where, **text)]
            bounds.refuse_unknown(names)
            columns = [name for name in names if name not in {*behind, unit}]
    if columns is None:
        rows = open_rows(data, where=where, **source)
        return rows if bounds.are_pairs else open_rows(data, bounds.of(rows.feature_names or ()), where=where, **source)
    if len(set(columns)) != len(columns):
        raise ParameterError(f"{where}: expected every column once, got one twice. Check --columns.")
    if unit in {*columns, *bounds.named, *behind}:
        raise ParameterError(
            f"--privacy-unit: expected a column that is none of those to cluster by or to describe, got {unit!r}. "
            "Leave it out of --columns, --bounds and --describe-columns, or name another one."
        )
    wanted = bounds.of(columns)
    if both := [name for name in behind if name in wanted]:
        raise ParameterError(f"{DESCRIBED}: column {both[0]!r} is clustered by, and described anyway. Leave it out here.")

    if extra := {name: one for name, one in bounds.named.items() if name not in wanted}:
        all_named = {**wanted, **extra}  # names a column that is not in the table
        open_rows(data, list(all_named) if bounds.are_pairs else all_named, where=where, **text)
    if by_default := [name for name in columns if name not in bounds.named]:
        open_rows(data, by_default, where=where, **text)  # what is not declared must hold numbers
    chosen = {**wanted, **behind}
    return open_rows(data, list(chosen) if bounds.are_pairs and not behind else chosen, where=where, **source)
