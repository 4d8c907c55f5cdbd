# SPDX-License-Identifier: Apache-2.0
"""``cloister schema``: a draft from names and types alone, which a fit refuses until it is filled in."""

import json
import tomllib
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from tests.releases import PEOPLE

from cloister import Ledger, load_release
from cloister.cli._bounds import read_bounds
from cloister.columns import Number

from .conftest import Run

NAMES = list(PEOPLE)
DRAFT = {
    "patient": {"type": "category", "levels": []},
    "admitted": {"type": "date", "low": None, "high": None},
    "smoker": {"type": "flag"},
    "sex": {"type": "category", "levels": []},
    "ward": {"type": "category", "levels": []},
    "glucose": {"type": "number", "low": None, "high": None},
    "age": {"type": "number", "low": None, "high": None},
}


FILLED = {  # in the order of the draft: of equal drafts the first is filled in
    "patient": {"type": "category", "levels": ["p1", "p2"]},
    "admitted": {"type": "date", "low": "2020-01-01", "high": "2026-12-31"},
    "sex": {"type": "category", "levels": ["f", "m"]},
    "ward": {"type": "category", "levels": ["north", "south", 3]},
    "glucose": {"type": "number", "low": 0, "high": 400},
    "age": {"type": "number", "low": 0, "high": 120},
}


def toml(column: dict[str, object]) -> str:
    """Return what a draft of a column is in TOML: an empty place is an empty word."""
    return "\n".join(f"{key} = {json.dumps('' if value is None else value)}" for key, value in column.items())


@pytest.fixture
def people(tmp_path: Path) -> Path:
    pyarrow.parquet.write_table(pa.table(PEOPLE), tmp_path / "people.parquet")
    return tmp_path / "people.parquet"


@pytest.mark.parametrize("write", [pyarrow.parquet.write_table, pyarrow.feather.write_feather])
def test_types_draft_what_columns_are(run: Run, tmp_path: Path, write: Callable[..., None]) -> None:
    path = tmp_path / ("people.parquet" if write is pyarrow.parquet.write_table else "people.feather")
    write(pa.table(PEOPLE), path)
    result = run("schema", path)
    found = json.loads(result.stdout)
    assert "looking at the data" in found.pop("_help")[0]
    assert found == DRAFT
    assert result.stderr == ""


def test_no_value_is_read(run: Run, tmp_path: Path) -> None:
    """Two tables of one schema have one draft, whatever is in them; of a CSV file only the first line counts."""
    table = pa.table(PEOPLE)
    pyarrow.parquet.write_table(table, tmp_path / "a.parquet")
    pyarrow.parquet.write_table(table.slice(0, 0), tmp_path / "b.parquet")
    assert run("schema", tmp_path / "a.parquet").stdout == run("schema", tmp_path / "b.parquet").stdout
    (tmp_path / "a.csv").write_text("age,sex\n31,f\n")
    (tmp_path / "b.csv").write_text('age,sex\nx,"\n\x00')
    assert run("schema", tmp_path / "a.csv").stdout == run("schema", tmp_path / "b.csv").stdout


def test_a_csv_file_declares_no_types(run: Run, tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text("age;größe\n31;180\n", encoding="latin-1")
    found = json.loads(run("schema", tmp_path / "p.csv", "--delimiter", ";", "--encoding", "latin-1").stdout)
    assert '"?"' in found.pop("_help")[-1]
    assert found == {"age": {"type": "?"}, "größe": {"type": "?"}}


def test_toml_by_its_ending(run: Run, people: Path, tmp_path: Path) -> None:
    result = run("schema", people, "--output", tmp_path / "s.toml")
    assert result.stdout == ""
    assert "Fill it in" in result.stderr
    found = tomllib.loads((tmp_path / "s.toml").read_text())
    assert found["age"] == {"type": "number", "low": "", "high": ""}
    assert list(found) == NAMES


@pytest.mark.parametrize("ending", ["json", "toml"])
def test_hostile_names_survive(run: Run, tmp_path: Path, ending: str) -> None:
    names = ["_help", 'a"b', "c\\d", "e\x7f\x01\n", "😀.x", "[y]", "=", "# no", ""]
    pyarrow.parquet.write_table(pa.table([[True]] * len(names), names=names), tmp_path / "odd.parquet")
    run("schema", tmp_path / "odd.parquet", "-o", tmp_path / f"s.{ending}")
    text = (tmp_path / f"s.{ending}").read_text(encoding="utf-8")
    found = json.loads(text) if ending == "json" else tomllib.loads(text)
    assert list(found) == names
    assert all(one == {"type": "flag"} for one in found.values())


@pytest.mark.parametrize("ending", ["json", "toml"])
def test_a_draft_is_refused_until_it_is_filled_in(
    run: Run, refused: Run, people: Path, ledger: Path, tmp_path: Path, ending: str
) -> None:
    schema = tmp_path / f"schema.{ending}"
    run("schema", people, "-o", schema)
    fit = ("fit", people, "-k", 1, "--epsilon", 1, "--ledger", ledger, "--bounds", schema, "-o", tmp_path / "release.json")
    refused(*fit, match=f"column 'patient' of 'schema.{ending}' is not filled in: levels are empty. Fill it in")
    with Ledger.open(ledger) as opened:
        assert opened.events == []
    text = schema.read_text()
    for name, filled in FILLED.items():
        before = json.dumps(DRAFT[name]) if ending == "json" else toml(DRAFT[name])
        text = text.replace(before, json.dumps(filled) if ending == "json" else toml(filled), 1)
    schema.write_text(text)
    (tmp_path / "by-hand.json").write_text(json.dumps({**DRAFT, **FILLED}))
    assert read_bounds([str(schema)]) == read_bounds([str(tmp_path / "by-hand.json")])
    run(*fit)
    release = load_release(tmp_path / "release.json")
    assert release.feature_names == tuple(NAMES)
    assert release.domain.columns[NAMES.index("age")] == Number(0, 120)


def test_what_cannot_be_drafted_is_refused(refused: Run, people: Path, tmp_path: Path) -> None:
    refused("schema", tmp_path / "none.csv", match="schema: there is no file or folder 'none.csv'")
    refused("schema", people, "-o", tmp_path / "s.yaml", match="a schema is written as JSON or TOML, got")
    refused("schema", people, "-o", people, "--force", match="ends in .json")
    (tmp_path / "old.json").write_text("mine")
    refused("schema", people, "-o", tmp_path / "old.json", match="exists. Choose another name, or pass --force")
    (tmp_path / "p.csv").write_text("age;sex\n31;f\n")
    refused("schema", tmp_path / "p.csv", match="--delimiter ';'")
    (tmp_path / "twice.csv").write_text("a,b,a\n1,2,3\n")
    refused("schema", tmp_path / "twice.csv", match="column 'a' occurs 2 times. Rename")
    (tmp_path / "l.jsonl").write_text('{"a": 1}\n')
    refused("schema", tmp_path / "l.jsonl", match="keys of rows are not public. Write the schema by hand")
    (tmp_path / "lines").mkdir()
    (tmp_path / "lines" / "l.jsonl.gz").write_bytes(b"")
    refused("schema", tmp_path / "lines", match="Write the schema by hand")
