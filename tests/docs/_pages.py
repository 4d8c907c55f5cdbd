# SPDX-License-Identifier: Apache-2.0
"""What README, CONTRIBUTING, SECURITY and the pages under docs/ hold of Python and of commands, in the order of the page."""

import re
import textwrap
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = [*(ROOT / f"{name}.md" for name in ("README", "CONTRIBUTING", "SECURITY")), *sorted((ROOT / "docs").rglob("*.md"))]
NAMES = [page.relative_to(ROOT).as_posix() for page in PAGES]

SHELL = ("sh", "console")
SHOWN = ("text", "pycon", "json", "toml", "yaml", "sql", "bibtex")  # output, errors and files: nothing to run
PROGRAMS = ("cloister", "python -m", "make", "pip", "pytest")  # what begins a command in a text
FENCE = re.compile(r"^( *)(`{3,}|~{3,}) *(\{?[\w.-]*\}?)")
COMMAND = re.compile(rf"^(?:\$ )?(?:\.venv/bin/)?(?=(?:{'|'.join(PROGRAMS)}|mkdir|cat|git|cd|export) )")


@dataclass(frozen=True)
class Block:
    """A block of Python, or one command."""

    page: str
    line: int
    kind: str  # "python" or "command"
    text: str
    inline: bool = False  # stands in a sentence, where it may be a mention

    @property
    def place(self) -> str:
        return f"{self.page}:{self.line}"


@dataclass(frozen=True)
class Fence:
    """A fenced block of any kind."""

    line: int
    language: str
    lines: tuple[str, ...]


def read(name: str) -> list[Block]:
    """Return the blocks of a page of the repository."""
    return blocks((ROOT / name).read_text(encoding="utf-8"), name)


def blocks(text: str, page: str = "page") -> list[Block]:
    """Return the blocks of Python and the commands of a page, in order."""
    lines, found = text.splitlines(), []
    for fence in fences(text):
        if fence.language == "python":
            found.append(Block(page, fence.line + 1, "python", textwrap.dedent("\n".join(fence.lines))))
        elif fence.language in SHELL:
            found += _commands(page, fence.line + 1, list(fence.lines), shell=True)
        lines[fence.line - 1 : fence.line + len(fence.lines) + 1] = [""] * (len(fence.lines) + 2)
    found += _commands(page, 1, [line if line.startswith("    ") else "" for line in lines], shell=False)
    outside = "\n".join("" if line.startswith("    ") and COMMAND.match(line.strip()) else line for line in lines)
    for span in re.finditer(r"(?<!`)`([^`]{1,300})`(?!`)", outside):
        if COMMAND.match(span[1]):
            words = " ".join(span[1].split()).replace(r"\|", "|")
            found.append(Block(page, outside.count("\n", 0, span.start()) + 1, "command", COMMAND.sub("", words), inline=True))
    return sorted(found, key=lambda block: block.line)


def fences(text: str) -> list[Fence]:
    """Return the fenced blocks of a page; a fence that does not end reaches to the end of the page."""
    found, lines, number = [], text.splitlines(), 0
    while number < len(lines):
        begun = FENCE.match(lines[number])
        if begun is None:
            number += 1
            continue
        end = number + 1
        while end < len(lines) and not re.match(rf"^ *{begun[2]}[`~]* *$", lines[end]):
            end += 1
        found.append(Fence(number + 1, begun[3], tuple(lines[number + 1 : end])))
        number = end + 1
    return found


def _commands(page: str, first: int, lines: list[str], *, shell: bool) -> list[Block]:
    """Return the commands among lines of code, continued ones joined. Every line of a shell is one, but for comments."""
    found, number = [], 0
    while number < len(lines):
        line, begun = lines[number].strip(), number
        while line.endswith("\\") and number + 1 < len(lines):
            number += 1
            line = f"{line[:-1].rstrip()} {lines[number].strip()}"
        number += 1
        if COMMAND.match(line) or (shell and line and not line.startswith("#")):
            found.append(Block(page, first + begun, "command", COMMAND.sub("", line)))
    return found
