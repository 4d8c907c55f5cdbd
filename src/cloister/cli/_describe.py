# SPDX-License-Identifier: Apache-2.0
"""``--describe``, ``--describe-columns``: the share of the budget that says what clusters look like, and further columns."""

from collections.abc import Collection, Sequence
from typing import Any

from cloister.cli._bounds import read_bounds
from cloister.exceptions import ParameterError

__all__ = ["described_parameters", "read_described", "refuse_clustered"]

OPTION = "--describe-columns"


def read_described(values: Sequence[str]) -> dict[str, Any]:
    """Read all values of ``--describe-columns``: what each column is, in the syntax of ``--bounds``.

    Examples
    --------
    >>> read_described(["income=0:200000", "region=north|south"])
    {'income': (0.0, 200000.0), 'region': Category(('north', 'south'))}
    """
    if not values:
        return {}
    try:
        found = read_bounds(values)
    except ParameterError as error:
        problem = str(error).replace("--bounds", OPTION)
    else:
        if found.default is None:
            return dict(found.named)
        problem = f"{OPTION}: expected columns by their names, got bounds for all. Pass column=low:high."
    raise ParameterError(problem)


def refuse_clustered(described: Collection[str], clustered: Collection[str]) -> None:
    """Refuse columns that are clustered by."""
    for name in described:
        if name in clustered:
            raise ParameterError(f"{OPTION}: column {name!r} is clustered by, and described anyway. Leave it out here.")


def described_parameters(options: dict[str, Any], described: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters of the estimator, for commands that describe clusters."""
    if "describe" not in options:
        return {}
    return {"describe": options["describe"], "describe_columns": described or None}
