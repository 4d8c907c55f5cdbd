# SPDX-License-Identifier: Apache-2.0
"""One fit under the protocol of Table I: rows in the unit ball, N public, delta = N^-1.1, neighbours add or remove a row."""

from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from typing import Any

from .._clock import timed
from .._data import DataSet, load, shape_of
from .._jobs import Choice, Context, Job
from .._methods import LIMIT, ONE_START, Method, Setting, find_method

__all__ = ["KIND", "fit_jobs", "measure_cost", "measure_fit", "run_method"]

KIND = "fit"
SMALL = "blobs_200_2_2"


def measure_fit(job: Job, context: Context) -> dict[str, Any]:
    """Fit a method to a data set and return its loss."""
    data = load(job.data, context.folder)
    return run_method(find_method(job.method), data, job, context)


def measure_cost(job: Job, context: Context) -> dict[str, Any]:
    """Do the same where time and memory matter: what the first fit of a process loads is not counted."""
    _warm_up(job.method, job.epsilon)
    return measure_fit(job, context)


@cache
def _warm_up(method: str, epsilon: float | None) -> None:
    job = Job(kind=KIND, data=SMALL, method=method, epsilon=epsilon, repeat=0)
    with suppress(Exception):  # one that fails here fails again, and says why, where it counts
        measure_fit(job, Context())


def run_method(
    method: Method, data: DataSet, job: Job, context: Context, *, delta: float | None = None, box: bool = False
) -> dict[str, Any]:
    """Fit a method to rows that are there, and return its loss, time and memory."""
    setting = Setting(
        n_clusters=data.n_clusters,
        epsilon=job.epsilon,
        delta=data.delta if delta is None else delta,
        n_rows=len(data.rows),
        n_features=data.rows.shape[1],
        reach=data.reach,
        box=box,
        seed=job.seed,
        pythons=context.pythons,
    )
    model = method.make(setting)
    model, spent = timed(lambda: model.fit(data.rows))
    if hasattr(model, "seconds_"):
        spent["seconds"] = model.seconds_
    if hasattr(model, "versions_"):
        spent["other_versions"] = model.versions_
    return {"loss": data.loss(model.cluster_centers_), **spent}


def fit_jobs(
    choice: Choice,
    data: Sequence[tuple[str, str]],
    methods: Sequence[Method],
    epsilons: Sequence[float],
    repeats: int,
    *,
    kind: str = KIND,
    limits: bool = True,
) -> list[Job]:
    """Return the fits of the methods that are defined for the data, and of the limits: one best fit, and single starts."""
    jobs = []
    for name, origin in data:
        facts: dict[str, Any] = {"kind": kind, "data": name, "origin": origin, "base_seed": choice.seed}
        columns = shape_of(name)[1]
        if limits:
            jobs.append(Job(**facts, method=LIMIT, epsilon=None, repeat=0))
            jobs += [Job(**facts, method=ONE_START, epsilon=None, repeat=repeat) for repeat in range(repeats)]
        jobs += [
            Job(**facts, method=method.name, epsilon=epsilon, repeat=repeat)
            for repeat in range(repeats)
            for method in methods
            if method.accepts(columns)
            for epsilon in epsilons
        ]
    return jobs
