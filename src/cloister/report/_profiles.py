# SPDX-License-Identifier: Apache-2.0
"""What the clusters look like: a small histogram of each column in each cluster, against that of all rows.

Pictures are made of published numbers alone; text from outside is escaped by the template.
"""

from typing import Any

import numpy as np

from cloister.columns import MINUS, FloatArray
from cloister.release import NONE, ColumnProfile, Release
from cloister.report._figures import bar, histogram
from cloister.report._tables import Cell, Line, StripColumn, StripTable
from cloister.text import count_of, share_text

DRAWN_COLUMNS = 16  # of more, those in which clusters differ most
DRAWN_LEVELS = 5  # of a category, those that most rows have
MENTIONED = 3  # differences of a cluster, in words
SURE = 2.0  # standard errors above which a difference is mentioned
NOTICED_SHARE = 0.05  # of a level, below which a difference is not mentioned
FEWEST = 0.005  # of missing values or others, that are mentioned
NOTICED_EFFECT = 0.2  # standard deviations, likewise
DRAWN_PARTS, WIDE = (0.005, 0.995), 0.5  # of all rows, between which a column is drawn; of the bounds
YES_OR_NO = ("no", "yes")


def profile_section(release: Release) -> dict[str, Any] | None:
    """Return the table of histograms, and what sets each cluster apart in words; None where the release says nothing of it."""
    if release.profiles is None:
        return None
    everything = [_Column(one) for one in release.profiles]
    ranked = sorted(range(len(everything)), key=lambda index: -everything[index].largest_difference)
    columns = [everything[index] for index in sorted(ranked[:DRAWN_COLUMNS])]  # in their own order
    labels = range(release.n_clusters)
    drawn = [StripColumn(one.name, one.extent, [one.cell(None), *map(one.cell, labels)]) for one in columns]
    apart = []
    for label in labels:  # in what it differs most from all rows, as far as it stands out of the noise
        found = sorted(filter(None, (one.difference(label) for one in everything)), key=lambda pair: -pair[0])
        apart.append((label, ", ".join(text for _, text in found[:MENTIONED]) or "no difference above the noise"))
    return {
        "table": StripTable("Cluster", ["All", *map(str, labels)], drawn),
        "apart": apart,
        "n_columns": len(everything),
        "sigma": f"{max(one.sigma for one in release.profiles):.3g}",
    }


class _Column:
    """A column in all clusters, and in all rows together."""

    def __init__(self, profile: ColumnProfile) -> None:
        whole = profile.whole()
        self.name, self._profile, self._levels = profile.name, profile, profile.levels or ()
        self._shares, self._whole, self._difference = profile.shares(), whole.shares(), profile.difference()
        self._is_yes_or_no = profile.levels == YES_OR_NO
        # The difference below which nothing is said.
        self._noticed = NOTICED_EFFECT if profile.levels is None else NOTICED_SHARE
        if profile.edges is not None:
            self._axis = profile.axis
            self._moments = [(one.mean(), one.spread()) for one in (profile, whole)]
            self._drawn = _drawn(profile.edges, whole)

    @property
    def largest_difference(self) -> float:
        """How much clusters differ, over what is noticed."""
        found = abs(self._difference.value[np.isfinite(self._difference.value)])
        return float(found.max(initial=0.0)) / self._noticed

    @property
    def extent(self) -> str:
        """What the column spans."""
        if self._levels:
            words = "share of yes" if self._is_yes_or_no else count_of(len(self._levels), "level")
        else:
            words = f"{self._axis.text(self._axis.low)} to {self._axis.text(self._axis.high)}"
            if self._drawn != (self._axis.low, self._axis.high):
                words += f", drawn from {self._axis.text(self._drawn[0])} to {self._axis.text(self._drawn[1])}"
            words += "; arithmetic means, where centres are geometric ones" if self._profile.log else ""
        return words if self._profile.clustered else f"{words}; not clustered by"

    def cell(self, label: int | None) -> Cell:
        """Return the column in a cluster; in all rows if that is None."""
        place, found = (0, self._whole) if label is None else (label, self._shares)
        shares, errors, whole = found.value[place], found.error[place], np.empty(0) if label is None else self._whole.value[0]
        if np.isnan(shares).any():
            return Cell([], NONE)
        if self._levels:
            return Cell(self._level_lines(shares, whole))
        mean, spread = self._moments[label is None]
        pair = self._axis.words(float(mean.value[place]), float(mean.error[place]))
        more = f"spread {self._axis.words(float(mean.value[place]), float(spread.value[place]))[1]}"
        more += f"; {share_text(shares[-1])} missing" if shares[-1] > max(SURE * errors[-1], FEWEST) else ""
        outline = whole[:0] if np.isnan(whole).any() else whole[:-1]
        edges, ends = self._profile.edges, np.array(self._drawn)
        assert edges is not None
        if self._profile.log:
            edges, ends = np.log(edges), np.log(ends)
        return Cell([Line(*pair, histogram(shares[:-1], outline, (edges - ends[0]) / (ends[1] - ends[0])))], more)

    def _level_lines(self, shares: FloatArray, whole: FloatArray) -> list[Line]:
        """Return a line for each of the levels that most rows have; of yes and no, for yes alone."""
        ranked, names, n_levels = self._whole.value[0], self._profile.bins, len(self._levels)
        picked = [1] if self._is_yes_or_no else sorted(sorted(range(n_levels), key=lambda index: -ranked[index])[:DRAWN_LEVELS])
        picked += [index for index in range(n_levels, len(names)) if ranked[index] >= FEWEST]
        return [
            Line(
                share_text(shares[index]),
                "",
                bar(float(shares[index]), others=whole[index : index + 1].tolist()),
                "" if self._is_yes_or_no and index == 1 else names[index],
            )
            for index in picked
        ]

    def difference(self, label: int) -> tuple[float, str] | None:
        """Return in what a cluster differs most from all rows, over what is noticed, and in words; None if it does not."""
        values, errors, level = self._difference.value[label], self._difference.error[label], 0
        if self._levels:
            level = 1 if self._is_yes_or_no else int(abs(values[: len(self._levels)]).argmax())
            values, errors = values[level], errors[level]
        value, error = float(values), float(errors)
        if not abs(value) > max(SURE * error, self._noticed):
            return None
        if self._levels:
            name = self.name if self._is_yes_or_no else f"{self.name} {self._levels[level]}"
            words = f"{name} {share_text(self._shares.value[label][level])} ({100 * value:+.0f} points)"
        else:
            lower, higher = self._axis.beside
            words = f"{self.name} {higher if value > 0 else lower} ({value:+.1f} standard deviations)"
        return abs(value) / self._noticed, words.replace("-", MINUS)


def _drawn(edges: FloatArray, whole: ColumnProfile) -> tuple[float, float]:
    """Return from where to where a column is drawn: where nearly all rows lie, if that is a small part of the bounds."""
    low, high = float(edges[0]), float(edges[-1])
    ends = whole.quantiles(DRAWN_PARTS).value[0]
    first, last = float(ends[0]), float(ends[1])  # of a circle, the first may be the larger one
    return (first, last) if 0 < last - first < (high - low) * WIDE else (low, high)
