# SPDX-License-Identifier: Apache-2.0
"""The site is built with warnings as errors, its gallery executed, and looked at in a real browser, wide and on a phone."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.docs.test_links import check_links

from cloister import json_schema

from .browser import Tab

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
WIDTHS = (1280, 390)
DOORS = ("Start", "How to", "Understand", "Reference")
MADE = ("gallery", "api")  # what an earlier build wrote beside the pages
OVERFLOWS = """[...document.querySelectorAll('.bd-article *')].filter(one => {
  const box = one.getBoundingClientRect();
  if (box.width === 0 || box.right <= innerWidth + 1) return false;
  for (let at = one.parentElement; at; at = at.parentElement)
    if (['auto', 'scroll', 'hidden'].includes(getComputedStyle(at).overflowX)) return false;
  return true;
}).map(one => one.tagName + '.' + one.className).slice(0, 3)"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built from a copy of the pages."""
    copy = tmp_path_factory.mktemp("site")
    shutil.copytree(ROOT / "docs", copy / "docs", ignore=shutil.ignore_patterns(*MADE))
    for path in ROOT.iterdir():
        if path.suffix == ".md":
            shutil.copy(path, copy)
        elif path.name in ("LICENSE", "benchmarks", "src", "tests"):
            (copy / path.name).symlink_to(path)
    command = [sys.executable, "-m", "sphinx", "--fail-on-warning", "--keep-going", "--quiet", "docs", "built"]
    paths = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    environment = {**os.environ, "PYTHONPATH": paths, "PYTHONWARNINGS": "ignore"}
    built = subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr[-4000:]
    return copy / "built"


def test_links_and_anchors_lead_somewhere_and_nothing_comes_from_elsewhere(site: Path) -> None:
    assert check_links.check_site(site) == []


def test_every_example_was_executed_and_every_schema_is_at_its_address(site: Path) -> None:
    examples = ROOT / "docs" / "examples"
    assert {path.name for path in (site.parent / "docs" / "examples").iterdir()} == {path.name for path in examples.iterdir()}
    for example in examples.glob("*.py"):
        page = (site / "gallery" / f"{example.stem}.html").read_text(encoding="utf-8")
        pictures = re.findall(rf'src="\.\./(_images/sphx_glr_{example.stem}_\d+\S*?)"', page)
        assert pictures, example
        assert all((site / picture).stat().st_size > 5000 for picture in pictures), example
    for name in ("release", "synopsis", "ledger"):
        assert json_schema(name)["$id"].endswith(f"/cloister/schemas/{name}.json")
        assert json.loads((site / "schemas" / f"{name}.json").read_text(encoding="utf-8")) == json_schema(name)


def test_search_finds_a_name(site: Path, tab: Tab) -> None:
    tab.show(site / "search.html")
    tab.value("Search.performSearch('GridSynopsis')")
    links = "[...document.querySelectorAll('#search-results li a')].map(one => one.getAttribute('href').split('#')[0])"
    enough = f"new Promise(done => {{ const look = () => {links}.length > 3 ? done({links}) : setTimeout(look, 50); look(); }})"
    assert all((site / page).is_file() for page in tab.value(enough))


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_the_landing_page_shows_its_title_and_four_doors(site: Path, tab: Tab, width: int, dark: bool) -> None:
    tab.show(site / "index.html", width=width, dark=dark)
    assert tab.value("document.querySelector('h1').innerText.includes('Clusters you may publish')")
    assert "Cloister" in tab.value("document.title")
    doors = tab.value(
        """[...document.querySelectorAll('.doors .sd-card')].map(card => {
          const box = card.getBoundingClientRect(), title = card.querySelector('.sd-card-title');
          const seen = box.left >= 0 && box.right <= innerWidth && box.height > 40 && title.checkVisibility();
          return [title.innerText.trim(), seen, card.querySelector('a').getAttribute('href')];
        })"""
    )
    assert [title for title, _, _ in doors] == list(DOORS)
    assert all(seen for _, seen, _ in doors)
    assert all((site / href).is_file() for _, _, href in doors)
    scheme = tab.value("document.documentElement.dataset.theme")
    assert scheme == ("dark" if dark else "light")


@pytest.mark.parametrize("width", WIDTHS)
def test_no_page_scrolls_sideways_asks_another_host_or_complains(site: Path, tab: Tab, width: int) -> None:
    pages = [page for page in sorted(site.rglob("*.html")) if "_static" not in page.parts]
    assert pages
    for page in pages:
        tab.show(page, width=width, height=844)
        here = page.relative_to(site)
        assert tab.value("document.documentElement.scrollWidth") <= width, here
        assert tab.value(OVERFLOWS) == [], here
        assert tab.requests, here
        assert [url for url in tab.requests if not url.startswith(("file://", "data:"))] == [], here
        assert tab.complaints == [], here
