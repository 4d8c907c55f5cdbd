# SPDX-License-Identifier: Apache-2.0
"""CSV files: one row per record, and no line that raises an error or changes how another line is read."""

import csv
import io

import numpy as np
import pytest
from tests.rows import read

from cloister import open_rows
from cloister.exceptions import DataError

CANARY = "77.123456789"
GOOD = b"1,2\n3,4\n5,6\n7,8\n"


@pytest.fixture
def write(tmp_path):
    def write_file(content):
        path = tmp_path / "rows.csv"
        path.write_bytes(content)
        return path

    return write_file


@pytest.mark.parametrize(
    "content",
    [
        b"a,b\n1,2\n3,4\n",
        b"a,b\r\n1,2\r\n3,4\r\n",
        b"a,b\n1,2\n3,4",
        b"\xef\xbb\xbfa,b\n1,2\n3,4\n",
        b'\xef\xbb\xbf"a","b"\n"1","2"\n"3","4"\n',
        b"\n\na,b\n\n1,2\n\n\n3,4\n\n",
        b"a,b\n 1 ,\t2\n+3, 4.0e0 \n",
        b"a,b\n1,2.\n03,4\n",
    ],
)
def test_ways_to_write_the_same_table(content, write):
    rows = open_rows(write(content))
    assert rows.feature_names == ("a", "b")
    assert read(write(content)).tolist() == [[1.0, 2.0], [3.0, 4.0]]


def test_quoted_names_may_hold_commas_and_quotes(write):
    path = write(b'"a, left","b ""x"""\n1,2\n')
    assert open_rows(path).feature_names == ("a, left", 'b "x"')
    assert read(path, columns=['b "x"']).tolist() == [[2.0]]


@pytest.mark.parametrize("word", ["", "NA", "nan", "NULL", "null", "N/A", "x", "12a", "1,5", '""', "--", "ä", "1 2", "0x10"])
def test_what_is_no_number_is_missing(word, write):
    entry = f'"{word}"' if "," in word else word
    table = read(write(b"a,b\n1,2\n" + f"{entry},4\n".encode() + b"5,6\n"))
    assert np.array_equal(table, [[1, 2], [np.nan, 4], [5, 6]], equal_nan=True)


HOSTILE = [
    b"1",
    b"1,2,3",
    b",",
    b",,,,",
    b'"1,2',
    b'1,"2',
    b'1,2"',
    b'"',
    b'""',
    b'"1"2,3',
    b'a"b,"c',
    b"\xff\xfe,1",
    b"1,\xc3",
    b"\x00,1",
    b"1,2\r3,4",
    b"\r\r",
    b"\xef\xbb\xbf1,2",
    b" ",
    b"#,1",
    b"\\",
    b"x" * 70_000,
    b"77.123456789x,1",
]


@pytest.mark.parametrize("line", HOSTILE)
def test_no_line_raises_or_touches_another(line, write):
    lines = GOOD.splitlines(keepends=True)
    for place in range(5):
        table = read(write(b"a,b\n" + b"".join([*lines[:place], line + b"\n", *lines[place:]])))
        assert len(table) == 5
        assert np.delete(table, place, axis=0).tolist() == [[1, 2], [3, 4], [5, 6], [7, 8]]
    assert read(write(b"a,b\n" + GOOD + line))[:4].tolist() == [[1, 2], [3, 4], [5, 6], [7, 8]], "a line without an end"


def test_well_formed_lines_are_read_as_the_standard_library_reads_them(write, generator):
    table = generator.normal(size=(500, 3)) * 10.0 ** generator.integers(-30, 30, size=(500, 3))
    text = io.StringIO()
    csv.writer(text, quoting=csv.QUOTE_ALL).writerows([["a", "b", "c"], *table.tolist()])
    assert np.array_equal(read(write(text.getvalue().encode())), table)


def test_many_malformed_lines_among_good_ones(write):
    lines = [b"1,2\n", b'"3,4\n', b"5\n", b'"6","7"\n'] * 80
    table = read(write(b"a,b\n" + b"".join(lines)))
    nan = np.nan
    assert np.array_equal(table, [[1, 2], [nan, nan], [nan, nan], [6, 7]] * 80, equal_nan=True)


# -- columns -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_texts", [0, 1, 49, 50, 51, 100])
@pytest.mark.parametrize("columns", [None, ["a"]])
def test_a_column_that_is_used_holds_numbers_however_many_entries_are_text(n_texts, columns, write):
    # Declared by opening it. A guess from entries could be flipped into an error by one of them.
    lines = ["secret"] * n_texts + ["1"] * (100 - n_texts)
    table = read(write("\n".join(["a", *lines]).encode()), columns=columns)
    assert np.array_equal(table[:, 0], [np.nan] * n_texts + [1.0] * (100 - n_texts), equal_nan=True)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", r"the file 'rows\.csv' is empty\. Pass a file with a line of column names"),
        (b"\n\n", r"the file 'rows\.csv' is empty"),
        (b"a,a\n1,2\n", r"a column name occurs 2 times\. Check the names in the first line"),
        (b"a,,b\n1,2,3\n", r"expected a name for every column in the first line of 'rows\.csv', got a blank one"),
        (b'"",age\n1,2\n', r"got a blank one\. Add a name, or choose columns with columns="),
        (
            b"age;mass\n1;2\n",
            r"separated by commas in 'rows\.csv', got one column named with ';' in it\. Pass delimiter=';' \(--delimiter ';'\)",
        ),
        (b"age\tmass\n1\t2\n", r"Pass delimiter='\\t' \(--delimiter tab\)"),
        (b"age|mass|x;y\n1|2|3\n", r"Pass delimiter='\|' \(--delimiter '\|'\)"),
        ("größe,b\n1,2\n".encode("latin-1"), r"Pass encoding='latin-1' \(--encoding latin-1\), or save it as UTF-8"),
        (b"a,b\r1,2\r3,4\r", r"the first line of 'rows\.csv' holds no column names\. Check its quotes and the line ends"),
        (b"x" * 200_000, r"the first line of 'rows\.csv' holds no column names"),
    ],
)
def test_files_without_a_proper_first_line_are_refused(content, message, write):
    with pytest.raises(DataError, match=message):
        open_rows(write(content))


@pytest.mark.parametrize(
    "first",
    [
        f"{CANARY},2",
        f"{CANARY},",
        f"age,{CANARY}",
        f",{CANARY},x",
        f'name," {CANARY} "',
        f"{CANARY};2",
        "age,nan",
        "age,-Infinity",
        "age,1e5",
        "age,1_000",
        "age,2020-01-31",
        'age,"77,5"',
        "age,12:30",
        "age,\u0667\u0667",
    ],
)
@pytest.mark.parametrize("columns", [None, ["age"], ["mass"]])
def test_the_first_row_is_not_taken_for_names(first, columns, write):
    # Names are published with the release: a file without names would publish its first row.
    with pytest.raises(
        DataError, match=r"expected column names in the first line of 'rows\.csv', got a number\. Add"
    ) as caught:
        open_rows(write(f"{first}\n1,2\n".encode()), columns=columns)
    assert CANARY not in str(caught.value)
    assert "77" not in str(caught.value)


@pytest.mark.parametrize("columns", [None, ["age"], ["age", "mass"]])
@pytest.mark.parametrize("first", ["Ann Smith,Ann Smith", "Ann Smith,,m", "Ann Smith"])
def test_a_first_line_that_may_be_a_row_is_not_quoted(columns, first, write):
    if columns is None and first == "Ann Smith":
        return  # nobody can tell this from a name
    with pytest.raises(DataError) as caught:
        open_rows(write(f"{first}\n1,2\n".encode()), columns=columns)
    assert "Smith" not in str(caught.value)


def test_a_line_of_tabs_is_one_of_blank_names_where_they_separate_columns(tmp_path):
    # Were it skipped, the first row would be taken for names.
    (tmp_path / "rows.tsv").write_text("\t\nAnn Smith\tm\n")
    with pytest.raises(DataError, match=r"expected a name for every column in the first line of 'rows\.tsv', got a blank one"):
        open_rows(tmp_path / "rows.tsv")


def test_a_blank_name_is_no_obstacle_where_the_columns_are_named(write):
    assert read(write(b",age,mass\n0,1,2\n1,3,4\n"), columns=["mass", "age"]).tolist() == [[2.0, 1.0], [4.0, 3.0]]


@pytest.mark.parametrize("options", [{"columns": ["c"]}, {"privacy_unit": "c"}])
def test_a_missing_column_of_a_file_that_may_have_no_names_quotes_none(options, write):
    with pytest.raises(DataError, match=r"column 'c' is not in the table\. Check the names in the first line\.") as caught:
        open_rows(write(b"Ann Smith,b\n1,2\n"), **options)
    assert "Smith" not in str(caught.value)
