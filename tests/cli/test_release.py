# SPDX-License-Identifier: Apache-2.0
"""``cloister predict``: one label per row, by column name, in batches. ``cloister show``: for people, machines and browsers."""

import csv
import dataclasses
import io
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from tests.releases import LABELS, PEOPLE, declared_release

from cloister import PEMeans, load_release

from .conftest import Run


@pytest.fixture
def people(tmp_path: Path) -> Path:
    (tmp_path / "new.csv").write_text("weight,town,age\n60,a,30\n90,b,70\n,c,71\n61,d,29\n")
    return tmp_path / "new.csv"


def test_labels_are_those_of_the_release(run: Run, release: Path, people: Path, tmp_path: Path) -> None:
    result = run("predict", release, people)
    expected = load_release(release).predict([[30, 60], [70, 90], [71, float("nan")], [29, 61]]).tolist()
    assert result.stdout == "\n".join(["label", *map(str, expected)]) + "\n"
    assert expected[0] != expected[1]
    kept = run("predict", release, people, "--output", tmp_path / "labels.csv")
    assert (tmp_path / "labels.csv").read_text() == result.stdout
    assert kept.stdout == ""
    assert "not covered by the guarantee" in kept.stderr


def test_a_release_without_names_takes_all_columns(run: Run, refused: Run, release: Path, tmp_path: Path) -> None:
    summary = json.loads(release.read_text())
    (tmp_path / "nameless.json").write_text(json.dumps({**summary, "feature_names": None}))
    (tmp_path / "two.csv").write_text("x,y\n30,60\n")
    assert run("predict", tmp_path / "nameless.json", tmp_path / "two.csv").stdout.count("\n") == 2
    (tmp_path / "one.csv").write_text("x\n30\n")
    refused("predict", tmp_path / "nameless.json", tmp_path / "one.csv", match="expected a table of 2 columns, got 1")


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


# -- declared columns, and columns that are kept ---------------------------------------------------------------------------

KEPT = [["patient", "admitted", "label"], ["p1", "2021-03-04", "0"], ['p"2', "2025-06-10", "1"], ["p,3", "", "0"]]
KEPT.append(["p4", "2025-06-07", "1"])


@pytest.fixture
def declared(tmp_path: Path) -> Path:
    declared_release().save(tmp_path / "declared.json")
    return tmp_path / "declared.json"


def write(name: str, folder: Path) -> Path:
    """Write the people in one of the formats."""
    table, place = pa.table(PEOPLE), folder / name
    if name.endswith(".parquet"):
        pyarrow.parquet.write_table(table, place, row_group_size=2)
    elif name.endswith(".feather"):
        pyarrow.feather.write_feather(table, place)
    elif name.endswith(".jsonl"):
        lines = [json.dumps(row, default=str) for row in table.to_pylist()]
        place.write_text("\n".join(lines).replace("NaN", "null") + "\n")
    else:
        table.to_pandas().to_csv(place, index=False, sep="\t" if "tsv" in name else ",")
    return place


@pytest.mark.parametrize("name", ["p.parquet", "p.csv", "p.csv.gz", "p.tsv", "p.feather", "p.jsonl"])
def test_declared_columns_are_read_and_others_kept(run: Run, declared: Path, tmp_path: Path, name: str) -> None:
    people = write(name, tmp_path)
    assert run("predict", declared, people).stdout.split() == ["label", *map(str, LABELS)]
    result = run("predict", declared, people, "--keep", "patient", "--keep", "admitted")
    assert list(csv.reader(io.StringIO(result.stdout))) == KEPT, result.output


def test_a_folder_is_kept_in_order(run: Run, declared: Path, tmp_path: Path) -> None:
    (tmp_path / "all").mkdir()
    for name in ("a.parquet", "b.parquet"):
        write(name, tmp_path / "all")
    result = run("predict", declared, tmp_path / "all", "--keep", "patient", "--keep", "admitted")
    assert list(csv.reader(io.StringIO(result.stdout))) == KEPT + KEPT[1:]


def test_many_rows_are_kept_in_step(run: Run, release: Path, tmp_path: Path) -> None:
    ages = [30.0, 70.0, 31.0] * 40_000
    table = pa.table({"who": [f"n{index}" for index in range(len(ages))], "age": ages, "weight": [1.3 * age for age in ages]})
    pyarrow.parquet.write_table(table, tmp_path / "many.parquet")
    plain = run("predict", release, tmp_path / "many.parquet").stdout.split()[1:]
    kept = run("predict", release, tmp_path / "many.parquet", "--keep", "who").stdout.split()[1:]
    assert kept == [f"n{index},{label}" for index, label in enumerate(plain)]


def test_a_malformed_line_keeps_its_label_and_a_blank(run: Run, release: Path, tmp_path: Path) -> None:
    (tmp_path / "odd.csv").write_text(
        'who,age,weight\na,30,60\nb,70\n\n"c""d",70,90\n"e,70,90\n\xff,30,60\n', encoding="latin-1"
    )
    lines = list(csv.reader(io.StringIO(run("predict", release, tmp_path / "odd.csv", "--keep", "who").stdout)))
    assert [line[0] for line in lines] == ["who", "a", "", 'c"d', "", "\ufffd"]
    assert lines[1][1] == lines[5][1] != lines[3][1]


def test_a_record_with_line_breaks_has_one_label(run: Run, release: Path, tmp_path: Path) -> None:
    notes = ["a", "b\nx,70,90\n", "c\r\nd", "e"]
    with (tmp_path / "notes.csv").open("w", newline="") as stream:
        csv.writer(stream).writerows([["who", "age", "weight"], *([note, 30 + 40 * (note == "e"), 60] for note in notes)])
    plain = run("predict", release, tmp_path / "notes.csv").stdout.split()[1:]
    kept = run("predict", release, tmp_path / "notes.csv", "--keep", "who").stdout_bytes.decode()
    assert list(csv.reader(io.StringIO(kept, newline="")))[1:] == [list(pair) for pair in zip(notes, plain, strict=True)]
    lines = run("predict", release, tmp_path / "notes.csv", "--rows", "lines").stdout.split()[1:]
    assert len(lines) == 4 + 2 + 1


def test_half_a_letter_of_a_json_line_is_replaced(run: Run, release: Path, tmp_path: Path) -> None:
    (tmp_path / "odd.jsonl").write_text('{"id": "a\\ud800", "age": 30, "weight": 60}\n{"id": {"b": "\\udc00"}}\n')
    for output in ("-", tmp_path / "labels.csv"):
        result = run("predict", release, tmp_path / "odd.jsonl", "--keep", "id", "-o", output)
        text = result.stdout if output == "-" else (tmp_path / "labels.csv").read_text(encoding="utf-8")
        assert [line[0] for line in csv.reader(io.StringIO(text))] == ["id", "a?", '{"b": "?"}']


def test_a_semicolon_file_is_kept_with_its_options(run: Run, release: Path, tmp_path: Path) -> None:
    (tmp_path / "de.csv").write_text("wer;age;weight\nJ\xfcrg;30,5;60\n", encoding="latin-1")
    options = ("--delimiter", ";", "--decimal", ",", "--encoding", "latin-1")
    result = run("predict", release, tmp_path / "de.csv", "--keep", "wer", *options)
    assert result.stdout.splitlines()[1].startswith("J\xfcrg,")


def test_a_column_called_label_does_not_hide_the_labels(run: Run, release: Path, tmp_path: Path) -> None:
    (tmp_path / "l.csv").write_text("label,age,weight\nx,30,60\n")
    assert run("predict", release, tmp_path / "l.csv", "--keep", "label").stdout.startswith("label,label_\nx,")


def test_what_cannot_be_kept_is_refused(refused: Run, release: Path, people: Path, tmp_path: Path) -> None:
    refused("predict", release, people, "--keep", "name", match="--keep: column 'name' is not in the table")
    refused("predict", release, people, "--keep", "age", "--keep", "age", match="column 'age' is named twice")
    nested = pa.table({"age": [1.0], "weight": [2.0], "visits": [[1, 2]]})
    pyarrow.parquet.write_table(nested, tmp_path / "nested.parquet")
    words = "expected single values in column 'visits'"
    refused("predict", release, tmp_path / "nested.parquet", "--keep", "visits", match=words)


def test_a_column_that_is_damaged_is_named_by_its_file(refused: Run, release: Path, tmp_path: Path) -> None:
    table = pa.table({"age": [1.0] * 500, "weight": [2.0] * 500, "who": [f"person {index}" for index in range(500)]})
    pyarrow.parquet.write_table(table, tmp_path / "p.parquet", compression="snappy", use_dictionary=False)
    content = bytearray((tmp_path / "p.parquet").read_bytes())
    at = pyarrow.parquet.read_metadata(tmp_path / "p.parquet").row_group(0).column(2).data_page_offset
    content[at : at + 200] = b"\xff" * 200
    (tmp_path / "p.parquet").write_bytes(content)
    arguments = ("predict", release, tmp_path / "p.parquet", "--keep", "who", "-o", tmp_path / "out.csv")
    refused(*arguments, match="--keep: the file 'p.parquet' cannot be read")
    assert not (tmp_path / "out.csv").exists()


# -- show ----------------------------------------------------------------------------------------------------------------


def test_a_release_is_shown(run: Run, release: Path, tmp_path: Path) -> None:
    result = run("show", release, "--report", tmp_path / "report.html")
    for words in ("2 centres", "rows (noisy)", "Guarantee: epsilon = 5", "report.html"):
        assert words in result.stdout
    assert "The privacy receipt" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_machines_and_pipes(run: Run, release: Path) -> None:
    summary = json.loads(run("show", release, "--json").stdout)
    assert summary["columns"] == ["age", "weight"]
    assert run("show", "-", stdin=release.read_bytes()).stdout == run("show", release).stdout
    assert run("show", release, "--report", "-").stdout.startswith("<!doctype html>")


def test_what_cannot_be_shown_is_refused(refused: Run, release: Path, tmp_path: Path) -> None:
    refused("show", tmp_path / "none.json", match="cannot read 'none.json' (No such file or directory)")
    refused("show", release, "--report", release, "--force", match="is also given as RELEASE")
    (tmp_path / "old.html").write_text("old")
    refused("show", release, "--report", tmp_path / "old.html", match="exists")
    refused("show", match="Missing argument 'RELEASE'")


def test_standard_input_that_is_no_json_is_refused(run: Run) -> None:
    result = run("show", "-", stdin=b"\xff\xfe", code=2)
    assert result.stderr == "Error: load_release: standard input is not JSON. Pass what 'fit' wrote.\n"


def test_names_are_text_not_markup_or_control(run: Run, release: Path, tmp_path: Path) -> None:
    odd = dataclasses.replace(load_release(release), feature_names=("[bold]x[/bold]", "a\x1b[31m\nb"))
    odd.save(tmp_path / "odd.json")
    output = run("show", tmp_path / "odd.json").stdout
    assert "[bold]x[/bold]" in output
    assert "\x1b" not in output


def test_many_columns_are_cut_to_those_that_matter(run: Run, tmp_path: Path, generator: np.random.Generator) -> None:
    rows = generator.normal(0, 0.01, (400, 12))
    rows[:200, 7] += 0.9
    PEMeans(2, epsilon=1e4, bounds=(-1, 1), n_rounds=12, n_variations=100).fit(rows).release_.save(tmp_path / "wide.json")
    output = run("show", tmp_path / "wide.json").stdout
    assert "x7" in output
    assert "columns that separate the centres best, of 12" in output
