# SPDX-License-Identifier: Apache-2.0
"""How pages are laid out by a real browser: on a phone, in print, in light and dark, for tables of any shape."""

import re
import zlib
from io import BytesIO
from pathlib import Path
from typing import Any

import matplotlib.image
import numpy as np
import pytest

from cloister import GridSynopsis, KMeans, Ledger, PointSynopsis, SourceTargetKMedoids, write_report

from .browser import Tab

pytestmark = pytest.mark.slow

LONG = "a column with a name that goes on and on <script>console.error('ran')</script>"
PHONE = 390
PAPER_HEIGHT = 1001  # pixels of an A4 page between its margins
FEWEST_GLYPHS = 250  # of a printed page that is not nearly empty


def rows_of(n_columns: int, n_clusters: int) -> np.ndarray:
    generator = np.random.default_rng(n_columns)
    centers = generator.uniform(15, 85, (n_clusters, n_columns))
    return np.clip(centers[generator.integers(0, n_clusters, 3000)] + generator.normal(0, 3, (3000, n_columns)), 0, 100)


def frame_of(rows: np.ndarray) -> Any:
    import pandas as pd

    return pd.DataFrame(rows, columns=[LONG if index == 0 else f"lab value {index}" for index in range(rows.shape[1])])


def fitted() -> dict[str, Any]:
    ledger = Ledger(epsilon=50.0, delta=1e-6, name="patients")
    stated = {"dataset": "Patients of ward 3", "purpose": "Planning of staff", "ledger": ledger, "epsilon": 2.0}
    given: dict[str, Any] = {"random_state": 0, **stated}
    inside = {"bounds": (0, 100), **given}
    sizes = ((1, 5), (2, 9), (40, 12), (12, 40))
    target, source = frame_of(rows_of(2, 4)[:300]), frame_of(rows_of(2, 2))
    return {
        **{f"{d}-columns-{k}-clusters": KMeans(k, **inside).fit(frame_of(rows_of(d, k))) for d, k in sizes},
        "described": KMeans(5, describe=0.3, **inside).fit(frame_of(rows_of(9, 5))),
        "three-rows": KMeans(3, **inside).fit(frame_of(rows_of(2, 2)[:3])),
        "synopsis": GridSynopsis(4, **inside).fit(frame_of(rows_of(2, 4))),
        "points": PointSynopsis(**inside).fit(frame_of(rows_of(40, 12))),
        "source-target": SourceTargetKMedoids(3, **given).fit(target, source=source),
    }


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    for name, model in fitted().items():
        write_report(model, folder / f"{name}.html", allow_seeded=True)
    return {path.stem: path for path in folder.iterdir()}


NAMES = ("1-columns-5-clusters", "2-columns-9-clusters", "40-columns-12-clusters", "12-columns-40-clusters")
every_page = pytest.mark.parametrize("name", [*NAMES, "described", "three-rows", "synopsis", "points", "source-target"])


def test_what_a_page_asks_for_and_complains_of_is_noticed(tab: Tab, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text('<script>console.error("ran")</script><img src="http://example.invalid/x.png">')
    tab.show(tmp_path / "page.html")
    assert "http://example.invalid/x.png" in tab.requests
    assert tab.complaints


@every_page
@pytest.mark.parametrize("width", [PHONE, 1280])
def test_nothing_is_wider_than_the_screen_and_tables_can_be_seen_to_scroll(
    tab: Tab, pages: dict[str, Path], name: str, width: int
) -> None:
    tab.show(pages[name], width=width)
    assert tab.complaints == []
    assert [url for url in tab.requests if not url.startswith(("file://", "data:"))] == []
    assert tab.value("document.documentElement.scrollWidth") == width
    script = """[...document.querySelectorAll('body *')].filter(one => !one.closest('.scroll') && !one.closest('svg')
        && one.checkVisibility() && one.getBoundingClientRect().right > innerWidth + 0.5).map(one => one.outerHTML.slice(0, 80))
        """
    assert tab.value(script) == []
    assert tab.value("[...document.querySelectorAll('table')].every(one => one.closest('.wide')?.querySelector('.hint'))")
    tables = """[...document.querySelectorAll('.wide')].filter(one => one.checkVisibility()).map(one => {
        const box = one.querySelector('.scroll'), hint = getComputedStyle(one.querySelector('.hint'));
        return [box.scrollWidth > box.clientWidth, hint.visibility == 'visible' && hint.opacity > 0.5]})"""
    found = tab.value(tables)
    assert found
    assert all(scrolls == hinted for scrolls, hinted in found)
    if width == PHONE:
        assert any(scrolls for scrolls, _ in found)
        narrow = """[...document.querySelectorAll('.asked td:first-child, .steps td:nth-child(2)')].filter(one =>
            one.checkVisibility() && one.getBoundingClientRect().width < 150).length"""
        assert tab.value(narrow) == 0  # words are not set one below the other
    ended = """(async () => { const all = [...document.querySelectorAll('.scroll')];
        const box = all.find(one => one.scrollWidth > one.clientWidth && one.checkVisibility()); if (!box) return null;
        box.scrollLeft = 1e6;
        await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
        return +getComputedStyle(box.parentNode.querySelector('.hint')).opacity })()"""
    assert tab.value(ended) in (None, 0)


@every_page
def test_what_is_folded_is_printed_on_full_pages_without_torn_tables(tab: Tab, pages: dict[str, Path], name: str) -> None:
    folded = """[...document.querySelectorAll('details')].map(one => [one.querySelector('.wide').checkVisibility(),
        one.getBoundingClientRect().height > one.querySelector('.wide').getBoundingClientRect().height])"""
    tab.show(pages[name])
    assert {tuple(one) for one in tab.value(folded)} == {(False, False)}
    glyphs = glyphs_of(tab.pdf())
    assert len(glyphs) >= 3
    assert min(glyphs[:-1]) > FEWEST_GLYPHS
    tab.show(pages[name], width=680, media="print")
    assert {tuple(one) for one in tab.value(folded)} == {(True, True)}
    assert tab.value("document.documentElement.scrollWidth") <= 680
    styles = """[...document.querySelectorAll('table')].map(one => [getComputedStyle(one.tHead).display,
        getComputedStyle(one.rows[0]).breakInside, one.offsetHeight, getComputedStyle(one.closest('.wide')).breakInside])"""
    for head, row, height, whole in tab.value(styles):
        assert (head, row) == ("table-header-group", "avoid")
        assert whole == "avoid" if height < 0.75 * PAPER_HEIGHT else height < PAPER_HEIGHT or whole != "avoid"
    assert not tab.value("document.querySelector('footer').checkVisibility()")  # it would have a page to itself


def glyphs_of(pdf: bytes) -> list[int]:
    """Return how many glyphs each page of a PDF shows."""
    objects = {int(number): body for number, body in re.findall(rb"(\d+) 0 obj\r?\n(.*?)\r?\nendobj", pdf, flags=re.DOTALL)}
    found = []
    for body in (body for _, body in sorted(objects.items()) if re.search(rb"/Type /Page\b", body)):
        stream = objects[int(re.search(rb"/Contents (\d+) 0 R", body).group(1))]  # type: ignore[union-attr]
        data = zlib.decompress(stream.split(b"stream\n", 1)[1].rsplit(b"\nendstream", 1)[0])
        found.append(sum(len(digits) // 4 for digits in re.findall(rb"<([0-9A-F]+)>", data)))
    return found


@every_page
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_words_stand_out_from_what_is_behind_them(tab: Tab, pages: dict[str, Path], name: str, dark: bool) -> None:
    tab.show(pages[name], dark=dark)
    paper = channels(tab.value("getComputedStyle(document.body).backgroundColor"))
    assert (sum(paper) < 200) == dark
    texts = """[...document.querySelectorAll('p, td, th, dd, figcaption, summary, svg text')].filter(one =>
        one.checkVisibility() && one.textContent.trim()).map(one => {
        const own = getComputedStyle(one), svg = one.tagName == 'text';
        let behind = one; while (!svg && behind && getComputedStyle(behind).backgroundColor == 'rgba(0, 0, 0, 0)')
        behind = behind.parentElement;
        const circle = svg && one.previousElementSibling && one.previousElementSibling.tagName == 'circle';
        return [svg ? own.fill : own.color, circle ? getComputedStyle(one.previousElementSibling).fill
        : svg || !behind ? '' : getComputedStyle(behind).backgroundColor]})"""
    for ink, behind in {(ink, behind) for ink, behind in tab.value(texts)}:
        assert contrast(channels(ink), channels(behind) or paper) >= 4.5, (ink, behind)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_a_page_can_be_seen(tab: Tab, pages: dict[str, Path], dark: bool) -> None:
    tab.show(pages["2-columns-9-clusters"], dark=dark)
    pixels = np.rint(255 * matplotlib.image.imread(BytesIO(tab.picture()))[:, :, :3])
    paper = pixels[5, 5]
    assert (paper.sum() < 200) == dark
    inked = np.abs(pixels - paper).sum(axis=2) > 60
    assert 0.01 < inked.mean() < 0.6
    assert all(part.any() for part in np.array_split(inked, 5))
    assert not inked[:, -4:].any(), "the page does not run over its right edge"


def channels(colour: str) -> list[float]:
    return [float(one) for one in re.findall(r"[\d.]+", colour)[:3]]


def contrast(one: list[float], other: list[float]) -> float:
    """Return the contrast of two colours as the accessibility guidelines define it."""
    dark, light = sorted(luminance(colour) for colour in (one, other))
    return (light + 0.05) / (dark + 0.05)


def luminance(colour: list[float]) -> float:
    parts = [share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in (one / 255 for one in colour)]
    return float(np.dot(parts, [0.2126, 0.7152, 0.0722]))


@pytest.mark.parametrize("name", ["1-columns-5-clusters", "2-columns-9-clusters", "40-columns-12-clusters", "source-target"])
@pytest.mark.parametrize("width", [PHONE, 1280])
def test_labels_of_a_map_fit_into_their_circles_and_its_words_do_not_overlap(
    tab: Tab, pages: dict[str, Path], name: str, width: int
) -> None:
    tab.show(pages[name], width=width)
    boxes = """[...document.querySelectorAll('svg.map text')].map(one => { const {left, right, top, bottom} =
        one.getBoundingClientRect(); const circle = one.previousElementSibling;
        return [one.getAttribute('class'), left, right, top, bottom, one.textContent,
        one.getAttribute('class') == 'label' ? circle.getBoundingClientRect().width : 0]})"""
    found = tab.value(boxes)
    labels = [one for one in found if one[0] == "label"]
    assert labels
    assert all(right - left <= size for _, left, right, _, _, _, size in labels)
    words = [one for one in found if one[0] != "label"]
    for index, (_, left, right, top, bottom, text, _) in enumerate(words):
        for _, start, end, high, low, other, _ in words[:index]:
            apart = right <= start + 1 or end <= left + 1 or bottom <= high + 4 or low <= top + 4
            assert apart, (text, other)
