# SPDX-License-Identifier: Apache-2.0
"""``--bounds`` in all its forms."""

from pathlib import Path

import pytest

from cloister.cli._bounds import read_bounds
from cloister.exceptions import ParameterError


@pytest.mark.parametrize("text", ["-1,1", " -1 , 1.0", "-1:1", "-1 1", "-1e0;+1"])
def test_a_pair_is_for_all_columns(text: str) -> None:
    assert read_bounds([text]).pairs(["a", "b"]) == [(-1.0, 1.0), (-1.0, 1.0)]


@pytest.mark.parametrize(
    "texts",
    [["a=0:1,b c=-2:3.5"], ["a=0:1;b c=-2:3.5"], ["a=0:1 b c=-2:3.5"], ["a=0:1", "b c=-2:3.5"], [" a = 0 : 1 , b c = -2:3.5 "]],
)
def test_columns_are_joined_or_repeated(texts: list[str]) -> None:
    assert read_bounds(texts).named == {"a": (0.0, 1.0), "b c": (-2.0, 3.5)}


def test_a_name_may_hold_an_equals_sign() -> None:
    assert read_bounds(["x=y=0:1"]).named == {"x=y": (0.0, 1.0)}


def test_a_pair_serves_the_columns_without_a_name() -> None:
    assert read_bounds(["0,1", "age=0:120"]).pairs(["age", "b"]) == [(0.0, 120.0), (0.0, 1.0)]


@pytest.mark.parametrize(
    "text",
    [
        '{"age": [0, 120], "b": {"low": 1, "high": 2}}',
        "column,low,high\nage,0,120\nb, 1, 2\n",
        "\ufeffcolumn,low,high\nage,0,120\nb,1,2\n",
    ],
)
def test_a_small_file_holds_bounds(tmp_path: Path, text: str) -> None:
    (tmp_path / "bounds").write_text(text, encoding="utf-8")
    assert read_bounds([str(tmp_path / "bounds")]).named == {"age": (0.0, 120.0), "b": (1.0, 2.0)}


@pytest.mark.parametrize(
    ("texts", "match"),
    [
        ([], "expected where rows may lie"),
        (["wide"], "expected low,high or column=low:high"),
        (["1,0"], "expected low < high for all columns, got 1 and 0"),
        (["age=5:5"], "expected low < high for column 'age'"),
        (["0,1", "0,2"], "got two"),
        (["age=0:1,age=0:2"], "column 'age' has bounds twice"),
        (["age=0:1,weight"], "expected column=low:high, got 'weight'"),
    ],
)
def test_a_refusal_says_what_to_write(texts: list[str], match: str) -> None:
    with pytest.raises(ParameterError, match=match):
        read_bounds(texts)


@pytest.mark.parametrize("text", ["", "{", "[1, 2]", "nonsense", "column,low\na,1\n", '{"a": 3}', '{"a": [1, 2, 3]}'])
def test_a_file_without_bounds_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "bounds.json").write_text(text)
    with pytest.raises(ParameterError, match="holds no bounds"):
        read_bounds([str(tmp_path / "bounds.json")])


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ('{"a": [1, "x"]}', "expected two numbers"),
        ('{"a": [1, NaN]}', "low < high"),
        ('{"a": [0, 1], "a": [0, 2]}', "twice"),
        ("column,low,high\na,0,1\na,0,2\n", "twice"),
    ],
)
def test_a_file_with_wrong_bounds_is_refused(tmp_path: Path, text: str, match: str) -> None:
    (tmp_path / "bounds").write_text(text)
    with pytest.raises(ParameterError, match=match):
        read_bounds([str(tmp_path / "bounds")])


def test_missing_and_unknown_columns_are_named() -> None:
    bounds = read_bounds(["age=0:1"])
    with pytest.raises(ParameterError, match="no bounds for 'b', 'c'"):
        bounds.pairs(["age", "b", "c"])
    with pytest.raises(ParameterError, match="'age' not in the table") as caught:
        bounds.refuse_unknown(["Ann Smith"])
    assert "Smith" not in str(caught.value), "the first line of a file without names is somebody's row"
    with pytest.raises(ParameterError, match=r"'b' not in the table. The columns are: 'age', 'c'"):
        read_bounds(["age=0:1,b=0:1"]).refuse_unknown(["age", "c"])
