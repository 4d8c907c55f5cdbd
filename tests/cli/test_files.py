# SPDX-License-Identifier: Apache-2.0
"""Files of every kind and dialect, from the command line: read alike, or refused in one line before anything is spent."""

import errno
import gzip
import json
from contextlib import nullcontext
from pathlib import Path

import pytest

from cloister import load_release

FIT = ("-k", 2, "--epsilon", 5, "--bounds", "größe=0:3,gewicht=0:200", "--seed", 0, "--allow-seeded", "-q", "-o", "-")


@pytest.fixture
def people(tmp_path: Path) -> Path:
    """The same rows as text in several ways."""
    rows = [(1.5 + index % 7 / 100, 60 + 30 * (index % 2)) for index in range(200)]
    comma = "größe,gewicht\n" + "".join(f"{height},{mass}\n" for height, mass in rows)
    other = "größe;gewicht\n" + "".join(f"{height};{mass}\n".replace(".", ",") for height, mass in rows)
    (tmp_path / "plain.csv").write_text(comma, encoding="utf-8")
    (tmp_path / "plain.csv.gz").write_bytes(gzip.compress(comma.encode()))
    (tmp_path / "tabs.tsv").write_text(comma.replace(",", "\t"), encoding="utf-8")
    (tmp_path / "excel.csv").write_bytes(other.encode("cp1252"))
    lines = (json.dumps({"gewicht": mass, "größe": height}) + "\n" for height, mass in rows)
    (tmp_path / "lines.jsonl").write_text("".join(lines), encoding="utf-8")
    return tmp_path


def test_the_same_rows_give_the_same_release(people, run):
    def centers(*arguments):
        result = run("fit", *arguments, *FIT)
        return json.loads(result.stdout)["cluster_centers"]

    expected = centers(people / "plain.csv")
    for name in ("plain.csv.gz", "tabs.tsv", "lines.jsonl"):
        assert centers(people / name) == expected
    dialect = ("--delimiter", ";", "--decimal", ",", "--encoding", "cp1252")
    assert centers(people / "excel.csv", *dialect) == expected
    assert centers((people / "plain.csv").as_uri()) == expected


@pytest.mark.parametrize(
    ("name", "content", "options", "match"),
    [
        ("a.csv", b"age;mass\n1;2\n", (), "named with ';' in it. Pass delimiter=';' (--delimiter ';')."),
        ("a.csv", b"age,age\n1,2\n", ("--columns", "age"), "column 'age' occurs 2 times. Rename all but one of them."),
        ("a.txt", b"a\n1\n", (), "got 'a.txt'. Convert it, or rename it."),
        ("a.csv.gz", b"age,mass\n1,2\n", (), "the file 'a.csv.gz' cannot be read (OSError). Check that it is whole"),
    ],
)
def test_mistakes_are_one_line_and_free(name, content, options, match, tmp_path, free):
    (tmp_path / name).write_bytes(content)
    free("fit", tmp_path / name, "-k", 2, "--epsilon", 1, "--bounds", "0,100", *options, match=match)


def test_an_address_that_cannot_be_opened_is_one_line(refused):
    refused("fit", "https://host/rows.csv", "-k", 2, "--epsilon", 1, "--bounds", "0,1", match="got one with 'https'. Copy the")
    address = "s3://key:secret@bucket/rows.csv?endpoint_override=x:y&colour=blue"
    result = refused("fit", address, "-k", 2, "--epsilon", 1, "--bounds", "0,1", match="with s3:// cannot be opened")
    assert "secret" not in result.stderr


def test_a_file_is_in_its_place_before_anything_is_printed(people, monkeypatch, run):
    def broken(*arguments: object) -> None:
        assert (people / "release.json").is_file()
        assert (people / "report.html").is_file()
        raise BrokenPipeError(errno.EPIPE, "Broken pipe")

    monkeypatch.setattr("rich.console.Console.print", broken)
    options = [option for option in FIT[:-1] if option != "-q"]
    run("fit", people / "plain.csv", *options, people / "release.json", "--report", people / "report.html", code=1)
    assert load_release(people / "release.json").n_clusters == 2
    assert not list(people.glob(".*.draft"))


def test_a_terminal_hears_that_the_report_is_written(people, monkeypatch, run):
    heard = []

    def status(console: object, words: str) -> nullcontext[None]:
        heard.append(words)
        return nullcontext()

    monkeypatch.setattr("rich.console.Console.status", status)
    options = ("-k", 2, "--epsilon", 5, "--bounds", "größe=0:3,gewicht=0:200", "--force", "-o", people / "r.json")
    report = ("--report", people / "r.html")
    for terminal, more, expected in ((False, (), []), (True, ("-q",), []), (True, (), ["Writing the report ..."])):
        monkeypatch.setattr("cloister.cli._output.on_terminal", lambda terminal=terminal: terminal)
        run("fit", people / "plain.csv", *options, *report, *more)
        assert heard == expected
