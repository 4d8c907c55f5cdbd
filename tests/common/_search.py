# SPDX-License-Identifier: Apache-2.0
"""The search for a canary: a value of one row and the exact number of rows, as text, as bytes and as a number.

It looks into texts, bytes and arrays, and into every object that can be reached from what it is given.
"""

import collections
import contextlib
import fractions
import numbers
import pickletools
import re
import struct
import types

import numpy as np
import pandas as pd

from cloister import Box

VALUE = 77.123456789
COUNT = 4_391  # rows, exactly
BOUNDS = (0.0, 100.0)


class Search:
    """Finds the canary in texts, bytes, numbers, and in all that objects hold.

    Parameters
    ----------
    n_features : int
        Columns of the table; the value is also looked for as the unit ball's coordinates hold it.
    """

    def __init__(self, n_features=2):
        frame = Box(*BOUNDS).spread(n_features).frame()
        row = np.full((1, n_features), VALUE)
        self.values = [VALUE, float(frame.to_unit(row)[0, 0]), float(frame.clean(row)[0, 0]), (VALUE - 50) / 50]
        texts = [f"{VALUE:.9f}", f"{VALUE:.5f}", f"{VALUE:.7g}", str(fractions.Fraction(VALUE).numerator)]
        packed = [*self.values, float(COUNT)]
        self.value_forms = re.compile(b"|".join(re.escape(text.encode()) for text in texts))
        self.count_forms = re.compile(rb"(?<![0-9a-zA-Z.])(%d|%s)(?![0-9a-zA-Z])" % (COUNT, f"{COUNT:,}".encode()))
        self.packed = [struct.pack("<d", number) for number in packed] + [struct.pack("<q", COUNT)]

    def __call__(self, things):
        """Return which of the named things hold the canary, and in what form; what several of them hold counts once."""
        found, seen = set(), {}
        for name, thing in things:
            found |= {(name, form) for form in self.forms(thing, seen)}
        return found

    def forms(self, thing, seen):
        """Yield the form of every canary that can be reached from `thing` and has not been seen."""
        waiting, scalars = [thing], []
        while waiting:
            one = waiting.pop()
            if id(one) in seen:
                continue
            seen[id(one)] = one  # kept alive, so that the number stays its own
            if isinstance(one, numbers.Real) and not isinstance(one, bool):
                scalars.append(float(one))
                continue
            yield from self.in_one(one)
            waiting += reachable(one)
        yield from self.in_numbers(np.array(scalars))

    def in_one(self, thing):
        if isinstance(thing, str | bytes | bytearray):
            yield from self.in_bytes(thing.encode(errors="replace") if isinstance(thing, str) else bytes(thing))
        elif isinstance(thing, np.ndarray | pd.DataFrame | pd.Series | pd.Index):
            if COUNT in np.shape(thing):
                yield "shape"
            if np.asarray(thing).dtype.kind in "iuf":
                yield from self.in_numbers(np.asarray(thing, dtype=np.float64).ravel())
        elif isinstance(thing, collections.abc.Sized) and not isinstance(thing, type):
            with contextlib.suppress(Exception):  # some objects have no length, in spite of __len__
                if len(thing) == COUNT:
                    yield "length"

    def in_numbers(self, array):
        if (array == COUNT).any():
            yield "count"
        if any(np.isclose(array, value, rtol=1e-9, atol=0).any() for value in self.values):
            yield "value"

    def in_bytes(self, content):
        if self.value_forms.search(content):
            yield "text of the value"
        if self.count_forms.search(content):
            yield "text of the count"
        if any(form in content for form in self.packed):
            yield "bytes"
        if content[:1] == b"\x80" and content[-1:] == b".":  # a pickle; small whole numbers take two bytes there
            with contextlib.suppress(ValueError):
                if any(argument == COUNT for _, argument, _ in pickletools.genops(content) if type(argument) is int):
                    yield "pickled count"


def reachable(thing):
    """Return what `thing` holds: items, attributes public and private, slots, properties of ours, causes of errors."""
    if isinstance(thing, types.ModuleType | types.FunctionType | types.MethodType | type | str | bytes | numbers.Number):
        return []
    held = []
    if isinstance(thing, collections.abc.Mapping):
        held += [*thing.keys(), *thing.values()]
    elif isinstance(thing, list | tuple | set | frozenset | collections.deque):
        held += thing
    elif isinstance(thing, np.ndarray):
        return thing.ravel().tolist() if thing.dtype == object else []
    elif isinstance(thing, BaseException):
        held += [str(thing), thing.args, thing.__cause__, thing.__context__]  # the frames of a traceback are the caller's own
    held += [value for _, value in sorted(getattr(thing, "__dict__", {}).items())]
    for kind in type(thing).__mro__:
        slots = vars(kind).get("__slots__", ())
        names = [slots] if isinstance(slots, str) else list(slots)
        if kind.__module__.partition(".")[0] == "cloister":
            names += [name for name, value in vars(kind).items() if isinstance(value, property)]
        for name in names:
            with contextlib.suppress(Exception):  # a property may refuse
                held.append(getattr(thing, name))
    return held
