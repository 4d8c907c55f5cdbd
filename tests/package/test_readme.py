# SPDX-License-Identifier: Apache-2.0
"""The README is also the page on the package index, where relative links lead nowhere: all are absolute and lead to files."""

import re
from pathlib import Path

from tests.docs.test_links import headings

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PICTURES = "https://raw.githubusercontent.com/cloister-dp/cloister/main/"
PAGES = "https://github.com/cloister-dp/cloister/blob/main/"
SITE = "https://cloister-dp.github.io/cloister/"
LINKS = re.findall(r"(!?)\[[^\]]*\]\(([^)\s#]*)(?:#([^)\s]*))?\)", README)


def source_of(page: str) -> Path:
    """Return the file that a page of the site is made from."""
    name = page.removesuffix("/").removesuffix(".html") or "index"
    return ROOT / "docs" / f"{name}.md"


def test_links_are_absolute_and_lead_to_files() -> None:
    for picture, place, anchor in LINKS:
        if not place:
            assert anchor in headings(ROOT / "README.md"), anchor
            continue
        assert place.startswith("https://"), f"{place}: a relative link leads nowhere on the package index"
        if place.startswith(PAGES):
            file = ROOT / place.removeprefix(PAGES)
            assert file.exists(), place
            assert not picture, f"{place}: a page about a picture; its bytes are at {PICTURES}"
            assert not anchor or anchor in headings(file), f"{place}#{anchor}"
        elif place.startswith(PICTURES):
            assert (ROOT / place.removeprefix(PICTURES)).is_file(), place
        elif place.startswith(SITE):
            assert source_of(place.removeprefix(SITE)).is_file() or place.startswith(f"{SITE}gallery/"), place


def test_pictures_of_html_are_absolute_too() -> None:
    for place in re.findall(r"<(?:img|source)[^>]+(?:src|srcset)=\"([^\"]+)\"", README):
        assert place.startswith("https://")
        assert not place.startswith(PICTURES) or (ROOT / place.removeprefix(PICTURES)).is_file()
