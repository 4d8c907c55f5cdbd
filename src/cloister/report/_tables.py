# SPDX-License-Identifier: Apache-2.0
"""What the pages of releases and synopses share, as tables: centres with strips, the receipt's events, parameters, bounds."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cloister.privacy import MECHANISMS
from cloister.report._figures import count_bar, guess_meter, strip
from cloister.report._format import number, span_of, with_error
from cloister.report._pages import Picture, Table
from cloister.report._words import QUESTIONS, promise, scaling_words, unit_of_protection

__all__ = ["number_table", "shared_parts", "strip_table"]

TICKED_CLUSTERS = 12  # up to so many, every strip also marks the other centres


def shared_parts(summary: dict[str, Any]) -> dict[str, Any]:
    """Return what every page says: the receipt, the parameters, the versions and the bounds."""
    receipt, parameters = summary["receipt"], summary["parameters"]
    return {
        "receipt": receipt,
        "promise": promise(receipt),
        "meter": Picture("", guess_meter(receipt["best_guess"])),
        "groups": _group_table(receipt),
        "events": _event_table(receipt),
        "unit_of_protection": unit_of_protection(receipt["neighbours"]),
        "scaling": scaling_words(summary["scaling"]),
        "parameters": _pair_table("Value", {n: repr(one) if isinstance(one, str) else one for n, one in parameters.items()}),
        "versions": _pair_table("Version", summary["versions"]),
        "box": summary["domain"] == "box",
        "bounds": _bounds_table(summary),
    }


@dataclass(frozen=True)
class Cell:
    """A number with its error and a picture of both."""

    value: str
    error: str
    picture: Picture


@dataclass(frozen=True)
class StripTable:
    """Centres, one a row: label, count and coordinates."""

    columns: Sequence[tuple[str, str, str]]  # name and bounds
    rows: Sequence[tuple[int, Sequence[Cell]]]


def strip_table(summary: dict[str, Any], picked: Sequence[int]) -> StripTable:
    """Return the centres with a strip for each of the picked columns."""
    clusters, bounds = summary["clusters"], summary["bounds"]
    ends = [(c["count"] - 2 * c["count_error"], c["count"] + 2 * c["count_error"]) for c in clusters]
    low, high = min(0.0, *(end[0] for end in ends)), max(1.0, *(end[1] for end in ends))
    rows = []
    for cluster in clusters:
        value, error = cluster["count"], cluster["count_error"]
        cells = [_cell(value, error, count_bar(value, error, low=low, high=high))]
        for index in picked:
            value, error = cluster["center"][index], cluster["center_error"][index]
            many = len(clusters) > TICKED_CLUSTERS
            others = [] if many else [one["center"][index] for one in clusters if one is not cluster]
            cells.append(_cell(value, error, strip(value, error, low=bounds[index][0], high=bounds[index][1], others=others)))
        rows.append((cluster["label"], cells))
    return StripTable([(summary["columns"][index], *map(number, bounds[index])) for index in picked], rows)


def _cell(value: float, error: float, svg: str) -> Cell:
    return Cell(*with_error(value, error), Picture("", svg))


def number_table(summary: dict[str, Any]) -> Table:
    """Return all columns of all centres, as numbers."""
    heads = ["Column", *(f"Cluster {cluster['label']}" for cluster in summary["clusters"])]
    rows = []
    for index, name in enumerate(summary["columns"]):
        pairs = [with_error(cluster["center"][index], cluster["center_error"][index]) for cluster in summary["clusters"]]
        rows.append([name, *(f"{value} ± {error}" for value, error in pairs)])
    return Table(heads, rows, numeric=range(1, len(heads)))


def _group_table(receipt: dict[str, Any]) -> Table:
    """Return the kinds of questions: how often, how noisy, and their share of the cost."""
    rows = [
        [
            QUESTIONS.get(group["asked"], group["asked"]),
            str(group["times"]),
            span_of(number(group["smallest_size"]), number(group["largest_size"])),
            MECHANISMS[group["mechanism"]].label,
            span_of(f"{group['standard_deviation']:.4g}", f"{group['largest_standard_deviation']:.4g}"),
            span_of(f"{group['sensitivity']:.4g}", f"{group['largest_sensitivity']:.4g}"),
            f"{group['share']:.1%}",
        ]
        for group in receipt["groups"]
    ]
    heads = ["Question", "Times", "Numbers each", "Noise", "Standard deviation", "Sensitivity", "Share of the cost"]
    return Table(heads, rows, numeric=(1, 2, 4, 5, 6), kind="words")


def _event_table(receipt: dict[str, Any]) -> Table:
    """Return every event, as the ledger records it."""
    rows = [
        [
            str(index),
            line["when"],
            *([line["step"]] if _has_steps(receipt) else []),
            line["asked"],
            number(line["size"]),
            line["event"],
            f"{line['scale']:.6g}",
            f"{line['sensitivity']:.6g}",
        ]
        for index, line in enumerate(receipt["events"], start=1)
    ]
    steps = ["Step"] if _has_steps(receipt) else []
    heads = ["No.", "Day", *steps, "Question", "Numbers", "Mechanism", "Scale", "Sensitivity"]
    return Table(heads, rows, numeric=(0, *(len(steps) + place for place in (3, 5, 6))))


def _has_steps(receipt: dict[str, Any]) -> bool:
    return any(line["step"] for line in receipt["events"])


def _bounds_table(summary: dict[str, Any]) -> Table:
    """Return the bounds of every column."""
    bounds = zip(summary["columns"], summary["bounds"], strict=True)
    return Table(["Column", "Low", "High"], [[name, number(low), number(high)] for name, (low, high) in bounds], numeric=(1, 2))


def _pair_table(value: str, pairs: dict[str, Any]) -> Table:
    """Return names and what they stand for."""
    return Table(["Name", value], [[name, str(one)] for name, one in pairs.items()])
