# SPDX-License-Identifier: Apache-2.0
"""Every block of Python and every command of README, CONTRIBUTING, SECURITY and docs/ runs, in the order of its page.

A page runs in a fresh copy of the folder that ``make demo`` writes. README and the first page run in the fast tests, all
others in the slow ones. What a page says that a line prints, ``print(...)  # this``, is compared on the pages of `EXACT`.
"""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from ._pages import NAMES, ROOT, SHELL, SHOWN, Block, blocks, fences, read
from ._run import ONLY_READ, SMALLEST, Reader, is_clicked, parts, read_options, without_dots

FAST = {"README.md": "python", "docs/start.md": "all"}  # what of a page runs in the fast tests
EXACT = ("docs/privacy-unit.md", "docs/start.md", "docs/howto/")
WITH_BLOCKS = [name for name in NAMES if read(name)]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:The inplace keyword:DeprecationWarning")  # of pandas, to Dask
@pytest.mark.parametrize("name", WITH_BLOCKS)
def test_every_block_runs(name: str, folder: Path, request: pytest.FixtureRequest) -> None:
    found = read(name)
    if any("pyspark" in block.text or "--engine spark" in block.text for block in found):
        spark = request.getfixturevalue("spark")  # which was started elsewhere: have it look for relative paths in the folder
        files = spark._jvm.org.apache.hadoop.fs
        here = files.FileSystem.get(spark.sparkContext._jsc.hadoopConfiguration())
        here.setWorkingDirectory(files.Path(str(folder)))
    follow(found, folder)


def test_commands_have_the_options_that_pages_write() -> None:
    for block in [block for name in WITH_BLOCKS for block in read(name) if block.kind == "command"]:
        for text in parts(block.text):
            words = shlex.split(text.partition(" | ")[0], comments=True)
            if is_clicked(words) or words[0] == "pytest" or (words[2:3] and words[2].startswith(("benchmarks.", "tests."))):
                read_options(without_dots(words), f"{block.place}: {text}", mention=block.inline)


@pytest.mark.parametrize("name", FAST)
def test_the_first_pages_run(name: str, folder: Path) -> None:
    follow([block for block in read(name) if FAST[name] in ("all", block.kind)], folder)


def follow(found: list[Block], folder: Path) -> None:
    reader = Reader(folder)
    for block in found:
        check(block, reader)


def check(block: Block, reader: Reader) -> None:
    """Run a block; compare what it prints with the comments that say it, where a page says it to the letter."""
    printed = reader.follow(block)
    if block.kind == "python" and block.page.startswith(EXACT):
        stated = re.findall(r"^\s*print\(.*\)  # (.*)$", block.text, re.MULTILINE)
        lines = iter(printed.splitlines())
        assert all(line in lines for line in stated), f"{block.place}: prints\n{printed}"


@pytest.mark.slow
def test_the_first_lines_run_in_a_new_interpreter_without_a_warning(folder: Path) -> None:
    first = next(block for block in read("README.md") if block.kind == "python")
    command = [sys.executable, "-W", "error", "-c", first.text]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (folder / "model.json").stat().st_size > 1000


def test_every_rule_is_needed() -> None:
    """A command that is only read, or made small, stands on some page."""
    texts = [part for name in NAMES for block in read(name) if block.kind == "command" for part in block.text.split(" && ")]
    assert [pattern for pattern in ONLY_READ if not any(re.match(pattern, text) for text in texts)] == []
    assert [head for head in SMALLEST if not any(text.startswith(head) for text in texts)] == []


def test_every_block_of_code_is_one_that_is_run() -> None:
    """Python stands in fences called python, commands in indented lines or in fences of a shell, all else says what it is."""
    for name in NAMES:
        text = (ROOT / name).read_text(encoding="utf-8")
        for fence in fences(text):
            directive = fence.language.startswith("{") and not fence.language.startswith("{code")
            assert directive or fence.language in ("python", *SHELL, *SHOWN), f"{name}:{fence.line}: {fence.language!r}"
            text = text.replace("\n".join(fence.lines), "")
        assert re.findall(r"^    (?:(?:from|import|def|class|with) .*|\w+ = [A-Z]\w+\(.*)$", text, re.MULTILINE) == [], name


PAGE = """
Run `cloister plan --n-rows 100 --features 2 -k 2 --epsilon 1`, or `cloister plan`:

    cloister plan --n-rows 100 --features 2 \\
        -k 2 --epsilon 1      # a comment
    output of it

```python
first = 1
```

- in a list:
  ```python
  second = first + 1
  ```

```sh
# a comment
make demo && python -m benchmarks list
```

```text
cloister nope
```
"""


def test_blocks_are_found_in_the_order_of_the_page() -> None:
    assert [(block.line, block.kind, block.text, block.inline) for block in blocks(PAGE)] == [
        (2, "command", "cloister plan --n-rows 100 --features 2 -k 2 --epsilon 1", True),
        (2, "command", "cloister plan", True),
        (4, "command", "cloister plan --n-rows 100 --features 2 -k 2 --epsilon 1      # a comment", False),
        (9, "python", "first = 1", False),
        (14, "python", "second = first + 1", False),
        (19, "command", "make demo && python -m benchmarks list", False),
    ]


def test_blocks_of_a_page_share_their_names(tmp_path: Path) -> None:
    reader = Reader(tmp_path)
    for block in blocks(PAGE):
        reader.follow(block)
    assert reader.names["second"] == 2


@pytest.mark.parametrize(
    "page",
    [
        "    cloister fit nothing.parquet -k 2 --epsilon 1 --bounds 0,1",
        "    cloister plan --n-rows 100",
        "    cloister nope",
        "Mentions `cloister plan --nope 3`.",
        "Mentions `python -m benchmarks table1 --nope`.",
        "    cloister audit --plant all --nope",
        "    make nothing",
        "    pip install 'cloister[nothing]'",
        "    python -m benchmarks.nothing",
        "    python -m benchmarks.tables --nope",
        "    python -m benchmarks.choose_k --nope",
        "Mentions `python -m tests.nothing`.",
        "Mentions `pytest tests/nothing.py`.",
        "```sh\nnothing at all\n```",
        "    mkdir a/b/c",
        "```python\n1 / 0\n```",
        "```python\nimport warnings\nwarnings.warn('no reader should see this', stacklevel=1)\n```",
    ],
)
def test_what_does_not_work_is_noticed(page: str, tmp_path: Path) -> None:
    (block,) = blocks(page)
    with pytest.raises((AssertionError, pytest.fail.Exception, ZeroDivisionError, ImportError, UserWarning)):
        Reader(tmp_path).follow(block)


def test_what_a_page_says_is_printed_is_compared(tmp_path: Path) -> None:
    (right,) = blocks("```python\nprint(1 + 1)  # 2\n```", "docs/howto/page.md")
    (wrong,) = blocks("```python\nprint(1 + 1)  # 3\n```", "docs/howto/page.md")
    check(right, Reader(tmp_path))
    with pytest.raises(AssertionError):
        check(wrong, Reader(tmp_path))
