# SPDX-License-Identifier: Apache-2.0
"""``cloister fit --describe``: what clusters look like, from the command line; every mistake before anything is spent."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

from cloister import load_release

from .conftest import Run


@pytest.fixture
def people(tmp_path: Path, generator: np.random.Generator) -> Path:
    old = generator.integers(0, 2, 3000)
    columns = {
        "age": generator.normal(np.where(old, 70, 30), 3),
        "glucose": generator.normal(np.where(old, 180, 90), 8),
        "region": np.where(old, "south", "north"),
        "smoker": np.where(generator.random(3000) < 0.3, "yes", "no"),
        "day": np.where(old, "2023-01-01", "2021-01-01"),
    }
    pyarrow.csv.write_csv(pa.table(columns), tmp_path / "people.csv")
    return tmp_path / "people.csv"


def fitted(run: Run, table: Path, *words: object) -> object:
    target = table.parent / "release.json"
    run("fit", table, "-k", 2, "--epsilon", 4, "--seed", 1, "--allow-seeded", "-o", target, "--force", "-q", *words)
    return load_release(target)


@pytest.mark.parametrize("bounds", [("--bounds", "age=0:120,glucose=40:400"), ("--bounds", "0,400")])
def test_columns_are_described_and_not_clustered_by(bounds: tuple[str, ...], run: Run, people: Path, tmp_path: Path) -> None:
    (tmp_path / "extra.json").write_text(json.dumps({"region": {"levels": ["north", "south"]}}))
    extra = ("--describe-columns", tmp_path / "extra.json", "--describe-columns", "smoker=flag,day=2020-01-01:2024-01-01")
    release = fitted(run, people, *bounds, "--describe", 0.2, *extra)
    assert release.feature_names == ("age", "glucose")
    assert release.profiles.names == ("age", "glucose", "region", "smoker", "day")
    old = int(np.argmax(release.cluster_centers[:, 0]))
    assert release.profiles["region"].shares().value[old, 1] == pytest.approx(1, abs=0.1)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--describe", 0.1, "--describe-columns", "0,1"), r"--describe-columns: expected columns by their names"),
        (("--describe", 0.1, "--describe-columns", "wealth=0:1"), r"column 'wealth' is not in the table"),
        (("--describe", 0.1, "--describe-columns", "age=0:1"), r"--describe-columns: column 'age' is clustered by"),
        (("--describe", 0.1, "--describe-columns", "glucose=private"), "describe_columns['glucose']: expected public bounds"),
        (("--describe-columns", "smoker=flag"), r"describe_columns: expected a share of the budget"),
    ],
)
def test_every_mistake_is_free(words: tuple[object, ...], message: str, free: Run, people: Path) -> None:
    free("fit", people, "-k", 2, "--epsilon", 0.1, "--bounds", "age=0:120", *words, match=message)
