# SPDX-License-Identifier: Apache-2.0
"""Links of the pages, as they are read on the site.

Pages link to each other, and to files of the repository, with relative paths, which work where the repository is browsed. On
the site, a path that leads out of ``docs/`` becomes the page that shows the file, or the file's address in the repository.
"""

import os
import re
from pathlib import Path, PurePosixPath

__all__ = ["REPOSITORY", "SHOWN", "rewrite"]

REPOSITORY = "https://github.com/cloister-dp/cloister"
# Files outside docs/ that have a page of their own on the site.
SHOWN = {
    "CHANGELOG.md": "project/changelog.md",
    "CODE_OF_CONDUCT.md": "project/conduct.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "README.md": "index.md",
    "SECURITY.md": "project/security.md",
}
EXAMPLES, GALLERY = PurePosixPath("examples"), PurePosixPath("gallery")

_LINK = re.compile(r"(?<=\]\()(?P<place>[^)\s#:]+)(?P<anchor>#[^)\s]*)?(?=\))")


def rewrite(text: str, *, root: Path, written_in: str, shown_in: str) -> str:
    """Return a page with the links it has on the site.

    Parameters
    ----------
    text : str
        Markdown.
    root : Path
        The repository.
    written_in : str
        The folder of the file that holds the text, from `root`: paths in it start there.
    shown_in : str
        The folder of the page that shows the text, from `root`.
    """

    def found(link: re.Match[str]) -> str:
        place = Path(os.path.normpath(root / written_in / link["place"]))
        if not place.exists() or not place.is_relative_to(root):
            return link[0]
        target = _on_the_site(place, root=root)
        return (target if "://" in target else _relative(target, shown_in)) + (link["anchor"] or "")

    return _LINK.sub(found, text)


def _on_the_site(place: Path, *, root: Path) -> str:
    """Return the path of a page, from `root`, or an address."""
    path = PurePosixPath(place.relative_to(root).as_posix())
    if str(path) in SHOWN:
        return f"docs/{SHOWN[str(path)]}"
    if place.is_dir():
        return f"{REPOSITORY}/tree/main/{path}"
    if path.parts[0] != "docs":
        return f"{REPOSITORY}/blob/main/{path}"
    if path.parent == "docs" / EXAMPLES and path.suffix == ".py":
        return f"docs/{GALLERY / path.stem}.rst"
    return str(path)


def _relative(target: str, shown_in: str) -> str:
    return PurePosixPath(os.path.relpath(target, shown_in)).as_posix()
