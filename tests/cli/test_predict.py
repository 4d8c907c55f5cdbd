# SPDX-License-Identifier: Apache-2.0
"""``cloister predict``: one label per row, by column name, in batches."""

import json
from pathlib import Path

import pytest

from cloister import load_release

from .conftest import Run


@pytest.fixture
def people(tmp_path: Path) -> Path:
    (tmp_path / "new.csv").write_text("weight,town,age\n60,a,30\n90,b,70\n,c,71\n61,d,29\n")
    return tmp_path / "new.csv"


def test_labels_are_those_of_the_release(run: Run, release: Path, people: Path, tmp_path: Path) -> None:
    result = run("predict", release, people)
    expected = load_release(release).predict([[30, 60], [70, 90], [float("nan")] * 2, [29, 61]]).tolist()
    assert result.stdout == "\n".join(["label", *map(str, expected)]) + "\n"
    assert expected[0] != expected[1]
    kept = run("predict", release, people, "--output", tmp_path / "labels.csv")
    assert (tmp_path / "labels.csv").read_text() == result.stdout
    assert kept.stdout == ""
    assert "not covered by the guarantee" in kept.stderr


def test_a_label_for_every_row_of_a_parquet_file(run: Run, release: Path, table: Path) -> None:
    assert run("predict", release, table).stdout.count("\n") == 601


def test_a_release_without_names_takes_all_columns(run: Run, refused: Run, release: Path, tmp_path: Path) -> None:
    summary = json.loads(release.read_text())
    (tmp_path / "nameless.json").write_text(json.dumps({**summary, "feature_names": None}))
    (tmp_path / "two.csv").write_text("x,y\n30,60\n")
    assert run("predict", tmp_path / "nameless.json", tmp_path / "two.csv").stdout.count("\n") == 2
    (tmp_path / "one.csv").write_text("x\n30\n")
    refused("predict", tmp_path / "nameless.json", tmp_path / "one.csv", match="expected 2 columns, as in the release, got 1")


def test_refusals(refused: Run, release: Path, people: Path, tmp_path: Path) -> None:
    refused("predict", tmp_path / "none.json", people, match="cannot read 'none.json'")
    refused("predict", people, people, match="is also given as RELEASE")
    refused("predict", release, tmp_path / "none.csv", match="there is no file or folder 'none.csv'")
    refused("predict", release, people, "-o", people, "--force", match="is also given as NEW_DATA")
    refused("predict", release, people, "-o", tmp_path / "labels.parquet", match="labels are written as CSV")
    refused("predict", release, people, "-o", tmp_path, match="expected a file, got the folder")
    (tmp_path / "other.csv").write_text("age\n1\n")
    refused("predict", release, tmp_path / "other.csv", match="column 'weight' is not in the table")
    assert not (tmp_path / "labels.csv").exists()
