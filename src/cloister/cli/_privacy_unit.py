# SPDX-License-Identifier: Apache-2.0
"""Persons as the unit of privacy, on the command line: whose rows they are, how many are used, and what is said of it."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from cloister.exceptions import LedgerError, ParameterError

if TYPE_CHECKING:
    from cloister.privacy import Ledger, Receipt

__all__ = [
    "counted_words",
    "found_rows_words",
    "refuse_other_unit",
    "refuse_without_unit",
    "unit_parameters",
    "unit_source",
]

NAMES = ("privacy_unit", "max_rows_per_unit", "weighting", "units_bounded")  # as estimators call them
USUAL: Mapping[str, Any] = {"max_rows_per_unit": "auto", "weighting": "row", "units_bounded": False}


def unit_parameters(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of an estimator that concern persons."""
    return {name: options[name] for name in NAMES}


def unit_source(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return how the table is opened where a column says whose row it is; with a seed a run can be repeated."""
    refuse_without_unit(options)
    if options["privacy_unit"] is None:
        return {}
    from cloister.cluster import unit_options
    from cloister.privacy import Entropy

    entropy = Entropy(options["seed"], where="--seed")
    return unit_options(options["privacy_unit"], units_bounded=options["units_bounded"], entropy=entropy)


def refuse_without_unit(options: Mapping[str, Any], *, example: str = "--privacy-unit patient_id") -> None:
    """Refuse what would make somebody believe that persons are protected."""
    if options["privacy_unit"]:
        return
    if options["privacy_unit"] == "":
        raise ParameterError(f"--privacy-unit: expected the name of a column, got ''. Pass {example}, or leave it out.")
    for name, usual in USUAL.items():
        if options.get(name, usual) != usual:
            option, value = f"--{name.replace('_', '-')}", options[name]
            got = "" if value is True else f", got {value}"
            raise ParameterError(f"{option}: expected --privacy-unit beside it{got}. Pass {example}, or leave it out.")


def refuse_other_unit(ledger: "Ledger", options: Mapping[str, Any]) -> None:
    """Refuse a fit that protects other units than its ledger counts, in the words of the command line."""
    unit = "row" if options["privacy_unit"] is None else "person"
    if unit != ledger.unit:
        remedy = "Pass --privacy-unit COLUMN" if options["privacy_unit"] is None else "Leave --privacy-unit out"
        raise LedgerError(
            f"--ledger: this ledger protects one {ledger.unit}, the fit one {unit}. {remedy}, or take a ledger that was "
            f"created with --unit {unit}."
        )


def counted_words(receipt: "Receipt") -> str:
    """Return what noisy counts are numbers of."""
    return "persons" if receipt.privacy_unit is not None and receipt.privacy_unit.is_weighted else "rows"


def found_rows_words(receipt: "Receipt") -> str:
    """Say how many rows of a person are used, where that was found with noise; otherwise nothing."""
    privacy_unit = receipt.privacy_unit
    found = [fit for fit in receipt.fits if any(event.question_name == "rows_per_unit" for event in fit.events)]
    if privacy_unit is None or privacy_unit.max_rows not in [fit.privacy_unit.max_rows for fit in found if fit.privacy_unit]:
        return ""
    return f"Rows of one {privacy_unit.noun} that are used: at most {privacy_unit.max_rows}, found with noise (auto)."
