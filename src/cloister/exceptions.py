# SPDX-License-Identifier: Apache-2.0
"""Every error Cloister raises, in one tree.

::

    CloisterError
    ├── ParameterError   (ValueError)    a parameter breaks its rule
    ├── DataError        (ValueError)    a table cannot be opened: file, column or type, never a row
    ├── BoundsError      (ValueError)    noise hides between which numbers a column lies
    ├── ConversionError  (ValueError)    one privacy guarantee does not imply the other
    ├── ReleaseError     (ValueError)    a file cannot be read as a release, or may not be written
    ├── OutOfMemoryError (MemoryError)   the rows do not fit; by how much is not said
    └── LedgerError      (RuntimeError)  a ledger cannot be used this way
        └── BudgetExceeded               the ledger is in order, but the budget is gone

    AccuracyWarning      (UserWarning)   a result that cannot be good: said from public numbers alone
    PrivacyWarning       (UserWarning)   a guarantee that promises little or that nobody adds up: said from public numbers alone

Messages read ``Owner.name: expected <rule>, got <value>. <What to do>.`` They never quote a row or an exact count.
Anyone may import this module.
"""

import inspect
import warnings
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import ParamSpec, TypeVar

__all__ = [
    "AccuracyWarning",
    "BoundsError",
    "BudgetExceeded",
    "CloisterError",
    "ConversionError",
    "DataError",
    "LedgerError",
    "OutOfMemoryError",
    "ParameterError",
    "PrivacyWarning",
    "ReleaseError",
]

PACKAGE = Path(__file__).parent
Given = ParamSpec("Given")
Result = TypeVar("Result")


class CloisterError(Exception):
    """Base of all errors raised by this library."""


class ParameterError(CloisterError, ValueError):
    """A parameter breaks its rule; nothing has been read or spent."""


class DataError(CloisterError, ValueError):
    """A table cannot be opened: the file, a column or a type is at fault, never a row."""


class BoundsError(CloisterError, ValueError):
    """No bounds of a column are distinguishable from noise; the search was paid for, the rest of the budget is kept.

    Noisy answers decide it: what is raised says no more about rows than they do. `columns` names all of these columns.
    """

    columns: tuple[str, ...] = ()


class ConversionError(CloisterError, ValueError):
    """One privacy guarantee does not imply the other, so no conversion is offered."""


class ReleaseError(CloisterError, ValueError):
    """A file is not a release this version can read, or a release may not be written."""


class OutOfMemoryError(CloisterError, MemoryError):
    """There is not enough memory for the rows. How much was wanted is not said: it would say how many they are."""


class LedgerError(CloisterError, RuntimeError):
    """A ledger cannot be used this way; nothing was debited."""


class BudgetExceeded(LedgerError):  # noqa: N818 - the name in the documentation
    """A debit does not fit into what is left of the budget; nothing was debited."""


class AccuracyWarning(UserWarning):
    """A result cannot be as good as was asked for; said from public numbers alone."""


class PrivacyWarning(UserWarning):
    """A guarantee promises little, is added up by nobody, or what it pays for is lost; said from public numbers alone."""


def warn(message: str, category: type[Warning]) -> None:
    """Warn at the line that called this package, however deep in it the warning is."""
    frame, level = inspect.currentframe(), 1
    while frame is not None and Path(frame.f_code.co_filename).is_relative_to(PACKAGE):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def without_sizes(work: Callable[Given, Result]) -> Callable[Given, Result]:
    """Decorate what takes memory for rows: NumPy and Arrow write into their errors how much was wanted, to the row."""

    @wraps(work)
    def careful(*args: Given.args, **options: Given.kwargs) -> Result:
        try:
            return work(*args, **options)
        except MemoryError:
            pass  # and is forgotten: a traceback of what is raised here would show it
        owner = f"{type(args[0]).__name__}." if "." in work.__qualname__ else ""
        raise OutOfMemoryError(
            f"{owner}{work.__name__}: expected rows that fit into the memory that is left, got more. Pass a file, which is "
            "read in parts, fewer columns, or n_jobs=1. What a ledger has debited stays debited."
        )

    return careful
