# SPDX-License-Identifier: Apache-2.0
"""Links of pages lead somewhere, and are those that the site needs; the check of a built site finds what is broken."""

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

from ._pages import PAGES, ROOT


def headings(page: Path) -> set[str]:
    """Return what a browser calls the headings of a page."""
    lines = [line.lstrip("#") for line in page.read_text(encoding="utf-8").splitlines() if line.startswith("#")]
    return {re.sub(r"[^\w\- ]", "", line.replace("`", "").strip().lower()).replace(" ", "-") for line in lines}


def test_links_within_the_repository_lead_somewhere() -> None:
    for page in PAGES:
        for place, anchor in re.findall(r"\]\(([^)#]*)(?:#([^)]*))?\)", page.read_text(encoding="utf-8")):
            there = (page.parent / place) if place else page
            assert place.startswith("http") or there.exists(), f"{page}: {place}"
            if anchor and there.suffix == ".md" and not place.startswith("http"):
                assert anchor in headings(there), f"{page}: {place}#{anchor}"


def load(name: str) -> ModuleType:
    found = importlib.util.spec_from_file_location(name, ROOT / "docs" / "_tools" / f"{name}.py")
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


check_links, repository_links = load("check_links"), load("repository_links")


def site(folder: Path, body: str, **files: str) -> Path:
    (folder / "deep").mkdir()
    (folder / "_static").mkdir()
    (folder / "index.html").write_text(f"<html><body id=home>{body}</body></html>", encoding="utf-8")
    (folder / "deep" / "page.html").write_text('<h1 id="two words">x</h1><a name=old href="../index.html#home">y</a>')
    (folder / "_static" / "part.html").write_text("<a href='{{ not.a.page }}'>")
    for name, text in files.items():
        (folder / "_static" / f"{name}.css").write_text(text)
    return folder


def test_links_that_lead_somewhere_are_no_faults(tmp_path: Path) -> None:
    links = (
        "deep/page.html deep/page.html#two%20words deep/page.html#old #home # #top https://example.org/x mailto:a@example.org"
    )
    body = "".join(f'<a href="{link}">' for link in links.split())
    body += '<link rel="canonical" href="https://example.org/index.html"><img src="data:image/png;base64,AAAA">'
    body += '<link rel="stylesheet" href="_static/own.css?digest=1">'
    assert check_links.check_site(site(tmp_path, body, own="body { background: url(own.css) }")) == []


BROKEN = {
    '<a href="nowhere.html">': "nowhere.html is not there",
    '<a href="deep/nowhere.html#x">': "deep/nowhere.html#x is not there",
    '<a href="deep/page.html#three">': "deep/page.html#three has no such anchor",
    '<a href="#nowhere">': "#nowhere has no such anchor",
    '<a href="deep">': "deep is not there",
    '<a href="../outside.html">': "../outside.html is not there",
    '<img src="picture.png">': "picture.png is not there",
    '<script src="https://example.org/x.js"></script>': "loads https://example.org/x.js from another host",
    '<img src="//example.org/x.png">': "loads //example.org/x.png from another host",
    '<img srcset="https://example.org/2.png 2x">': "loads https://example.org/2.png from another host",
    '<link rel="stylesheet" href="https://example.org/x.css">': "loads https://example.org/x.css from another host",
    "<style>@import 'https://example.org/y.css';</style>": "loads https://example.org/y.css from another host",
    '<p style="background: url(http://example.org/a.png)">': "loads http://example.org/a.png from another host",
}


def test_what_is_broken_is_said_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "outside.html").write_text("outside")
    (tmp_path / "site").mkdir()
    found = check_links.check_site(site(tmp_path / "site", "".join(BROKEN)))
    assert sorted(found) == sorted(f"index.html: {fault}" for fault in BROKEN.values())


def test_styles_and_empty_folders_are_looked_at(tmp_path: Path) -> None:
    assert check_links.check_site(tmp_path) == [f"{tmp_path}: there is no page"]
    folder = site(tmp_path, "", own='@font-face { src: url("https://example.org/f.woff2") }')
    assert check_links.check_site(folder) == ["_static/own.css: loads https://example.org/f.woff2 from another host"]


def test_the_check_ends_with_an_exit_code(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert check_links.main(str(site(tmp_path, '<a href="nowhere.html">'))) == 1
    assert capsys.readouterr().out == "index.html: nowhere.html is not there\n"
    (tmp_path / "index.html").write_text("")
    (tmp_path / "deep" / "page.html").unlink()
    assert check_links.main(str(tmp_path)) == 0


ADDRESS = "https://github.com/cloister-dp/cloister"


@pytest.mark.parametrize(
    ("written_in", "shown_in", "link", "becomes"),
    [
        ("docs", "docs", "kmeans.md#what", "kmeans.md#what"),
        ("docs/proofs", "docs/proofs", "../kmeans.md", "../kmeans.md"),
        ("docs", "docs", "../SECURITY.md", "project/security.md"),
        ("docs/proofs", "docs/proofs", "../../SECURITY.md#what-is-promised", "../project/security.md#what-is-promised"),
        ("docs", "docs", "../README.md", "index.md"),
        ("docs", "docs", "../src/cloister/vault.py", f"{ADDRESS}/blob/main/src/cloister/vault.py"),
        ("docs", "docs", "../benchmarks", f"{ADDRESS}/tree/main/benchmarks"),
        (".", "docs/project", "docs/proofs/README.md", "../proofs/README.md"),
        (".", "docs/project", "CHANGELOG.md", "changelog.md"),
        (".", "docs/project", "LICENSE", f"{ADDRESS}/blob/main/LICENSE"),
        ("docs", "docs", "#an-anchor", "#an-anchor"),
        ("docs", "docs", "https://example.org/x.md", "https://example.org/x.md"),
        ("docs", "docs", "nowhere.md", "nowhere.md"),
    ],
)
def test_links_of_the_repository_become_links_of_the_site(written_in: str, shown_in: str, link: str, becomes: str) -> None:
    text = f"See [a](first.png), [this page]({link})."
    written = repository_links.rewrite(text, root=ROOT, written_in=written_in, shown_in=shown_in)
    assert written == f"See [a](first.png), [this page]({becomes})."


def test_an_example_becomes_its_page_in_the_gallery(tmp_path: Path) -> None:
    (tmp_path / "docs" / "examples").mkdir(parents=True)
    (tmp_path / "docs" / "examples" / "plot_1.py").touch()
    text = repository_links.rewrite("[x](../examples/plot_1.py)", root=tmp_path, written_in="docs/howto", shown_in="docs/howto")
    assert text == "[x](../gallery/plot_1.rst)"


def test_pages_of_root_files_show_these_files() -> None:
    for name, page in repository_links.SHOWN.items():
        assert (ROOT / name).is_file()
        text = (ROOT / "docs" / page).read_text(encoding="utf-8")
        assert name == "README.md" or f"../../{name}" in text


# -- the README ----------------------------------------------------------------------------------------------------------

README = (ROOT / "README.md").read_text(encoding="utf-8")
PICTURES = "https://raw.githubusercontent.com/cloister-dp/cloister/main/"
FILES = f"{ADDRESS}/blob/main/"
SITE = "https://cloister-dp.github.io/cloister/"
LINKS = re.findall(r"(!?)\[[^\]]*\]\(([^)\s#]*)(?:#([^)\s]*))?\)", README)


def test_links_of_the_readme_are_absolute_and_lead_to_files() -> None:
    """It is also the page on the package index, where relative links lead nowhere."""
    for picture, place, anchor in LINKS:
        if not place:
            assert anchor in headings(ROOT / "README.md"), anchor
            continue
        assert place.startswith("https://"), f"{place}: a relative link leads nowhere on the package index"
        if place.startswith(FILES):
            file = ROOT / place.removeprefix(FILES)
            assert file.exists(), place
            assert not picture, f"{place}: a page about a picture; its bytes are at {PICTURES}"
            assert not anchor or anchor in headings(file), f"{place}#{anchor}"
        elif place.startswith(PICTURES):
            assert (ROOT / place.removeprefix(PICTURES)).is_file(), place
        elif place.startswith(SITE):
            page = place.removeprefix(SITE).removesuffix("/").removesuffix(".html") or "index"
            assert page.startswith("gallery/") or (ROOT / "docs" / f"{page}.md").is_file(), place


def test_pictures_of_the_readme_are_absolute_too() -> None:
    for place in re.findall(r"<(?:img|source)[^>]+(?:src|srcset)=\"([^\"]+)\"", README):
        assert place.startswith("https://")
        assert not place.startswith(PICTURES) or (ROOT / place.removeprefix(PICTURES)).is_file()
