# SPDX-License-Identifier: Apache-2.0
"""The methods of the source-target benchmark, and one job: a method on one draw, for all numbers of clusters.

What the target alone decides (its coreset, its distances, the choice that ignores the source) is prepared once for a draw and
serves every method; the seconds of a job include what it would have cost it.
"""

import importlib.util
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, ClassVar

import numpy as np
from scipy.spatial import cKDTree

from cloister import ZCDP, Ball, PureDP, SourceTargetKMedoids
from cloister.algorithms import Coreset, choose_medoids, tree_coreset
from cloister.cluster._progress import Progress
from cloister.cluster._target import Problem, Target, all_pairs
from cloister.exceptions import PrivacyWarning
from cloister.methods import METHODS

from .._arrays import Array
from .._clock import timed
from .._jobs import Context, Job
from ._pairs import load_pair

__all__ = [
    "ALONE",
    "GAN",
    "LIMIT",
    "MAIN",
    "STUDIES",
    "VARIANTS",
    "has_gan",
    "known_methods",
    "measure_pair",
    "needs_guarantee",
]

ALONE, LIMIT, GAN = "target only", "not private", "DP-GAN"
CORESET = ", coreset"  # ends the name of a method that chooses among the coreset's representatives only
CHOOSERS: dict[str, dict[str, Any]] = {
    "NNA": {"method": "nna"},
    "NNA, paper's noise": {"method": "nna", "calibration": "paper"},
    "NAS": {"method": "nas"},
    "NAS, t = 75": {"method": "nas", "n_neighbors": 75},
    "NAS, t = 300": {"method": "nas", "n_neighbors": 300},
    "NNA, no coreset": {"method": "nna", "coreset_radius": 0.0},
    "NAS, no coreset": {"method": "nas", "coreset_radius": 0.0},
}
PRIVATE_CENTERS = ("PEMeans", "TreeKMeans")
MAIN = (ALONE, "NNA", "NNA, paper's noise", "NAS", *PRIVATE_CENTERS, GAN, LIMIT)  # of Figure 3
STUDIES = {  # of the appendix: what is compared
    "C.1: neighbours in the averages of NAS": ("NAS, t = 75", "NAS", "NAS, t = 300"),
    "C.3: with and without coreset": ("NNA", "NNA, no coreset", "NAS", "NAS, no coreset"),
    "C.6: coresets on the baselines": tuple(name + end for name in (ALONE, "TreeKMeans", GAN) for end in ("", CORESET)),
}
VARIANTS = tuple(dict.fromkeys(name for names in STUDIES.values() for name in names if name not in MAIN))
STAND_INS = 100  # private centres of the source
RADIUS = 0.05  # of the coreset, over the diameter
STARTS = 1  # of the solver; each method chooses the better of two searches, one of which ignores the source
SETTINGS: dict[str, Any] = {"bounds": Ball(1.0), "n_jobs": 1, "n_init": STARTS}
SILENT = Progress("benchmark", enabled=False)
FAR = 1e6  # from the unit ball: a source there helps nobody


def has_gan() -> bool:
    """Whether DP-GAN can run here."""
    return all(importlib.util.find_spec(name) is not None for name in ("opacus", "torch"))


def known_methods(names: tuple[str, ...] = (*MAIN, *VARIANTS)) -> list[str]:
    """Return those that can run here."""
    return [name for name in names if has_gan() or not name.startswith(GAN)]


def needs_guarantee(method: str) -> bool:
    """Whether a method asks the source for anything, and must be private."""
    return not method.startswith(ALONE) and method != LIMIT


def measure_pair(job: Job, context: Context) -> dict[str, Any]:
    """Run a method on one draw for every number of clusters."""
    draw = _draw(job.data, context.folder, 1_000_003 * job.base_seed + job.repeat)
    with _without_warnings():
        ready = draw.prepare(job.settings["clusters"], _coreset_radius(job))
        chosen, spent = timed(lambda: _choose(job, draw, ready))
    for name in ("seconds", "cpu_seconds"):
        spent[name] += ready.spent[name]
    costs = [float(np.mean(np.minimum(draw.pairs[one].min(axis=0), draw.caps)) / 2) for one in chosen]
    return {"loss": float(np.mean(costs)), "costs": costs, **spent}


@contextmanager
def _without_warnings() -> Iterator[None]:
    """The paper's rho of 3 promises little; once said in the documentation."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        yield


@dataclass(frozen=True, eq=False)
class _Ready:
    """What the target and public numbers decide, by the number of clusters, and the time that took."""

    problems: dict[int, Problem]
    spent: dict[str, float]

    def choose(self, k: int, source: Array, seed: int) -> Any:
        """Choose beside points that stand for the source; never worse, for them, than the choice that ignores the source."""
        problem = replace(self.problems[k], generator=np.random.default_rng([seed, k]))
        return problem.choose(source, SILENT)


class _Draw:
    """One draw of a pair: source, target, and what several methods need of them."""

    def __init__(self, source: Array, target: Array, run: int) -> None:
        self.source, self.target, self._run = source, target, run
        self.pairs = all_pairs(target, "euclidean")
        self.caps = cKDTree(source).query(target)[0]  # distances to the true source
        self._kept: dict[tuple[tuple[int, ...], float], _Ready] = {}

    @cached_property
    def coreset(self) -> Coreset:
        """Representatives of the target, by a k-d tree."""
        return tree_coreset(self.target, 2 * RADIUS, max_size=len(self.target))

    def prepare(self, clusters: list[int], radius: float) -> _Ready:
        """Return the target's side of the problem."""
        key = (tuple(clusters), radius)
        if key not in self._kept:
            self._kept[key] = _Ready(*timed(lambda: self._problems(clusters, radius)))
        return self._kept[key]

    def _problems(self, clusters: list[int], radius: float) -> dict[int, Problem]:
        problems: dict[int, Problem] = {}
        for k in clusters:
            model = SourceTargetKMedoids(k, coreset_radius=radius, random_state=self._run % 2**32, **SETTINGS)
            request = model._request()
            if problems:
                generator = request.entropy.public_generator()
                problems[k] = problems[clusters[0]].with_clusters(model, generator, SILENT)
            else:
                problems[k] = model._state_problem(Target(self.target, None), request, SILENT)
        return problems


@lru_cache(maxsize=1)
def _draw(name: str, folder: str | None, run: int) -> _Draw:
    return _Draw(*load_pair(name, folder, run), run)


class _ReadyKMedoids(SourceTargetKMedoids):
    """The estimator, on a target that was prepared before."""

    ready: ClassVar[_Ready]

    def _state_problem(self, public: Any, request: Any, progress: Any) -> Problem:
        return replace(self.ready.problems[self.n_clusters], choice=self, generator=request.entropy.public_generator())


def _coreset_radius(job: Job) -> float:
    radius: float = CHOOSERS.get(job.method, {}).get("coreset_radius", RADIUS)
    return radius


def _choose(job: Job, draw: _Draw, ready: _Ready) -> list[Any]:
    """Return the points that a method chooses, for each number of clusters."""
    clusters, name = job.settings["clusters"], job.method.removesuffix(CORESET)
    if name in CHOOSERS:
        return _choose_privately(job, draw, ready)
    nobody = np.full((1, draw.target.shape[1]), FAR)
    source = nobody if name == ALONE else draw.source if name == LIMIT else _private_source(name, job, draw.source)
    if job.method == name:
        return [ready.choose(k, source, job.seed) for k in clusters]
    return [_choose_of_coreset(draw, k, source, job.seed) for k in clusters]


def _choose_privately(job: Job, draw: _Draw, ready: _Ready) -> list[Any]:
    """Fit for every number of clusters; a source that is asked the same for all of them is asked once."""
    settings, clusters = CHOOSERS[job.method], job.settings["clusters"]
    _ReadyKMedoids.ready = ready
    given: dict[str, Any] = {"guarantee": _guarantee(job), "n_rows": len(draw.source), "random_state": job.seed}
    models = (_ReadyKMedoids(k, **given, **SETTINGS, **settings) for k in clusters)
    if settings["method"] == "nna" and "calibration" not in settings:  # the radius of its offsets depends on k
        return [model.fit(draw.target, source=draw.source).medoid_indices_ for model in models]
    first = next(models).fit(draw.target, source=draw.source)
    return [first.medoid_indices_, *(ready.choose(k, first.sanitized_source_, job.seed) for k in clusters[1:])]


def _choose_of_coreset(draw: _Draw, k: int, source: Array, seed: int) -> Any:
    """Choose among the coreset's representatives only, the better of two searches."""
    few = draw.coreset
    pairs, caps = draw.pairs[np.ix_(few.indices, few.indices)], cKDTree(source).query(draw.target[few.indices])[0]
    generator = np.random.default_rng([seed, k])
    found = choose_medoids(pairs, k, generator=generator, caps=caps, weights=few.weights, restarts=2 * STARTS)
    return few.indices[found.indices]


def _guarantee(job: Job) -> PureDP | ZCDP:
    assert job.epsilon is not None
    return PureDP(job.epsilon) if job.settings["guarantee"] == "epsilon" else ZCDP(job.epsilon)


def _private_source(name: str, job: Job, source: Array) -> Array:
    """Return private points in place of the source."""
    guarantee = _guarantee(job)
    if name == GAN:
        from .._dpgan import draw_source

        return draw_source(source, guarantee, size=STAND_INS, seed=job.seed)
    # A pure method that must give rho-zCDP may spend epsilon = sqrt(2 rho): epsilon-DP implies (epsilon^2 / 2)-zCDP. The
    # paper's sqrt(rho / 2) is half of that.
    pure = guarantee if isinstance(guarantee, PureDP) else PureDP((2 * guarantee.rho) ** 0.5)
    model = METHODS[name].estimator(
        STAND_INS, guarantee=pure, bounds=Ball(1.0), n_rows=len(source), random_state=job.seed, n_jobs=1
    )
    return np.asarray(model.fit(source).cluster_centers_)
