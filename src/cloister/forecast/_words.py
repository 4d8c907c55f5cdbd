# SPDX-License-Identifier: Apache-2.0
"""A forecast in plain sentences: what to expect, and what to change. Public numbers only."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from cloister.forecast._model import Outlook, first_success, last_success
from cloister.forecast._setting import Setting
from cloister.privacy import ApproxDP, PureDP, Step

__all__ = ["about", "advise", "cautions", "count_noise", "judge", "judge_steps", "part", "standing_out"]

# Rows of an average cluster over those of the smallest one that is found: from here on expect ...
A_FEW, MOST, ALL, SMALLER_ONES = 0.5, 1.0, 2.0, 8.0
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


def judge(setting: Setting, outlook: Outlook) -> tuple[str, ...]:
    """Say what to expect, in graded sentences."""
    found = outlook.average >= outlook.smallest
    sentences = [_expect(setting, outlook), _tell_smallest(setting, outlook)]
    if found:
        sentences.append(_tell_error(setting, outlook))
    return tuple(sentence for sentence in sentences if sentence)


def advise(setting: Setting, outlook: Outlook) -> tuple[str, ...]:
    """Say what to change, and which other method to look at."""
    return (*_remedies(setting, outlook), *_other_noise(setting, outlook), *_cautions(setting))


def judge_steps(setting: Setting, steps: Sequence[Step]) -> tuple[str, ...]:
    """Say of any method how much it asks, and how noisy its last counts are: facts, where nothing is forecast."""
    noise = count_noise(steps)
    answers = sum(len(step.queries) for step in steps)
    given = _given(setting)
    asks = f"{given} {setting.method.name} asks for {_count(answers, 'noisy answer')} in {_count(len(steps), 'step')}."
    if noise is None:
        return (asks,)
    average = _count(round(setting.size / setting.n_clusters), setting.counted)
    noise_sentence = f"Each of its last counts carries noise of about {about(noise)} {setting.counted}s"
    return asks, f"{noise_sentence}; a cluster of average size has {average}."


def _given(setting: Setting) -> str:
    return f"With {_count(setting.n_rows, setting.unit)} and {setting.guarantee.parameter} {setting.guarantee.strength:.4g}"


def count_noise(steps: Sequence[Step]) -> float | None:
    """Return the noise of the last counts that are asked for; None if there are none."""
    return next((noise for step in reversed(steps) if (noise := step.sigma("counts")) is not None), None)


def cautions(setting: Setting) -> tuple[str, ...]:
    """Say what to mind, whatever the method."""
    return tuple(_cautions(setting))


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
    if value >= 1e6:
        return f"{value:.2g}"
    if value < 10:
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


def _expect(setting: Setting, outlook: Outlook) -> str:
    given = _given(setting)
    if outlook.mean_error > NOTHING:
        return (
            f"{given} not even the mean of all rows can be seen: "
            "expect centres near the middle of the bounds, wherever the rows lie."
        )
    if setting.n_clusters == 1:
        return f"{given} expect the mean of all rows."
    if setting.n_clusters > setting.size:
        return f"{given} expect most of {setting.n_clusters:,} centres to repeat others."
    ratio, average = outlook.average / outlook.smallest, _count(round(outlook.average), setting.counted)
    size = f"clusters of average size ({average})"
    if ratio < A_FEW:
        return f"{given} expect little more than the mean of all rows: the noise hides {size}."
    if ratio < MOST:
        return f"{given} expect a coarse picture: some {size} will be found, others joined with a neighbour."
    if ratio < ALL:
        return f"{given} expect most {size} to be found, smaller ones not."
    if ratio < SMALLER_ONES:
        return f"{given} expect {size} to be found."
    return f"{given} expect {size} and much smaller ones to be found."


def _tell_smallest(setting: Setting, outlook: Outlook) -> str:
    plan, size = outlook.plan, outlook.smallest
    if plan.n_clusters == 1 or outlook.mean_error > NOTHING:
        return ""
    if size > plan.n_rows:
        return "No cluster stands out, however large."
    if size <= HANDFUL:
        return "Hardly any cluster is too small to be found: a handful of rows shows, so not much protects them."
    return f"Clusters of fewer than about {about(size)} {setting.counted}s will be missed or merged."


def _tell_error(setting: Setting, outlook: Outlook) -> str:
    size, error = outlook.average, outlook.error(outlook.average)
    centre = "it" if outlook.plan.n_clusters == 1 else "the centre of a cluster of average size"
    return (
        f"Expect {centre} within {part(error)} of the cluster's radius (the root mean square distance of its rows); "
        f"the accident of which {setting.unit}s were collected moves it by {part(setting.chance(size))} anyway."
    )


# -- what to change -----------------------------------------------------------------------------------------------------


def _remedies(setting: Setting, outlook: Outlook) -> Iterator[str]:
    if setting.n_clusters > setting.size:
        yield "There are more clusters than rows: ask for fewer."
    elif outlook.average < outlook.smallest:
        yield _join("To find a cluster of average size", _ways(setting, _stands_out))
    elif outlook.error(outlook.average) > PRECISE:
        yield _join(f"To place such a centre within {part(PRECISE)} of the radius", _ways(setting, _is_precise))


def _stands_out(outlook: Outlook) -> bool:
    return outlook.average >= outlook.smallest


def _is_precise(outlook: Outlook) -> bool:
    return _stands_out(outlook) and outlook.error(outlook.average) <= PRECISE


def _ways(setting: Setting, works: Callable[[Outlook], bool]) -> Iterator[str]:
    """Change one number at a time until it works."""

    def with_rows(size: float) -> bool:
        return works(replace(setting, n_rows=math.ceil(size)).outlook())

    strength = _needed_strength(setting, works, low=setting.guarantee.strength)
    if strength is not None:
        yield f"{setting.guarantee.parameter} {about(strength)} or more"
    clusters = last_success(lambda k: works(replace(setting, n_clusters=k).outlook()), 2, setting.n_clusters)
    if clusters is not None:
        yield f"at most {clusters} clusters"
    columns = last_success(lambda d: works(replace(setting, n_features=d).outlook()), 1, setting.n_features)
    if columns is not None:
        yield f"at most {_count(columns, 'column')}"
    rows = first_success(with_rows, setting.n_rows, max(setting.n_rows, LARGEST_ADVICE))
    if rows is not None:
        yield f"about {about(rows)} {setting.unit}s"


def _needed_strength(setting: Setting, works: Callable[[Outlook], bool], *, low: float) -> float | None:
    return first_success(lambda value: works(setting.at_strength(value).outlook()), low, max(low, LARGEST_STRENGTH))


def _join(goal: str, ways: Iterator[str]) -> str:
    found = list(ways)
    return f"{goal}: {'; or '.join(found)}." if found else f"{goal} no single change of these numbers is enough."


# -- what else ----------------------------------------------------------------------------------------------------------


def _other_noise(setting: Setting, outlook: Outlook) -> Iterator[str]:
    """Compare with the other kind of noise at the same epsilon."""
    if setting.guarantee.parameter != "epsilon" or outlook.smallest <= HANDFUL:
        return
    epsilon = setting.guarantee.strength
    delta = min(USUAL_DELTA, 0.1 / setting.n_rows) if setting.guarantee.is_pure else 0.0
    guarantee = PureDP(epsilon) if delta == 0 else ApproxDP(epsilon, delta)
    other = replace(setting, guarantee=guarantee).outlook()
    gains = outlook.smallest / other.smallest, outlook.error(outlook.average) / other.error(outlook.average)
    if min(gains) >= 1 and max(gains) >= WORTH_A_WORD and _stands_out(other):
        yield (
            f"With delta {delta:g} this epsilon finds clusters of {about(other.smallest)} {setting.counted}s instead of "
            f"{about(outlook.smallest)}, and places the centre of an average one within "
            f"{part(other.error(outlook.average))} of its radius instead of {part(outlook.error(outlook.average))}."
        )


def _cautions(setting: Setting) -> Iterator[str]:
    if setting.method.kind == "source-target":
        yield (
            "How many points the source is asked about follows from the target: SourceTargetKMedoids.plan(target), or "
            "'cloister source-target TARGET --plan', says it, with the noise and the bound on the error."
        )
    elif setting.n_features <= FEW_COLUMNS and setting.method.kind != "synopsis":
        yield (
            f"In {_count(setting.n_features, 'column')} look at GridSynopsis too, if the result will be "
            "used again: one noisy grid answers for any number of clusters and for range counts, and is paid for once."
        )
    guarantee = setting.guarantee
    if guarantee.stated_delta * setting.n_rows >= 1:
        yield (
            f"delta {guarantee.stated_delta:g} is not below 1 / {setting.n_rows:,}: such a promise allows to publish a whole "
            f"{setting.unit}. Choose it well below."
        )
    epsilon = guarantee.nominal_epsilon(USUAL_DELTA)
    if epsilon > LARGEST_EPSILON:
        yield f"epsilon {about(epsilon)} promises each {setting.unit} little; 0.1 to {LARGEST_EPSILON:g} is usual."


def _count(count: int, word: str) -> str:
    return f"{count:,} {word}{'' if count == 1 else 's'}"
