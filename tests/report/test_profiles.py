# SPDX-License-Identifier: Apache-2.0
"""The section on what clusters look like: drawn from the release alone, escaped, and readable for many clusters and columns."""

import dataclasses
import json
import re

import numpy as np
import pytest
from tests.releases import release_by_hand

from cloister.release import ColumnProfile, Profiles
from cloister.report import report_html, summary
from cloister.report._profiles import DRAWN_COLUMNS, profile_section
from cloister.report._tables import Cell

AGE = {"name": "age", "kind": "number", "edges": np.linspace(0, 100, 6), "sigma": 5.0}
AGES = [[0.0, 900.0, 100.0, 0.0, 0.0, 0.0], [0.0, 0.0, 100.0, 700.0, 0.0, 200.0]]
WARD = {"name": "ward", "kind": "category", "levels": ("north", "south", "west"), "sigma": 5.0, "clustered": False}
WARDS = [[980.0, 0.0, 20.0, 0.0, 0.0], [100.0, 900.0, 0.0, 0.0, 0.0]]
FLAG = {"name": "smoker", "kind": "flag", "levels": ("no", "yes"), "sigma": 5.0, "clustered": False}
FLAGS = [[500.0, 500.0, 0.0, 0.0], [520.0, 480.0, 0.0, 0.0]]


@pytest.fixture(scope="module")
def plain():
    return release_by_hand(2)


def described(plain, *columns):
    return dataclasses.replace(plain, profiles=Profiles(columns=tuple(columns)))


def test_every_column_is_drawn_in_every_cluster_and_in_all_rows(plain):
    people = ((AGE, AGES), (WARD, WARDS), (FLAG, FLAGS))
    release = described(plain, *(ColumnProfile(**about, noisy_counts=counts) for about, counts in people))
    html, found = report_html(release), summary(release)["clusters"]
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert list(found[1]["distributions"]) == ["age", "ward", "smoker"]
    assert summary(plain)["clusters"][0]["distributions"] is None
    assert 'id="profiles"' not in report_html(plain)
    section = html[html.index('id="profiles"') : html.index("</section>", html.index('id="profiles"'))].replace("\u00a0", " ")
    assert section.count('class="histogram"') == 3
    assert section.count('class="outline"') == 2  # not of all rows, which are the outline
    assert section.count('class="strip"') == 3 * (3 + 1)
    for words in ("north</span> 98 %", "south</span> 90 %", "20 % missing", "3 levels; not clustered by", "0 to 100"):
        assert words in section
    assert re.search(r"<b>1</b>: ward south 90 % \(\+45 points\), age higher \(\+1\.\d standard deviations\)", section)
    assert "smoker" not in section[section.index("What sets") :]  # 2 points, and no more than noise


def test_a_cluster_below_the_noise_is_said_to_be_so(plain):
    faint = ColumnProfile(**AGE, noisy_counts=[AGES[0], [1.0, -2.0, 3.0, 0.0, 1.0, 0.0]])
    section = profile_section(described(plain, faint))
    assert section["table"].columns[0].cells[2] == Cell([], "none above the noise")
    assert section["apart"][1] == (1, "no difference above the noise")
    nothing = ColumnProfile(**AGE, noisy_counts=np.zeros((2, 6)))
    assert list(profile_section(described(plain, nothing))["table"].columns[0].cells) == [Cell([], "none above the noise")] * 3
    assert "none above the noise" in report_html(described(plain, nothing))


def test_dates_are_written_as_dates(plain):
    days = {"name": "admitted", "kind": "date", "edges": np.linspace(18262, 20089, 7), "sigma": 5.0}
    counts = [[500.0, 500.0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 500.0, 500.0, 0]]
    html = report_html(described(plain, ColumnProfile(**days, noisy_counts=counts)))
    assert re.search(r"2020-1\d-\d\d <small>± [\d.]+ days", html)
    assert "2020-01-01 to 2025-01-01" in html
    assert "admitted earlier (\u2212" in html
    assert "admitted later (+" in html


def test_of_many_columns_those_that_differ_most_are_drawn(plain):
    dull = [ColumnProfile(**{**AGE, "name": f"dull {index}"}, noisy_counts=[AGES[0]] * 2) for index in range(20)]
    release = described(plain, *dull, ColumnProfile(**AGE, noisy_counts=AGES))
    section = profile_section(release)
    assert len(section["table"].columns) == DRAWN_COLUMNS
    assert section["table"].columns[-1].name == "age"
    assert f"Of 21 columns, the {DRAWN_COLUMNS} in which clusters differ most are drawn" in report_html(release)
