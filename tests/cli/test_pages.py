# SPDX-License-Identifier: Apache-2.0
"""Every command that README, CONTRIBUTING and any page under docs/ writes has the options that the commands have."""

import re
import shlex
from pathlib import Path

import click
import pytest
from benchmarks._cli import bench
from tests.docs._run import read_command

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
TEXTS = {str(page.relative_to(ROOT)): page.read_text(encoding="utf-8") for page in PAGES}


def written(page: str) -> list[str]:
    """Return the commands of a page: lines of code, and what stands between backticks."""
    text = re.sub(r" \\\n\s+", " ", page)
    lines = [
        found[1]
        for line in text.splitlines()
        if (found := re.match(r"\s+(?:\.venv/bin/)?((?:cloister|python -m benchmarks) .*)$", line))
    ]
    spans = [span.replace("\n", " ") for span in re.findall(r"`((?:cloister|python -m benchmarks) [^`]{1,300})`", text)]
    return list(dict.fromkeys([*lines, *spans]))


def test_commands_have_the_options_that_pages_write() -> None:
    for page, line in [(page, line) for page, text in TEXTS.items() for line in written(text)]:
        words = shlex.split(re.split(r" \| | && ", line)[0].replace(r"\|", "|"), comments=True)
        try:
            read_command(
                [word for before, word in zip(["", *words], words, strict=False) if word != "..." or before.startswith("-")]
            )
        except (click.MissingParameter, click.exceptions.NoArgsIsHelpError, click.exceptions.Exit):
            continue
        except click.ClickException as error:
            pytest.fail(f"{page}: {line}: {error.format_message()}")


@pytest.mark.parametrize(
    "line",
    ["cloister fit x.csv --nope 3", "python -m benchmarks table9", "python -m benchmarks table1 --methodss a", "cloister nope"],
)
def test_what_no_command_takes_is_noticed(line: str) -> None:
    with pytest.raises(click.UsageError):
        read_command(line.split())


def scripts(text: str) -> list[tuple[str, str]]:
    """Return the scripts of the benchmark that a page runs, with what follows."""
    text = re.sub(r" \\\n\s+", " ", text)
    spans = [span.replace("\n", " ") for span in re.findall(r"`(python -m benchmarks\.[^`]{1,300})`", text)]
    lines = re.findall(r"^\s+(?:.* && )?(python -m benchmarks\..*)$", text, re.MULTILINE)
    return [re.findall(r"benchmarks\.([a-z_]+)(.*)", found)[0] for found in [*spans, *lines]]


def test_scripts_have_the_options_that_pages_write() -> None:
    for page, (name, rest) in [(page, found) for page, text in TEXTS.items() for found in scripts(text)]:
        script = ROOT / "benchmarks" / f"{name}.py"
        assert script.is_file(), f"{page}: there is no {script.name}"
        for option in re.findall(r"--[a-z-]+", rest):
            sources = script.read_text(encoding="utf-8") + (ROOT / "benchmarks" / "_area.py").read_text(encoding="utf-8")
            assert f'"{option}"' in sources, f"{page}: {script.name} has no {option}"


def test_the_page_of_the_benchmark_names_every_suite_and_option() -> None:
    page = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    for name, suite in bench.commands.items():
        assert f"`{name}`" in page or f"python -m benchmarks {name}" in page, name
        for option in suite.params:
            if isinstance(option, click.Option):
                assert any(f"`{word}" in page for word in option.opts) or name in ("list", "report", "compare"), option.opts


def headings(page: Path) -> set[str]:
    """Return what a browser calls the headings of a page."""
    lines = [line.lstrip("#") for line in page.read_text(encoding="utf-8").splitlines() if line.startswith("#")]
    return {re.sub(r"[^\w\- ]", "", line.replace("`", "").strip().lower()).replace(" ", "-") for line in lines}


def test_links_within_the_repository_lead_somewhere() -> None:
    links = r"\]\(([^)#]*)(?:#([^)]*))?\)"
    for page, place, anchor in [(page, *found) for page, text in TEXTS.items() for found in re.findall(links, text)]:
        if place.startswith("http"):
            continue
        there = (ROOT / page).parent / place if place else ROOT / page
        assert there.exists(), f"{page}: {place}"
        assert not anchor or there.suffix != ".md" or anchor in headings(there), f"{page}: {place}#{anchor}"
