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
    "group_parameters",
    "group_source",
    "refuse_other_unit",
    "refuse_without_groups",
]

NAMES = ("groups", "max_rows_per_group", "weighting", "groups_bounded")  # as estimators call them
USUAL: Mapping[str, Any] = {"max_rows_per_group": "auto", "weighting": "row", "groups_bounded": False}


def group_parameters(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of an estimator that concern persons."""
    return {name: options[name] for name in NAMES}


def group_source(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return how the table is opened where a column says whose row it is; with a seed a run can be repeated."""
    refuse_without_groups(options)
    if options["groups"] is None:
        return {}
    from cloister.cluster import group_options
    from cloister.privacy import Entropy

    entropy = Entropy(options["seed"], where="--seed")
    return group_options(options["groups"], groups_bounded=options["groups_bounded"], entropy=entropy)


def refuse_without_groups(options: Mapping[str, Any], *, example: str = "--groups patient_id") -> None:
    """Refuse what would make somebody believe that persons are protected."""
    if options["groups"]:
        return
    if options["groups"] == "":
        raise ParameterError(f"--groups: expected the name of a column, got ''. Pass {example}, or leave it out.")
    for name, usual in USUAL.items():
        if options.get(name, usual) != usual:
            option, value = f"--{name.replace('_', '-')}", options[name]
            got = "" if value is True else f", got {value}"
            raise ParameterError(f"{option}: expected --groups beside it{got}. Pass {example}, or leave it out.")


def refuse_other_unit(ledger: "Ledger", options: Mapping[str, Any]) -> None:
    """Refuse a fit that protects other units than its ledger counts, in the words of the command line."""
    unit = "row" if options["groups"] is None else "person"
    if unit != ledger.unit:
        remedy = "Pass --groups COLUMN" if options["groups"] is None else "Leave --groups out"
        raise LedgerError(
            f"--ledger: this ledger protects one {ledger.unit}, the fit one {unit}. {remedy}, or take a ledger that was "
            f"created with --unit {unit}."
        )


def counted_words(receipt: "Receipt") -> str:
    """Return what noisy counts are numbers of."""
    return "persons" if receipt.groups is not None and receipt.groups.is_weighted else "rows"


def found_rows_words(receipt: "Receipt") -> str:
    """Say how many rows of a person are used, where that was found with noise; otherwise nothing."""
    groups = receipt.groups
    found = [fit for fit in receipt.fits if any(event.question_name == "group_sizes" for event in fit.events)]
    if groups is None or groups.max_rows not in [fit.groups.max_rows for fit in found if fit.groups is not None]:
        return ""
    return f"Rows of one {groups.noun} that are used: at most {groups.max_rows}, found with noise (auto)."
