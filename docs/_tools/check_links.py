# SPDX-License-Identifier: Apache-2.0
"""Check a built site: every link and anchor inside leads somewhere, and no page loads anything from another host.

``python docs/_tools/check_links.py build/docs`` prints what is wrong, one line each, and ends with exit code 1 if anything is.
"""

import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

__all__ = ["check_site"]

# Where a browser loads what it finds there, besides `src`; a link that is only followed by readers is none of these.
LOADED_BY_LINK = {"stylesheet", "icon", "shortcut icon", "preload", "modulepreload", "preconnect", "dns-prefetch", "manifest"}
STYLE = re.compile(r"""(?:url\(\s*|@import\s+)["']?([^"')\s;]+)""")


class _Page(HTMLParser):
    """Anchors of a page, the places it links to, and what it loads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors, self.links, self.loads = {"", "top"}, list[str](), list[str]()
        self._in_style = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect what a tag names, links to and loads."""
        values = {name: value or "" for name, value in attrs}
        self.anchors |= {values[name] for name in ("id", "name") if name in values}
        self._in_style = tag == "style"
        self.loads += STYLE.findall(values.get("style", ""))
        if "href" in values:
            loaded = tag == "link" and values.get("rel", "") in LOADED_BY_LINK
            (self.loads if loaded else self.links).append(values["href"])
        self.loads += [values[name] for name in ("src", "poster") if name in values]
        self.loads += [part.split()[0] for part in values.get("srcset", "").split(",") if part.strip()]

    def handle_endtag(self, tag: str) -> None:
        """Leave a block of styles."""
        self._in_style = False

    def handle_data(self, data: str) -> None:
        """Read what styles load."""
        if self._in_style:
            self.loads += STYLE.findall(data)


def check_site(folder: Path) -> list[str]:
    """Return what is wrong with a site, one line each.

    Parameters
    ----------
    folder : Path
        What Sphinx wrote.
    """
    # What themes keep in _static are parts of pages, not pages.
    paths = [path for path in sorted(folder.resolve().rglob("*.html")) if "_static" not in path.parts]
    files = {path: _Page(path.read_text(encoding="utf-8")) for path in paths}
    if not files:
        return [f"{folder}: there is no page"]
    faults = [fault for path, page in files.items() for fault in _faults(path, page, files=files, root=folder.resolve())]
    return [*faults, *_faults_of_styles(folder)]


def _faults(path: Path, page: _Page, *, files: dict[Path, _Page], root: Path) -> Iterator[str]:
    here = path.relative_to(root).as_posix()
    for place in dict.fromkeys(page.loads):
        if _is_elsewhere(place):
            yield f"{here}: loads {place} from another host"
    for place in dict.fromkeys([*page.links, *page.loads]):
        address = urlsplit(place)
        if address.scheme or address.netloc:
            continue
        target = (path.parent / unquote(address.path)).resolve() if address.path else path
        target = target / "index.html" if target.is_dir() else target
        if not target.is_file() or not target.is_relative_to(root):
            yield f"{here}: {place} is not there"
        elif target in files and unquote(address.fragment) not in files[target].anchors:
            yield f"{here}: {place} has no such anchor"


def _faults_of_styles(folder: Path) -> Iterator[str]:
    for path in sorted(folder.rglob("*.css")):
        for place in dict.fromkeys(STYLE.findall(path.read_text(encoding="utf-8"))):
            if _is_elsewhere(place):
                yield f"{path.relative_to(folder).as_posix()}: loads {place} from another host"


def _is_elsewhere(place: str) -> bool:
    address = urlsplit(place)
    return bool(address.netloc) or address.scheme in ("http", "https", "ftp")


def main(folder: str) -> int:
    """Print what is wrong with a site, and return the exit code."""
    faults = check_site(Path(folder))
    sys.stdout.writelines(f"{fault}\n" for fault in faults)
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
