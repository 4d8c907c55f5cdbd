# SPDX-License-Identifier: Apache-2.0
"""A canary in declared columns: a level that nobody declared, a date, a number in a row whose other cells are missing.

It is looked for where the canary of plain tables is looked for, and in what a release tells of columns and cells.
"""

import pickle
import re
import struct

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from cloister import GridSynopsis, KMeans, Ledger, PrivateScaler
from cloister.columns import Category, Date, Flag, Number, days_of
from cloister.exceptions import CloisterError
from cloister.rivals import LloydKMeans

from ._search import COUNT, VALUE, Search
from .test_canary import of_a_ledger, of_a_model, of_what_is_published

WORD = "unheard-of-Xq7"
MOMENT = "2023-07-09T03:04:05.678901"
DAYS = days_of(MOMENT)
COLUMNS = {
    "age": (0, 100),
    "income": "private",
    "smoker": Flag(),
    "admitted": Date("2020-01-01", "2026-12-31"),
    "glucose": Number(0, 100, missing="own"),
    "sex": Category(["f", "m"]),
    "ward": Category(["north", "south"], missing="own"),
}
PLAIN = {name: COLUMNS[name] for name in ("age", "income", "smoker", "admitted")}
BEHIND = {name: one for name, one in COLUMNS.items() if name != "age" and one != "private"}
MAKERS = {
    "KMeans": lambda **options: KMeans(2, bounds=COLUMNS, n_init=1, **options),
    "spread": lambda **options: LloydKMeans(2, bounds=COLUMNS, scaling="spread", n_rounds=2, **options),
    "described": lambda **options: KMeans(
        2, bounds={"age": COLUMNS["age"]}, describe=0.4, describe_columns=BEHIND, n_init=1, **options
    ),
    "GridSynopsis": lambda **options: GridSynopsis(2, bounds=PLAIN, rule=2, **options),
    "PrivateScaler": lambda **options: PrivateScaler(bounds={**COLUMNS, "income": (0, 1e5)}, **options),
}


class DeclaredSearch(Search):
    """Looks for the word, the moment and the number, as text, as bytes and as what they become in the unit ball."""

    def __init__(self):
        super().__init__()
        low, high = days_of("2020-01-01"), days_of("2026-12-31")
        self.values = [VALUE, (VALUE - 50) / 50, DAYS, (DAYS - (low + high) / 2) / ((high - low) / 2)]
        forms = [f"{VALUE:.9f}", f"{VALUE:.7g}", WORD, WORD[:-1], MOMENT[:19], f"{DAYS:.9f}", f"{DAYS:.9g}"]
        self.value_forms = re.compile(b"|".join(re.escape(form.encode()) for form in forms))
        self.packed = [struct.pack("<d", number) for number in (*self.values, float(COUNT))] + [struct.pack("<q", COUNT)]


def plant(generator):
    """Return a table in which three rows hold a canary each; others miss what these have, and the other way round."""
    size = COUNT
    table = {
        "age": generator.uniform(10, 60, size),
        "income": np.exp(generator.normal(8, 1, size)),
        "smoker": generator.choice(["yes", "no", None], size).tolist(),
        "admitted": [f"202{one}-03-04" for one in generator.integers(1, 6, size)],
        "glucose": np.where(generator.random(size) < 0.3, np.nan, generator.uniform(10, 60, size)),
        "sex": generator.choice(["f", "m"], size).tolist(),
        "ward": generator.choice(["north", "south", None], size).tolist(),
    }
    table["sex"][11], table["ward"][11], table["smoker"][11] = WORD, WORD, WORD
    table["admitted"][12], table["age"][12] = MOMENT, np.nan
    for name in ("smoker", "admitted", "sex", "ward"):
        table[name][13] = None
    table["age"][13] = table["income"][13] = table["glucose"][13] = VALUE
    return pa.table(table)


def of_columns(model):
    """Yield, by name, what is told of columns and of single cells."""
    for name in ("domain_", "bounds_", "center_", "scale_"):
        yield name, getattr(model, name, None)
        yield f"repr of {name}", repr(getattr(model, name, None))
    yield "parameters, printed", repr(model.get_params())
    if hasattr(model, "release_"):
        release = model.release_
        yield from {"cells": release.cells, "profile": release.profile(), "domain": release.domain.to_dict()}.items()
        yield "profile, printed", repr(release.profile())
        yield "frame", release.to_frame()
        yield "release, pickled", pickle.dumps(release)


@pytest.fixture
def leaks(found_again, generator):
    """Return a function that fits, prints and stores a model, and says where the canary is found again."""

    def look(make, **options):
        def things():
            ledger = Ledger(epsilon=20.0, delta=options.get("delta", 1e-6), neighbours=options.get("neighbours", "add-remove"))
            model = make(ledger=ledger, n_jobs=1, progress=True, **options).fit(plant(generator))
            return [*of_a_model(model), *of_what_is_published(model), *of_columns(model), *of_a_ledger(ledger)]

        return found_again(DeclaredSearch(), things)

    return look


@pytest.mark.fast("KMeans", "described", "PrivateScaler")
@pytest.mark.parametrize("name", MAKERS)
def test_the_canary_is_found_nowhere(leaks, name):
    assert leaks(MAKERS[name], epsilon=0.5) == []
    assert leaks(MAKERS[name], epsilon=2.0, delta=0.0, neighbours="replace") == []


def test_the_search_finds_each_of_them():
    look = DeclaredSearch()
    for thing in (WORD, [WORD.encode()], {MOMENT: 1}, np.array([DAYS]), {"at": VALUE}, pickle.dumps({"word": WORD}), COUNT):
        assert look([("planted", thing)]), thing
    assert look([("a frame", pd.DataFrame({"a": [WORD]}, dtype=object).to_dict())])
    assert not look([("nothing", ["f", "m", 50.0, "2023-07-09", days_of("2023-07-09")])])


WRONG = {
    "a date without an end": ({"admitted": {"type": "date", "low": "2020-01-01"}}, "admitted"),
    "a column that is not there": ({"sex": Category(["f", "m"]), "height": (0, 1)}, "height"),
    "levels the wrong way": ({"sex": {"type": "category", "levels": ["f"]}}, "levels"),
    "no columns": ({}, "column"),
}


@pytest.mark.parametrize("mistake", WRONG)
def test_no_error_quotes_the_canary(mistake, generator):
    bounds, word = WRONG[mistake]
    ledger = Ledger(epsilon=1.0, delta=1e-6)
    with pytest.raises(CloisterError, match=word) as raised:
        KMeans(2, bounds=bounds, ledger=ledger).fit(plant(generator))
    assert DeclaredSearch()([("error", raised.value)]) == set()
    assert ledger.spent.empty
    assert not raised.value.__context__
