# SPDX-License-Identifier: Apache-2.0
"""Forty seeded fits: every method and variant, kind of column, privacy unit, guarantee, engine and synopsis."""

import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from cloister import GDP, ZCDP, ApproxDP, Ball, Category, Date, Flag, Number, PrivateScaler, PureDP
from cloister.methods import METHODS

SEED = 7
MIDDLES = np.array([[-0.6, -0.6], [0.6, -0.5], [0.0, 0.7]])
MIXED = {
    "age": Number(0, 120),
    "glucose": Number(40, 400, missing="own"),
    "dose": Number(0, 10, missing=5, weight=0.5),
    "ward": Category(["north", "south", "west"]),
    "sex": Category(["f", "m"], missing="own", weight=0.5),
    "smoker": Flag(missing="middle"),
    "admitted": Date("2020-01-01", "2026-12-31"),
}
INTERVALS = {name: MIXED[name] for name in ("age", "admitted", "smoker")}
UNITS = (1, 20, 300)
PASSING = ("account", "created", "v", "version", "versions", "when")
PERSONS = {"privacy_unit": "patient", "max_rows_per_unit": 3}


def plain(width: int = 2, size: int = 200) -> Any:
    """Return three round clusters; the columns beyond the second are copies with noise."""
    generator = np.random.default_rng(1)
    rows = np.repeat(MIDDLES, size, axis=0) + 0.05 * generator.normal(size=(3 * size, 2))
    copies = [rows[:, column % 2] + 0.02 * generator.normal(size=3 * size) for column in range(2, width)]
    return np.column_stack([rows, *copies])


def holes() -> Any:
    """Return plain rows, some of whose values are missing or lie outside."""
    rows = plain()
    rows[::7, 0], rows[3::11, 1], rows[5::50] = np.nan, np.inf, [9.0, -9.0]
    return rows


def people() -> pd.DataFrame:
    """Return a mixed table of two kinds of stays, of 200 patients with one to six rows each."""
    generator = np.random.default_rng(2)
    size = 700
    kind = generator.random(size) < 0.4
    frame = pd.DataFrame({"patient": [f"p{number}" for number in generator.integers(200, size=size)]})
    frame["age"] = np.where(kind, 70, 35) + 6 * generator.normal(size=size)
    frame["glucose"] = np.where(
        generator.random(size) < 0.2, np.nan, np.where(kind, 190, 95) + 12 * generator.normal(size=size)
    )
    frame["dose"] = np.where(generator.random(size) < 0.1, np.nan, generator.random(size) * 12)
    frame["ward"] = np.where(kind, "south", "north")
    frame.loc[::9, "ward"] = "west"
    frame.loc[4::31, "ward"] = "cellar"
    frame["sex"] = np.where(generator.random(size) < 0.5, "f", "m")
    frame.loc[::13, "sex"] = None
    frame["smoker"] = np.where(kind, "yes", "no")
    days = np.where(kind, 1500, 100) + generator.integers(90, size=size)
    frame["admitted"] = pd.Timestamp("2021-03-04") + pd.to_timedelta(days, "D")
    return frame


def method(name: str, table: Callable[[], Any] = plain, **options: Any) -> Callable[[Path], Any]:
    """Return a fit of a method; where it takes a public table, beside one."""

    def fit(_: Path) -> Any:
        return fit_to(name, table(), **options)

    return fit


def fit_to(name: str, table: Any, **options: Any) -> Any:
    found = METHODS[name]
    given = {"n_clusters": 3, "epsilon": 2.0, "bounds": (-1, 1), "n_jobs": 1, "random_state": SEED, **found.short, **options}
    model = found.estimator(**given)
    if found.kind == "source-target":
        width = np.shape(table)[1]
        return model.fit(np.linspace(-0.9, 0.9, 15)[:, None] * np.cos(np.arange(width)), source=table)
    return model.fit(table)


def mixed(name: str = "KMeans", **options: Any) -> Callable[[Path], Any]:
    return method(name, people, **{"bounds": MIXED, **options})


def from_file(ending: str) -> Callable[[Path], Any]:
    """Return a fit to a file, from which the columns are read by name."""

    def fit(folder: Path) -> Any:
        path, table = folder / f"people.{ending}", pa.Table.from_pandas(people())
        if ending == "parquet":
            pa.parquet.write_table(table, path, row_group_size=100)
        elif ending == "jsonl":
            path.write_text(people().to_json(orient="records", lines=True, date_format="iso"))
        else:
            with pa.output_stream(path, compression="gzip" if ending.endswith("gz") else None) as stream:
                pa.csv.write_csv(table, stream)
        return fit_to("KMeans", str(path), bounds=MIXED, **PERSONS)

    return fit


def behind_scaler(_: Path) -> Any:
    scaler = PrivateScaler(epsilon=1.0, bounds="private", random_state=SEED, n_jobs=1)
    return fit_to("KMeans", scaler.fit_transform(people()[["age", "dose"]]), bounds=None)


def on_dask(_: Path) -> Any:
    import dask
    import dask.dataframe

    with dask.config.set(scheduler="synchronous"):
        return fit_to("KMeans", dask.dataframe.from_pandas(people(), npartitions=3), bounds=MIXED, **PERSONS)


CASES: dict[str, Callable[[Path], Any]] = {
    "kmeans": method("KMeans"),
    "kmeans-auto": method("KMeans", n_clusters="auto", max_clusters=6),
    "kmeans-pure": method("KMeans", guarantee=PureDP(4.0)),
    "kmeans-zcdp": method("KMeans", guarantee=ZCDP(0.4)),
    "kmeans-gdp": method("KMeans", guarantee=GDP(1.2)),
    "kmeans-replace-public-size": method("KMeans", neighbours="replace", n_rows=600),
    "kmeans-ball": method("KMeans", bounds=Ball(1.5, [0.1, 0.0])),
    "kmeans-private-bounds": method("KMeans", bounds="private", epsilon=6.0),
    "kmeans-spread": method(
        "KMeans", lambda: plain(3) * [1, 20, 300], bounds=[(-2, 2), (-40, 40), (-600, 600)], scaling="spread"
    ),
    "kmeans-holes": method("KMeans", holes),
    "kmeans-wide": method("KMeans", lambda: plain(24), n_clusters=4),
    "kmeans-mixed": mixed(),
    "kmeans-mixed-describe": mixed(
        bounds={name: MIXED[name] for name in ("age", "ward", "glucose")},
        describe=0.2,
        describe_columns={name: MIXED[name] for name in ("smoker", "admitted")},
        epsilon=4.0,
    ),
    "kmeans-mixed-auto-persons": mixed(n_clusters="auto", max_clusters=5, epsilon=6.0, describe=0.1, **PERSONS),
    "kmeans-persons-count-persons": mixed(weighting="person", **PERSONS),
    "kmeans-declared-private": mixed(bounds={**MIXED, "age": "private", "dose": "private"}, epsilon=6.0),
    "kmeans-from-csv": from_file("csv"),
    "kmeans-from-csv-gz": from_file("csv.gz"),
    "kmeans-from-parquet": from_file("parquet"),
    "kmeans-from-jsonl": from_file("jsonl"),
    "kmeans-arrow": method("KMeans", lambda: pa.Table.from_pandas(people()), bounds=MIXED),
    "kmeans-behind-scaler": behind_scaler,
    "pe-means": method("PEMeans"),
    "pe-means-projected": method("PEMeans", lambda: plain(8), projection=3, guarantee=ApproxDP(3.0, 1e-6)),
    "pe-means-top-k": method("PEMeans", selection="top-k", vote_rule="threshold", adaptive=False, n_rows=600),
    "pe-means-mixed-persons": mixed("PEMeans", **PERSONS),
    "lloyd": method("LloydKMeans"),
    "lloyd-mixed": mixed("LloydKMeans"),
    "fast-lloyd": method("FastLloyd", guarantee=ZCDP(0.4)),
    "coreset": method("CoresetKMeans"),
    "tree": method("TreeKMeans"),
    "grid": method("GridKMeans"),
    "grid-adaptive-describe": method("GridKMeans", people, bounds=INTERVALS, rule="adaptive", describe=0.2, n_clusters=2),
    "grid-synopsis-eugkm": method("GridSynopsis", rule="eugkm", counts="clip"),
    "grid-synopsis-adaptive": method("GridSynopsis", rule="adaptive", guarantee=GDP(1.2)),
    "point-synopsis": method("PointSynopsis"),
    "point-synopsis-mixed-persons": mixed("PointSynopsis", **PERSONS),
    "source-target-nna": method("SourceTargetKMedoids", epsilon=8.0),
    "source-target-nas": method("SourceTargetKMedoids", method="nas", n_neighbors=5, epsilon=8.0),
    "kmeans-from-dask": on_dask,
}


def run(name: str, folder: Path) -> dict[str, Any]:
    """Fit a case and return what it released, as plain data: events, centres, labels, documents."""
    model = CASES[name](folder)
    synopsis = getattr(model, "synopsis_", None)
    release = model.release_ if hasattr(model, "release_") else synopsis.cut(3, random_state=SEED)
    document = scrubbed(release.to_dict())
    found = {
        "events": [scrubbed(vars(event)) for event in release.receipt.events],
        "centers": document.pop("cluster_centers"),
        "labels": release.predict(probe(release)).tolist(),
        "document": document,
    }
    if synopsis is not None:
        choice = synopsis.choose_k(range(1, 6), random_state=SEED)
        found["synopsis"] = scrubbed(synopsis.to_dict()) | {
            "best": int(choice.best),
            "sample": synopsis.sample(5, random_state=SEED).tolist(),
        }
    return found


def scrubbed(data: Any) -> Any:
    """Return plain data without what differs between two runs, and between versions of the package."""
    if isinstance(data, dict):
        return {key: scrubbed(value) for key, value in data.items() if key not in PASSING}
    return [scrubbed(one) for one in data] if isinstance(data, list | tuple) else data


def probe(release: Any) -> Any:
    """Return a few rows to label: of the mixed table, or of plain rows with as many columns."""
    if release.feature_names is not None:
        return people().head(100)
    return holes()[:100] if release.n_columns == 2 else plain(release.n_columns)[::6]


class Difference(NamedTuple):
    """A place where two pieces of plain data differ; a part that only one of them has is MISSING in the other."""

    place: str
    before: Any
    now: Any


MISSING = "(missing)"


def differences(one: Any, other: Any, place: str = "") -> Iterator[Difference]:
    """Yield where two pieces of plain data differ."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in sorted(one.keys() | other.keys()):
            yield from differences(one.get(key, MISSING), other.get(key, MISSING), f"{place}.{key}")
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for index, pair in enumerate(zip(one, other, strict=True)):
            yield from differences(*pair, f"{place}[{index}]")
    elif one != other or type(one) is not type(other):
        yield Difference(place, one, other)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as where:
        json.dump({name: run(name, Path(where)) for name in sys.argv[1:]}, sys.stdout)
