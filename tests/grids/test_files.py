# SPDX-License-Identifier: Apache-2.0
"""A synopsis on disk: JSON or Parquet, read back as it was, refused when damaged, foreign or newer."""

import json
import math

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from tests.release.test_damage import damaged

from cloister import PEMeans, load_synopsis
from cloister.exceptions import ParameterError, ReleaseError
from cloister.synopsis import read_synopsis


@pytest.fixture
def synopsis(fit):
    return fit(rule=(6, 5), bounds=([0, -1], [1, 2]))


@pytest.mark.parametrize(
    ("suffix", "parameters"),
    [
        ("json", {"delta": 1e-6}),
        ("parquet", {"n_rows": None}),
        ("JSON", {"bounds": ([0, 5], [1, 60]), "scaling": "bounds", "neighbours": "replace"}),
        ("Parquet", {"counts": "none", "random_state": None}),
        ("json", {"rule": "adaptive"}),
        ("parquet", {"rule": "adaptive"}),
    ],
)
def test_a_synopsis_survives_its_file(suffix, parameters, fit, tmp_path):
    before = fit(**parameters)
    before.save(tmp_path / f"s.{suffix}", allow_seeded=True)
    after = load_synopsis(tmp_path / f"s.{suffix}")
    assert after.to_dict() == before.to_dict()
    assert after.receipt == before.receipt
    assert (after.grid.split is not None) == ("rule" in parameters)
    assert after.count((0.2, 0.7)) == before.count((0.2, 0.7))
    assert np.array_equal(after.cut(4, random_state=1).cluster_centers, before.cut(4, random_state=1).cluster_centers)
    assert np.array_equal(after.sample(50, random_state=1), before.sample(50, random_state=1))
    assert [file.name for file in tmp_path.iterdir()] == [f"s.{suffix}"]
    with pytest.raises(ReleaseError, match=r"Synopsis\.save: .* exists\. Pass overwrite=True to replace it"):
        before.save(tmp_path / f"s.{suffix}", allow_seeded=True)


def test_names_survive_and_the_ending_does_not_decide_what_is_read(by_hand, tmp_path):
    synopsis = by_hand(np.ones((2, 3)), feature_names=("a", "a_low"))
    synopsis.save(tmp_path / "s.parquet")
    (tmp_path / "s.parquet").rename(tmp_path / "anything")
    assert load_synopsis(tmp_path / "anything").columns == ("a", "a_low")


def test_a_parquet_file_is_a_table_for_others(synopsis, tmp_path):
    synopsis.save(tmp_path / "s.parquet", allow_seeded=True)
    table = pa.parquet.read_table(tmp_path / "s.parquet")
    assert table.num_rows == 30
    assert table.column("noisy_count").to_pylist() == synopsis.noisy_counts.ravel().tolist()


def test_other_endings_and_places_are_refused(synopsis, tmp_path):
    with pytest.raises(ParameterError, match=r"Synopsis\.save\.path: expected a \.json or \.parquet file, got 's\.csv'"):
        synopsis.save(tmp_path / "s.csv", allow_seeded=True)
    with pytest.raises(ReleaseError, match=r"Synopsis\.save: cannot write 's\.json' \(No such file or directory\)"):
        synopsis.save(tmp_path / "none" / "s.json", allow_seeded=True)
    assert list(tmp_path.iterdir()) == []


def test_other_tables_and_releases_are_refused(tmp_path, rows):
    pa.parquet.write_table(pa.table({"a": [1.0]}), tmp_path / "rows.parquet")
    with pytest.raises(ReleaseError, match="expected a Cloister synopsis, got another file"):
        load_synopsis(tmp_path / "rows.parquet")
    PEMeans(2, bounds=(0, 1), n_rounds=2, n_variations=5).fit(rows).release_.save(tmp_path / "release.json")
    with pytest.raises(ReleaseError, match="expected a Cloister synopsis, got another file"):
        load_synopsis(tmp_path / "release.json")
    with pytest.raises(ReleaseError, match=r"cannot read 'no\.json' \(No such file or directory\)\. Check the path"):
        load_synopsis(tmp_path / "no.json")


DAMAGE = [
    *((("noisy_counts",), value) for value in ([1.0], "many")),
    *((("noisy_counts", 3), value) for value in (math.nan, None)),
    (("noisy_counts", 0), -8e307),  # the sum of two would be infinite
    *((("cells",), value) for value in ([30], [5, -6], [])),
    (("domain",), {"kind": "box", "low": [0.0], "high": [1.0, 2.0, 3.0]}),
    (("domain",), {"kind": "box", "low": [1, 1], "high": [0, 0]}),
    (("domain",), {"kind": "ball", "radius": 1.0, "center": [0.0, 0.0]}),
    (("domain",), 3),
    (("scaling",), "log"),
    *((("sigma",), value) for value in (0.0, -1.0, math.inf, "wide")),
    (("counts",), "round"),
    *((("total",), value) for value in (-1.0, math.nan)),
    *((("feature_names",), value) for value in (["one"], ["one", "one"])),
    (("receipt",), None),
    (("receipt", "events", 0, "scale"), 1e-9),
    (("receipt", "events", 0, "event"), "magic"),
    (("receipt", "guarantee"), {"kind": "none"}),
    (("versions",), 7),
]


@pytest.mark.parametrize(("place", "value"), DAMAGE)
def test_damaged_synopses_are_refused(place, value, synopsis):
    data = damaged(json.loads(json.dumps(synopsis.to_dict())), place, value)
    with pytest.raises(ReleaseError, match=r"load_synopsis: the file is damaged \(.*\)\. Write it again from the fit"):
        read_synopsis(json.dumps(data).encode(), name="a file")


def test_a_damaged_head_of_a_parquet_file_is_refused(synopsis, tmp_path):
    head = json.dumps({**synopsis.to_dict(), "noisy_counts": None, "sigma": 0.0})
    pa.parquet.write_table(synopsis.to_arrow().replace_schema_metadata({"cloister.synopsis": head}), tmp_path / "s.parquet")
    with pytest.raises(ReleaseError, match="the file is damaged"):
        load_synopsis(tmp_path / "s.parquet")
