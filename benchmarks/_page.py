# SPDX-License-Identifier: Apache-2.0
"""A page of tables and figures: as Markdown, as a single HTML file that needs nothing else, and its tables as CSV."""

import base64
import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

from cloister.files import write_whole
from cloister.report import Picture, render_page

from ._ranking import Ranking, ranking_svg
from ._stats import Estimate

__all__ = ["PAGE", "Block", "Check", "Figure", "Head", "Section", "Table", "say", "say_ratio", "table_markdown", "write_page"]

FIGURES, TABLES, PAGE = "figures", "tables", Path("page.html")
CHECKS = "Checks"
TEMPLATES = Path(__file__).parent / "templates"
WIDEST_WORD = 60  # letters, from which on a cell may break into lines


@dataclass(frozen=True)
class Table:
    """Words and numbers in rows. `words` are the columns that hold words, `best` marks cells to be set in bold."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    words: Sequence[int] = (0,)
    note: str = ""
    best: frozenset[tuple[int, int]] = frozenset()


@dataclass(frozen=True)
class Figure:
    """A picture that lies in the folder of figures, as SVG and as PNG."""

    name: str
    caption: str


@dataclass(frozen=True)
class Check:
    """A figure and its bar."""

    what: str
    value: str
    bar: str
    ok: bool


Block = str | Table | Figure


@dataclass(frozen=True)
class Section:
    """A suite's part of the page."""

    title: str
    blocks: Sequence[Block]
    checks: Sequence[Check] = field(default_factory=tuple)
    ranking: Ranking | None = None


def say(figure: Estimate | None, digits: int = 4) -> str:
    """Write a figure with half its 95 % interval, if there is one."""
    if figure is None:
        return "-"
    half = figure.half_width
    return f"{figure.value:.{digits}g}" + ("" if half != half else f" ± {half:.2g}")


def say_ratio(ratio: Estimate | None) -> str:
    """Write a ratio with its 95 % interval, if there is one."""
    if ratio is None or ratio.value != ratio.value:
        return "-"
    if ratio.half_width != ratio.half_width:
        return f"{ratio.value:.3f}"
    return f"{ratio.value:.3f} ({max(ratio.low, 0.0):.3f} to {ratio.high:.3f})"


@dataclass(frozen=True)
class Head:
    """What stands above a page: its title, a line over it, a few figures, how it was run, and what it is about."""

    title: str
    over: str
    facts: Sequence[tuple[str, str, str]]
    lead: Sequence[str]
    intro: str = ""


def write_page(folder: Path, head: Head, sections: Sequence[Section]) -> tuple[Path, Path]:
    """Write page.md, page.html and each table as CSV; the figures must be there already."""
    markdown, html = folder / PAGE.with_suffix(".md"), folder / PAGE
    _write_tables(folder / TABLES, sections)
    write_whole("bench", markdown, _markdown(head, sections), overwrite=True)
    write_whole("bench", html, _html(folder, head, sections), overwrite=True)
    return markdown, html


def _write_tables(folder: Path, sections: Sequence[Section]) -> None:
    folder.mkdir(exist_ok=True)
    for section in sections:
        for table in (block for block in _all_blocks(section) if isinstance(block, Table) and block.title != CHECKS):
            name = re.sub(r"[^a-z0-9]+", "-", f"{section.title.split(':')[0]} {table.title}".lower()).strip("-")
            with (folder / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
                csv.writer(file).writerows([table.columns, *table.rows])


def _all_blocks(section: Section) -> list[Block]:
    first = [] if section.ranking is None else [_ranking_table(section.ranking)]
    return [*first, *([_check_table(section.checks)] if section.checks else []), *section.blocks]


def _ranking_table(ranking: Ranking) -> Table:
    rows = [
        [str(place), rank.method, f"{rank.words}{ranking.unit}", f"{rank.wins} of {ranking.n_cases}"]
        for place, rank in enumerate(ranking.ranks, start=1)
    ]
    return Table("Ranking", ["", "method", "mean", "lowest on"], rows, words=(1,), note=ranking.words, best=frozenset({(0, 1)}))


def _check_table(checks: Sequence[Check]) -> Table:
    rows = [[check.what, check.value, check.bar, "ok" if check.ok else "MISSED"] for check in checks]
    return Table(CHECKS, ["what", "found", "bar", ""], rows, words=(0, 3))


def _markdown(head: Head, sections: Sequence[Section]) -> str:
    parts = [f"# {head.title}", *([head.intro] if head.intro else []), *head.lead]
    for section in sections:
        parts += [f"## {section.title}", *(_block_markdown(block) for block in _all_blocks(section))]
    return "\n\n".join(parts) + "\n"


def _block_markdown(block: Block) -> str:
    if isinstance(block, str):
        return block
    if isinstance(block, Figure):
        return f"![{block.caption}]({FIGURES}/{block.name}.png)\n\n{block.caption}"
    return table_markdown(block)


def table_markdown(table: Table) -> str:
    """Return a table as Markdown."""
    lines = [f"**{table.title}**", "", _line(table.columns)]
    lines.append(_line([":---" if index in table.words else "---:" for index in range(len(table.columns))]))
    for number, row in enumerate(table.rows):
        lines.append(_line([f"**{cell}**" if (number, index) in table.best else cell for index, cell in enumerate(row)]))
    return "\n".join([*lines, *(["", table.note] if table.note else [])])


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _html(folder: Path, head: Head, sections: Sequence[Section]) -> str:
    shown = [
        {"title": section.title, "id": f"part-{place}", "blocks": _all_blocks(section)}
        for place, section in enumerate(sections, start=1)
    ]
    rankings = [
        (section.ranking, Picture(ranking_svg(section.ranking)), one["id"])
        for section, one in zip(sections, shown, strict=True)
        if section.ranking is not None
    ]
    figures = [block for section in sections for block in section.blocks if isinstance(block, Figure)]
    return render_page(
        "page.html",
        folder=TEMPLATES,
        title=head.title,
        over=head.over,
        facts=head.facts,
        lead=head.lead,
        intro=head.intro,
        sections=shown,
        rankings=rankings,
        head=None if rankings or not figures else figures[0],
        others=_other_pages(folder),
        picture=lambda name: base64.b64encode((folder / FIGURES / f"{name}.svg").read_bytes()).decode(),
        classes=_classes,
    )


def _other_pages(folder: Path) -> list[tuple[str, str]]:
    """Return names and addresses of the pages that lie beside this one, as a run of several suites leaves them."""
    here = folder.resolve()
    found = sorted(path.parent.name for path in here.parent.glob(f"*/{PAGE}") if path.parent.name != here.name)
    return [(name, f"../{quote(name)}/{PAGE}") for name in found]


def _classes(text: str, index: int, table: Table) -> str:
    kinds = {"t": index in table.words, "w": len(text) > WIDEST_WORD, "miss": text == "MISSED"}
    return " ".join(kind for kind, fits in kinds.items() if fits)
