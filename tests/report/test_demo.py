# SPDX-License-Identifier: Apache-2.0
"""The demonstration, on fewer patients."""

from pathlib import Path

import pytest

from cloister import Ledger, demo, load_release


def test_the_demo_can_be_run_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(demo, "N_PATIENTS", 2000)
    monkeypatch.setattr(demo.make_patients, "__defaults__", (2000,))
    (tmp_path / "mine.txt").write_text("kept")
    for _ in range(2):
        demo.main([str(tmp_path)])
        found = capsys.readouterr().out
        for words in (
            "2,000 fictitious patients",
            "cloister fit",
            "Left in the ledger",
            "Error: Ledger.reserve",
            "report.html",
        ):
            assert words in found
    assert {path.name for path in tmp_path.iterdir()} == {
        *("mine.txt", "patients.parquet", "budget.sqlite", "release.json", "report.html")
    }
    assert load_release(tmp_path / "release.json").columns == demo.COLUMNS
    with Ledger.open(tmp_path / "budget.sqlite") as ledger:
        assert [account["events"] for account in ledger.summary()["accounts"]] == [24]


def test_patients_are_repeatable_and_within_reason() -> None:
    patients = demo.make_patients(5000)
    assert (patients == demo.make_patients(5000)).all()
    for column, (low, high) in zip(patients.T, demo.BOUNDS.values(), strict=True):
        assert low < column.min() < column.max() < high
