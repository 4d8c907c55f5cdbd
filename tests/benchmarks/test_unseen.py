# SPDX-License-Identifier: Apache-2.0
"""The tables that no method was tuned on."""

import numpy as np
import pytest

from benchmarks import unseen


@pytest.mark.parametrize("name", unseen.TABLES)
def test_every_table_is_the_same_each_time_and_lies_in_the_unit_ball(name):
    first, again = unseen.make(name), unseen.make(name)
    assert np.array_equal(first.rows, again.rows)
    assert np.isfinite(first.rows).all()
    assert np.linalg.norm(first.rows, axis=1).max() <= 1 + 1e-12
    assert 1 < first.n_clusters < len(first.rows)


@pytest.mark.slow
def test_it_prints_a_line_for_each_table_and_method(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert unseen.main(["wine", "--repeats", "1", "--methods", "KMeans,FastLloyd"]) == 0
    printed = capsys.readouterr().out
    assert "wine         one centre     1.81  KMeans " in printed
    assert "FastLloyd      geometric mean" in printed


def test_a_name_that_is_not_there_is_refused(capsys):
    with pytest.raises(SystemExit):
        unseen.main(["winne"])
    assert "got winne" in capsys.readouterr().err
