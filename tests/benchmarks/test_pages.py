# SPDX-License-Identifier: Apache-2.0
"""The page: paper's figure, ours, ratio and interval; wins; failures; pictures; and two runs side by side."""

import csv
import json
import re

import pytest
from benchmarks._compare import compare
from benchmarks._errors import BenchError
from benchmarks._page import Table, say, say_ratio, table_markdown
from benchmarks._papers import table1
from benchmarks._report import make_page
from benchmarks._results import open_results
from benchmarks._stats import Estimate, mean_of
from benchmarks.suites._board import make_board

from .conftest import LEVELS, LIMITS


@pytest.fixture(scope="module")
def page(made_up):
    """A page that tests read and leave as it is."""
    return make_page(made_up())


def table(page, title):
    """Return the cells of a table of a page, by the first of each line; nothing where there is none."""
    found = [
        block for section in page.sections for block in section.blocks if isinstance(block, Table) and block.title == title
    ]
    return {row[0]: dict(zip(one.columns, row, strict=True)) for one in found for row in one.rows}


def test_the_area_stands_beside_the_papers(page):
    board = make_board(open_results(page.html.parent))
    area, limit = board.figures["iris", "PEMeans"], board.limits["iris"]
    assert area.value == pytest.approx(3.75 * LIMITS["iris"] * LEVELS["PEMeans"], rel=0.01)
    assert board.limits == pytest.approx({name: 3.75 * one for name, one in LIMITS.items()})
    iris = table(page, "PEMeans beside the paper")["iris"]
    assert (iris["paper"], iris["here"]) == ("0.2894", say(area))
    assert iris["ratio (95 %)"] == say_ratio(area.times(1 / 0.2894))
    assert iris["here / limit"] == f"{area.value / limit:.3f}"
    assert iris["paper / limit"] == f"{0.2894 / (3.75 * 0.0363):.3f}"
    overview = table(page, "Area under the loss")
    for name in LIMITS:
        assert (overview[name]["limit"], overview[name]["repeats"]) == (f"{board.limits[name]:.4g}", "4")
        assert overview[name]["PEMeans"] == say(board.figures[name, "PEMeans"])


def test_the_page_begins_with_the_ranking_and_needs_nothing_else(page):
    text = page.html.read_text()
    order = re.findall(r'<text class="(?:first|method)"[^>]*>([^<]+)</text>', text)
    assert order == sorted(LEVELS, key=LEVELS.get)
    assert text.index("Who is best") < text.index("Contents") < text.index("Table I: area under the loss</h2>")
    assert f"| 1 | **{order[0]}** |" in page.markdown.read_text()
    assert "<script" not in text
    assert not re.findall(r"src=\"(?!data:)|href=\"(?!data:|#)", text)
    assert all(f'id="{place}"' in text for place in re.findall(r"href=\"#([^\"]+)", text))
    assert text.count("data:image/svg+xml;base64,") == len(list((page.html.parent / "figures").glob("*.svg"))) > 0


def test_the_papers_improvement_is_in_six_rows_over_its_own_other_variant():
    # 20 % on average, as printed. From the columns beside it, over the best rival, it would be more.
    rows = table1().values()
    wrong = [row.name for row in rows if not row.follows]
    assert wrong == ["g2_64", "sklearn_4_64", "sklearn_16_64", "sklearn_64_64", "sklearn_16_128", "sklearn_64_128"]
    assert all(table1()[name].over_second for name in wrong)
    assert sum(row.improvement for row in rows) / 34 == pytest.approx(19.5, abs=0.05)
    assert sum(row.recomputed for row in rows) / 34 == pytest.approx(23.4, abs=0.05)


def test_the_improvement_needs_all_rivals_and_results_of_several_commits_are_owned_up_to(page, made_up):
    assert "Improvement" not in page.markdown.read_text()
    folder = made_up()
    records = [json.loads(line) for line in (folder / "results.jsonl").read_text().splitlines()]
    rival = [one for one in records if one["method"] == "FastLloyd" and one["data"] == "iris"]
    with (folder / "results.jsonl").open("a") as file:
        for name in ("LloydKMeans", "CoresetKMeans", "TreeKMeans"):
            more = [{**one, "method": name, "loss": 2 * one["loss"], "commit": "def"} for one in rival]
            file.writelines(json.dumps(one) + "\n" for one in more)
    made = make_page(folder)
    assert "several commits lie in this folder: abc, def" in made.markdown.read_text()
    found = table(made, "Improvement over the best rival")
    assert list(found) == ["iris", "mean of 1", "mean of all 34"]
    board = make_board(open_results(folder))
    assert found["iris"]["PEMeans here"] == (
        f"{100 * (1 - board.figures['iris', 'PEMeans'].value / board.figures['iris', 'FastLloyd'].value):+.1f} %"
    )
    assert found["iris"]["paper prints"] == "+27.3 %"
    assert found["mean of all 34"]["from its columns"] == "+23.4 %"


def test_wins_failures_and_what_was_left_out_are_told(page):
    wins = table(page, "Wins")
    assert [wins["PEMeans"][name] for name in ("FastLloyd", "PEMeans")] == ["2 of 2 (2)", ""]
    assert wins["FastLloyd"]["PEMeans"] == "0 of 2 (0)"
    assert table(page, "Failed")["TreeKMeans"]["reason"] == "ValueError: no <cubes> left"
    assert "adult.npz is missing" in page.markdown.read_text()
    assert "&lt;cubes&gt;" in page.html.read_text()


def test_a_page_is_made_even_if_every_private_method_failed(made_up):
    folder = made_up()
    records = [json.loads(line) for line in (folder / "results.jsonl").read_text().splitlines()]
    kept = [one for one in records if one["method"].startswith("not private") or one["status"] == "failed"]
    (folder / "results.jsonl").write_text("".join(json.dumps(one) + "\n" for one in kept))
    assert table(make_page(folder), "Failed")["TreeKMeans"]["runs"] == "1"
    (folder / "results.jsonl").write_text(json.dumps(kept[-1]) + "\n")
    with pytest.raises(BenchError, match="holds failures only: ValueError: no <cubes> left"):
        make_page(folder)


def test_pictures_and_tables_are_there_as_files(page):
    folder = page.html.parent
    svg, png = ({path.stem for path in (folder / "figures").glob(f"*.{kind}")} for kind in ("svg", "png"))
    assert svg == png == {"table1-loss", "table1-overview"}
    assert all((folder / "figures" / f"{name}.png").read_bytes().startswith(b"\x89PNG") for name in png)
    with (folder / "tables" / "table-i-pemeans-beside-the-paper.csv").open() as file:
        assert {line["data"]: line["paper"] for line in csv.DictReader(file)} == {"iris": "0.2894", "sklearn_4_4": "0.0778"}


def test_a_bar_is_missed_only_beyond_chance(page, made_up):
    assert not page.missed
    bad = make_page(made_up(factor=3.0))
    assert any("PEMeans on sklearn_4_4" in check.what for check in bad.missed)


def test_report_makes_the_same_page_again(run, page):
    before = page.markdown.read_text(), page.html.read_text()
    page.markdown.unlink()
    run("report", page.html.parent)
    assert (page.markdown.read_text(), page.html.read_text()) == before


def test_two_runs_side_by_side(run, made_up, tmp_path):
    one, two = made_up(), made_up(factor=0.8)
    rows = {(row[0], row[1]): row for row in compare(one, two).rows}
    for data in LIMITS:
        _, _, label, _, _, ratio, verdict, _ = rows[data, "PEMeans"]
        assert (label, ratio.split(" ")[0], verdict) == ("area, epsilon 0.25 to 4", "0.800", "lower")
        assert rows[data, "not private"][6] == ""
    result = run("compare", one, two, "--output", tmp_path / "both.md")
    assert "lower" in result.stdout
    assert "| iris | PEMeans |" in (tmp_path / "both.md").read_text()
    assert all(row[6] == "" and row[5].startswith("1.000") for row in compare(one, one).rows)


def test_numbers_are_written_with_their_intervals():
    assert say(None) == "-"
    assert say(mean_of([1.0])) == "1"
    assert say(mean_of([0.5, 0.5])) == "0.5 ± 0"
    assert say_ratio(Estimate(float("nan"))) == "-"
    assert table_markdown(Table("t", ["a|b"], [["c|d"]])).count("\\|") == 2
