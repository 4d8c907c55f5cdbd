# SPDX-License-Identifier: Apache-2.0
"""The rows that ``compare`` fits to: public ones, as fits will see them, or made-up ones. Imported by ``compare`` alone."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from cloister import validate
from cloister.columns import Box, ColumnDomain, Domain, FloatArray, IntArray, as_domain
from cloister.data import LocalRows, Rows, open_rows
from cloister.privacy import Entropy

__all__ = ["PublicRows", "make_up", "read_public"]

LARGEST = 1 << 27  # numbers in a table that is made up
SPREAD = 0.05  # standard deviation of made-up clusters, whose domain reaches from -1 to 1


@dataclass(frozen=True, eq=False)
class PublicRows:
    """Rows that protect nobody, where they may lie, and whose they are."""

    table: FloatArray  # (n_rows, n_features)
    domain: Domain
    ids: IntArray | None = None  # one for each row, where persons are protected

    @property
    def n_units(self) -> int:
        """How many rows or persons there are."""
        return len(self.table) if self.ids is None else len(np.unique(self.ids))


def read_public(
    rows: Any, bounds: Any, n_rows: int | None, n_features: int | None, *, relative: bool, privacy_unit: str | None
) -> PublicRows:
    """Return public rows as the fits will see them, inside the domain and in the units in which distances are measured."""
    for name, value in (("n_rows", n_rows), ("n_features", n_features)):
        if value is not None:
            validate.refuse(f"compare.{name}", "left out beside rows, which have a shape", value, remedy="Leave it out.")
    source = _open(rows, privacy_unit)
    if not isinstance(source, LocalRows):
        validate.refuse("compare.rows", "rows that this process can hold", source, remedy="Pass an array, a frame or a file.")
    domain = as_domain("compare.bounds", bounds, source.n_features)
    if isinstance(domain, ColumnDomain):
        remedy = "Pass bounds=(low, high) or pairs per column; public rows have bounds that can be seen."
        validate.refuse("compare.bounds", "a box or a ball around rows of numbers", bounds, remedy=remedy)
    whole = np.concatenate([np.empty((0, source.width)), *source.blocks()])
    table, ids = whole[:, : source.n_features], _persons(whole[:, source.n_features :])
    if not len(table) or not np.isfinite(table).all():
        rule, got = "finite numbers in at least one row", f"{len(table)} rows"
        validate.refuse("compare.rows", rule, got, remedy="Leave rows with missing values out.")
    table = domain.clip(table)
    if relative and isinstance(domain, Box):
        table, domain = (table - domain.low) / (domain.high - domain.low), Box(0.0, 1.0).spread(source.n_features)
    return PublicRows(table, domain, ids)


def _open(rows: Any, privacy_unit: str | None) -> Any:
    """Open public rows; those that are open already must have been opened with the same privacy_unit."""
    if privacy_unit is not None and (not isinstance(privacy_unit, str) or not privacy_unit):
        remedy = "Make the ids a column of the rows."
        validate.refuse("compare.privacy_unit", "the name of a column", type(privacy_unit).__name__, remedy=remedy)
    if privacy_unit is None or not isinstance(rows, Rows):
        return open_rows(rows, privacy_unit=privacy_unit, where="compare")
    if rows.privacy_unit != privacy_unit:
        validate.refuse("compare.privacy_unit", "what open_rows was given", privacy_unit, remedy="Pass the same name to both.")
    return rows


def _persons(lanes: FloatArray) -> IntArray | None:
    """Return whose row each one is, as numbers in the order of their first rows; None where no columns say so.

    The columns are a hash with a secret key: that order is the same for every key, so that a comparison can be repeated.
    """
    if not lanes.shape[1]:
        return None
    _, first, inverse = np.unique(lanes, axis=0, return_index=True, return_inverse=True)
    found: IntArray = np.argsort(np.argsort(first))[inverse.reshape(-1)]
    return found


def make_up(
    seed: int, k: int, bounds: Any, n_rows: int | None, n_features: int | None, *, privacy_unit: str | None
) -> PublicRows:
    """Return round clusters in a cube; their sizes differ by up to a factor of two."""
    if bounds is not None:
        validate.refuse("compare.bounds", "left out for made-up rows", bounds, remedy="Leave it out, or pass rows.")
    if privacy_unit is not None:
        validate.refuse(
            "compare.privacy_unit", "left out for made-up rows, which nobody owns", privacy_unit, remedy="Pass public rows."
        )
    if n_rows is None or n_features is None:
        validate.refuse(
            "compare.rows", "public rows, or n_rows and n_features", None, remedy="Pass one or the other, never private rows."
        )
    size, width = (
        validate.integer(f"compare.{name}", value, low=1) for name, value in (("n_rows", n_rows), ("n_features", n_features))
    )
    if size * width > LARGEST:
        validate.refuse("compare.n_rows", f"at most {LARGEST // width:,} rows of {width}", size, remedy="Ask for fewer.")
    generator = Entropy(seed).public_generator()
    middles = generator.uniform(-0.8, 0.8, (k, width))
    sizes = generator.uniform(1, 2, k)
    labels = generator.choice(k, size=size, p=sizes / sizes.sum())
    domain = Box(-1.0, 1.0).spread(width)
    return PublicRows(domain.clip(middles[labels] + SPREAD * generator.standard_normal((size, width))), domain)
