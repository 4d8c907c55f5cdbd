# SPDX-License-Identifier: Apache-2.0
"""Methods by name: those of the package's table, and what only the benchmark knows of them.

That is the column of Table I that a method answers to, variants that take part by name, another library, and the limits that
are not private. A method of your own joins as ``module:factory``; the factory is called with n_clusters, epsilon, delta,
n_rows and seed, and returns something with ``fit`` and ``cluster_centers_``.
"""

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import cloister
from cloister import methods

from ._errors import BenchError
from ._foreign import LIBRARIES, ForeignKMeans

__all__ = [
    "LIMIT",
    "LIMITS",
    "METHODS",
    "ONE_START",
    "PE_ALTERNATIVES",
    "PROJECTED_ABOVE",
    "PROJECTED_TO",
    "Method",
    "Setting",
    "find_method",
    "usable",
]

MANY = 1 << 30  # columns
PROJECTED_ABOVE = 32  # columns; PEMeans may then project, and answers to the column of the high-dimensional variant
PROJECTED_TO = 16  # dimensions, where PEMeans projects
HIGH_DIMENSIONAL = ("PEMeans", "PEMeans-projected")
LIMIT, ONE_START = "not private", "not private, one start"


@dataclass(frozen=True, kw_only=True)
class Setting:
    """What a method is given: public numbers only, and the same for every method."""

    n_clusters: int
    epsilon: float | None
    delta: float
    n_rows: int
    n_features: int
    reach: float  # largest absolute coordinate, for methods that need a box
    box: bool = False  # rows lie in the box of that reach, not in the unit ball
    seed: int
    pythons: Mapping[str, str] = field(default_factory=dict)  # other interpreters, by library


@dataclass(frozen=True, kw_only=True)
class Method:
    """A way to cluster: its name, what it is, how to build it."""

    name: str
    about: str
    make: Callable[[Setting], Any]
    private: bool = True
    by_default: bool = True
    column: str | None = None  # of Table I
    needs: str | None = None  # another library
    n_features: tuple[int, int] = (1, MANY)  # fewest and most columns
    caveat: str = ""  # why its column was obtained otherwise

    def column_for(self, n_features: int) -> str | None:
        """Return the column of Table I that this method answers to."""
        return "hdpe_means_auc" if self.name in HIGH_DIMENSIONAL and n_features > PROJECTED_ABOVE else self.column

    def accepts(self, n_features: int) -> bool:
        """Return whether the method is defined for so many columns."""
        return self.n_features[0] <= n_features <= self.n_features[1]

    def missing(self, pythons: Mapping[str, str] = {}) -> str | None:
        """Say why the method cannot run here, or None."""
        return None if self.needs is None or self.needs in pythons else _broken(self.needs)


def _ours(method: methods.Method, **extra: Any) -> Callable[[Setting], Any]:
    """Return what makes an estimator of the package; one that is pure by default stays pure."""

    def make(setting: Setting) -> Any:
        box = setting.box or "ball" not in method.domains
        given = {
            "epsilon": setting.epsilon,
            "delta": setting.delta if method.delta else 0.0,
            "bounds": (-setting.reach, setting.reach) if box else cloister.Ball(1.0),
            "n_rows": setting.n_rows,
            "random_state": setting.seed,
            "n_jobs": 1,
        }
        return method.estimator(setting.n_clusters, **{**given, **extra})

    return make


def _foreign(library: str) -> Callable[[Setting], Any]:
    """Return what makes a fit by another library, in its interpreter or in this one."""

    def make(setting: Setting) -> Any:
        return ForeignKMeans(
            LIBRARIES[library],
            setting.pythons.get(library),
            n_clusters=setting.n_clusters,
            epsilon=setting.epsilon,
            delta=setting.delta,
            reach=setting.reach,
            seed=setting.seed,
        )

    return make


def _exact(restarts: int) -> Callable[[Setting], Any]:
    def make(setting: Setting) -> Any:
        from sklearn.cluster import KMeans

        return KMeans(setting.n_clusters, n_init=restarts, random_state=setting.seed)

    return make


# Of Table I: the column that a method answers to, and why that column was obtained otherwise.
COLUMNS: dict[str, tuple[str, str]] = {
    "KMeans": ("best", "Compared with the best private column of the row."),
    "PEMeans": (
        "pe_means_auc",
        (
            "Above 32 columns the paper's column is HDPE-means, whose noise is one draw for all coordinates: another guarantee."
            " PEMeans projects there only where the lift adds little noise; PEMeans-projected always does, PEMeans-plain never."
        ),
    ),
    "CoresetKMeans": ("google_auc", "The code behind the column may return fewer than k centres on small or wide data."),
    "FastLloyd": (
        "fastlloyd_auc",
        "The column was obtained with noise from shared seeds, which partly cancels, and an understated sensitivity.",
    ),
    "LloydKMeans": (
        "diffprivlib_auc",
        "The column (diffprivlib) is pure epsilon and spends up to 2.9 times its budget at 128 columns.",
    ),
    "TreeKMeans": ("icml17_auc", "The column is that of code with privacy faults: its noise does not keep what it claims."),
}
PURE = {"delta": 0.0}
# What the PE-means paper mentions beside its own choices: options and a line of help, by name.
PE_ALTERNATIVES: dict[str, tuple[dict[str, Any], str]] = {
    "PEMeans-kmedians": ({"selection": "kmedians"}, "PEMeans, centres by k-medians of the candidates"),
    "PEMeans-top-k": ({"selection": "top-k"}, "PEMeans, centres by the most votes"),
    "PEMeans-total": ({"vote_rule": "nonnegative-total"}, "PEMeans, votes projected to the number of rows (Duchi et al.)"),
    "PEMeans-threshold": ({"vote_rule": "threshold"}, "PEMeans, votes above two standard deviations of their noise"),
    "PEMeans-uniform": ({"first_candidates": "uniform"}, "PEMeans, first candidates drawn uniformly"),
}


def _variant(base: str, name: str, options: Mapping[str, Any], **own: Any) -> Method:
    """Return a method of the table with other options, which takes part by name only."""
    return replace(_listed(methods.METHODS[base], **options), **{"name": name, "by_default": False, "caveat": "", **own})


def _listed(method: methods.Method, **extra: Any) -> Method:
    column, caveat = COLUMNS.get(method.name, (None, ""))
    return Method(
        name=method.name,
        about=method.summary,
        make=_ours(method, **extra),
        column=column,
        n_features=(1, method.max_features or MANY),
        caveat=caveat,
    )


_OTHERS = (
    _variant("KMeans", "KMeans-pure", PURE, about="KMeans with Laplace noise, pure epsilon", column=None),
    _variant(
        "PEMeans",
        "PEMeans-plain",
        {"projection": None},
        about="PEMeans, never projected",
        n_features=(PROJECTED_ABOVE + 1, MANY),
    ),
    _variant(
        "PEMeans",
        "PEMeans-projected",
        {"projection": PROJECTED_TO},
        about="PEMeans, always projected",
        n_features=(PROJECTED_ABOVE + 1, MANY),
        caveat="The paper's column is HDPE-means, whose noise is one draw for all coordinates: another guarantee.",
    ),
    *(_variant("PEMeans", name, options, about=about, column=None) for name, (options, about) in PE_ALTERNATIVES.items()),
    _variant(
        "LloydKMeans",
        "LloydKMeans-pure",
        PURE,
        about="LloydKMeans with Laplace noise, pure epsilon",
        caveat="The column (diffprivlib) spends up to 2.9 times its budget at 128 columns.",
    ),
    Method(
        name="diffprivlib",
        about="IBM's library, pure epsilon; its own accounting, not audited here",
        make=_foreign("diffprivlib"),
        needs="diffprivlib",
        column="diffprivlib_auc",
        caveat=(
            "Its own accounting does not hold: by its own sensitivities it overspends from 5 columns on, and a cluster without "
            "rows gets no noise, which tells of a single row."
        ),
    ),
    Method(
        name="dpmm-MST",
        about="synthetic rows by MST of dpmm, then k-means on them; its own accounting, not audited here",
        make=_foreign("dpmm"),
        needs="dpmm",
        by_default=False,  # a fit takes from ten seconds to minutes
        caveat="8 to 32 equal bins for each column within the public bounds. Its noise cannot be seeded: no fit repeats.",
    ),
    Method(name=LIMIT, about="scikit-learn's KMeans, best of 10 starts", make=_exact(10), private=False),
    Method(name=ONE_START, about="scikit-learn's KMeans, one start: the paper's column", make=_exact(1), private=False),
)
METHODS = {method.name: method for method in (*(_listed(methods.METHODS[name]) for name in methods.comparable()), *_OTHERS)}
LIMITS = (LIMIT, ONE_START)


def find_method(name: str) -> Method:
    """Return a method by name, whatever its case, or one of the user's own by ``module:factory``."""
    for known in METHODS.values():
        if known.name.lower() == name.lower():
            return known
    if ":" in name:
        return Method(name=name, about="from outside, not audited here", make=_outside(name))
    choices = ", ".join(method.name for method in METHODS.values() if method.private)
    raise BenchError(f"--methods: expected some of {choices} or module:factory, got {name!r}. Check the spelling.")


def usable(pythons: Mapping[str, str] = {}) -> list[Method]:
    """Return the private methods that a run takes by default: those that are installed."""
    return [method for method in METHODS.values() if method.private and method.by_default and method.missing(pythons) is None]


def _outside(name: str) -> Callable[[Setting], Any]:
    def make(setting: Setting) -> Any:
        home, _, factory = name.partition(":")
        return getattr(importlib.import_module(home), factory)(
            n_clusters=setting.n_clusters,
            epsilon=setting.epsilon,
            delta=setting.delta,
            n_rows=setting.n_rows,
            seed=setting.seed,
        )

    return make


@cache
def _broken(library: str) -> str | None:
    """Say why another library cannot run in this interpreter, or None."""
    return LIBRARIES[library].lack()
