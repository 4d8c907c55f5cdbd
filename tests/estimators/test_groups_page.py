# SPDX-License-Identifier: Apache-2.0
"""Every block of Python in docs/groups.md runs, in order, and says what the page says."""

import re
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

PAGE = (Path(__file__).parents[2] / "docs" / "groups.md").read_text(encoding="utf-8")


def test_every_block_of_python_runs() -> None:
    blocks = re.findall(r"^```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    assert len(blocks) == 5
    names: dict[str, object] = {}
    printed = StringIO()
    with redirect_stdout(printed):
        for block in blocks:
            exec(compile(block, "docs/groups.md", "exec"), names)
    assert printed.getvalue().splitlines() == re.findall(r"^print\(.*?# (.*)$", PAGE, re.MULTILINE)
