# SPDX-License-Identifier: Apache-2.0
"""The page of an audit: one HTML file that loads nothing."""

from pathlib import Path
from typing import Any

from cloister.audit._plants import PLANTS
from cloister.audit._run import AuditResult, PlantResult
from cloister.report import Table, render_page

__all__ = ["audit_html", "verdict"]

TEMPLATES = Path(__file__).parent / "templates"
MEANING = {
    "replay": "Two tables that differ in one hostile row are fitted; the second gets the answers of the first. At every "
    "question the exact integers must lie within the sensitivity that the event states. The ratio is the largest distance over "
    "its sensitivity: 1 is reached by rows that move an answer as far as a row can.",
    "attacks": "An attacker who knows two neighbouring tables looks at thousands of answers. The ratio is the largest epsilon "
    "that they prove, with Clopper-Pearson bounds, over the claimed one: close to 1 is a sharp attack, above 1 a broken claim.",
    "persons": "Two tables differ in a person with a thousand rows, of which five are used. Of everybody else the same rows "
    "must be used, and at most five differ. Every method is replayed on such tables, and an attacker looks at thousands of "
    "answers. The ratio is the largest of what was found over what is allowed.",
    "samplers": "Noise as it leaves the vault is compared with its exact distribution: the bulk, the tails (also far ones, by "
    "random words that lead there), and independence between draws, answers, seeds and fits. The ratio compares logarithms: "
    "1 is as improbable as the alarm.",
    "spending": "The costs of all events are added up again by other arithmetic. The ratio is spent over promised; the "
    "receipt, the ledger and the draws must list the same events.",
    "files": "Of two text files that differ in one record, the rows that are read must differ in one, whatever the text of "
    "that record holds. The files of a table format, among them deleted rows, must be refused.",
    "kills": "Processes are killed in the middle of fits, and two race for one budget. Every answer they gave must be covered "
    "by a debit on disk, and what counts must stay within the budget.",
    "receipts": "Fits are merged in trees of any shape, and fitted behind scalers. What one person may have taken part in is "
    "added up from the events of the single fits; the receipt must state as much. The ratio is found over stated.",
}


def audit_html(result: AuditResult) -> str:
    """Return the page of an audit."""
    data = result.to_dict()
    title = "No violation found" if result.passed else "The guarantee is broken"
    if data["plant"]:
        title = "The planted fault was missed" if result.passed else "The planted fault was caught"
    libraries = {"python": data["python"], **data["libraries"]}
    return render_page(
        "audit.html",
        folder=TEMPLATES,
        title=title,
        data=data,
        plant=PLANTS[data["plant"]].description if data["plant"] else None,
        facts=_facts(data),
        meaning=MEANING,
        checks=result.checks,
        overview=_overview(result),
        part_tables=[_parts(check) for check in result.checks],
        versions=Table(["Library", "Version"], [[name, version] for name, version in libraries.items()]),
    )


def verdict(result: Any) -> str:
    """Return the verdict on a check, or on a plant, in one word."""
    if isinstance(result, PlantResult):
        if result.control:
            return "clean" if result.right else "FALSE ALARM"
        return "caught" if result.right else "MISSED"
    return "passed" if result.passed else "VIOLATED"


def _facts(data: dict[str, Any]) -> list[tuple[str, str, str]]:
    return [
        ("Cases", f"{sum(one['cases'] for one in data['checks']):,}", f"in {len(data['checks'])} checks"),
        ("Violations", f"{sum(one['n_violations'] for one in data['checks']):,}", ""),
        ("False alarms", f"{data['false_alarm_rate']:.0e}", "at most, on correct code"),
        ("Seed", str(data["seed"]), "repeats this audit"),
    ]


def _overview(result: AuditResult) -> Table:
    rows = [
        [check.title, f"{check.cases:,}", f"{check.worst:.6g}", f"{check.seconds:.1f}", verdict(check)]
        for check in result.checks
    ]
    return Table(["Check", "Cases", "Worst, found over allowed", "Seconds", "Verdict"], rows, numeric=(1, 2, 3))


def _parts(check: Any) -> Table:
    rows = [[part.name, f"{part.cases:,}", f"{part.worst:.6g}"] for part in check.parts]
    return Table(["Part", "Cases", "Worst, found over allowed"], rows, numeric=(1, 2))
