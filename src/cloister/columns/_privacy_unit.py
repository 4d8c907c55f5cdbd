# SPDX-License-Identifier: Apache-2.0
"""Whom the guarantee protects: one row, or one person with all of their rows. Anyone may import this module.

Two tables are neighbours if they differ in one unit: a row, or all rows of one person. Of a person at most `max_rows` rows are
used. Which ones are used depends on the rows of that person alone, so that a person more or less moves nobody else's. Rows
without an id are not used.
"""

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from cloister import validate
from cloister.columns._base import Relation

LARGEST_MAX_ROWS = 1000  # rows of a person that may be used
WEIGHT_STEPS = 840  # parts that the weight of a person is divided into: a whole number of them for 1 to 8 rows, 10, 12, 14, 15
ROWS_PER_STEPS = 100  # rows of a person from which on there are more parts: as many times as many
ROW, PERSON = "row", "person"
WEIGHTINGS = (ROW, PERSON)


@dataclass(frozen=True)
class Identifier:
    """A column that says whose row it is. It is read as two whole numbers below 2**52, a keyed hash of what stands there."""

    key: bytes = field(repr=False)  # secret, 32 bytes; drawn anew whenever a table is opened
    kind: ClassVar[str] = "id"
    are_numbers: ClassVar[bool] = False  # what readers ask of a declaration
    as_is: ClassVar[bool] = False


@dataclass(frozen=True, kw_only=True)
class PrivacyUnit:
    """Persons as the unit of privacy.

    Notes
    -----
    **Privacy.** The answers of questions are sums over rows, of f(x) for a row x, in integers. Between neighbouring tables a
    question's answer moves by at most D(add) where a row comes or goes and by at most D(replace) where a row is replaced.

    - Every row counts 1: a person who comes or goes moves the answer by the sum of at most `max_rows` vectors f(x), by at most
      `max_rows` times D(add). Where the rows of one person take the place of another's, pair them; a row without a partner
      comes or goes. So each of at most `max_rows` pairs moves the answer by at most the larger of D(add) and D(replace). Both
      bounds are attained where all rows of a person are equal.
    - Every person counts 1: the rows of a person weigh w = floor(W / k) for the k of them that are used, where W are
      :attr:`steps`. Together they weigh at most W, so that what a person adds is W times a point of the convex hull of 0 and
      the vectors f(x). A norm is largest at a corner, and so is the norm of the difference of two such points: W times
      D(add), and W times the larger of D(add) and D(replace). Attained by persons with one row.

    The same holds for the span of the moves of several numbers, which is a norm of vectors up to a constant in all numbers.

    Examples
    --------
    >>> PrivacyUnit(name="patient_id", max_rows=5).words
    'one patient_id, with at most 5 rows each'
    """

    name: str = ""  # of the column of ids; empty where ids came as an array
    max_rows: int | None = None  # of a person that are used; None while that is to be found with noise
    weighting: str = ROW  # whether every row that is used counts 1, or every person, in equal parts for each of their rows
    stated: bool = False  # that nobody has more rows, so that they are not counted

    @property
    def noun(self) -> str:
        """What one unit is called."""
        return self.name or "person"

    @property
    def words(self) -> str:
        """What is protected, in words."""
        if self.max_rows is None:
            return f"one {self.noun}, with a number of rows each that is found with noise"
        rows = "1 row" if self.max_rows == 1 else f"{self.max_rows} rows"
        return f"one {self.noun}, with at most {rows} each"

    def explain(self) -> str:
        """Say how the rows of a person count, and on what that rests."""
        how = (
            "Every person counts 1, in equal parts for each of their rows that are used."
            if self.is_weighted
            else "Every row that is used counts 1."
        )
        chosen = (
            "The limit was asserted, not checked."
            if self.stated
            else "Of people with more rows, that many are drawn at random. Rows without an id are left out."
        )
        return f"{how} {chosen}"

    @property
    def counted(self) -> str:
        """What counts are numbers of: the rows that are used, or persons."""
        return "persons" if self.is_weighted else "rows"

    @property
    def is_weighted(self) -> bool:
        """Whether rows have weights."""
        return self.weighting == PERSON

    @property
    def steps(self) -> int:
        """Integer steps that make one of the question's own: an answer is divided by it."""
        assert self.max_rows is not None
        return WEIGHT_STEPS * -(-self.max_rows // ROWS_PER_STEPS) if self.is_weighted else 1

    @property
    def factor(self) -> int:
        """How many times as far, in integer steps, a person moves an answer as a row does."""
        assert self.max_rows is not None
        return self.steps if self.is_weighted else self.max_rows

    def weight(self, n_rows: int) -> int:
        """Return the weight of each row of a person of whom so many are used, in integer steps."""
        return self.steps // n_rows if self.is_weighted else 1

    def limited(self, max_rows: int) -> "PrivacyUnit":
        """Return the same persons with so many rows at most."""
        return replace(self, max_rows=max_rows)

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        found: dict[str, Any] = {"name": self.name, "max_rows": self.max_rows, "weighting": self.weighting}
        return {**found, "stated": True} if self.stated else found

    @classmethod
    def from_dict(cls, data: dict[str, Any], *, where: str = "PrivacyUnit") -> "PrivacyUnit":
        """Read what ``to_dict`` wrote."""
        return cls(
            name=validate.text(f"{where}.name", data["name"]),
            max_rows=validate.integer(f"{where}.max_rows", data["max_rows"], low=1, high=LARGEST_MAX_ROWS),
            weighting=validate.one_of(f"{where}.weighting", data["weighting"], WEIGHTINGS),
            stated=validate.boolean(f"{where}.stated", data.get("stated", False)),
        )


@dataclass(frozen=True)
class Neighbours:
    """Which tables are neighbours: whether a unit comes or goes, or is replaced, and what a unit is.

    Examples
    --------
    >>> Neighbours(Relation.REPLACE, PrivacyUnit(max_rows=3)).words
    'replacing any one person, with all of their rows, by another'
    """

    relation: Relation
    privacy_unit: PrivacyUnit | None = None  # None where one row is protected

    @property
    def value(self) -> str:
        """The name of the relation."""
        return self.relation.value

    @property
    def unit(self) -> str:
        """What is protected: "row" or "person"."""
        return ROW if self.privacy_unit is None else PERSON

    @property
    def words(self) -> str:
        """What two neighbours differ in, in words."""
        who = "any one row" if self.privacy_unit is None else f"any one {self.privacy_unit.noun}, with all of their rows,"
        if self.relation is Relation.ADD_REMOVE:
            return f"adding or removing {who}"
        return f"replacing {who} by another"


def as_neighbours(value: Relation | Neighbours) -> Neighbours:
    """Return neighbours; a relation alone is about rows."""
    return Neighbours(value) if isinstance(value, Relation) else value
