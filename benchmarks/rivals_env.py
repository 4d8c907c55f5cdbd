# SPDX-License-Identifier: Apache-2.0
"""Make interpreters for other libraries: ``python -m benchmarks.rivals_env DIR [NAME ...] [--base PYTHON]``.

Each library gets a virtual environment DIR/NAME with the versions that were measured. The last line printed is what to put into
the environment so that ``python -m benchmarks`` and the tests find them. What is there and works is left as it is.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path

from ._errors import BenchError
from ._foreign import LIBRARIES, VARIABLE, Library
from ._harness import check_names

__all__ = ["main", "make_environment", "python_of"]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.rivals_env", description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path, help="where the environments are made")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"only these of {', '.join(LIBRARIES)}")
    parser.add_argument("--base", default=sys.executable, metavar="PYTHON", help="the interpreter that they are made from")
    given = parser.parse_args(arguments)
    check_names(parser, "NAME", given.names, LIBRARIES)
    made = {}
    for name in given.names or LIBRARIES:
        try:
            made[name] = make_environment(LIBRARIES[name], given.folder.resolve(), base=given.base)
        except BenchError as error:
            print(f"Error: {error}", file=sys.stderr)
            return 2
    print(f"export {VARIABLE}=" + ",".join(f"{name}={python}" for name, python in made.items()))
    return 0


def make_environment(library: Library, folder: Path, *, base: str = sys.executable) -> Path:
    """Return the interpreter of a library below a folder; make it if it is not there or does not work."""
    home = folder / library.name
    python = python_of(home)
    if python.is_file() and library.lack(str(python)) is None:
        return python
    _check_version(library, base)
    print(f"{library.name}: installing {' '.join(library.requirements)} into {home}", file=sys.stderr)
    _run(library, [base, "-m", "venv", "--clear", str(home)])
    _run(library, [str(python), "-m", "pip", "install", "-qq", "--disable-pip-version-check", *library.requirements])
    lack = library.lack(str(python))
    if lack is not None:
        raise BenchError(f"{lack}.")
    return python


def python_of(home: Path) -> Path:
    """Return where a virtual environment has its interpreter."""
    return home / "Scripts" / "python.exe" if os.name == "nt" else home / "bin" / "python"


def _check_version(library: Library, base: str) -> None:
    code = "import sys; print(*sys.version_info[:2])"
    said = subprocess.run([base, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    oldest, newest = library.pythons
    if not oldest <= (int(said[0]), int(said[1])) <= newest:
        wanted = " to ".join(".".join(map(str, one)) for one in library.pythons)
        raise BenchError(f"{library.name}: expected Python {wanted}, got {'.'.join(said)}. Pass --base PYTHON.")


def _run(library: Library, command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        words = [line for line in done.stderr.splitlines() if line.strip() and not line.startswith("WARNING")]
        raise BenchError(f"{library.name}: {' '.join(command)} failed: {words[-1] if words else 'no word'}")


if __name__ == "__main__":
    sys.exit(main())
