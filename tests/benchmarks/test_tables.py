# SPDX-License-Identifier: Apache-2.0
"""The benchmark of tables as people have them."""

import numpy as np
import pytest

from benchmarks import tables


def test_planted_tables_are_what_they_say():
    table, truth = tables.two_groups(0)
    assert 0.13 < table["glucose"].isna().mean() < 0.17
    assert truth.shape == (2, 2)
    mixed, group, shares = tables.four_groups(1, 2000)
    assert set(mixed["ward"]) == set(tables.LEVELS["ward"])
    for index in range(4):
        seen = [(mixed.loc[group == index, "ward"] == level).mean() for level in tables.LEVELS["ward"]]
        assert np.allclose(seen, shares[index, :3], atol=0.03)
    rows, box = tables.as_numbers(mixed)
    assert rows.shape[1] == len(box.low) == 12
    inside = (rows >= box.low - 1e-9) & (rows <= box.high + 1e-9)
    assert inside.mean() > 0.999  # a few numbers lie beyond their bounds


def test_columns_of_unlike_units_are_the_same_rows():
    for _, _, rows in tables.tables():
        far, factors, offsets = tables.unlike(rows)
        assert np.allclose((far - offsets) / factors, rows)
        assert len(rows) >= 10_000


@pytest.mark.slow
def test_it_prints_the_figures(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert tables.main(["missing", "mixed", "--seeds", "2"]) == 0
    printed = capsys.readouterr().out
    assert "missing, k = 2: groups found within 0." in printed
    assert "mixed: adjusted Rand index 0.9" in printed


def test_a_part_that_is_not_there_is_refused(capsys):
    with pytest.raises(SystemExit):
        tables.main(["missin"])
    assert "got missin" in capsys.readouterr().err
