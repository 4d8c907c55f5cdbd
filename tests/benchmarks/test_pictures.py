# SPDX-License-Identifier: Apache-2.0
"""The pictures of the docs can be made again."""

import pytest

from benchmarks import pictures


@pytest.mark.slow
def test_the_picture_of_errors_shows_what_the_page_says(tmp_path, capsys):
    assert pictures.main([str(tmp_path), "errors"]) == 0
    assert [path.name for path in tmp_path.iterdir()] == ["errors.png"]
    evenly, blobs = capsys.readouterr().out.splitlines()
    noise, total = (float(evenly.split(f"{name} ")[1].split(",")[0]) for name in ("coverage noise", "total"))
    assert noise < 0.5 < total
    assert blobs.endswith("coverage noise 1.00, total 1.00")


def test_the_picture_of_the_bound_of_grids_is_written(tmp_path):
    assert pictures.main([str(tmp_path), "grid-bound"]) == 0
    assert (tmp_path / "grid-bound.png").read_bytes().startswith(b"\x89PNG")


def test_the_picture_of_kmeans_is_written(tmp_path, capsys):
    assert pictures.main([str(tmp_path), "kmeans"]) == 0
    assert (tmp_path / "kmeans.png").read_bytes().startswith(b"\x89PNG")
    assert "epsilon 1, 2500 rows: loss" in capsys.readouterr().out


def test_the_picture_of_the_first_page_is_of_a_fit(tmp_path, capsys):
    assert pictures.main([str(tmp_path), "hero"]) == 0
    assert (tmp_path / "hero.png").read_bytes().startswith(b"\x89PNG")
    assert capsys.readouterr().out == "5300 rows, epsilon = 0.25, delta = 1e-06\n"
