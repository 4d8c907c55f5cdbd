# SPDX-License-Identifier: Apache-2.0
"""What to know before believing a result: columns misread or cut off, clusters made of noise. Each with its remedy.

Decided by noisy answers that are paid for and by public numbers, and said only where the noise leaves little doubt.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from cloister.columns import FloatArray, Table, percent
from cloister.privacy import Receipt
from cloister.release._cells import CellSummary
from cloister.release._words import hidden_words
from cloister.text import plain_text, share_text

if TYPE_CHECKING:
    from cloister.release._release import Release

CLEAR = 3.0  # standard errors by which a figure must exceed what is warned of
HALF_MISSING, FAR_OUTSIDE = 0.5, 0.1  # part of the rows above which a column is warned of
NEAR_END = 0.02  # of the width of bounds: a mean so near to an end, or rows so near to each other, use little of them
DOMINANT = 0.9  # part of the squared distances that one column makes
SHOWN = 3  # on a card


@dataclass(frozen=True)
class Caution:
    """A warning after a fit, and what to do.

    Parameters
    ----------
    what : str
        What was noticed, in a sentence.
    remedy : str
        What to do about it.
    column : str, optional
        The column that it is about.

    Notes
    -----
    **Privacy.** Post-processing of noisy answers that the receipt lists, and of public numbers.

    Examples
    --------
    >>> print(Caution("age: 99.6 % ± 0.2 % of the values lie outside 0 to 1.", "Check the unit."))
    age: 99.6 % ± 0.2 % of the values lie outside 0 to 1. Check the unit.
    """

    what: str
    remedy: str
    column: str | None = None

    def __str__(self) -> str:
        return f"{self.what} {self.remedy}"

    def to_dict(self) -> dict[str, Any]:
        """Return the warning as plain data."""
        return asdict(self)


def card_words(cautions: Sequence[Caution]) -> list[str]:
    """Return the first warnings in sentences, and how many more there are."""
    more = len(cautions) - SHOWN
    return [*(f"Warning: {one}" for one in cautions[:SHOWN]), *([f"... and {more} more: see warnings."] if more > 0 else [])]


def release_cautions(release: "Release") -> tuple[Caution, ...]:
    """Return what to know before believing a release."""
    if release.free_centers is not None:  # chosen points of a public target have no errors
        return ()
    seen = release.stands_out
    found = []
    if hidden := hidden_words(int(seen.sum()), release.n_clusters):
        found.append(Caution(hidden, f"Use more {release.receipt.counted}, fewer clusters or a larger epsilon."))
    found += size_cautions(release.receipt, release.n_rows, release.n_rows_error)
    columns = list(cell_cautions(release.domain, release.feature_names, release.cells))
    found += columns
    if seen.any():
        misread = {one.column for one in columns}
        found += [one for one in (*_unused(release), *_dominant(release)) if one.column not in misread]
    return tuple(found)


def size_cautions(receipt: Receipt, n_rows: float, error: float) -> Iterator[Caution]:
    """Say where delta is so large that publishing someone at random would satisfy the guarantee."""
    delta, least = receipt.guarantee.stated_delta, n_rows - CLEAR * error
    if receipt.counted == f"{receipt.unit}s" and least > 0 and delta * least >= 1:
        what = (
            f"delta is {delta:g}, at least one in the number of {receipt.counted}: publishing one at random would satisfy it."
        )
        yield Caution(what, f"Fit with a delta well below {1 / least:.1g}.")


def cell_cautions(domain: Table, feature_names: Sequence[str] | None, cells: CellSummary | None) -> Iterator[Caution]:
    """Say of which columns much is missing, or lies outside its bounds or levels."""
    if cells is None or cells.missing is None or cells.outside is None:
        return
    error = cells.error
    for index, (name, declared) in enumerate(zip(domain.names(feature_names), domain.columns, strict=True)):
        shown, missing, outside = plain_text(name), float(cells.missing[index]), float(cells.outside[index])
        share, spread = percent(outside, error)
        if outside > FAR_OUTSIDE + CLEAR * error and declared.has_levels:
            what = f"{shown}: {share} % ± {spread} % of the entries are none of the declared levels, and count as missing."
            yield Caution(what, "Check the spelling of the levels, or declare those that are lacking.", name)
        elif outside > FAR_OUTSIDE + CLEAR * error:
            bounds = type(declared).extent_words({**declared.to_dict(), "found": domain.found[index]})
            what = f"{shown}: {share} % ± {spread} % of the values lie outside its bounds, {bounds}, and were moved to the "
            remedy = (
                "Check the unit, or declare wider bounds." if not domain.found[index] else "Check the unit, or declare bounds."
            )
            yield Caution(f"{what}nearer one.", remedy, name)
        if missing > HALF_MISSING + CLEAR * error:
            share, spread = percent(missing, error)
            what = f"{shown}: {share} % ± {spread} % of the values are missing or could not be read."
            yield Caution(what, "Check how they are written, or leave the column out.", name)


def _weights(release: "Release") -> FloatArray:
    """Return the share of the rows of each cluster that stands out."""
    counts = np.where(release.stands_out, np.maximum(release.cluster_counts, 0.0), 0.0)
    return np.asarray(counts / max(float(counts.sum()), 1e-300))


def _unused(release: "Release") -> Iterator[Caution]:
    """Say which columns use little of their bounds: their mean lies near an end, or all rows near each other.

    Of values whose mean lies a part p of the width from an end, at most 5 p lie farther than a fifth of the width from it.
    """
    weights, domain = _weights(release), release.domain
    firsts = np.cumsum((0, *release.frame.widths))[:-1]
    widths = 2 * release.frame.reach[firsts]  # of the bounds, in distances
    within = _most_loss(release)  # of all columns together, so of each at most
    names = domain.names(release.feature_names)
    for name, one, found, cut, width in zip(names, domain.columns, domain.found, domain.slices(), widths, strict=True):
        if not one.is_measured or found:
            continue
        low, high = one.interval
        centers = (release.cluster_centers[:, cut.start] - low) / (high - low)
        errors = release.center_errors[:, cut.start] / (high - low)
        mean, error = float(weights @ centers), float(np.linalg.norm(weights * errors))
        scatter = float(weights @ (np.abs(centers - mean) + CLEAR * errors) ** 2) + within / width**2
        if min(mean, 1 - mean) + CLEAR * error >= NEAR_END and scatter >= NEAR_END**2:
            continue
        place = low + mean * (high - low)
        shown = one.axis(name, low, high).text(float(f"{place:.3g}") if one.as_is else place)
        what = (
            f"{plain_text(name)} uses little of its bounds, {type(one).extent_words(one.to_dict())}: its mean is about {shown}."
        )
        log = ', or Number(low, high, scale="log") if values differ by factors' if one.as_is and low >= 0 else ""
        yield Caution(what, f"Check the unit, and declare narrower bounds{log}.", name)


def _dominant(release: "Release") -> Iterator[Caution]:
    """Say which column makes nearly all of the squared distances of rows from their mean, so that the others hardly count."""
    weights, frame, within = _weights(release), release.frame, _most_loss(release)
    if release.n_columns < 2 or not np.isfinite(within):
        return
    points = frame.to_unit(release.cluster_centers)
    errors = frame.errors_to_unit(release.center_errors, release.cluster_centers)
    moved = np.maximum(np.abs(points - weights @ points) - CLEAR * errors, 0.0)
    starts = np.cumsum((0, *frame.widths))[:-1]
    between = frame.distance_unit**2 * np.add.reduceat(weights @ moved**2, starts)
    share, first = float(between.max()) / max(float(between.sum()) + within, 1e-300), int(np.argmax(between))
    if share > DOMINANT:
        name = release.domain.names(release.feature_names)[first]
        what = f"{plain_text(name)} alone makes at least {share_text(share)} of the squared distances between rows."
        yield Caution(what, 'If other columns should count, pass scaling="spread", or a smaller weight= for this one.', name)


def _most_loss(release: "Release") -> float:
    """Return what the mean squared distance of a row to its centre hardly exceeds; infinite where nobody knows it."""
    loss, error = (release.details.get(name) for name in ("loss", "loss_error"))
    return loss + CLEAR * error if isinstance(loss, float) and isinstance(error, float) else np.inf
