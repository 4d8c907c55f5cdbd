# SPDX-License-Identifier: Apache-2.0
"""The page of a folder: a section for each suite that was run in it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ._errors import BenchError
from ._methods import LIMITS
from ._page import Check, Head, Section, write_page
from ._results import Results, open_results
from .suites import SUITES

__all__ = ["Page", "make_page", "need_matplotlib"]

INTRO = "Every method ran on the same data under the same accounting. Where a paper states a figure, it stands beside ours."


@dataclass(frozen=True)
class Page:
    """Where a page lies, and what its checks say."""

    markdown: Path
    html: Path
    sections: tuple[Section, ...]

    @property
    def missed(self) -> list[Check]:
        """The checks that are missed."""
        return [check for section in self.sections for check in section.checks if not check.ok]


def make_page(folder: Path) -> Page:
    """Write page.md, page.html and the figures of a folder."""
    need_matplotlib()
    results = open_results(folder)
    sections = []
    for suite in SUITES.values():
        if suite.name in _suites_of(results):
            mine = Results(tuple(record for record in results if record["kind"] in suite.kinds), results.runs)
            if len(mine.good):
                sections.append(suite.section(mine, folder))
    if not sections:
        raise BenchError(f"{str(folder)!r} holds failures only: {results.records[0].get('reason')}. Look there first.")
    markdown, html = write_page(folder, _head(results, sections), sections)
    return Page(markdown, html, tuple(sections))


def _head(results: Results, sections: list[Section]) -> Head:
    last: dict[str, Any] = results.records[-1]
    checks = [check for section in sections for check in section.checks]
    missed = sum(not check.ok for check in checks)
    methods = [name for name in results.names("method") if name not in LIMITS]
    facts = [
        ("Fits", f"{len(results.good):,}", f"{len(results.failed):,} failed"),
        ("Private methods", f"{len(methods):,}", ""),
        ("Data sets", f"{len(results.names('data')):,}", ""),
    ]
    if checks:
        facts.append(("Checks", f"{missed:,} missed" if missed else "all met", f"of {len(checks):,}"))
    over = f"Cloister {last.get('versions', {}).get('cloister', '')} · {str(last.get('when', ''))[:10]}"
    title = f"Benchmark: {sections[0].title}" if len(sections) == 1 else "Cloister: benchmark"
    return Head(title, over, facts, _lead(results), INTRO)


def _suites_of(results: Results) -> set[str]:
    return {run.get("suite", "") for run in results.runs} | {record.get("suite", "") for record in results}


def _lead(results: Results) -> list[str]:
    commits = results.commits()
    lines = [f"{len(results.good):,} fits, {len(results.failed):,} failed. {_versions(results)}"]
    if len(commits) > 1:
        lines.append(f"Results of several commits lie in this folder: {', '.join(commits)}.")
    left_out = list(dict.fromkeys(words for run in results.runs for words in run.get("left_out", ())))
    if left_out:
        lines.append("Left out: " + " ".join(left_out))
    return lines


def _versions(results: Results) -> str:
    last: dict[str, Any] = results.records[-1]
    versions = ", ".join(f"{name} {version}" for name, version in last.get("versions", {}).items())
    run = results.runs[-1] if results.runs else {}
    machine = f", {run['processors']} processors of {run['machine']}" if "processors" in run else ""
    return f"Commit {last.get('commit', 'unknown')}, {versions}{machine}, {str(last.get('when', ''))[:10]}."


def need_matplotlib() -> None:
    """Refuse to go on without what draws the plots."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise BenchError("bench: matplotlib draws the plots and is not installed. Run pip install 'cloister[plot]'.") from None
