# SPDX-License-Identifier: Apache-2.0
"""``cloister ledger create | show | verify | settle``."""

import json
import sqlite3
from pathlib import Path

import pytest

from cloister.columns import Relation
from cloister.privacy import GDP, Ledger

from .conftest import Run


def test_a_new_ledger_says_what_it_holds(run: Run, tmp_path: Path) -> None:
    given = ("--epsilon", 2, "--delta", 1e-7, "--name", "[red]people")
    run("ledger", "create", tmp_path / "b.sqlite", *given, shows=["epsilon = 2, delta = 1e-07 (add-remove neighbours)"])
    shown = "Ledger [red]people", "Budget:     epsilon = 2", "Spent:      nothing", "Checkpoint: 1:", "No fit has used it"
    left = "Left:       epsilon 2 at delta 1e-07, or 2 of a pure fit"
    run("ledger", "show", tmp_path / "b.sqlite", shows=(*shown, left))


def test_a_wrong_budget_or_place_is_refused(refused: Run, ledger: Path, tmp_path: Path) -> None:
    refused("ledger", "create", ledger, "--epsilon", 2, match="A budget is never replaced")
    refused("ledger", "create", tmp_path / "none" / "b.sqlite", "--epsilon", 1, match="unable to open database file")
    refused("ledger", "create", tmp_path / "b.sqlite", "--epsilon", 0, match="Ledger.epsilon: expected a finite number above 0")
    refused("ledger", "create", tmp_path / "b.sqlite", match="Missing option '--epsilon'")
    assert not (tmp_path / "b.sqlite").exists()


def test_events_are_listed_and_lines_cut_off_are_found_by_a_checkpoint(
    run: Run, refused: Run, table: Path, ledger: Path
) -> None:
    run("fit", table, "-k", 1, "--epsilon", 1, "--bounds", "age=0:120", "--ledger", ledger, "--seed", 1)
    shown = "row_count", "nearest_counts", "rounded_gaussian", "sensitivity", "add-remove", "seeded", "KMeans", "closed"
    output = run("ledger", "show", ledger, "--events", shows=shown).stdout
    assert "step" in output.split("sensitivity")[0].splitlines()[-1]
    summary = json.loads(run("ledger", "show", ledger, "--events", "--json").stdout)
    assert len(summary["events"]) == summary["accounts"][0]["events"] == 25
    assert {"asked", "event", "scale", "sensitivity", "relation", "when"} <= set(summary["events"][0])
    assert "events" not in json.loads(run("ledger", "show", ledger, "--json").stdout)
    said = run("ledger", "verify", ledger).stdout
    assert "is in order: 28 lines, 25 noisy answers" in said
    checkpoint = said.split("Checkpoint: ")[1].strip()
    assert checkpoint == json.loads(run("ledger", "show", ledger, "--json").stdout)["checkpoint"]
    assert "It holds all it held at the checkpoint." in run("ledger", "verify", ledger, "--checkpoint", checkpoint).stdout
    connection = sqlite3.connect(ledger, isolation_level=None)
    connection.execute("DROP TRIGGER no_delete")
    connection.execute("DELETE FROM ledger WHERE id > 1")
    connection.execute("PRAGMA user_version = 1")
    connection.close()
    refused("ledger", "verify", ledger, "--checkpoint", checkpoint, match="Lines were cut off or replaced")
    refused("ledger", "verify", ledger, "--checkpoint", "soup", match="Ledger.checkpoint: expected")


def test_a_part_may_be_set_aside_for_pure_fits(run: Run, tmp_path: Path) -> None:
    made = run("ledger", "create", tmp_path / "b.sqlite", "--epsilon", 2, "--pure-epsilon", 0.5, "--json").stdout
    summary = json.loads(made)
    assert (summary["pure_epsilon"], summary["left_pure"]) == (0.5, 2.0)
    assert summary["left"] == pytest.approx(1.5)
    pure = json.loads(run("ledger", "create", tmp_path / "pure.sqlite", "--epsilon", 2, "--delta", 0, "--json").stdout)
    assert (pure["budget"], pure["left"]) == ({"kind": "pure", "epsilon": 2.0}, 2.0)


@pytest.mark.parametrize("command", ["show", "verify", "settle"])
def test_a_missing_ledger_is_refused(refused: Run, tmp_path: Path, command: str) -> None:
    refused("ledger", command, tmp_path / "none", match="there is no file")
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("command", [("fit",), ("synopsis", "fit")], ids=" ".join)
def test_data_set_and_purpose_are_shown(run: Run, table: Path, ledger: Path, tmp_path: Path, command: tuple[str, ...]) -> None:
    stated, output = ("--name", "Ward [red]3", "--purpose", "planning <b>"), tmp_path / "published.json"
    paid = ("--epsilon", 1, "--bounds", "age=0:120", "--ledger", ledger)
    run(*command, table, "-k", 1, *paid)
    shown = "Data set: Ward [red]3", "Purpose: planning <b>", "Spent before: epsilon "
    run(*command, table, "-k", 1, *paid, *stated, "-o", output, shows=shown)
    run(*command[:-1], "show", output, shows=shown)
    run("ledger", "show", ledger, shows=["Ward [red]3", "planning <b>"])
    accounts = json.loads(run("ledger", "show", ledger, "--json").stdout)["accounts"]
    assert [account.get("dataset") for account in accounts] == [None, "Ward [red]3"]


def test_names_of_two_lines_and_a_delta_above_the_ledgers_are_refused(free: Run, table: Path) -> None:
    options = (table, "-k", 1, "--epsilon", 0.1, "--bounds", "age=0:120")
    free("fit", *options, "--name", "two\nlines", match="dataset: expected text of at most 200 characters, in one line")
    free("fit", *options, "--delta", 0.1, match="the ledger's, got 0.1: a larger one costs more")
    free("synopsis", "fit", *options, "--kind", "grid", "--delta", 0.1, match="(--delta) or less")


def test_what_a_killed_fit_left_open_is_settled(run: Run, refused: Run, ledger: Path) -> None:
    with Ledger.open(ledger) as opened:
        accounts = [opened.reserve(GDP(0.1), purpose="KMeans", relation=Relation.ADD_REMOVE) for _ in range(2)]
        gone, running = (one.identity for one in accounts)
        accounts[0]._lease.release()  # as the operating system does when a process ends
        (ledger.parent / f"{ledger.name}-{gone}.lease").touch()
        assert "open: counts with all it reserved" in run("ledger", "show", ledger).stdout
        shown = f"Closed {gone} (KMeans, ", "): counts as nothing.", f"Still open, as their fits may run: {running}."
        run("ledger", "settle", ledger, shows=(*shown, "Left: epsilon"))
        refused("ledger", "settle", ledger, running, match="whose process runs still")
        refused("ledger", "settle", ledger, "--force", match="Ledger.settle.force: expected an account with it")
        refused("ledger", "settle", ledger, "soup", match="expected an account of this ledger, got 'soup'")
        settled = json.loads(run("ledger", "settle", ledger, running, "--force", "--json").stdout)
        assert settled["closed"] == [running]
        assert not any(one["open"] for one in settled["accounts"])
    assert "No account is open." in run("ledger", "settle", ledger).stdout
    assert run("ledger", "show", ledger).stdout.count("settled") == 2
    assert "is in order: 5 lines" in run("ledger", "verify", ledger).stdout
