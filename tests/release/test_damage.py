# SPDX-License-Identifier: Apache-2.0
"""A file is damaged field by field: it is refused with one clear error, or everything that can be made of it works."""

import copy
import io
import json
import warnings
from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot
from rich.console import Console

from cloister import (
    Category,
    Date,
    Flag,
    GridSynopsis,
    KMeans,
    PointSynopsis,
    PrivateScaler,
    Release,
    SourceTargetKMedoids,
    write_report,
)
from cloister.cli import print_release
from cloister.exceptions import CloisterError, ReleaseError
from cloister.methods import METHODS
from cloister.report import summary, synopsis_summary
from cloister.synopsis import read_synopsis

ROWS = np.random.default_rng(0).uniform(size=(200, 2))
GIVEN: dict[str, Any] = {"epsilon": 3.0, "random_state": 0, "n_jobs": 1}
BOX: dict[str, Any] = {**GIVEN, "bounds": (0, 1)}
COLUMNS = {"x": (0, 1), "sex": Category(["f", "m"]), "smoker": Flag(), "day": Date("2020-01-01", "2021-01-01")}
MIXED = pd.DataFrame(
    {
        "x": ROWS[:, 0],
        "sex": np.where(ROWS[:, 1] > 0.5, "f", "m"),
        "smoker": np.where(ROWS[:, 0] > 0.5, "yes", "no"),
        "day": pd.Timestamp("2020-01-01") + pd.to_timedelta((300 * ROWS[:, 1]).astype(int), unit="D"),
        "patient": np.arange(200) // 2,
    }
)
LOST = object()
GRIDS = ("grid", "adaptive grid", "points", "points of columns", "merged")  # synopses, among what is made
USED = 3  # of the files of one field that load, this many are used: a report of a synopsis takes a while
WRONG: tuple[Any, ...] = (LOST, None, "text", "", [], {}, {"a": 1}, [1, 2, 3], True, -1, 0, 1, 3, -0.5, 1.5)
WRONG += (1e308, 2**63, 10**400, float("nan"), float("inf"))


def merged() -> Any:
    one = GridSynopsis(2, rule=2, **BOX).fit(ROWS).synopsis_
    return one.merge(one).merge(one, rows="same")


def described() -> Release:
    model = KMeans(2, **GIVEN, bounds=COLUMNS, describe=0.3, privacy_unit="patient", max_rows_per_unit=2)
    return model.fit(MIXED).release_


def from_target() -> Release:
    model = SourceTargetKMedoids(2, method="nas", epsilon=3.0, distance_share=0.1, random_state=0)
    return model.fit(ROWS[:12], source=ROWS).release_


PRODUCTS: dict[str, Any] = {
    **{
        name: lambda method=method: method.estimator(2, **BOX).fit(ROWS).release_
        for name, method in METHODS.items()
        if method.kind == "centers"
    },
    "source-target": from_target,
    "described": described,
    "any number": lambda: KMeans("auto", max_clusters=4, **BOX).fit(ROWS).release_,
    "behind a scaler": lambda: KMeans(2, **GIVEN).fit(PrivateScaler(1.0, random_state=0).fit_transform(ROWS)).release_,
    "grid": lambda: GridSynopsis(2, rule=3, **BOX).fit(ROWS).synopsis_,
    "adaptive grid": lambda: GridSynopsis(2, rule="adaptive", **BOX).fit(ROWS).synopsis_,
    "points": lambda: PointSynopsis(max_clusters=4, **BOX).fit(ROWS).synopsis_,
    "points of columns": lambda: PointSynopsis(max_clusters=4, **GIVEN, bounds=COLUMNS).fit(MIXED).synopsis_,
    "merged": merged,
    "cut": lambda: merged().cut(2, random_state=0),
}


@cache
def made(name: str) -> Any:
    with warnings.catch_warnings(action="ignore"):
        return PRODUCTS[name]()


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the way to every field; of a list, to its first and its last."""
    if at:
        yield at
    if isinstance(value, dict):
        for key in value:
            yield from places(value[key], (*at, key))
    elif isinstance(value, list) and value:
        for key in sorted({0, len(value) - 1}):
            yield from places(value[key], (*at, key))


def damages(data: Any) -> list[tuple[tuple[Any, ...], Any]]:
    """Return every field with all that it may be replaced by."""
    found = []
    for at in places(data):
        value: Any = data
        for key in at:
            value = value[key]
        lengths = (value[:-1], value + value[:1], value[::-1]) if isinstance(value, list) else ()
        found += [(at, wrong) for wrong in (*WRONG, [value], *lengths)]
    return found


def damaged(data: Any, at: tuple[Any, ...], wrong: Any) -> Any:
    whole = copy.deepcopy(data)
    inner = whole
    for key in at[:-1]:
        inner = inner[key]
    if wrong is LOST:
        del inner[at[-1]]
    else:
        inner[at[-1]] = copy.deepcopy(wrong)
    return whole


def use(found: Any, path: Any) -> None:
    """Do everything that can be done with what was loaded; nothing may raise."""
    repr(found), found._repr_html_()
    write_report(found, path, overwrite=True, allow_seeded=True)
    if not isinstance(found, Release):
        json.dumps(synopsis_summary(found), allow_nan=False)
        found.sample(3, random_state=0), found.sample_table(3, random_state=0)
        found.cut(2, n_init=1, random_state=0)
        for kind in ("json", "parquet"):
            read_synopsis(found.to_bytes(kind), name="a file")
        return
    print_release(Console(file=io.StringIO()), found)
    json.dumps(summary(found), allow_nan=False), found.profile(), found.to_frame(), found.to_frame("polars")
    found.predict(np.zeros((3, found.n_columns)))
    try:
        found.plot()
    finally:
        pyplot.close("all")
    assert Release.from_dict(json.loads(found.to_json())).to_dict() == found.to_dict()


@pytest.mark.fast("KMeans-5")
@pytest.mark.parametrize(("name", "n_cases"), [("KMeans", 5), *((name, None) for name in PRODUCTS)])
@pytest.mark.filterwarnings("ignore")
def test_a_damaged_file_is_refused_or_works(name, n_cases, tmp_path, generator):
    """Every field, in some of the ways; in the fast suite a few cases."""
    product, path = made(name), tmp_path / "report.html"
    data, load = json.loads(json.dumps(product.to_dict())), Release.from_dict
    if not isinstance(product, Release):

        def load(data):
            return read_synopsis(json.dumps(data).encode(), name="a file")

    use(load(data), path)
    cases, used = damages(data), Counter()
    faults = {}
    for index in generator.permutation(len(cases))[:n_cases] if n_cases else generator.permutation(len(cases))[::6]:
        at, wrong = cases[index]
        try:
            found = load(damaged(data, at, wrong))
        except ReleaseError as error:
            assert "damaged" in str(error) or "expected" in str(error)  # noqa: PT017 - each of thousands is one or the other
            continue
        used[at] += 1
        if used[at] > USED:
            continue
        try:
            use(found, path)
        except (ArithmeticError, AttributeError, CloisterError, LookupError, TypeError, ValueError, AssertionError) as error:
            faults[".".join(map(str, at)), repr(wrong)[:40]] = repr(error)
    assert not faults
