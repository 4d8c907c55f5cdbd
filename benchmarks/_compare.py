# SPDX-License-Identifier: Apache-2.0
"""Two runs side by side: every figure that both have, with the ratio of the second to the first and its interval."""

from collections import defaultdict
from pathlib import Path
from typing import Any

from ._page import Table, say, say_ratio
from ._results import Results, open_results
from ._stats import Estimate, area_of, differs, mean_of, ratio_of

__all__ = ["compare"]

Key = tuple[str, str, str, str]


def compare(one: Path, two: Path) -> Table:
    """Return the losses of two folders side by side."""
    left, right = _figures(open_results(one)), _figures(open_results(two))
    rows = []
    for key in [key for key in left if key in right]:
        for label in [label for label in left[key] if label in right[key]]:
            rows.append(_row(key, label, left[key][label], right[key][label]))
    alone = len(set(left) ^ set(right))
    note = (
        f"First: {one}. Second: {two}. Ratio: second over first, with its 95 % interval; 'lower' and 'higher' where the two "
        f"differ beyond chance. Processor time: second over first." + (f" In one of them only: {alone}." if alone else "")
    )
    columns = ["data", "method", "figure", "first", "second", "ratio (95 %)", "", "time"]
    return Table("Two runs", columns, rows, words=(0, 1, 2, 6), note=note)


def _row(key: Key, label: str, one: tuple[Estimate, float], two: tuple[Estimate, float]) -> list[str]:
    _, data, origin, method = key
    verdict = "" if not differs(one[0], two[0]) else "lower" if two[0].value < one[0].value else "higher"
    name = data if origin == "exact" else f"{data} [{origin}]"
    seconds = f"{two[1] / one[1]:.2f}" if one[1] else "-"
    return [name, method, label, say(one[0]), say(two[0]), say_ratio(ratio_of(two[0], one[0])), verdict, seconds]


def _figures(results: Results) -> dict[Key, dict[str, tuple[Estimate, float]]]:
    """Return, by what was measured, the area under the loss, or the losses if there is but one epsilon; and the mean time."""
    groups: dict[Key, dict[tuple[Any, str], list[dict[str, Any]]]] = defaultdict(lambda: defaultdict(list))
    for record in results.good:
        key = (record["kind"], record["data"], record["origin"], record["method"])
        words = ", ".join(f"{name} {value}" for name, value in record["settings"].items())
        groups[key][record["epsilon"], words].append(record)
    return {key: _labelled(found) for key, found in groups.items()}


def _labelled(found: dict[tuple[Any, str], list[dict[str, Any]]]) -> dict[str, tuple[Estimate, float]]:
    figures = {}
    for settings in dict.fromkeys(words for _, words in found):
        losses = {epsilon: [one["loss"] for one in records] for (epsilon, words), records in found.items() if words == settings}
        times = [
            one.get("cpu_seconds", one["seconds"])
            for (_, words), records in found.items()
            if words == settings
            for one in records
        ]
        known = {epsilon: values for epsilon, values in losses.items() if epsilon is not None}
        if len(known) > 1:
            label, figure = f"area, epsilon {min(known):g} to {max(known):g}", area_of(known)
        else:
            epsilon, values = next(iter(losses.items()))
            label, figure = "loss" if epsilon is None else f"loss, epsilon {epsilon:g}", mean_of(values)
        figures[f"{label}, {settings}" if settings else label] = (figure, mean_of(times).value)
    return figures
