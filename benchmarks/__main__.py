# SPDX-License-Identifier: Apache-2.0
"""``python -m benchmarks`` is ``cloister bench``."""

import sys

from cloister.cli import main

if __name__ == "__main__":
    main(["bench", *sys.argv[1:]], prog_name="cloister")
