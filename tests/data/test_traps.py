# SPDX-License-Identifier: Apache-2.0
"""An object that misbehaves, whatever it is asked, is a missing value: no error, no warning. An interruption ends the fit."""

import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from tests.optional import HAS_DASK, da, synchronous

from cloister import KMeans, open_rows
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


def objects(rows):
    array = np.empty((len(rows), 2), dtype=object)
    for row, values in enumerate(rows):
        for column, value in enumerate(values):
            array[row, column] = value
    return array


def frame(rows):
    array = objects(rows)
    return pd.DataFrame({"a": pd.Series(array[:, 0], dtype=object), "b": pd.Series(array[:, 1], dtype=object)})


MAKERS = {
    "array": objects,
    "masked": lambda rows: np.ma.masked_array(objects(rows), mask=np.zeros((len(rows), 2), bool)),
    "lists": lambda rows: [list(row) for row in rows],
    "list-of-arrays": lambda rows: list(objects(rows)),
    "pandas": frame,
    **({"dask-array": lambda rows: da.from_array(objects(rows), chunks=(2, 2), name=False)} if HAS_DASK else {}),
}


class Cells:
    def __call__(self, block):
        return np.where(np.isnan(block), -1, block * 4).astype(np.int64)

    def merge(self, left, right):
        return np.concatenate([left, right])


def cells(data, columns=None):
    with synchronous():
        return open_rows(data, columns, n_jobs=1).fold(Cells())


@pytest.mark.fast("array-*", "lists-hash", "lists-all")
@pytest.mark.parametrize("name", TRAPS)
@pytest.mark.parametrize("kind", MAKERS)
def test_it_is_one_missing_value(kind, name):
    found = cells(MAKERS[kind]([[0.25, 0.5], [TRAPS[name], 0.75], [1.0, 0.0]]))
    others = np.delete(found.ravel(), 2)
    assert others.tolist() == [1, 2, 3, 4, 0]
    assert found[1, 0] in ({2} if name in ("warns", "odd-float") else {-1, 28, 30})  # what a float is worth without asking it


@pytest.mark.fast("float-*", "eq-*", "hash-*", "all-*")
@pytest.mark.parametrize("declared", DECLARED, ids=lambda one: one.kind)
@pytest.mark.parametrize("name", TRAPS)
def test_it_is_one_value_of_a_declared_column(name, declared):
    columns = {"b": Number(0, 1), "a": declared}
    alone = cells(frame([[None, 0.5], [None, 0.75]]), columns)
    found = cells(frame([[None, 0.5], [TRAPS[name], 0.5], [None, 0.75]]), columns)
    assert np.array_equal(found[[0, 2]], alone)


@pytest.mark.parametrize("name", TRAPS)
def test_as_a_row_it_is_a_row_of_missing_values(name):
    found = cells([[0.25, 0.5], [0.5, 0.5], TRAPS[name], [1.0, 0.0]])
    assert np.delete(found, 2, axis=0).tolist() == [[1, 2], [2, 2], [4, 0]]


@pytest.mark.fast("float", "eq", "hash", "all")
@pytest.mark.parametrize("name", TRAPS)
def test_as_an_id_it_is_one_id(name):
    rows = np.zeros((4, 2))
    for ids in (["a", TRAPS[name], "b", "b"], objects([["a", TRAPS[name]], ["b", "b"]]).ravel()):
        assert open_rows(rows, privacy_unit=ids).n_features == 2
        KMeans(2, bounds=(0, 1), epsilon=5.0, random_state=0).fit(rows, privacy_unit=ids)


def test_an_interruption_is_none_of_these():
    for make in (objects, list, frame):
        with pytest.raises(KeyboardInterrupt):
            open_rows(make([[0.5, 0.5], [Interrupts(7.0), 0.5]]))
