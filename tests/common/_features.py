# SPDX-License-Identifier: Apache-2.0
"""One trial for every feature of ``cloister.methods.FEATURES``: what it takes for a method to offer it."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from cloister import Category, Date, Flag, Number
from cloister.methods import FEATURES

from ._cases import Case

NUMBERS: dict[str, Any] = {"a": (-1, 1), "b": (-1, 1)}
SIZE = 60


@dataclass(frozen=True)
class Trial:
    """A method, a table, and a folder for files."""

    case: Case
    folder: Path

    @property
    def table(self) -> pd.DataFrame:
        """Rows with columns of every kind; the first column has holes."""
        generator = np.random.default_rng(7)
        table = pd.DataFrame(generator.uniform(-1, 1, size=(SIZE, 2)), columns=["a", "b"])
        table["level"] = np.resize(["f", "m", "x"], SIZE)
        table["yes"] = np.resize([True, False], SIZE)
        table["day"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(SIZE), unit="D")
        table["id"] = np.arange(SIZE) // 3
        table.loc[::7, "a"] = np.nan
        return table

    def fit(self, bounds: Any, *, columns: tuple[str, ...] = (), n_clusters: Any = 2, **parameters: Any) -> Any:
        """Fit to columns of the table; where the method also takes a public table, beside one with these columns."""
        named = isinstance(bounds, dict)
        columns = columns or (tuple(bounds) if named else ("a", "b"))
        hidden = [name for name in ("id",) if parameters.get("privacy_unit") == name]
        model = self.case.make(n_clusters, width=len(columns), epsilon=5.0, bounds=bounds, **parameters)
        return self.case.fit_to(model, self.table[[*columns, *hidden]], target=self.table[list(columns)].dropna()[:12])


def every_k(trial: Trial) -> None:
    """One fit, cut at several numbers of clusters."""
    synopsis = trial.fit((-1, 1)).synopsis_
    assert [synopsis.cut(count, n_init=1).n_clusters for count in (1, 2, 5)] == [1, 2, 5]


def choose_k(trial: Trial) -> None:
    """The number of clusters is found."""
    model = trial.fit((-1, 1))
    if hasattr(model, "synopsis_"):
        assert model.synopsis_.choose_k(range(1, 4)).best in (1, 2, 3)
    else:
        assert len(trial.fit((-1, 1), n_clusters="auto").cluster_centers_) >= 1


def predict(trial: Trial) -> None:
    """New rows get labels."""
    model = trial.fit((-1, 1))
    rows = trial.table[["a", "b"]].dropna()
    assert model.predict(rows).shape == (len(rows),)


def errors(trial: Trial) -> None:
    """Error bars that also tell the choice among solutions."""
    model = trial.fit((-1, 1))
    release = model.synopsis_.cut(2) if trial.case.kind == "synopsis" else model.release_
    assert release.errors_are_total
    assert release.stability is not None


def describe(trial: Trial) -> None:
    """Distributions of columns by cluster, also of one that clusters are not found by."""
    options = {"describe": 0.2, "describe_columns": {"level": Category(["f", "m", "x"])}}
    model = trial.case.make(2, epsilon=5.0, bounds=NUMBERS, **options)
    profiles = trial.case.fit_to(model, trial.table).release_.profiles
    assert profiles.names == ("a", "b", "level")


def private_bounds(trial: Trial) -> None:
    """Bounds that nobody knows, of one column and of all."""
    rows = pd.concat([trial.table[["a", "b"]]] * 60)
    for bounds in ("private", {"a": "private", "b": (-1, 1)}):
        model = trial.case.make(2, width=2, epsilon=5.0, bounds=bounds)
        trial.case.fit_to(model, rows, target=trial.table[["a", "b"]].dropna()[:12])


def categories(trial: Trial) -> None:
    """Levels beside a number."""
    trial.fit({"b": (-1, 1), "level": Category(["f", "m", "x"])})


def dates(trial: Trial) -> None:
    """A flag and a date beside a number."""
    trial.fit({"b": (-1, 1), "yes": Flag(), "day": Date("2024-01-01", "2024-12-31")})


def missing(trial: Trial) -> None:
    """A column with holes, which count."""
    assert trial.table["a"].isna().any()
    trial.fit((-1, 1))


def own_missing(trial: Trial) -> None:
    """Missing values as a level of their own."""
    trial.fit({"a": Number(-1, 1, missing="own"), "b": (-1, 1)})


def spread(trial: Trial) -> None:
    """Distances in noisy standard deviations of the columns."""
    trial.fit(NUMBERS, scaling="spread")


def persons(trial: Trial) -> None:
    """A person is protected with all of their rows, by a number of rows that is given or found."""
    for options in ({"max_rows_per_unit": 3}, {"max_rows_per_unit": "auto", "weighting": "person"}):
        model = trial.fit((-1, 1), privacy_unit="id", **options)
        assert model.privacy_receipt_.unit == "id"


def files(trial: Trial) -> None:
    """A file, which is read block by block."""
    path = trial.folder / "rows.parquet"
    trial.table[["a", "b"]].to_parquet(path)
    trial.case.fit(str(path), 2, epsilon=5.0)


TRIALS: dict[str, Callable[[Trial], None]] = {name: globals()[name] for name in FEATURES}
