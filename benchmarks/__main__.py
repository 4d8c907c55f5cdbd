# SPDX-License-Identifier: Apache-2.0
"""``python -m benchmarks``: every method on the same data, in suites."""

from ._cli import PROGRAM, bench

if __name__ == "__main__":
    bench(prog_name=PROGRAM)
