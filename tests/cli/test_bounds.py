# SPDX-License-Identifier: Apache-2.0
"""``--bounds`` in all its forms."""

from pathlib import Path

import pytest

from cloister.cli._bounds import read_bounds, read_query
from cloister.columns import Category, Date, Flag, Number
from cloister.exceptions import ParameterError


@pytest.mark.parametrize(
    ("texts", "columns"),
    [
        *(([text], {"a": (-1.0, 1.0), "b": (-1.0, 1.0)}) for text in ("-1,1", " -1 , 1.0", "-1:1", "-1 1", "-1e0;+1")),
        *(([f"a=0:1{joint}b c=-2:3.5"], {"a": (0.0, 1.0), "b c": (-2.0, 3.5)}) for joint in (",", ";", " ")),
        (["a=0:1", "b c=-2:3.5"], {"a": (0.0, 1.0), "b c": (-2.0, 3.5)}),
        ([" a = 0 : 1 , b c = -2:3.5 "], {"a": (0.0, 1.0), "b c": (-2.0, 3.5)}),
        (["x=y=0:1"], {"x=y": (0.0, 1.0)}),
        (["0,1", "age=0:120"], {"age": (0.0, 120.0), "b": (0.0, 1.0)}),
        (["private"], {"a": "private", "b": "private"}),
        (["private", "a=0:1"], {"b": "private", "a": (0.0, 1.0)}),
        (["0,9", "sex=f|m"], {"sex": Category(["f", "m"]), "x": (0.0, 9.0)}),
        (["smoking status=never smoked|smokes"], {"smoking status": Category(["never smoked", "smokes"])}),
        (["stage= 1 | 2 | 3 "], {"stage": Category(["1", "2", "3"])}),
        (["seen=2024-10-04T08:00:00:2024-10-04T20:00:00"], {"seen": Date("2024-10-04T08:00:00", "2024-10-04T20:00:00")}),
        (["seen=2024-10-04T08:00:2024-10-05"], {"seen": Date("2024-10-04T08:00:00", "2024-10-05")}),
    ],
)
def test_words_say_what_each_column_is(texts: list[str], columns: dict[str, object]) -> None:
    found = read_bounds(texts)
    assert found.of(list(columns)) == columns
    assert found.are_pairs == all(isinstance(one, tuple) for one in columns.values())


@pytest.mark.parametrize(
    ("texts", "match"),
    [
        ([], "expected where rows may lie"),
        (["wide"], "expected low,high or column=low:high"),
        (["1,0"], r"--bounds\['all columns'\]: expected low < high, got \(1.0, 0.0\). Swap the two"),
        (["age=5:5"], r"--bounds\['age'\]: expected low < high"),
        (["0,1", "0,2"], "got two"),
        (["private", "0,1"], "got two"),
        (["age=0:1,age=0:2"], "column 'age' has bounds twice"),
        (["age=0:1,weight"], "expected low,high or column=low:high or .* file, got 'weight'"),
        (["sex=f|f"], "--bounds: column 'sex': Category.levels: expected every level once"),
        (["admitted=2026-13-31:2026-14-01"], r"--bounds\['admitted'\]: .* Pass two numbers or two dates"),
        (["sex=f|m,weight"], "got 'weight'"),
        (["smoker=maybe"], "expected low,high or column=low:high.* smoker=flag"),
        (["none.toml"], "there is no file 'none.toml'. Check the path, or draft one with 'cloister schema'"),
    ],
)
def test_a_refusal_says_what_to_write(texts: list[str], match: str) -> None:
    with pytest.raises(ParameterError, match=match):
        read_bounds(texts)


@pytest.mark.parametrize(
    ("text", "match"),
    [
        *((text, "holds no bounds") for text in ("", "{", "[1, 2]", "nonsense", "column,low\na,1\n")),
        ('{"a": 3}', r"--bounds\['a'\]: expected what the column is, got 3"),
        ('{"a": [0, 1], "a": [0, 2]}', "twice"),
        ("column,low,high\na,0,1\na,0,2\n", "twice"),
        ('{"a": {"type": "?"}}', r"column 'a' of 's.json' is not filled in: type is '\?'. Write number, category"),
        ('{"a": {"type": "number", "low": null, "high": null}}', 'low and high are empty. Fill it in .* write "private"'),
        ('{"a": {"type": "number", "low": 0, "high": ""}}', "high is empty"),
        ('{"a": {"type": "date", "low": null, "high": "2026-12-31"}}', "low is empty. .* looking at the data, or delete"),
        ('{"a": {"type": "category", "levels": []}}', "levels are empty. Fill it in .* or delete the column"),
        ('{"a": {"type": "date", "low": "private", "high": ""}}', r"--bounds\['a'\]: .*The bounds of dates must be known"),
    ],
)
def test_a_file_that_is_wrong_or_not_filled_in_is_refused(tmp_path: Path, text: str, match: str) -> None:
    (tmp_path / "s.json").write_text(text)
    with pytest.raises(ParameterError, match=match):
        read_bounds([str(tmp_path / "s.json")])


def test_missing_and_unknown_columns_are_named() -> None:
    bounds = read_bounds(["age=0:1"])
    with pytest.raises(ParameterError, match="no bounds for 'b', 'c'"):
        bounds.of(["age", "b", "c"])
    with pytest.raises(ParameterError, match="'age' not in the table") as caught:
        bounds.refuse_unknown(["Ann Smith"])
    assert "Smith" not in str(caught.value), "the first line of a file without names is somebody's row"
    with pytest.raises(ParameterError, match=r"'b' not in the table. The columns are: 'age', 'c'"):
        read_bounds(["age=0:1,b=0:1"]).refuse_unknown(["age", "c"])


# -- declared columns ----------------------------------------------------------------------------------------------------

DECLARED = {
    "age": (0.0, 120.0),
    "sex": Category(["f", "m"]),
    "smoker": Flag(),
    "admitted": Date("2020-01-01", "2026-12-31"),
    "income": Number("private"),
}


@pytest.mark.parametrize(
    "texts",
    [
        ["age=0:120", "sex=f|m", "smoker=flag", "admitted=2020-01-01:2026-12-31", "income=private"],
        ["age=0:120,sex=f|m,smoker=flag,admitted=2020-01-01:2026-12-31,income=private"],
        ["age=0:120 sex=f|m smoker=Flag;admitted = 2020-01-01 : 2026-12-31, income=PRIVATE "],
    ],
)
def test_columns_are_declared_inline(texts: list[str]) -> None:
    bounds = read_bounds(texts)
    assert bounds.named == DECLARED
    assert not bounds.are_pairs


JSON = """{"_help": ["words"], "age": [0, 120], "sex": {"levels": ["f", "m"]}, "smoker": "flag",
 "admitted": ["2020-01-01", "2026-12-31"], "income": "private"}"""
LONG_JSON = """{"age": {"type": "number", "low": 0, "high": 120}, "sex": {"type": "category", "levels": ["f", "m"]},
 "smoker": {"type": "flag"}, "admitted": {"type": "date", "low": "2020-01-01", "high": "2026-12-31"},
 "income": {"type": "number", "low": "private", "high": null}}"""
TOML = """
age = [0, 120]
income = "private"
smoker = "flag"
[sex]
levels = ["f", "m"]
[admitted]
low = 2020-01-01
high = 2026-12-31
"""


MORE_JSON = """{"age": {"low": 0, "high": 120, "missing": "own"}, "ward": {"levels": [1, 2], "weight": 2, "missing": 1},
 "day": {"low": "2020-01-01", "high": "2021-01-01"},
 "late": {"low": "2020-01-01", "high": "2021-01-01", "weight": 2}, "_help": {"levels": ["a", "b"]}}"""
MORE = {
    "age": Number(0, 120, missing="own"),
    "ward": Category([1, 2], weight=2, missing=1),
    "day": Date("2020-01-01", "2021-01-01"),
    "late": Date("2020-01-01", "2021-01-01", weight=2),
    "_help": Category(["a", "b"]),
}
PAIRS = {"age": (0.0, 120.0), "b": (1.0, 2.0)}
DATED = {"day": Date("2020-01-01", "2021-01-01"), "age": (0.0, 1.0)}


@pytest.mark.parametrize(
    ("name", "text", "named"),
    [
        *(("s.json", text, DECLARED) for text in (JSON, LONG_JSON)),
        ("s.toml", TOML, DECLARED),
        ("s.json", MORE_JSON, MORE),
        ("bounds", '{"age": [0, 120], "b": {"low": 1, "high": 2}}', PAIRS),
        ("bounds", "column,low,high\nage,0,120\nb, 1, 2\n", PAIRS),
        ("bounds", "\ufeffcolumn,low,high\nage,0,120\nb,1,2\n", PAIRS),
        ("b.csv", "column,low,high\nday,2020-01-01,2021-01-01\nage,0,1\n", DATED),
    ],
)
def test_a_file_declares_columns(tmp_path: Path, name: str, text: str, named: dict[str, object]) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert read_bounds([str(tmp_path / name)]).named == named


def test_toml_that_is_none_says_where(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text("age = [0, 120\n")
    with pytest.raises(ParameterError, match=r"'s.toml' is not TOML: .*line"):
        read_bounds([str(tmp_path / "s.toml")])


@pytest.mark.parametrize("text", ["sex=f|m", "smoker=flag", "private", "day=2020-01-01:2021-01-01"])
def test_a_query_asks_for_ranges_of_numbers(text: str) -> None:
    with pytest.raises(ParameterError, match="QUERY: expected column=low:high"):
        read_query(text)
