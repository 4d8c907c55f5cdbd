# SPDX-License-Identifier: Apache-2.0
"""The quick profile, what ``make bench`` runs: a few minutes on two cores."""

import sys

from benchmarks import nearest, noise, speed, table1

if __name__ == "__main__":
    codes = [
        noise.main(),
        nearest.main(["--dimensions", "2", "4", "8", "16", "--points", "64", "1024", "4096"]),
        table1.main(["iris", "sklearn_4_4", "sklearn_16_4", "--repeats", "3"]),
        speed.main(["--rows", "10000", "100000"]),
    ]
    sys.exit(max(codes))
