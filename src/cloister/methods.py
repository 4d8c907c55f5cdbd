# SPDX-License-Identifier: Apache-2.0
"""The one table of methods. Package, command line, ``compare``, audit, benchmark, documentation and tests read it.

Imports nothing of the package, so that the command line starts at once; an estimator is imported when it is first used.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

__all__ = ["FEATURES", "METHODS", "Method", "commands", "comparable", "find_method", "words"]

GUARANTEES = ("pure", "approx", "zcdp", "gdp")
DOMAINS = ("box", "ball")
# What a method may offer, and what the page of methods calls it; tests/common/_features.py tries each of them.
FEATURES = {
    "every_k": "one fit, any k",
    "choose_k": "chooses k",
    "predict": "labels new rows",
    "errors": "total error bars",
    "describe": "describes clusters",
    "private_bounds": "unknown bounds",
    "categories": "categories",
    "dates": "flags and dates",
    "missing": "missing values",
    "own_missing": "missing as a level",
    "spread": "scaled by spread",
    "persons": "protects persons",
    "files": "larger than memory",
}
TABLES = ("private_bounds", "categories", "dates", "missing", "own_missing", "spread", "persons", "files")  # any declared one
PLAIN_TABLES = tuple(one for one in TABLES if one not in ("categories", "own_missing", "spread"))  # of intervals alone


@dataclass(frozen=True, kw_only=True)
class Method:
    """One public estimator: what it is called, what it supports, and how to make a fit of it short."""

    name: str  # of the class
    word: str  # what the command line calls it
    summary: str  # in one line
    origin: str  # the paper it is from, or that it is our own
    room: str = "cloister"  # that the class is imported from
    kind: str = "centers"  # "centers": fit(rows) finds centres; "synopsis"; "source-target": fit(target, source=rows)
    domains: tuple[str, ...] = DOMAINS
    guarantees: tuple[str, ...] = GUARANTEES
    delta: float = 1e-6  # by default
    offers: tuple[str, ...] = ("predict", "describe", *TABLES)  # of FEATURES
    parameters: tuple[str, ...] = ()  # of its own, besides those that all methods have
    max_features: int | None = None  # beyond which it makes no sense
    short: Mapping[str, Any] = field(default_factory=dict)  # options that make a fit short
    wide: Mapping[str, Any] = field(default_factory=dict)  # further ones from three columns on
    variants: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # options that change what is asked, by name

    @property
    def finds_number(self) -> bool:
        """Whether it can choose the number of clusters, with ``n_clusters="auto"``."""
        return any(options.get("n_clusters") == "auto" for options in self.variants.values())

    @property
    def estimator(self) -> type[Any]:
        """The class."""
        found: type[Any] = getattr(import_module(self.room), self.name)
        return found


_ALL = (
    Method(
        name="KMeans",
        word="kmeans",
        summary="votes find where rows are many, sums of clipped offsets place the centres",
        origin="our own",
        offers=("choose_k", "predict", "errors", "describe", *TABLES),
        parameters=("max_clusters", "n_init"),
        short={"n_init": 1},
        variants={"auto": {"n_clusters": "auto", "max_clusters": 4}},
    ),
    Method(
        name="PEMeans",
        word="pe-means",
        summary="private evolution: candidates evolve, rows vote for the nearest one",
        origin="Humphries, Lin and Yekhanin, PE-means",
        parameters=(
            "n_rounds",
            "n_variations",
            "max_candidates",
            "projection",
            "selection",
            "vote_rule",
            "vote_threshold",
            "first_candidates",
            "adaptive",
            "step",
            "levy_exponent",
            "n_init",
        ),
        short={"n_init": 1, "n_rounds": 2, "n_variations": 3},
        variants={
            "projected": {"projection": 2},
            "top-k": {"selection": "top-k", "vote_rule": "threshold"},
            "k-medians": {"selection": "kmedians", "vote_rule": "nonnegative-total", "first_candidates": "uniform"},
        },
    ),
    Method(
        name="GridKMeans",
        word="grid",
        summary="one noisy grid, then k-means of its cells; up to about 6 columns",
        origin="Muthukrishnan and Tandon, RUGNIK; Su et al., EUGkM",
        offers=("every_k", "choose_k", "predict", "errors", "describe", *PLAIN_TABLES),
        domains=("box",),
        delta=0.0,
        max_features=6,
        parameters=("rule", "counts", "representatives", "n_init"),
        short={"n_init": 1},
        wide={"rule": 2},
        variants={"eugkm": {"rule": "eugkm"}, "adaptive": {"rule": "adaptive"}},
    ),
    Method(
        name="LloydKMeans",
        room="cloister.rivals",
        word="lloyd",
        summary="Lloyd's iterations on noisy counts and sums",
        origin="Su et al., DPLloyd",
        parameters=("n_rounds", "count_share"),
        short={"n_rounds": 2},
    ),
    Method(
        name="FastLloyd",
        room="cloister.rivals",
        word="fast-lloyd",
        summary="Lloyd's iterations on noisy offsets of the rows within a radius",
        origin="Diaa, Humphries and Kerschbaum, FastLloyd",
        parameters=("n_rounds", "alpha", "count_share"),
        short={"n_rounds": 2},
    ),
    Method(
        name="CoresetKMeans",
        room="cloister.rivals",
        word="coreset",
        summary="noisy averages of the leaves of a hash tree, then k-means of them",
        origin="Chang and Kamath, LSH coreset",
        parameters=("max_depth", "min_rows_per_leaf", "offset", "n_init"),
        short={"n_init": 1, "max_depth": 4},
    ),
    Method(
        name="TreeKMeans",
        room="cloister.rivals",
        word="tree",
        summary="candidates from a tree of cubes, centres by private local search; always pure",
        origin="Balcan, Dick, Liang, Mou and Zhang",
        delta=0.0,
        parameters=("projection", "n_trees", "depth", "start", "n_swaps", "max_candidates", "n_init"),
        short={"n_init": 1, "n_swaps": 2, "max_candidates": 16},
        variants={"start by counts": {"start": "counts", "n_swaps": 0}},
    ),
    Method(
        name="GridSynopsis",
        word="grid-synopsis",
        kind="synopsis",
        summary="one noisy grid that is kept and answers for any number of clusters",
        origin="Muthukrishnan and Tandon, RUGNIK; Su et al., EUGkM",
        offers=("every_k", "choose_k", "errors", *PLAIN_TABLES),
        domains=("box",),
        delta=0.0,
        max_features=6,
        parameters=("rule", "counts"),
        wide={"rule": 2},
        variants={"adaptive": {"rule": "adaptive"}},
    ),
    Method(
        name="PointSynopsis",
        word="point-synopsis",
        kind="synopsis",
        summary="weighted points that are kept and cut at any number of clusters, for any number of columns",
        origin="our own",
        offers=("every_k", "choose_k", "errors", *TABLES),
        parameters=("max_clusters", "n_points", "n_init"),
        short={"n_init": 1, "max_clusters": 4},
    ),
    Method(
        name="SourceTargetKMedoids",
        word="source-target",
        kind="source-target",
        summary="k points of a public target, beside a private source that covers part of it",
        origin="Schnapp and Sabato, NNA and NAS",
        offers=("predict", "missing", "persons", "files"),
        delta=0.0,
        parameters=(
            "method",
            "calibration",
            "confidence",
            "n_neighbors",
            "coreset_radius",
            "distance_share",
            "max_representatives",
            "metric",
            "solver",
            "n_init",
        ),
        short={"n_init": 1},
        variants={"paper": {"calibration": "paper"}, "nas": {"method": "nas", "n_neighbors": 5}},
    ),
)
METHODS: dict[str, Method] = {method.name: method for method in _ALL}


def commands() -> dict[str, Method]:
    """Return the methods of ``cloister fit``, by what ``--method`` calls them."""
    return {method.word: method for method in _ALL if method.kind == "centers"}


def words() -> dict[str, Method]:
    """Return all methods, by what the command line calls them."""
    return {method.word: method for method in _ALL}


def comparable(*kinds: str) -> tuple[str, ...]:
    """Return the names of the methods of these kinds; by default of those that find centres of one table."""
    return tuple(method.name for method in _ALL if method.kind in (kinds or ("centers",)))


def find_method(name: str) -> Method | None:
    """Return a method by its name or by what the command line calls it, whatever the case; None if there is none."""
    return next((one for one in _ALL if name.lower() in (one.name.lower(), one.word)), None)
