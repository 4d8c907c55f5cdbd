# SPDX-License-Identifier: Apache-2.0
"""The page of an audit: one HTML file that loads nothing."""

from collections.abc import Sequence
from typing import Any

from cloister.audit._plants import PLANTS
from cloister.audit._run import AuditResult, PlantResult
from cloister.report import html_page, html_table, html_text

__all__ = ["audit_html", "verdict"]

MEANING = {
    "replay": "Two tables that differ in one hostile row are fitted; the second one hears the answers of the first. At every "
    "question the exact integers must lie within the sensitivity that the event states. The ratio is the largest distance over "
    "its sensitivity: 1 is reached by rows that move an answer as far as a row can.",
    "attacks": "An attacker who knows two neighbouring tables looks at thousands of answers. The ratio is the largest epsilon "
    "that they prove, with Clopper-Pearson bounds, over the claimed one: close to 1 is a sharp attack, above 1 a broken claim.",
    "samplers": "Noise as it leaves the vault is compared with its exact distribution: the bulk, the tails (also far ones, by "
    "random words that lead there), and independence between draws, answers, seeds and fits. The ratio compares logarithms: "
    "1 is as improbable as the alarm.",
    "spending": "The costs of all events are added up again by other arithmetic. The ratio is spent over promised; the "
    "receipt, the ledger and the draws must list the same events.",
    "kills": "Processes are killed in the middle of fits, and two race for one budget. Every answer they gave must be covered "
    "by a debit on disk, and what counts must stay within the budget.",
}


def audit_html(result: AuditResult) -> str:
    """Return the page of an audit."""
    data = result.to_dict()
    title = "No violation found" if result.passed else "The guarantee is broken"
    if data["plant"]:
        title = "The planted fault was missed" if result.passed else "The planted fault was caught"
    return html_page(
        title, [_header(data, title), _table(result), *map(_section, result.checks), _about(data)], kind="an audit"
    )


def verdict(result: Any) -> str:
    """Return the verdict on a check, or on a plant, in one word."""
    if isinstance(result, PlantResult):
        if result.control:
            return "clean" if result.right else "FALSE ALARM"
        return "caught" if result.right else "MISSED"
    return "passed" if result.passed else "VIOLATED"


def _header(data: dict[str, Any], title: str) -> str:
    plant = data["plant"]
    banner = (
        f'<div class="alert" role="alert"><p><b>A fault was planted: {html_text(PLANTS[plant].description)}.</b> '
        "This page says whether the audit catches it, and nothing about the installed version.</p></div>"
        if plant
        else ""
    )
    size = "quick" if data["quick"] else "full"
    facts = [
        ("Cases", f"{sum(one['cases'] for one in data['checks']):,}", f"in {len(data['checks'])} checks"),
        ("Violations", f"{sum(one['n_violations'] for one in data['checks']):,}", ""),
        ("False alarms", f"{data['false_alarm_rate']:.0e}", "at most, on honest code"),
        ("Seed", str(data["seed"]), "repeats this audit"),
    ]
    cells = "".join(
        f"<div><dt>{html_text(name)}</dt><dd>{html_text(value)}{f'<small>{html_text(more)}</small>' if more else ''}</dd></div>"
        for name, value, more in facts
    )
    return (
        f'<header><p class="over">Cloister {html_text(data["version"])} · {size} audit</p><h1>{html_text(title)}</h1>'
        f'{banner}<dl class="facts">{cells}</dl></header>'
    )


def _table(result: AuditResult) -> str:
    rows = [
        [check.title, f"{check.cases:,}", f"{check.worst:.6g}", f"{check.seconds:.1f}", verdict(check)]
        for check in result.checks
    ]
    heads = ["Check", "Cases", "Worst, found over allowed", "Seconds", "Verdict"]
    return f'<section id="checks"><h2>Checks</h2>{html_table(heads, rows, numeric=(1, 2, 3))}</section>'


def _section(check: Any) -> str:
    return (
        f'<section id="{html_text(check.name)}"><h2>{html_text(check.title)}</h2><p>{html_text(MEANING[check.name])}</p>'
        f"{_list('Violations', check.violations, more=check.n_violations - len(check.violations))}"
        f"{_list('Notes', check.notes)}{_parts(check)}</section>"
    )


def _parts(check: Any) -> str:
    if not check.parts:
        return ""
    rows = [[part.name, f"{part.cases:,}", f"{part.worst:.6g}"] for part in check.parts]
    listed = html_table(["Part", "Cases", "Worst, found over allowed"], rows, numeric=(1, 2))
    return f"<details><summary>{len(rows)} parts</summary>{listed}</details>"


def _list(title: str, lines: Sequence[str], *, more: int = 0) -> str:
    if not lines:
        return ""
    items = "".join(f"<li>{html_text(line)}</li>" for line in lines) + (f"<li>and {more:,} more</li>" if more else "")
    return f"<h3>{html_text(title)}</h3><ul>{items}</ul>"


def _about(data: dict[str, Any]) -> str:
    versions = [["python", data["python"]], *([name, version] for name, version in data["libraries"].items())]
    return (
        '<section id="about"><h2>What this page is worth</h2><p>An audit looks for faults; it proves none absent. All rows '
        "were made up: nothing here is about your data. An honest version fails an audit with at most the stated rate of false "
        "alarms; run a failed audit again with another seed before you believe it, and report it if it fails again.</p>"
        f"{html_table(['Library', 'Version'], versions)}</section>"
        "<footer>This file is complete in itself: it loads nothing and runs no script.</footer>"
    )
