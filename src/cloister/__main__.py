# SPDX-License-Identifier: Apache-2.0
"""``python -m cloister`` is the command ``cloister``."""

from cloister.cli import main

__all__: list[str] = []

if __name__ == "__main__":
    main(prog_name="cloister")
