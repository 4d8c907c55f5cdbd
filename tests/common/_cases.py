# SPDX-License-Identifier: Apache-2.0
"""Every method of the table and every variant of it, as cases that make a short fit of any table."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from cloister import GDP, ZCDP, ApproxDP, Ball, PureDP
from cloister.methods import METHODS, Method

GUARANTEES = {"pure": PureDP(4.0), "approx": ApproxDP(3.0, 1e-6), "zcdp": ZCDP(0.4), "gdp": GDP(1.2)}
MIDDLES = np.array([[-0.6, -0.6], [0.6, -0.5], [0.0, 0.7]])
RELATIONS = ("add-remove", "replace")
LABELS = ("cluster_centers_", "cluster_counts_", "medoid_indices_", "sanitized_source_")


@dataclass(frozen=True)
class Case:
    """One method with the options of one variant."""

    method: Method
    variant: str = ""

    def __str__(self) -> str:
        return f"{self.method.name}, {self.variant}" if self.variant else self.method.name

    @property
    def name(self) -> str:
        return self.method.name

    @property
    def kind(self) -> str:
        return self.method.kind

    @property
    def has_centers(self) -> bool:
        return self.kind == "centers"

    def published(self, model: Any) -> Any:
        """Return what a fit publishes."""
        return model.synopsis_ if self.kind == "synopsis" else model.release_

    def make(self, n_clusters: int = 3, *, width: int = 2, **parameters: Any) -> Any:
        """Return an estimator whose fit to a table of so many columns is short."""
        options = {**self.method.short, **self.method.variants.get(self.variant, {})}
        options |= self.method.wide if width > 2 else {}
        return self.method.estimator(**{"n_clusters": n_clusters, "bounds": (-1, 1), "n_jobs": 1, **options, **parameters})

    def fit_to(self, model: Any, rows: Any, *, width: int = 2, target: Any = None, ids: Any = None) -> Any:
        """Fit an estimator to rows, of persons where ids are given; where the method also takes a public table, beside one."""
        given = {} if ids is None else {"privacy_unit": ids}
        if self.kind != "source-target":
            return model.fit(rows, **given)
        return model.fit(targets(width) if target is None else target, source=rows, **given)

    def fit(self, rows: Any, n_clusters: int = 3, **parameters: Any) -> Any:
        """Make an estimator and fit it."""
        shape = getattr(rows, "shape", ())
        width = shape[1] if len(shape) == 2 and isinstance(shape[1], int) else 2
        return self.fit_to(self.make(n_clusters, width=width, **parameters), rows, width=width)


def targets(width: int, n_rows: int = 12) -> Any:
    """Return public points in the unit ball, regularly spread over it."""
    return np.linspace(-0.9, 0.9, n_rows)[:, None] * np.cos(np.arange(width)) / width**0.5


def draw_rows(generator: np.random.Generator, size: int = 100, spread: float = 0.03) -> Any:
    """Return three clusters in the unit square."""
    return np.repeat(MIDDLES, size, axis=0) + spread * generator.normal(size=(3 * size, 2))


def results(model: Any) -> dict[str, Any]:
    """Return what a fit found, as arrays by name."""
    found = {name: getattr(model, name) for name in LABELS if hasattr(model, name)}
    return {**found, "noisy_counts": model.synopsis_.noisy_counts} if hasattr(model, "synopsis_") else found


def same(one: Any, other: Any) -> bool:
    """Whether two fits found the same, to the last bit."""
    left, right = results(one), results(other)
    return left.keys() == right.keys() and all(np.array_equal(left[name], right[name]) for name in left)


def check_fit(model: Any, case: Case, n_clusters: int, n_features: int) -> None:
    """Check that a fit is complete, finite, inside its domain and within its budget."""
    published = case.published(model)
    release = published.cut(n_clusters, n_init=1) if case.kind == "synopsis" else published
    centers = release.cluster_centers
    if case.variant != "auto":
        assert len(centers) == (min(n_clusters, len(targets(n_features))) if case.kind == "source-target" else n_clusters)
    assert centers.shape == (release.n_clusters, n_features)
    for numbers in (centers, release.center_errors, release.cluster_counts, release.count_errors, *results(model).values()):
        assert np.isfinite(numbers).all()
    assert np.allclose(release.domain.clip(centers), centers, rtol=1e-12, atol=1e-12)
    assert release.cluster_counts.shape == (release.n_clusters,)
    assert model.n_features_in_ == n_features
    assert model.privacy_receipt_.spent.fits(model.privacy_receipt_.guarantee)


PLAIN = tuple(Case(method) for method in METHODS.values())
CASES = tuple(Case(method, variant) for method in METHODS.values() for variant in ("", *method.variants))
every_method = pytest.mark.parametrize("case", PLAIN, ids=str)
every_clusterer = pytest.mark.parametrize("case", [case for case in PLAIN if case.has_centers], ids=str)


def domains_of(method: Method) -> dict[str, Any]:
    """Return bounds of every form that a method takes."""
    boxes = {"interval": (-1, 1), "box": ([-1, -2], [0.5, 1]), "tall box": ([-1, 0], [1, 5])}
    return {**boxes, "ball": Ball(0.7, 0.1)} if "ball" in method.domains else boxes
