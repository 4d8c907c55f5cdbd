# SPDX-License-Identifier: Apache-2.0
"""Copy tables and figures of a benchmark's page into the documentation: ``python -m benchmarks.quote DIR``.

A document marks where a table goes, ``<!-- table: TITLE -->`` to ``<!-- end -->``; what stands between is replaced by the
table of that title on the page, and left as it is where the page has none. Figures are copied by the names in `FIGURES`, with
fewer colours, which is enough for lines and a third of the size.
"""

import argparse
import re
import sys
from pathlib import Path

__all__ = ["quote_tables"]

DOCUMENTS = ("docs/results.md", "docs/pe-means.md")
IMAGES = Path("docs/images")
FIGURES = {  # of pages, and what they are called in the documentation
    "tuning": "pe-means-figure2",
    "curves-epsilon": "pe-means-figure3",
    "curves-clusters": "pe-means-figure4",
    "alternatives": "pe-means-alternatives",
    "rounds": "pe-means-rounds",
}
COLOURS = 64
PLACE = re.compile(r"(<!-- table: (?P<title>.+?) -->\n)(?P<table>.*?)(<!-- end -->)", re.DOTALL)
TABLE = re.compile(r"^\*\*(?P<title>.+?)\*\*\n\n(?P<table>(?:\|.*\n)+)", re.MULTILINE)


def quote_tables(document: str, page: str) -> str:
    """Return the document with the tables of the page in their places."""
    found = {match["title"]: match["table"] for match in TABLE.finditer(page)}

    def fill(place: re.Match[str]) -> str:
        return f"{place[1]}\n{found[place['title']]}\n{place[4]}" if place["title"] in found else place[0]

    return PLACE.sub(fill, document)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quote", description=__doc__)
    parser.add_argument("folder", type=Path, help="of a run, with its page")
    folder = parser.parse_args().folder
    page = (folder / "page.md").read_text(encoding="utf-8")
    for path in map(Path, DOCUMENTS):
        path.write_text(quote_tables(path.read_text(encoding="utf-8"), page), encoding="utf-8")
    for name, image in FIGURES.items():
        drawn, target = folder / "figures" / f"{name}.png", IMAGES / f"{image}.png"
        if drawn.exists():
            _copy(drawn, target)
            print(target)
    return 0


def _copy(drawn: Path, target: Path) -> None:
    from PIL import Image

    with Image.open(drawn) as picture:
        picture.convert("RGB").quantize(COLOURS).save(target, optimize=True)


if __name__ == "__main__":
    sys.exit(main())
