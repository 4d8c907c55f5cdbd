# SPDX-License-Identifier: Apache-2.0
"""The laws that all targets share: what an error may say, what it may not quote, and that nothing warns.

A law takes one case and returns its outcome in a few words, or raises AssertionError: a finding.
"""

import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from cloister.exceptions import AccuracyWarning, CloisterError, PrivacyWarning

NUMBER_CANARY = 77.123456789
TEXT_CANARY = "Zanthoxylum"
CANARY = re.compile(r"77\.123|0\.77123|7712345|zanthoxylum|5a616e74686f", re.IGNORECASE)
MESSAGE = re.compile(r"[\w.()'\-\[\] ]+: .+[.?] .+[.?]$", re.DOTALL)  # who: what. what to do.


@dataclass(frozen=True)
class Outcome:
    """How a call ended: with a value, or with an error of ours."""

    value: Any = None
    error: CloisterError | None = None

    @property
    def label(self) -> str:
        """Return the outcome in words that many cases share: the kind of error and its message without its values."""
        if self.error is None:
            return "valid"
        text = re.sub(r"got .*", "got", str(self.error), flags=re.DOTALL)
        text = re.sub(r"'[^']*'|\"[^\"]*\"|\([^)]*\)|[-+]?\d[\d.e+-]*", "_", text)
        return f"{type(self.error).__name__}: {text[:70]}"


def attempt(call: Callable[[], Any]) -> Outcome:
    """Call; only an error of ours may come out of it, with a message that names its owner and the remedy, and no warning."""
    with no_warnings():
        try:
            return Outcome(value=call())
        except CloisterError as error:
            found = error
        except Exception as error:
            raise AssertionError(f"{type(error).__name__} instead of an error of ours: {str(error)[:300]}") from error
    assert MESSAGE.match(str(found)), f"no owner, no remedy: {found}"
    return Outcome(error=found)


@contextmanager
def no_warnings() -> Iterator[None]:
    """Make every warning an error, NumPy's of overflow and the like among them."""
    with warnings.catch_warnings(), np.errstate(over="warn", invalid="warn", divide="warn", under="ignore"):
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", category=ResourceWarning)
        for ours in (AccuracyWarning, PrivacyWarning):  # of public numbers alone
            warnings.filterwarnings("ignore", category=ours)
        yield


def refuse_quotes(*texts: str) -> None:
    """Fail if a planted value shows."""
    for text in texts:
        assert not CANARY.search(text), f"a planted value is quoted: {text[:300]}"


def refuse_quotes_in(error: BaseException | None) -> None:
    """Fail if a planted value shows in an error, in what it was raised from, or while which it was raised."""
    if error is not None:
        refuse_quotes(str(error), repr(error), *map(repr, error.args), *getattr(error, "__notes__", ()))
        refuse_quotes_in(error.__context__)
        refuse_quotes_in(error.__cause__)
