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
from cloister.release import ColumnProfile, Release
from cloister.report._format import number, with_error
from cloister.report._heat import MINUS
from cloister.report._pages import Picture

__all__ = ["ProfileSection", "profile_section", "profiles_of"]

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
    found: dict[str, Any] = {
        "name": profile.name,
        "kind": profile.kind,
        "clustered": profile.clustered,
        "whole": _plain(whole.shares().value[0]),
        "whole_errors": _plain(whole.shares().error[0]),
        "shares": [_plain(one) for one in shares.value],
        "share_errors": [_plain(one) for one in shares.error],
        "differences": [_plain(np.atleast_1d(one)) for one in difference.value],
        "difference_errors": [_plain(np.atleast_1d(one)) for one in difference.error],
    }
    if profile.edges is None:
        return {**found, "levels": list(profile.levels or ())}
    means, spreads = profile.mean(), profile.spread()
    own = [_plain(np.array([*pair])) for pair in zip(means.value, means.error, spreads.value, spreads.error, strict=True)]
    all_rows = _plain(np.array([whole.mean().value[0], whole.spread().value[0]]))
    return {
        **found,
        "low": float(profile.edges[0]),
        "high": float(profile.edges[-1]),
        "moments": own,
        "whole_moments": all_rows,
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
    columns = [found["columns"][index] for index in _drawn(found["columns"])]
    labels = [cluster["label"] for cluster in summary["clusters"]]
    rows = [("All", [_whole_cell(one) for one in columns])]
    rows += [(str(label), [_cell(one, place) for one in columns]) for place, label in enumerate(labels)]
    apart = [(label, _apart(found["columns"], place)) for place, label in enumerate(labels)]
    heads = [(one["name"], _extent(one)) for one in columns]
    return ProfileSection(heads, rows, apart, len(found["columns"]), f"{found['sigma']:.3g}")


def _drawn(columns: Sequence[dict[str, Any]]) -> list[int]:
    """Return the columns to draw, in their own order: of many, those in which clusters differ most."""
    if len(columns) <= DRAWN_COLUMNS:
        return list(range(len(columns)))
    sizes = [
        max((abs(value) / _unit(one) for part in one["differences"] for value in part if value is not None), default=0.0)
        for one in columns
    ]
    return sorted(sorted(range(len(columns)), key=lambda index: -sizes[index])[:DRAWN_COLUMNS])


def _unit(column: dict[str, Any]) -> float:
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


def _whole_cell(column: dict[str, Any]) -> ProfileCell:
    if "levels" in column:
        return ProfileCell(levels=_level_lines(column, column["whole"], None))
    mean, spread = column["whole_moments"]
    if mean is None or spread is None:
        return ProfileCell(text="none above the noise")
    drawn = _histogram(column["whole"][:-1], None)
    return ProfileCell(
        _value(column, mean), f"spread {_length(column, spread)}{_missing(column['whole'], column['whole_errors'])}", drawn
    )


def _cell(column: dict[str, Any], place: int) -> ProfileCell:
    shares = column["shares"][place]
    if None in shares:
        return ProfileCell(text="none above the noise")
    if "levels" in column:
        return ProfileCell(levels=_level_lines(column, shares, column["whole"]))
    mean, error, spread, _ = column["moments"][place]
    if None in (mean, spread):
        return ProfileCell(text="none above the noise")
    is_date = column["kind"] == "date"
    text = f"{_value(column, mean)} ± {error:.0f} days" if is_date else "{} ± {}".format(*with_error(mean, error))
    whole = None if None in column["whole"] else column["whole"][:-1]
    return ProfileCell(
        text,
        f"spread {_length(column, spread)}{_missing(shares, column['share_errors'][place])}",
        _histogram(shares[:-1], whole),
    )


def _length(column: dict[str, Any], value: float) -> str:
    return f"{value:.0f} days" if column["kind"] == "date" else number(float(f"{value:.2g}"))


def _missing(shares: Sequence[float | None], errors: Sequence[float | None]) -> str:
    share, error = shares[-1], errors[-1]
    if share is None or error is None or share <= max(SURE * error, FEWEST):
        return ""
    return f"; {_percent(share)} missing"


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _level_lines(
    column: dict[str, Any], shares: Sequence[float | None], whole: Sequence[float | None] | None
) -> list[LevelLine]:
    """Return a line for each of the levels that most rows have; of a flag, for yes alone."""
    names = [*column["levels"], "(other)", "(missing)"]
    ranked = [share or 0.0 for share in (column["whole"] if None not in column["whole"] else shares)]
    if column["kind"] == "flag":
        picked = [1]
    else:
        picked = sorted(sorted(range(len(column["levels"])), key=lambda index: -ranked[index])[:DRAWN_LEVELS])
    picked += [index for index in (len(names) - 2, len(names) - 1) if ranked[index] >= FEWEST]
    return [
        LevelLine(
            "" if column["kind"] == "flag" and index == 1 else names[index],
            "-" if (share := shares[index]) is None else _percent(share),
            _share_bar(shares[index], None if whole is None else whole[index]),
        )
        for index in picked
    ]


def _apart(columns: Sequence[dict[str, Any]], place: int) -> str:
    """Say in what a cluster differs most from all rows, as far as it stands out of the noise."""
    found: list[tuple[float, str]] = []
    for one in columns:
        pairs = list(zip(one["differences"][place], one["difference_errors"][place], strict=True))
        if "levels" not in one:
            found += [
                (abs(value) / NOTICED_EFFECT, _effect_words(one, value))
                for value, error in pairs
                if _is_sure(one, value, error)
            ]
            continue
        level = max(range(len(one["levels"])), key=lambda index: abs(pairs[index][0] or 0.0))
        level = 1 if one["kind"] == "flag" else level
        if _is_sure(one, *pairs[level]):
            value = pairs[level][0]
            name = one["name"] if one["kind"] == "flag" else f"{one['name']} {one['levels'][level]}"
            share = one["shares"][place][level]
            found.append((abs(value) / NOTICED_SHARE, f"{name} {_percent(share)} ({_plus_minus(100 * value, 0)} points)"))
    words = [text for _, text in sorted(found, key=lambda pair: -pair[0])[:MENTIONED]]
    return ", ".join(words) if words else "no difference above the noise"


def _is_sure(column: dict[str, Any], value: float | None, error: float | None) -> bool:
    return value is not None and error is not None and abs(value) > max(SURE * error, _unit(column))


def _plus_minus(value: float, decimals: int) -> str:
    return f"{value:+.{decimals}f}".replace("-", MINUS)


def _effect_words(column: dict[str, Any], value: float) -> str:
    lower, higher = ("earlier", "later") if column["kind"] == "date" else ("lower", "higher")
    return f"{column['name']} {higher if value > 0 else lower} ({_plus_minus(value, 1)} standard deviations)"


# -- pictures ----------------------------------------------------------------------------------------------------------------


def _histogram(shares: Sequence[float | None], whole: Sequence[float | None] | None) -> Picture:
    """Draw bars for the shares of a cluster, and an outline for those of all rows, to one scale."""
    own = [share or 0.0 for share in shares]
    others = [share or 0.0 for share in whole] if whole is not None else []
    tallest = max([*own, *others, 1e-9])
    step = WIDTH / len(own)

    def y(share: float) -> float:
        return HEIGHT - (HEIGHT - 2) * share / tallest

    bars = "".join(
        f"M{index * step:.1f} {HEIGHT:g}V{y(share):.1f}h{step - 0.6:.1f}V{HEIGHT:g}z"
        for index, share in enumerate(own)
        if share
    )
    line = "".join(f"{'V' if index else f'M0 {HEIGHT:g}V'}{y(share):.1f}h{step:.1f}" for index, share in enumerate(others))
    outline = f'<path class="outline" d="{line}V{HEIGHT:g}"/>' if others else ""
    return Picture(
        "",
        f'<svg class="histogram" viewBox="0 0 {WIDTH:g} {HEIGHT:g}" preserveAspectRatio="none" aria-hidden="true">'
        f'<path class="bars" d="{bars}"/>{outline}<path class="rule" d="M0 {HEIGHT:g}H{WIDTH:g}"/></svg>',
    )


def _share_bar(share: float | None, whole: float | None) -> Picture:
    """Draw a share as a bar from 0 to 1, with a mark where that of all rows is."""
    end = WIDTH * min(max(share or 0.0, 0.0), 1.0)
    mark = "" if whole is None else f'<path class="mark" d="M{WIDTH * min(max(whole, 0.0), 1.0):.1f} 0v8"/>'
    return Picture(
        "",
        f'<svg class="share" viewBox="0 0 {WIDTH:g} 8" preserveAspectRatio="none" aria-hidden="true">'
        f'<path class="rule" d="M0 7.5H{WIDTH:g}"/><path class="bars" d="M0 1h{end:.1f}v6h-{end:.1f}z"/>{mark}</svg>',
    )
