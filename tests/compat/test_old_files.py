# SPDX-License-Identifier: Apache-2.0
"""Files that version 0.1.0 wrote before releases had steps: they load, predict the same labels, and report the same figures.

``data/expected.json`` holds the rows to predict, and for each file what that version made of it.
"""

import dataclasses
import json
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cloister import GridKMeans, Ledger, Release, load_release, load_synopsis
from cloister.exceptions import BudgetExceeded, ReleaseError
from cloister.report import report_html, summary, synopsis_html, synopsis_summary

DATA = Path(__file__).parent / "data"
EXPECTED: dict[str, Any] = json.loads((DATA / "expected.json").read_text())
RELEASES: dict[str, dict[str, Any]] = EXPECTED["releases"]
ROWS = {name: np.array(rows, dtype=np.float64) for name, rows in EXPECTED["rows"].items()}

releases = pytest.mark.parametrize("name", sorted(RELEASES))


@releases
def test_a_release_predicts_and_costs_what_it_did(name: str) -> None:
    release, expected = load_release(DATA / f"{name}.json"), RELEASES[name]
    assert release.predict(ROWS[expected["rows"]]).tolist() == expected["labels"]
    assert release.method == expected["method"]
    found = summary(release)["receipt"]
    assert (len(found["events"]), found["spent"]) == (expected["n_events"], expected["spent"])


@releases
def test_every_event_of_a_release_belongs_to_a_step(name: str) -> None:
    release = load_release(DATA / f"{name}.json")
    found = [event for step in release.steps for event in release.events_of(step)]
    assert tuple(found) == release.receipt.events
    assert all(step.purpose for step in release.steps)


@releases
def test_a_release_is_written_in_the_new_version_and_stays_the_same(name: str, tmp_path: Path) -> None:
    release = load_release(DATA / f"{name}.json")
    release.save(tmp_path / "release.json", allow_seeded=True)
    written = json.loads((tmp_path / "release.json").read_text())
    assert written["version"] == 3
    assert "history" not in written
    assert load_release(tmp_path / "release.json").to_dict() == release.to_dict() == written


@pytest.mark.parametrize("name", [name for name in sorted(RELEASES) if RELEASES[name]["stages"]])
def test_the_rounds_of_kmeans_keep_their_figures(name: str) -> None:
    release, expected = load_release(DATA / f"{name}.json"), RELEASES[name]
    steps = [step for step in release.steps if step.name.startswith("round")]
    for step, before in zip(steps, expected["rounds"], strict=True):
        assert step.figures["radius"] == pytest.approx(before["radius"])
        assert step.figures["count_error"] == before["count_error"]
        assert step.figures["n_points"] == before["n_centers"]
    shares = {step["name"]: step["share"] for step in summary(release)["steps"]}
    stages = [stage["share"] for stage in expected["stages"]]
    assert [shares[step.name] for step in steps] == pytest.approx(stages[-len(steps) :])
    assert sum(share for step, share in shares.items() if step.startswith("vote")) == pytest.approx(stages[-len(steps) - 1])


@pytest.mark.parametrize("name", ["pe-means", "pe-means-projected"])
def test_the_votes_of_pe_means_keep_their_figures(name: str) -> None:
    steps = [step for step in load_release(DATA / f"{name}.json").steps if step.name.startswith("vote")]
    for step, before in zip(steps, RELEASES[name]["rounds"], strict=True):
        assert (step.figures["n_points"], step.figures["n_kept"]) == (before["n_candidates"], before["n_voted"])
        assert step.figures["count_error"] == pytest.approx(before["sigma"], abs=1e-4)


@releases
def test_a_report_draws_what_it_drew(name: str) -> None:
    release, expected = load_release(DATA / f"{name}.json"), RELEASES[name]
    found, html = summary(release), report_html(release)
    assert found["projected"] == expected["projected"]
    assert html.count('<svg class="panel"') == expected["n_panels"]
    assert all(caption in html for _, caption in expected["captions"])
    assert _figures(found.get("loss", {}).get("words")) == _figures(expected["loss"])


def _figures(words: str | None) -> list[str]:
    return re.findall(r"\d[\d.]*\d|\d", words or "")


# -- edited files --------------------------------------------------------------------------------------------------------


def _old(name: str) -> dict[str, Any]:
    return json.loads((DATA / f"{name}.json").read_text())  # type: ignore[no-any-return]


@pytest.mark.parametrize("entry", [3, None, "x", [], {"round": "x"}, {"round": None, "votes": 3}, {"round": 1, "radius": "x"}])
def test_a_history_that_was_edited_is_left_out(entry: object) -> None:
    data = _old("kmeans") | {"history": [entry]}
    steps = Release.from_dict(data).steps
    assert len(steps) == 12
    assert not any(step.picture for step in steps)
    assert report_html(Release.from_dict(data))


def test_events_of_another_method_have_no_steps() -> None:
    release = Release.from_dict(_old("kmeans") | {"method": "PEMeans"})
    assert release.steps == ()
    assert not any(event.step for event in release.receipt.events)
    assert report_html(release)


@pytest.mark.parametrize("history", [7, "x" * 3, None])
def test_a_history_that_is_none_is_refused_or_left_out(history: object) -> None:
    try:
        release = Release.from_dict(_old("kmeans") | {"history": history})
    except ReleaseError:
        return
    assert not any(step.picture for step in release.steps)


# -- synopses and ledgers ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["json", "parquet"])
def test_a_synopsis_answers_as_it_did(kind: str) -> None:
    synopsis, expected = load_synopsis(DATA / f"synopsis.{kind}"), EXPECTED["synopsis"]
    found = synopsis_summary(synopsis)
    assert {name: found[name] for name in ("n_rows", "n_rows_error", "sigma", "cells")} == {
        name: expected[name] for name in ("n_rows", "n_rows_error", "sigma", "cells")
    }
    assert synopsis.count(([0, 0], [0.5, 1.0])).value == expected["count"]
    assert synopsis.kmeans(3, n_init=2, random_state=0).predict(ROWS["narrow"]).tolist() == expected["labels"]
    assert synopsis_html(synopsis)


def test_a_ledger_verifies_and_goes_on(tmp_path: Path) -> None:
    path, expected = tmp_path / "ledger.sqlite", EXPECTED["ledger"]
    shutil.copy(DATA / "ledger.sqlite", path)
    checkpoint = expected["checkpoint"]
    rows = ROWS["narrow"][:-2]
    with Ledger.open(path, checkpoint=checkpoint) as ledger:
        assert ledger.summary() == {**expected, "unit": "row"}  # there was no other
        assert {event.step for event in ledger.events} == {""}
        quick = {"rule": 3, "bounds": ([0, 0], [1, 2]), "ledger": ledger, "n_init": 1}
        GridKMeans(2, epsilon=0.1, **quick).fit(rows)
        with pytest.raises(BudgetExceeded):
            GridKMeans(2, epsilon=2.0, **quick).fit(rows)
        after = ledger.checkpoint
    with Ledger.open(path, checkpoint=after) as ledger:
        accounts = ledger.summary()["accounts"]
        assert accounts[:2] == expected["accounts"]
        assert [account["events"] for account in accounts] == [24, 1, 1]


def test_an_old_release_equals_a_new_one_but_for_its_steps() -> None:
    release = load_release(DATA / "grid.json")
    bare = dataclasses.replace(release, steps=())
    assert bare.predict(ROWS["narrow"]).tolist() == RELEASES["grid"]["labels"]
    assert report_html(bare)
