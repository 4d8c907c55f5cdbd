# SPDX-License-Identifier: Apache-2.0
"""A page of tables and figures: as Markdown, as a single HTML file that needs nothing else, and its tables as CSV."""

import base64
import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

from ._stats import Estimate

__all__ = ["Block", "Check", "Figure", "Section", "Table", "say", "say_ratio", "table_markdown", "write_page"]

FIGURES, TABLES = "figures", "tables"
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
STYLE = """
:root { color-scheme: light dark; --paper: #fdfdfb; --ink: #1c2126; --soft: #565f69; --line: #d5dae0; --alert: #8a3b00; }
@media (prefers-color-scheme: dark) { :root {
  --paper: #15181b; --ink: #e5e8eb; --soft: #a3adb7; --line: #363d45; --alert: #ffc48a; } }
body { margin: 0; background: var(--paper); color: var(--ink); font: 1rem/1.5 Charter, Cambria, Georgia, serif; }
main { max-width: 76rem; margin: 0 auto; padding: 2rem 1.25rem 4rem; }
p, ul { max-width: 46rem; }
h2 { margin-top: 2.6rem; padding-top: 0.7rem; border-top: 1px solid var(--line); }
table { border-collapse: collapse; font: 0.85rem/1.4 "Helvetica Neue", Arial, sans-serif; font-variant-numeric: tabular-nums; }
.scroll { overflow-x: auto; margin: 0.8rem 0 1.4rem; }
caption { text-align: left; font-weight: 600; padding-bottom: 0.4rem; }
th, td { padding: 0.3rem 1rem 0.3rem 0; border-bottom: 1px solid var(--line); text-align: right; white-space: nowrap; }
th { vertical-align: bottom; } thead th { border-bottom-color: var(--ink); }
.t { text-align: left; } .w { white-space: normal; min-width: 14rem; } .miss { color: var(--alert); font-weight: 600; }
figure { margin: 1.2rem 0; } figure img { max-width: 100%; height: auto; background: #fff; padding: 0.5rem; }
figcaption, .small { font-size: 0.88rem; color: var(--soft); max-width: 46rem; }
@media print { figure, tr { break-inside: avoid; } }
""".strip()


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


def write_page(folder: Path, title: str, lead: Sequence[str], sections: Sequence[Section]) -> tuple[Path, Path]:
    """Write page.md, page.html and each table as CSV; the figures must be there already."""
    markdown, html = folder / "page.md", folder / "page.html"
    _write_tables(folder / TABLES, sections)
    _replace(markdown, _markdown(title, lead, sections))
    _replace(html, _html(folder, title, lead, sections))
    return markdown, html


def _replace(path: Path, text: str) -> None:
    draft = path.with_name(f".{path.name}.draft")
    draft.write_text(text, encoding="utf-8")
    draft.replace(path)


def _write_tables(folder: Path, sections: Sequence[Section]) -> None:
    folder.mkdir(exist_ok=True)
    for section in sections:
        for table in (block for block in section.blocks if isinstance(block, Table)):
            name = re.sub(r"[^a-z0-9]+", "-", f"{section.title.split(':')[0]} {table.title}".lower()).strip("-")
            with (folder / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
                csv.writer(file).writerows([table.columns, *table.rows])


def _all_blocks(section: Section) -> list[Block]:
    return [*([_check_table(section.checks)] if section.checks else []), *section.blocks]


def _check_table(checks: Sequence[Check]) -> Table:
    rows = [[check.what, check.value, check.bar, "ok" if check.ok else "MISSED"] for check in checks]
    return Table("Checks", ["what", "found", "bar", ""], rows, words=(0, 3))


def _markdown(title: str, lead: Sequence[str], sections: Sequence[Section]) -> str:
    parts = [f"# {title}", *lead]
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


def _html(folder: Path, title: str, lead: Sequence[str], sections: Sequence[Section]) -> str:
    body = [f"<h1>{escape(title)}</h1>", *(f"<p>{escape(words)}</p>" for words in lead)]
    for section in sections:
        body += [f"<h2>{escape(section.title)}</h2>", *(_block_html(folder, block) for block in _all_blocks(section))]
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n<link rel="icon" href="data:,">\n'
        f"<title>{escape(title)}</title>\n<style>\n{STYLE}\n</style>\n</head>\n<body>\n<main>\n"
        + "\n".join(body)
        + "\n</main>\n</body>\n</html>\n"
    )


def _block_html(folder: Path, block: Block) -> str:
    if isinstance(block, str):
        return f"<p>{escape(block)}</p>"
    if isinstance(block, Figure):
        picture = base64.b64encode((folder / FIGURES / f"{block.name}.svg").read_bytes()).decode()
        words = escape(block.caption)
        return f'<figure><img src="data:image/svg+xml;base64,{picture}" alt="{words}"><figcaption>{words}</figcaption></figure>'
    heads = "".join(_cell_html("th", name, index, block) for index, name in enumerate(block.columns))
    rows = "\n".join(
        "<tr>" + "".join(_cell_html("td", cell, index, block, number) for index, cell in enumerate(row)) + "</tr>"
        for number, row in enumerate(block.rows)
    )
    note = f'<p class="small">{escape(block.note)}</p>' if block.note else ""
    return (
        f'<div class="scroll"><table><caption>{escape(block.title)}</caption><thead><tr>{heads}</tr></thead>'
        f"<tbody>\n{rows}\n</tbody></table></div>{note}"
    )


def _cell_html(tag: str, text: str, index: int, table: Table, row: int | None = None) -> str:
    kinds = ["t"] if index in table.words else []
    kinds += ["w"] if len(text) > 60 else []
    kinds += ["miss"] if text == "MISSED" else []
    inner = f"<b>{escape(text)}</b>" if (row, index) in table.best else escape(text)
    return f'<{tag} class="{" ".join(kinds)}">{inner}</{tag}>' if kinds else f"<{tag}>{inner}</{tag}>"
