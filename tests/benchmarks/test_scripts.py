# SPDX-License-Identifier: Apache-2.0
"""The benchmarks beside the suites, small: what each of them measures, records, prints and refuses."""

import json
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from benchmarks._area import Comparison, compare_all
from benchmarks._data import load
from benchmarks._errors import BenchError
from benchmarks._harness import RESULTS, Report
from benchmarks.ablation import VARIANTS
from benchmarks.quote import quote_tables
from benchmarks.shared_noise import LIFTS, attack, lift_centers, simulate

from benchmarks import adaptive, errors, every_k, families, few_rows, fit_speed, pictures, privacy_unit, tables, unseen
from cloister import KMeans
from cloister.cluster import plan_fit


def recorded(name):
    """Return what a script has kept of its run."""
    return [json.loads(line) for line in (RESULTS / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]


def test_a_name_that_is_not_there_is_refused(capsys):
    wrong = {
        "irris": errors,
        "rings": every_k,
        "linne-20": families,
        "blobbs-2-2": few_rows,
        "line-20:7": families,
        "missin": tables,
        "winne": unseen,
    }
    for word, script in wrong.items():
        with pytest.raises(SystemExit):
            script.main([word])
        assert f"got {word}. Check the spelling." in capsys.readouterr().err


# -- methods on tables -----------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(("script", "name"), [(families, "mixed-15:10"), (unseen, "wine")])
def test_a_line_is_kept_for_each_table(script, name, capsys):
    seeds = ["--seeds", "1", "2"] if script is families else []
    assert script.main([name, "--repeats", "1", "--methods", "KMeans,FastLloyd", *seeds]) == 0
    lines = [line for line in recorded(script.__name__.rpartition(".")[2]) if "ratios" in line]
    assert [line["name"] for line in lines] == ([f"{name} seed 1", f"{name} seed 2"] if seeds else [name])
    assert all(set(line["ratios"]) == {"KMeans", "FastLloyd"} for line in lines)
    printed = capsys.readouterr().out
    assert "FastLloyd      geometric mean" in printed
    assert "bar" not in printed, "which is for all tables"


@pytest.mark.slow
def test_processes_find_what_one_process_finds():
    made = [(name, partial(families.make, name, 0)) for name in ("mixed-15:1", "units-8:10")]
    alone, apart = (list(compare_all(made, ["FastLloyd"], repeats=1, jobs=jobs)) for jobs in (1, 2))
    for one, other in zip(alone, apart, strict=True):
        assert one.name == other.name
        assert one.ratios["FastLloyd"] == pytest.approx(other.ratios["FastLloyd"], rel=1e-9)


def test_over_all_families_there_are_bars(capsys):
    others = {1: 1.1, 10: 1.3}  # by width
    found = [Comparison(f"line-20:{one} seed 1", 1.0, 5.0, {"KMeans": 1.2, "PEMeans": others[one]}, {}) for one in others]
    report = Report("families")
    families._report_wins(report, found, {"KMeans": 1.2, "PEMeans": 1.2}, whole=True)
    assert "KMeans is below all others on 1 of 2 tables; not on line-20:1 seed 1" in capsys.readouterr().out
    assert report.missed == ["geometric mean of KMeans", "tables on which another method is as good"]


def test_adaptive_grids_are_held_to_a_bar(capsys, monkeypatch):
    for ratio, code in ((0.8, 0), (1.2, 1)):
        monkeypatch.setattr(adaptive, "measure", lambda *given, ratio=ratio, **named: ratio)
        assert adaptive.main(["--tables", "2"]) == code
        assert f"20 skewed tables: geometric mean {ratio:.3f}, largest {ratio:.3f}" in capsys.readouterr().out


# -- one synopsis beside a fit for each k --------------------------------------------------------------------------------


@pytest.mark.slow
def test_cuts_cost_nothing_and_are_about_as_good(capsys):
    assert every_k.main(["ring", "--repeats", "1", "--numbers", "2", "4", "--epsilons", "2"]) == 0
    (line,) = [line for line in recorded("every_k") if line.get("name") == "ring"]
    assert len(line["ratios"]) == 2
    assert all(0.8 < ratio < 1.5 for ratio in line["ratios"])
    (bar,) = [line for line in recorded("every_k") if "what" in line]
    assert (bar["what"], bar["value"], bar["ok"]) == ("events that cuts add to the receipt of a synopsis", 0, True)
    assert "1 synopses cut 2 times" in capsys.readouterr().out


def test_an_event_that_a_cut_adds_is_seen():
    def listing(*events):
        return SimpleNamespace(receipt=SimpleNamespace(events=events))

    receipt = listing("votes", "sums").receipt
    synopsis = SimpleNamespace(privacy_receipt_=receipt, synopsis_=SimpleNamespace(receipt=receipt))
    asked, report = every_k.Asked(), Report("every_k")
    asked.add(synopsis, [SimpleNamespace(receipt=receipt), listing("votes", "sums", "more")], [listing("votes", "sums")])
    asked.report(report)
    assert (asked.by_synopses, asked.by_cuts, asked.by_fits) == (2, 1, 2)
    assert report.missed == ["events that cuts add to the receipt of a synopsis"]


def test_files_are_read_and_missing_ones_are_named(capsys):
    folder = Path("data")
    folder.mkdir()
    rows = np.arange(12).reshape(6, 2)
    np.savez(folder / "letter.npz", X=rows)
    np.savez(folder / "adult.npz", Y=rows)
    assert np.array_equal(every_k.make("letter", str(folder)), rows)
    with pytest.raises(BenchError, match=r"expected an \.npz file with an array X"):
        every_k.make("adult", str(folder))
    names = every_k.available(Report("every_k"), ["ring", "letter", "birch2", "scale_16_16"], str(folder))
    assert names == ["ring", "letter", "scale_16_16"]
    assert "left out: birch2.npz" in capsys.readouterr().out


def test_the_bar_of_cuts_holds_for_all_tables_only():
    report = Report("every_k")
    every_k._hold_to_bars(report, [1.0, 1.2], whole=False)
    assert report.missed == []
    every_k._hold_to_bars(report, [1.0, 1.2], whole=True)
    assert len(report.missed) == 1


# -- persons -----------------------------------------------------------------------------------------------------------------


def test_losses_and_distances():
    rows, centers = np.array([[0.0, 0.0], [3.0, 4.0]]), np.array([[0.0, 0.0]])
    assert privacy_unit.mean_loss(rows, centers) == 12.5
    assert privacy_unit.farthest(rows, centers) == 5.0


def test_every_way_to_protect_persons_is_compared(monkeypatch):
    monkeypatch.setattr(privacy_unit, "TABLES", {"few": (150, 2, "1 to 50")})
    assert privacy_unit.main(["--repeats", "1", "--tables", "few"]) == 0
    lines = recorded("privacy_unit")
    assert {"nobody", "persons, every person counts"} <= {line["protected"] for line in lines}
    assert [line["loss"] for line in lines if line["protected"] == "nobody"] == [1.0]
    assert all(line["loss"] > 0.9 for line in lines)


# -- pictures and pages ------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_picture_of_errors_shows_what_the_page_says():
    evenly, blobs = pictures.draw_errors(Path())
    assert Path("errors.png").stat().st_size > 10_000
    assert evenly["noise"] < 0.5 < evenly["total"]
    assert blobs == {"noise": 1.0, "total": 1.0}


@pytest.mark.parametrize("name", sorted({*pictures.PICTURES} - {"errors"}))
def test_pictures_of_the_docs_are_written(name, tmp_path, capsys):
    assert pictures.main([str(tmp_path), name]) == 0
    assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    assert name != "hero" or capsys.readouterr().out == "5300 rows, epsilon = 0.25, delta = 1e-06\n"


def test_a_marked_table_is_replaced_and_the_rest_is_left():
    page = "Words.\n\n**Losses**\n\n| data | loss |\n| :--- | ---: |\n| iris | 1 |\n\nA note.\n"
    text = "Before\n\n<!-- table: Losses -->\nold\n<!-- end -->\n\n<!-- table: Other -->\nkept\n<!-- end -->\nAfter\n"
    done = quote_tables(text, page)
    assert "| iris | 1 |" in done
    assert "old" not in done
    assert "kept" in done
    assert done.startswith("Before")
    assert done.endswith("After\n")
    assert quote_tables(done, page) == done


# -- parts of a fit, switched off -----------------------------------------------------------------------------------------

GIVEN = {"epsilon": 4.0, "bounds": (-1, 1), "n_rows": 1200, "n_init": 1, "random_state": 3, "n_jobs": 1}


@pytest.fixture
def near_and_far(generator):
    middles = generator.uniform(-0.8, 0.8, size=(4, 12)) * np.array([[0.1], [0.3], [0.6], [1.0]])  # near and far from the mean
    return np.repeat(middles, 300, axis=0) + 0.05 * generator.normal(size=(1200, 12))


@pytest.mark.fast("no shrinkage", "no projection")
@pytest.mark.parametrize("variant", VARIANTS)
def test_a_variant_changes_the_fit(variant, near_and_far):
    whole = KMeans(4, **GIVEN).fit(near_and_far).cluster_centers_
    with VARIANTS[variant]():
        assert not np.array_equal(KMeans(4, **GIVEN).fit(near_and_far).cluster_centers_, whole)
    assert np.array_equal(KMeans(4, **GIVEN).fit(near_and_far).cluster_centers_, whole)


@pytest.mark.parametrize(
    ("variant", "kind", "count"),
    [("one round of sums", "round", 1), ("two rounds of sums", "round", 2), ("one round of votes", "vote", 1)],
)
def test_rounds_that_are_left_out_are_not_in_the_plan(variant, kind, count):
    with VARIANTS[variant]():
        steps = [step.name for step in plan_fit(KMeans(4, **GIVEN), 12).steps]
    assert [name for name in steps if name.startswith(kind)] == [f"{kind} {number}" for number in range(1, count + 1)]


# -- the fault behind published figures: what it hides of the loss, and what it gives away -----------------------------------

CLIPPED, STATED, SHARED, _ = LIFTS


def test_a_shared_draw_leaves_differences_of_coordinates_as_they_are(generator):
    sums, counts = generator.normal(size=(5, 8)), np.full(5, 100)
    centers = lift_centers(sums, counts, SHARED, budget=1e-3, rng=generator)
    ratios = np.diff(centers, axis=1) / np.diff(sums, axis=1)
    assert np.allclose(ratios, ratios[:, :1])
    other = lift_centers(sums, counts, STATED, budget=1e-3, rng=generator)
    assert not np.allclose(np.diff(other, axis=1), np.diff(centers, axis=1))


@pytest.mark.parametrize("epsilon", [0.01, 1.0])
def test_a_row_is_read_from_a_shared_draw_and_from_no_other(epsilon, seed):
    read = attack(SHARED, epsilon=epsilon, seed=seed, runs=400)
    assert read.error < 1e-9
    assert read.told_apart == 1.0
    blind = attack(STATED, epsilon=epsilon, seed=seed, runs=400)
    assert blind.error > 1.0
    assert blind.told_apart < blind.most + 6 * (0.25 / 400) ** 0.5  # false alarm below 1e-8


@pytest.mark.slow
def test_a_shared_draw_hides_part_of_the_loss(seed):
    data = load("blobs_2000_64_16")
    found = [simulate(data, epsilon=0.25, seed=seed + repeat) for repeat in range(4)]
    means = {lift: np.mean([losses[lift] for losses in found]) for lift in LIFTS}
    assert max(means[SHARED], means[CLIPPED]) < 0.8 * means[STATED]


@pytest.mark.slow
def test_other_figures_of_the_docs_are_measured(monkeypatch, capsys):
    assert tables.main(["missing", "mixed", "--seeds", "2"]) == 0
    assert "mixed: adjusted Rand index 1.0" in capsys.readouterr().out
    few = privacy_unit.Setting(300, 2, 1.0, 0.5, "1 to 50", "row")
    for name, value in {"TRIED": (1, 5), "RULE_REPEATS": 1, "draw_settings": lambda count, seed: [few] * count}.items():
        monkeypatch.setattr(privacy_unit, name, value)
    assert privacy_unit.main(["--rule", "2"]) == fit_speed.main(["--sizes", "3000,4,3", "--profile"]) == 0
    printed = capsys.readouterr().out
    assert "geometric mean of the regret" in printed
    assert "s of CPU" in printed
