# SPDX-License-Identifier: Apache-2.0
"""Declared columns on the command line: fits by inline words and by schema, and every mistake before anything is spent."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from cloister import Box, load_release
from cloister.columns import Category, Date, Flag, Number, Table

from .conftest import Run, words

BOUNDS = ("age=0:120,glucose=40:400", "sex=f|m", "smoker=flag", "admitted=2020-01-01:2026-12-31")


def options(*bounds: object) -> list[object]:
    return [word for one in bounds for word in ("--bounds", one)]


@pytest.fixture
def patients(tmp_path: Path, generator: np.random.Generator) -> Path:
    """Two groups of patients, with missing values and a key."""
    n_rows = 2000
    old = generator.integers(0, 2, n_rows)
    glucose = generator.normal(np.where(old, 180, 90), 8)
    glucose[generator.random(n_rows) < 0.15] = np.nan
    sex = np.where(generator.random(n_rows) < np.where(old, 0.9, 0.2), "m", "f").astype(object)
    sex[generator.random(n_rows) < 0.05] = None
    days = generator.normal(np.where(old, 20200, 18700), 30).astype(int)
    table = pa.table(
        {
            "patient": [f"p{index}" for index in range(n_rows)],
            "age": generator.normal(np.where(old, 70, 30), 3),
            "glucose": glucose,
            "sex": pa.array(sex),
            "smoker": generator.random(n_rows) < np.where(old, 0.7, 0.1),
            "bmi": generator.normal(25, 3, n_rows),
            "admitted": pa.array(days, pa.int32()).cast(pa.date32()),
        }
    )
    pyarrow.parquet.write_table(table, tmp_path / "patients.parquet")
    return tmp_path / "patients.parquet"


def fitted(run: Run, patients: Path, *more: object) -> dict[str, object]:
    target = patients.parent / "release.json"
    run("fit", patients, "-k", 2, "--epsilon", 4, "--seed", 1, "--allow-seeded", "-o", target, "--force", *more)
    found: dict[str, object] = json.loads(target.read_text())
    return {name: value for name, value in found.items() if name != "receipt"}  # which names its account


def test_inline_words_and_a_schema_fit_alike(run: Run, patients: Path, tmp_path: Path) -> None:
    inline = fitted(run, patients, *options(*BOUNDS), "--scaling", "bounds")
    (tmp_path / "schema.json").write_text(
        '{"age": [0, 120], "glucose": {"low": 40, "high": 400}, "sex": {"levels": ["f", "m"]}, "smoker": "flag",'
        ' "admitted": ["2020-01-01", "2026-12-31"]}'
    )
    assert fitted(run, patients, *options(tmp_path / "schema.json"), "--scaling", "bounds") == inline
    release = load_release(tmp_path / "release.json")
    assert release.feature_names == ("age", "glucose", "sex", "smoker", "admitted")
    assert isinstance(release.domain, Table)
    assert release.domain.columns[2:] == (Category(["f", "m"]), Flag(), Date("2020-01-01", "2026-12-31"))
    for one in release.profile():
        assert sum(share for share, _ in one["columns"]["sex"]["shares"].values()) == pytest.approx(1)
        assert "2020-01-01" <= one["columns"]["admitted"]["value"] <= "2026-12-31"


@pytest.mark.parametrize(
    ("bounds", "more", "columns"),
    [
        (("age=0:120,glucose=40:400",), (), None),
        (("0,400", "sex=f|m"), ("--columns", "glucose,sex", "--scaling", "bounds"), (Number(0, 400), Category(["f", "m"]))),
        (("age=0:120", "glucose=private"), (), ("", "noise")),
        (("private",), ("--columns", "age,glucose", "--scaling", "spread"), ("noise", "noise")),
    ],
)
def test_columns_are_what_they_are_declared_to_be(
    run: Run, patients: Path, tmp_path: Path, bounds: tuple[str, ...], more: tuple[str, ...], columns: tuple[object, ...] | None
) -> None:
    fitted(run, patients, *options(*bounds), *more)
    release = load_release(tmp_path / "release.json")
    assert isinstance(release.domain, Table if columns else Box)
    if columns:  # what they are, or whether their bounds were found
        assert columns in (release.domain.columns, release.domain.found)
    assert (release.scaling == "spread") == ("spread" in more)


def test_private_for_all_takes_all_columns_that_are_not_declared(run: Run, tmp_path: Path) -> None:
    (tmp_path / "n.csv").write_text("a,b\n" + "1,2\n3,4\n" * 200)
    result = run("fit", tmp_path / "n.csv", "-k", 1, "--epsilon", 4, "--bounds", "private", "--json")
    assert json.loads(result.stdout)["columns"] == ["a", "b"], result.output
    result = run("fit", tmp_path / "n.csv", "-k", 1, "--epsilon", 4, "--bounds", "private", "--bounds", "b=2|4", "--json")
    assert json.loads(result.stdout)["columns"] == ["a", "b=2", "b=4"], result.output


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"--bounds": "sex=flag,shoe=0:1"}, "column 'shoe' is not in the table"),
        ({"--bounds": "age=2020-01-01:2021-01-01"}, "expected what can be read as a date in column 'age'"),
        ({"--bounds": "admitted=0:1,sex=f|m"}, "expected what can be read as a number in column 'admitted'"),
        ({"--bounds": "0,100"}, "or in a file that 'cloister schema DATA' drafts"),
        ({"--bounds": ["private", "sex=f|m"]}, "expected numbers in column 'patient', got string"),
        ({"--bounds": ["0,1", "shoe=f|m"]}, "'shoe' not in the table"),
        ({"--scaling": "none"}, 'Pass scaling="bounds", "spread" or "auto"'),
        ({"--method": "grid"}, "bounds"),
        ({"--describe": 0.1, "--describe-columns": "0,1"}, "--describe-columns: expected columns by their names"),
        ({"--describe": 0.1, "--describe-columns": "wealth=0:1"}, "column 'wealth' is not in the table"),
        ({"--describe": 0.1, "--describe-columns": "age=0:1"}, "--describe-columns: column 'age' is clustered by"),
        ({"--describe": 0.1, "--describe-columns": "bmi=private"}, "describe_columns['bmi']: expected public bounds"),
        ({"--describe-columns": "bmi=0:1"}, "describe_columns: expected a share of the budget"),
    ],
)
def test_every_mistake_is_one_line_and_free(free: Run, patients: Path, changes: dict[str, object], match: str) -> None:
    free("fit", patients, *words({"-k": 2, "--epsilon": 1, "--bounds": list(BOUNDS), **changes}), match=match)


def test_other_commands_take_numbers(run: Run, refused: Run, patients: Path, tmp_path: Path) -> None:
    synopsis = ("synopsis", "fit", patients, "--epsilon", 1, "--rule", 4)
    run(*synopsis, *options("age=0:120,glucose=40:400"), "-o", tmp_path / "s.json")
    refused(*synopsis, *options("age=0:120", "sex=f|m"), match="bounds")
    refused("compare", patients, "-k", 2, "--epsilon", 1, *options("sex=f|m"), match="takes columns of numbers with bounds")
    pyarrow.parquet.write_table(pyarrow.parquet.read_table(patients).slice(0, 50), tmp_path / "target.parquet")
    chosen = ("source-target", tmp_path / "target.parquet", "--source", patients, "-k", 1, "--epsilon", 1)
    refused(*chosen, *options("age=0:120", "sex=f|m"), match="'cloister source-target' takes columns of numbers with bounds")


def test_an_empty_promise_is_one_line_of_warning(run: Run, patients: Path, tmp_path: Path) -> None:
    fit = ("fit", patients, "-k", 1, *options("age=0:120"))
    result = run(*fit, "--epsilon", 11, "--delta", 0.1, "--n-rows", 2000, "-o", tmp_path / "r.json")
    first, second = result.stderr.splitlines()
    assert first.startswith("Warning: KMeans.delta: 0.1 is at least 1 / n_rows")
    assert second.startswith("Warning: KMeans.epsilon: 11 promises little")
    assert "--ledger:" not in run(*fit, "--epsilon", 1, "--json").stderr


# -- columns that are only described -------------------------------------------------------------------------------------


@pytest.mark.parametrize("bounds", ["age=0:120,glucose=40:400", "0,400"])
def test_columns_are_described_and_not_clustered_by(bounds: str, run: Run, patients: Path, tmp_path: Path) -> None:
    pyarrow.parquet.write_table(pyarrow.parquet.read_table(patients).drop(["patient", "bmi"]), patients)
    (tmp_path / "extra.json").write_text(json.dumps({"sex": {"levels": ["f", "m"]}}))
    extra = ("--describe-columns", tmp_path / "extra.json", "--describe-columns", "smoker=flag,admitted=2020-01-01:2026-12-31")
    fitted(run, patients, "--bounds", bounds, "--describe", 0.2, *extra)
    release = load_release(tmp_path / "release.json")
    assert release.feature_names == ("age", "glucose")
    assert release.profiles.names == ("age", "glucose", "sex", "smoker", "admitted")
    old = int(np.argmax(release.cluster_centers[:, 0]))
    assert release.profiles["sex"].shares().value[old, 1] == pytest.approx(0.9, abs=0.1)
