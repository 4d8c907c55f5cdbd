# SPDX-License-Identifier: Apache-2.0
"""A forecast in plain sentences: what to expect, and what to change. Public numbers only. Also how tables are printed."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from html import escape
from typing import Any

from cloister.cluster import GridPlan, Plan
from cloister.exceptions import ParameterError
from cloister.forecast._model import Outlook, first_success, last_success, outlook_of
from cloister.forecast._setting import Setting, count_noise
from cloister.grids import grid_bound
from cloister.privacy import ApproxDP, PureDP
from cloister.synopsis import few_cells_words
from cloister.text import count_of

# Rows of an average cluster over those of the smallest one that is found: from here on expect ...
GROUPS, A_FEW, MOST, ALL, SMALLER_ONES = 0.2, 0.5, 1.0, 2.0, 8.0
TWO = 2  # clusters of the smallest size that is found: where the table holds no two of them, even groups are hidden
NOTHING = 0.5  # error of the mean, in units of the domain's radius, beyond which not even the mean is seen
PRECISE = 0.1  # error of a centre, in units of its cluster's radius, that needs no advice
HANDFUL = 5.0  # rows
SMALLEST_PART = 1e-4
WORTH_A_WORD = 1.25  # factor by which another kind of noise must be better
USUAL_DELTA = 1e-6
SMALLEST_STRENGTH, LARGEST_STRENGTH = 1e-6, 100.0  # nobody is advised to spend more
LARGEST_EPSILON = 10.0  # beyond which the promise is weak
LARGEST_ADVICE = 10**12  # rows
FEW_COLUMNS = 3  # in which a grid can be kept


def judge(setting: Setting, plan: Plan, outlook: Outlook | None) -> Iterator[str]:
    """Say what to expect, in graded sentences; without an outlook how much is asked, and how noisy the last counts are."""
    unit = f"{count_of(setting.n_rows, setting.unit)} and {setting.guarantee.parameter} {setting.guarantee.strength:.4g}"
    if outlook is not None:
        yield f"With {unit} {_expect(setting, outlook)}"
        if setting.n_clusters > 1 and outlook.mean_error <= NOTHING:
            if outlook.smallest > outlook.plan.n_rows:
                yield "No cluster stands out, however large."
            elif outlook.smallest <= HANDFUL:
                yield "Hardly any cluster is too small to be found: a handful of rows shows, so not much protects them."
            else:
                yield f"Clusters of fewer than about {about(outlook.smallest)} {setting.counted}s will be missed or merged."
        if _stands_out(outlook):
            centre = "it" if setting.n_clusters == 1 else "the centre of a cluster of average size"
            yield (
                f"Expect {centre} within {part(outlook.error(outlook.average))} of the cluster's radius (the root mean square "
                f"distance of its rows); the accident of which {setting.unit}s were collected moves it by "
                f"{part(setting.chance(outlook.average))} anyway."
            )
        return
    steps, noise = plan.all_steps, count_noise(plan.all_steps)
    answers = count_of(sum(len(step.queries) for step in steps), "noisy answer")
    yield f"With {unit} {setting.method.name} asks for {answers} in {count_of(len(steps), 'step')}."
    if noise is not None:
        average = count_of(round(setting.size / setting.n_clusters), setting.counted)
        yield (
            f"Each of its last counts carries noise of about {about(noise)} {setting.counted}s; "
            f"a cluster of average size has {average}."
        )
    if isinstance(plan, GridPlan):
        yield from _judge_grid(setting, plan)


def advise(setting: Setting, plan: Plan, outlook: Outlook | None, enough: Mapping[str, float]) -> Iterator[str]:
    """Say what to change, which other method to look at, and what to mind."""
    guarantee = setting.guarantee
    if outlook is not None:
        if setting.n_clusters > setting.size:
            yield "There are more clusters than rows: ask for fewer."
        elif not _is_precise(outlook):
            goal = f"To place such a centre within {part(PRECISE)} of the radius"
            goal = goal if _stands_out(outlook) else "To find a cluster of average size"
            words: dict[str, Callable[[Any], str]] = {
                guarantee.parameter: lambda strength: f"{guarantee.parameter} {about(strength)} or more",
                "n_clusters": "at most {} clusters".format,
                "n_features": lambda columns: f"at most {count_of(columns, 'column')}",
                "n_rows": lambda rows: f"about {about(rows)} {setting.unit}s",
            }
            ways = "; or ".join(words[name](number) for name, number in enough.items())
            yield f"{goal}: {ways}." if ways else f"{goal} no single change of these numbers is enough."
        yield from _other_noise(setting, outlook)
    if isinstance(plan, GridPlan) and math.prod(plan.cells) < setting.n_clusters:
        yield few_cells_words(setting.n_clusters, math.prod(plan.cells), setting.n_features)
    if setting.method.kind == "source-target":
        yield (
            "How many points the source is asked about follows from the target: SourceTargetKMedoids.plan(target), or "
            "'cloister source-target TARGET --plan', says it, with the noise and the bound on the error."
        )
    elif setting.n_features <= FEW_COLUMNS and setting.method.kind != "synopsis":
        yield (
            f"In {count_of(setting.n_features, 'column')} look at GridSynopsis too, if the result will be "
            "used again: one noisy grid answers for any number of clusters and for range counts, and is paid for once."
        )
    if guarantee.stated_delta * setting.n_rows >= 1:
        yield (
            f"delta {guarantee.stated_delta:g} is not below 1 / {setting.n_rows:,}: such a promise allows to publish a whole "
            f"{setting.unit}. Choose it well below."
        )
    epsilon = guarantee.nominal_epsilon(USUAL_DELTA)
    if epsilon > LARGEST_EPSILON:
        yield f"epsilon {about(epsilon)} promises each {setting.unit} little; 0.1 to {LARGEST_EPSILON:g} is usual."


def find_enough(setting: Setting, outlook: Outlook) -> dict[str, float]:
    """Return what a single number must be for an average cluster to be found, or if it is, for its centre to be precise.

    Empty where it is precise, or where there are more clusters than rows; numbers of which no change is enough are left out.
    """
    if setting.n_clusters > setting.size or _is_precise(outlook):
        return {}
    works = _is_precise if _stands_out(outlook) else _stands_out
    most = max(setting.n_rows, LARGEST_ADVICE)
    found = {
        setting.guarantee.parameter: _needed_strength(setting, works, low=setting.guarantee.strength),
        "n_clusters": last_success(lambda k: _would(works, setting, n_clusters=k), 2, setting.n_clusters),
        "n_features": last_success(lambda d: _would(works, setting, n_features=d), 1, setting.n_features),
        "n_rows": first_success(lambda size: _would(works, setting, n_rows=math.ceil(size)), setting.n_rows, most),
    }
    return {name: number for name, number in found.items() if number is not None}


def standing_out(setting: Setting) -> float | None:
    """Return the epsilon, rho or mu from which on a cluster of average size is found, if there is one."""
    return _needed_strength(setting, _stands_out, low=SMALLEST_STRENGTH)


def about(value: float) -> str:
    """Return a number as people say it, with two significant digits.

    Examples
    --------
    >>> about(84.49), about(1234.0), about(0.2367)
    ('84', '1,200', '0.24')
    """
    if value < 10 or value >= 1e6:
        return f"{value:.2g}"
    return f"{round(value, 1 - math.floor(math.log10(value))):,.0f}"


def part(value: float) -> str:
    """Return a part of one in percent; smaller ones are not worth telling apart.

    Examples
    --------
    >>> part(0.0346), part(0.154), part(0.00002)
    ('3.5 %', '15 %', '0.01 %')
    """
    return f"{about(100 * max(value, SMALLEST_PART))} %"


def aligned(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a table: the first column to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    lines = []
    for first, *others in (head, *rows):
        cells = [first.ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True))]
        lines.append("  ".join(cells).rstrip())
    return lines


def html_table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return the same table for a notebook."""
    heads = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><caption>{escape(title)}</caption><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"


def _expect(setting: Setting, outlook: Outlook) -> str:
    if outlook.mean_error > NOTHING:
        return "not even the mean of all rows can be seen: expect centres near the middle of the bounds, wherever the rows lie."
    if setting.n_clusters == 1:
        return "expect the mean of all rows."
    if setting.n_clusters > setting.size:
        return f"expect most of {setting.n_clusters:,} centres to repeat others."
    ratio = outlook.average / outlook.smallest
    size = f"clusters of average size ({count_of(round(outlook.average), setting.counted)})"
    held = outlook.plan.n_rows / outlook.smallest
    if held < 1 or (held < TWO and ratio < GROUPS):
        return f"expect little more than the mean of all rows: the noise hides {size}."
    if ratio < A_FEW:
        return f"expect a coarse picture: groups of neighbouring clusters; the noise hides single {size}."
    if ratio < MOST:
        return f"expect a fair picture: some {size} will be found, others joined with a neighbour."
    if ratio < ALL:
        return f"expect most {size} to be found, smaller ones not."
    if ratio < SMALLER_ONES:
        return f"expect {size} to be found."
    return f"expect {size} and much smaller ones to be found."


def _judge_grid(setting: Setting, plan: GridPlan) -> Iterator[str]:
    """Say how far noise and rounding to cells move the loss, at most."""
    bound = grid_bound(
        plan.cells[0],
        n_rows=setting.size,
        n_features=setting.n_features,
        n_clusters=setting.n_clusters,
        epsilon=math.sqrt(2) / plan.grid["counts"].sigma,
    )
    kind = "A grid" if plan.parts is None else "Before fuller cells are split, a grid"
    yield (
        f"{kind} of {count_of(plan.cells[0], 'cell')} along each of {setting.n_features:,} columns, "
        f"{math.prod(plan.cells):,} in all: its bound h is {about(bound.total)} "
        f"(noise {about(bound.noise)}, cross term {about(bound.cross)}, rounding {about(bound.rounding)})."
    )
    yield (
        "So noise and rounding to cells move the mean squared distance by at most about "
        f"{about(setting.n_features / setting.size * bound.total)}, in columns from -1 to 1 and if clusters of equal size fill "
        "them evenly."
    )


# -- what to change -----------------------------------------------------------------------------------------------------


def _stands_out(outlook: Outlook) -> bool:
    return outlook.average >= outlook.smallest


def _is_precise(outlook: Outlook) -> bool:
    return _stands_out(outlook) and outlook.error(outlook.average) <= PRECISE


def _needed_strength(setting: Setting, works: Callable[[Outlook], bool], *, low: float) -> float | None:
    def enough(strength: float) -> bool:
        return _would(works, setting, guarantee=setting.guarantee.with_strength(strength))

    return first_success(enough, low, max(low, LARGEST_STRENGTH))


def _would(works: Callable[[Outlook], bool], setting: Setting, **changes: Any) -> bool:
    found = _look_ahead(setting, **changes)
    return found is not None and works(found)


def _look_ahead(setting: Setting, **changes: Any) -> Outlook | None:
    """Return what to expect of other numbers; None where so little is spent that no noise can be drawn."""
    try:
        plan = replace(setting, **changes).plan(own_noise=False)
    except ParameterError:
        return None
    return outlook_of(plan)


def _other_noise(setting: Setting, outlook: Outlook) -> Iterator[str]:
    """Compare with the other kind of noise at the same epsilon."""
    if setting.guarantee.parameter != "epsilon" or outlook.smallest <= HANDFUL:
        return
    epsilon = setting.guarantee.strength
    delta = min(USUAL_DELTA, 0.1 / setting.n_rows) if setting.guarantee.is_pure else 0.0
    other = _look_ahead(setting, guarantee=PureDP(epsilon) if delta == 0 else ApproxDP(epsilon, delta))
    if other is None:
        return
    gains = outlook.smallest / other.smallest, outlook.error(outlook.average) / other.error(outlook.average)
    if min(gains) >= 1 and max(gains) >= WORTH_A_WORD and _stands_out(other):
        yield (
            f"With delta {delta:g} this epsilon finds clusters of {about(other.smallest)} {setting.counted}s instead of "
            f"{about(outlook.smallest)}, and places the centre of an average one within "
            f"{part(other.error(outlook.average))} of its radius instead of {part(outlook.error(outlook.average))}."
        )
