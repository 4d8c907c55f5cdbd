# SPDX-License-Identifier: Apache-2.0
"""What the blocks of Python in docs/understand print: ``python -m tests.docs._outputs`` writes it below them.

A block whose output the page shows is followed by an indented one.
"""

import io
import re
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[2] / "docs" / "understand"
PAGES = {path.name: path for path in sorted(FOLDER.glob("*.md"))}
BLOCK = re.compile(r"^```python\n(.*?)^```$(?:(\n\n)((?:    [^\n]*\n)+))?", re.DOTALL | re.MULTILINE)


def with_outputs(text: str) -> str:
    """Return the text of a page with what its blocks print, run in order, where it shows it."""
    names: dict[str, Any] = {}

    def run(found: re.Match[str]) -> str:
        printed = io.StringIO()
        with redirect_stdout(printed):
            exec(compile(found[1], "page", "exec"), names)
        block = f"```python\n{found[1]}```"
        if found[3] is None:
            return block
        lines = [f"    {line}".rstrip() for line in printed.getvalue().splitlines()]
        return f"{block}{found[2]}" + "\n".join(lines) + "\n"

    return BLOCK.sub(run, text)


if __name__ == "__main__":
    for path in PAGES.values():
        path.write_text(with_outputs(path.read_text(encoding="utf-8")), encoding="utf-8")
