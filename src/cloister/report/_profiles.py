# SPDX-License-Identifier: Apache-2.0
"""What the clusters look like: a small histogram of each column in each cluster, against that of all rows.

``profiles_of`` makes plain data of a release, ``profile_section`` what the page shows. Pictures are made of published numbers
alone; text from outside is escaped by the template.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cloister.columns import iso_date
from cloister.release import NONE, ColumnProfile, Release
from cloister.report._heat import MINUS
from cloister.report._pages import Picture
from cloister.text import number, share_text, with_error

__all__ = ["ProfileSection", "profile_section", "profiles_of"]

Shares = Sequence[float | None]

WIDTH, HEIGHT = 120.0, 36.0
DRAWN_COLUMNS = 16  # of more, those in which clusters differ most
DRAWN_LEVELS = 5  # of a category, those that most rows have
MENTIONED = 3  # differences of a cluster, in words
SURE = 2.0  # standard errors above which a difference is mentioned
NOTICED_SHARE = 0.05  # of a level, below which a difference is not mentioned
FEWEST = 0.005  # of missing values or others, that are mentioned
NOTICED_EFFECT = 0.2  # standard deviations, likewise


# -- plain data --------------------------------------------------------------------------------------------------------------


def profiles_of(release: Release) -> dict[str, Any] | None:
    """Return what the release says of the columns in each cluster as plain data; None where it was not asked."""
    if release.profiles is None:
        return None
    return {"columns": [_column(one) for one in release.profiles], "sigma": max(one.sigma for one in release.profiles)}


def _column(profile: ColumnProfile) -> dict[str, Any]:
    whole, shares, difference = profile.whole(), profile.shares(), profile.difference()
    all_rows = whole.shares()
    found: dict[str, Any] = {
        "name": profile.name,
        "kind": profile.kind,
        "clustered": profile.clustered,
        "whole": _plain(all_rows.value[0]),
        "whole_errors": _plain(all_rows.error[0]),
        "shares": [_plain(one) for one in shares.value],
        "share_errors": [_plain(one) for one in shares.error],
        "differences": [_plain(np.atleast_1d(one)) for one in difference.value],
        "difference_errors": [_plain(np.atleast_1d(one)) for one in difference.error],
    }
    if profile.edges is None:
        return {**found, "levels": list(profile.levels or ())}
    means, spreads = profile.mean(), profile.spread()
    return {
        **found,
        "low": float(profile.edges[0]),
        "high": float(profile.edges[-1]),
        "moments": [_plain(one) for one in zip(means.value, means.error, spreads.value, spreads.error, strict=True)],
        "whole_moments": _plain((whole.mean().value[0], whole.spread().value[0])),
    }


def _plain(values: Any) -> list[float | None]:
    return [float(value) if math.isfinite(value) else None for value in values]


# -- what the page shows -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class LevelLine:
    """A level of a category: its share here, and a bar with a mark for all rows."""

    name: str
    share: str
    picture: Picture


@dataclass(frozen=True)
class ProfileCell:
    """One column in one cluster: a histogram and a line below it, or a line for each level."""

    text: str = ""
    more: str = ""
    picture: Picture | None = None
    levels: Sequence[LevelLine] = ()


@dataclass(frozen=True)
class ProfileSection:
    """The table of histograms, and what sets each cluster apart in words."""

    heads: Sequence[tuple[str, str]]  # name, and bounds or number of levels
    rows: Sequence[tuple[str, Sequence[ProfileCell]]]
    apart: Sequence[tuple[int, str]]
    n_columns: int
    sigma: str


def profile_section(summary: dict[str, Any]) -> ProfileSection | None:
    """Return what the section shows; None where the release says nothing of it."""
    found = summary.get("profiles")
    if found is None:
        return None
    everything = found["columns"]
    columns = everything
    if len(everything) > DRAWN_COLUMNS:  # those in which clusters differ most, in their own order
        picked = sorted(range(len(everything)), key=lambda index: -_largest_difference(everything[index]))
        columns = [everything[index] for index in sorted(picked[:DRAWN_COLUMNS])]
    labels = [cluster["label"] for cluster in summary["clusters"]]
    rows = [("All", [_cell(one, None) for one in columns])]
    rows += [(str(label), [_cell(one, place) for one in columns]) for place, label in enumerate(labels)]
    apart = [(label, _apart(everything, place)) for place, label in enumerate(labels)]
    return ProfileSection(
        [(one["name"], _extent(one)) for one in columns], rows, apart, len(everything), f"{found['sigma']:.3g}"
    )


def _largest_difference(column: dict[str, Any]) -> float:
    found = (abs(value) for part in column["differences"] for value in part if value is not None)
    return max(found, default=0.0) / _noticed(column)


def _noticed(column: dict[str, Any]) -> float:
    """Return the difference below which nothing is said."""
    return NOTICED_SHARE if "levels" in column else NOTICED_EFFECT


def _extent(column: dict[str, Any]) -> str:
    if "levels" in column:
        words = "share of yes" if column["kind"] == "flag" else f"{len(column['levels'])} levels"
    else:
        words = " to ".join(_value(column, end) for end in (column["low"], column["high"]))
    return words if column["clustered"] else f"{words}; not clustered by"


def _value(column: dict[str, Any], value: float) -> str:
    return iso_date(float(round(value))) if column["kind"] == "date" else number(float(f"{value:.4g}"))


def _cell(column: dict[str, Any], place: int | None) -> ProfileCell:
    """Return a column in the cluster at this place; in all rows if that is None."""
    if place is None:
        shares, errors, whole = column["whole"], column["whole_errors"], None
    else:
        shares, errors, whole = column["shares"][place], column["share_errors"][place], column["whole"]
    if "levels" in column:
        hidden = place is not None and None in shares
        return ProfileCell(text=NONE) if hidden else ProfileCell(levels=_level_lines(column, shares, whole))
    (mean, spread), error = column["whole_moments"], None
    if place is not None:
        mean, error, spread, _ = column["moments"][place]
    if None in (mean, spread, *shares):
        return ProfileCell(text=NONE)
    is_date = column["kind"] == "date"
    text = _value(column, mean)
    if error is not None:
        text = f"{text} ± {error:.0f} days" if is_date else "{} ± {}".format(*with_error(mean, error))
    more = f"spread {f'{spread:.0f} days' if is_date else number(float(f'{spread:.2g}'))}"
    more += f"; {share_text(shares[-1])} missing" if shares[-1] > max(SURE * errors[-1], FEWEST) else ""
    return ProfileCell(text, more, _histogram(shares[:-1], () if whole is None or None in whole else whole[:-1]))


def _level_lines(column: dict[str, Any], shares: Shares, whole: Shares | None) -> list[LevelLine]:
    """Return a line for each of the levels that most rows have; of a flag, for yes alone."""
    names, is_flag = [*column["levels"], "(other)", "(missing)"], column["kind"] == "flag"
    ranked = [share or 0.0 for share in (column["whole"] if None not in column["whole"] else shares)]
    levels = sorted(range(len(column["levels"])), key=lambda index: -ranked[index])[:DRAWN_LEVELS]
    picked = [1] if is_flag else sorted(levels)
    picked += [index for index in (len(names) - 2, len(names) - 1) if ranked[index] >= FEWEST]
    return [
        LevelLine(
            "" if is_flag and index == 1 else names[index],
            "-" if (share := shares[index]) is None else share_text(share),
            _share_bar(share, None if whole is None else whole[index]),
        )
        for index in picked
    ]


def _apart(columns: Sequence[dict[str, Any]], place: int) -> str:
    """Say in what a cluster differs most from all rows, as far as it stands out of the noise."""
    found: list[tuple[float, str]] = []
    for one in columns:
        values, errors, level = one["differences"][place], one["difference_errors"][place], 0
        if "levels" in one:
            sizes = [abs(value or 0.0) for value in values[: len(one["levels"])]]
            level = 1 if one["kind"] == "flag" else sizes.index(max(sizes))
        value, error = values[level], errors[level]
        if value is None or error is None or abs(value) <= max(SURE * error, _noticed(one)):
            continue
        if "levels" in one:
            name = one["name"] if one["kind"] == "flag" else f"{one['name']} {one['levels'][level]}"
            words = f"{name} {share_text(one['shares'][place][level])} ({_signed(100 * value, 0)} points)"
        else:
            lower, higher = ("earlier", "later") if one["kind"] == "date" else ("lower", "higher")
            words = f"{one['name']} {higher if value > 0 else lower} ({_signed(value, 1)} standard deviations)"
        found.append((abs(value) / _noticed(one), words))
    mentioned = [text for _, text in sorted(found, key=lambda pair: -pair[0])[:MENTIONED]]
    return ", ".join(mentioned) if mentioned else "no difference above the noise"


def _signed(value: float, decimals: int) -> str:
    return f"{value:+.{decimals}f}".replace("-", MINUS)


# -- pictures ----------------------------------------------------------------------------------------------------------------


def _histogram(shares: Shares, whole: Shares) -> Picture:
    """Draw bars for the shares of a cluster, and an outline for those of all rows, to one scale."""
    own, others = ([share or 0.0 for share in part] for part in (shares, whole))
    tallest, step = max([*own, *others, 1e-9]), WIDTH / len(own)

    def y(share: float) -> str:
        return f"{HEIGHT - (HEIGHT - 2) * share / tallest:.1f}"

    bars = "".join(
        f"M{index * step:.1f} {HEIGHT:g}V{y(share)}h{step - 0.6:.1f}V{HEIGHT:g}z" for index, share in enumerate(own) if share
    )
    line = "".join(f"{'V' if index else f'M0 {HEIGHT:g}V'}{y(share)}h{step:.1f}" for index, share in enumerate(others))
    outline = f'<path class="outline" d="{line}V{HEIGHT:g}"/>' if others else ""
    return _drawn(
        "histogram", HEIGHT, f'<path class="bars" d="{bars}"/>{outline}<path class="rule" d="M0 {HEIGHT:g}H{WIDTH:g}"/>'
    )


def _share_bar(share: float | None, whole: float | None) -> Picture:
    """Draw a share as a bar from 0 to 1, with a mark where that of all rows is."""
    end, mark = (f"{WIDTH * min(max(one or 0.0, 0.0), 1.0):.1f}" for one in (share, whole))
    bar = f'<path class="rule" d="M0 7.5H{WIDTH:g}"/><path class="bars" d="M0 1h{end}v6h-{end}z"/>'
    return _drawn("share", 8.0, bar + ("" if whole is None else f'<path class="mark" d="M{mark} 0v8"/>'))


def _drawn(kind: str, height: float, marks: str) -> Picture:
    box = f'viewBox="0 0 {WIDTH:g} {height:g}" preserveAspectRatio="none" aria-hidden="true"'
    return Picture("", f'<svg class="{kind}" {box}>{marks}</svg>')
