# SPDX-License-Identifier: Apache-2.0
"""The private estimate of the loss, with a sentence about it."""

import math
from typing import Any

from cloister.release import Release
from cloister.report._format import count_of, number, share_text, with_error

__all__ = ["loss_summary"]

UNITS = {"bounds": "half the widths of the bounds", "spread": "spreads of the columns"}
CLEAR = 2.0  # standard errors by which a gain must exceed zero to be reported
LEAST_GAIN = 0.005  # of the loss of one centre: what is less reads 0 %


def loss_summary(release: Release) -> dict[str, Any] | None:
    """Return the private estimate of the loss, with its error and a sentence about it; None if the method makes none.

    Examples
    --------
    >>> from cloister import KMeans
    >>> model = KMeans(n_clusters=2, epsilon=9.0, bounds=(0, 1), random_state=0).fit([[0.1, 0.1], [0.9, 0.8]] * 500)
    >>> loss_summary(model.release_)["words"][:51]
    'Estimated mean squared distance of a row to its cen'
    """
    try:
        value, error, single = (float(release.details[name]) for name in ("loss", "loss_error", "loss_of_one_centre"))
    except (KeyError, TypeError, ValueError):
        return None
    if not all(map(math.isfinite, (value, error, single))):
        return None
    words = _loss_words(value, error, single, release)
    return {"value": value, "error": error, "of_one_centre": single, "words": words}


def _loss_words(value: float, error: float, single: float, release: Release) -> str:
    rounded, spread = with_error(value, error)
    unit = UNITS.get(release.scaling, "the units of the input")
    found = f"Estimated mean squared distance of a row to its centre: {rounded} ± {spread} (distances in {unit})."
    gain = 1 - value / single if single > 0 else 0.0
    if release.n_clusters == 1:
        return found
    if single - value < CLEAR * error or gain < LEAST_GAIN:
        return f"{found} Compared with a single centre, there is no gain that stands out from the noise."
    around = f"Around a single centre it would be about {number(float(f'{single:.3g}'))}"
    return f"{found} {around}; {count_of(release.n_clusters, 'centre')} reduce it by {share_text(gain)}."
