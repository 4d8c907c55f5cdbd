# SPDX-License-Identifier: Apache-2.0
"""``cloister schema``: a draft from names and types alone, which a fit refuses until it is filled in."""

import json
import tomllib
from pathlib import Path

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from tests.declared import PEOPLE

from cloister import Ledger, load_release
from cloister.cli._bounds import read_bounds
from cloister.columns import Category, Date, Flag, Number

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


@pytest.fixture
def people(tmp_path: Path) -> Path:
    pyarrow.parquet.write_table(pa.table(PEOPLE), tmp_path / "people.parquet")
    return tmp_path / "people.parquet"


def test_types_draft_what_columns_are(run: Run, people: Path) -> None:
    result = run("schema", people)
    found = json.loads(result.stdout)
    assert "looking at the data" in found.pop("_help")[0]
    assert found == DRAFT
    assert result.stderr == ""


def test_arrow_files_say_the_same(run: Run, tmp_path: Path) -> None:
    pyarrow.feather.write_feather(pa.table(PEOPLE), tmp_path / "people.feather")
    found = json.loads(run("schema", tmp_path / "people.feather").stdout)
    assert {name: found[name] for name in DRAFT} == DRAFT


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
    assert run("schema", tmp_path / "odd.parquet", "-o", tmp_path / f"s.{ending}").exit_code == 0
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
    empty = ('"low": null, "high": null', "") if ending == "json" else ('low = ""\nhigh = ""', "")
    both = ('"low": {}, "high": {}' if ending == "json" else "low = {}\nhigh = {}").format
    columns = text.split('\n "' if ending == "json" else "\n[")
    kept = [part for part in columns if not part.startswith(('patient"', '"patient"'))]
    text = ('\n "' if ending == "json" else "\n[").join(kept)
    text = text.replace(empty[0], both('"2020-01-01"', '"2026-12-31"'), 1).replace(empty[0], both(0, 400))
    schema.write_text(text.replace("[]", '["f", "m"]', 1).replace("[]", '["north", "south", 3]'))
    assert read_bounds([str(schema)]).named == {
        "admitted": Date("2020-01-01", "2026-12-31"),
        "smoker": Flag(),
        "sex": Category(["f", "m"]),
        "ward": Category(["north", "south", 3]),
        "glucose": (0.0, 400.0),
        "age": (0.0, 400.0),
    }
    result = run(*fit)
    assert result.exit_code == 0, result.output
    release = load_release(tmp_path / "release.json")
    assert release.feature_names == ("admitted", "smoker", "sex", "ward", "glucose", "age")
    assert release.table_columns is not None
    assert release.table_columns["age"] == Number(0, 400)


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
    refused(
        "schema",
        tmp_path / "l.jsonl",
        match="JSON lines declare none, and keys of rows are not public. Write the schema by hand",
    )
    (tmp_path / "lines").mkdir()
    (tmp_path / "lines" / "l.jsonl.gz").write_bytes(b"")
    refused("schema", tmp_path / "lines", match="Write the schema by hand")
