# SPDX-License-Identifier: Apache-2.0
"""The demonstration, on fewer patients."""

from pathlib import Path

import numpy as np
import pytest

from cloister import Ledger, demo, load_release, open_rows
from cloister.cli._bounds import read_bounds


def test_the_demo_can_be_run_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(demo, "N_PATIENTS", 2000)
    monkeypatch.setattr(demo.make_patients, "__defaults__", (2000,))
    (tmp_path / "mine.txt").write_text("kept")
    for _ in range(2):
        demo.main([str(tmp_path)])
        found = capsys.readouterr().out
        for words in (
            "2,000 fictitious patients",
            '"levels": ["general", "cardiology", "geriatrics"]',
            "cloister fit",
            "Missing or outside the bounds",
            "release.profile()",
            "10 % of the budget asked for histograms",
            "Left in the ledger",
            "Error: Ledger.reserve",
            "report.html",
        ):
            assert words in found
    assert {path.name for path in tmp_path.iterdir()} == {
        *("mine.txt", "patients.parquet", "schema.json", "budget.sqlite", "release.json", "report.html")
    }
    release = load_release(tmp_path / "release.json")
    assert release.feature_names == tuple(demo.COLUMNS)
    assert read_bounds([str(tmp_path / "schema.json")]).of(list(demo.COLUMNS)) == {
        name: (one.low, one.high) if name in demo.NUMBERS else one for name, one in demo.COLUMNS.items()
    }
    assert release.profiles is not None
    assert release.profiles.names == tuple(demo.COLUMNS)
    assert 'id="profiles"' in (tmp_path / "report.html").read_text()
    assert len(release.predict(tmp_path / "patients.parquet")) == 2000
    with Ledger.open(tmp_path / "budget.sqlite") as ledger:
        assert [account["events"] for account in ledger.summary()["accounts"]] == [len(release.receipt.events)]


def test_patients_are_repeatable_and_within_reason() -> None:
    patients = demo.make_patients(5000)
    assert patients.equals(demo.make_patients(5000))
    assert patients.column_names == ["patient_id", *demo.COLUMNS]
    rows = np.concatenate(list(open_rows(patients, demo.COLUMNS).blocks()))
    for index, (name, declared) in enumerate(demo.COLUMNS.items()):
        column = rows[:, index]
        assert np.isnan(column).mean() == pytest.approx(demo.MISSING_GLUCOSE if name == "glucose" else 0, abs=0.02)
        low, high = declared.interval
        assert low <= np.nanmin(column) < np.nanmax(column) <= high
