# SPDX-License-Identifier: Apache-2.0
"""An object that misbehaves, whatever it is asked, is a missing value: no error, no warning. An interruption ends the fit."""

import warnings
from fractions import Fraction

import numpy as np
import pytest
from tests.optional import da, without_missing
from tests.rows import OF_OBJECTS, object_frame, objects, read

from cloister import open_rows
from cloister.columns import Category, Date, Flag, Number

ASKED = [
    *("float", "array", "eq", "ne", "hash", "str", "repr", "index", "len", "int", "bool", "complex"),
    *("iter", "getitem", "lt", "gt", "abs", "getattr", "getattribute"),
]


def trap(name, base=object):
    """Return a type whose method of this name raises an error."""

    def raises(self, *given):
        raise RuntimeError("77.123456789")

    return type(f"Trap_{name}", (base,), {f"__{name}__": raises})


class LiesOfItsClass:
    @property
    def __class__(self):
        raise RuntimeError("77.123456789")


class SaysItIsANumber:
    __class__ = float

    def __float__(self):
        raise RuntimeError("77.123456789")


class Warns(Fraction):
    def __float__(self):
        warnings.warn("77.123456789", stacklevel=1)
        return 0.5


class OddFloat(float):
    def __float__(self):
        return self  # a subclass of float: Python warns of it


class Interrupts(float):
    def __float__(self):
        raise KeyboardInterrupt


def everything(self, *given):
    raise RuntimeError("77.123456789")


ALL_AT_ONCE = type("Trap_all", (), {f"__{name}__": everything for name in ASKED if name != "getattribute"})
TRAPS = {
    **{name: trap(name)() for name in ASKED},
    **{f"float-{name}": trap(name, float)(7.5) for name in ("float", "eq", "hash", "bool", "gt")},
    **{f"int-{name}": trap(name, int)(7) for name in ("float", "index", "int", "eq")},
    **{f"str-{name}": trap(name, str)("x") for name in ("str", "eq", "hash", "len")},
    **{f"list-{name}": trap(name, list)([1.0, 2.0]) for name in ("len", "iter")},
    "class": LiesOfItsClass(),
    "fake": SaysItIsANumber(),
    "warns": Warns(1, 2),
    "odd-float": OddFloat(0.5),
    "all": ALL_AT_ONCE(),
}
DECLARED = [Number(0, 1), Category(["x", "7"]), Flag(), Date("2020-01-01", "2021-01-01")]

MAKERS = {name: make for name, make in OF_OBJECTS.items() if not name.startswith("dask")}
MAKERS["dask-array"] = lambda rows: da.from_array(objects(rows), chunks=(2, 2), name=False)

pytestmark = pytest.mark.both_suites  # tables of Dask are among them where it is installed


@pytest.mark.parametrize("name", TRAPS)
def test_it_is_one_missing_value(name):
    for kind, make in without_missing(MAKERS).items():
        found = read(make([[0.25, 0.5], [TRAPS[name], 0.75], [1.0, 0.0]]))
        assert np.delete(found.ravel(), 2).tolist() == [0.25, 0.5, 0.75, 1.0, 0.0], kind
        value = found[1, 0]  # what a float is worth without asking it
        assert value == 0.5 if name in ("warns", "odd-float") else np.isnan(value) or value in (7.0, 7.5), kind


@pytest.mark.parametrize("name", TRAPS)
def test_it_is_one_value_of_a_declared_column(name):
    for declared in DECLARED:
        columns = {"b": Number(0, 1), "a": declared}
        alone = read(object_frame([[None, 0.5], [None, 0.75]]), columns)
        found = read(object_frame([[None, 0.5], [TRAPS[name], 0.5], [None, 0.75]]), columns)
        assert np.array_equal(found[[0, 2]], alone, equal_nan=True), declared


@pytest.mark.parametrize("name", TRAPS)
def test_as_a_row_it_is_a_row_of_missing_values(name):
    found = read([[0.25, 0.5], [0.5, 0.5], TRAPS[name], [1.0, 0.0]])
    assert np.delete(found, 2, axis=0).tolist() == [[0.25, 0.5], [0.5, 0.5], [1.0, 0.0]]


@pytest.mark.parametrize("name", TRAPS)
def test_as_an_id_it_is_one_id(name):
    ids = ["a", TRAPS[name], "b", "b"]
    for given in (ids, objects([ids[:2], ids[2:]]).ravel()):
        found = read(np.zeros((4, 2)), privacy_unit=given, unit_key=bytes(32))
        assert np.array_equal(found[2], found[3])
        assert len(np.unique(found[[0, 1, 2]], axis=0)) == 3


def test_an_interruption_is_none_of_these():
    for make in (objects, list, object_frame):
        with pytest.raises(KeyboardInterrupt):
            open_rows(make([[0.5, 0.5], [Interrupts(7.0), 0.5]]))
