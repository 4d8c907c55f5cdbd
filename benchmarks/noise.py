# SPDX-License-Identifier: Apache-2.0
"""Throughput of the exact samplers beside OpenDP's, in one run: ``python -m benchmarks.noise``."""

import argparse
import sys

from cloister.privacy import Entropy, Scale, discrete_laplace, rounded_gaussian

from ._harness import Report, side_by_side

OURS, LESS = 500_000, 100  # numbers drawn; OpenDP draws so many times fewer: both take long enough to be timed


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--numbers", type=int, default=OURS, help=f"drawn for each figure, by OpenDP {LESS} times fewer")
    count = parser.parse_args(arguments).numbers
    less = max(1, count // LESS)
    import opendp.prelude as dp

    dp.enable_features("contrib")
    report = Report("noise", ours=count, opendp=less)
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l2_distance(T="f64")
    flat = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    zeros = [0] * less
    entropy = Entropy()
    for scale in (0.5, 3.0, 100.0, 1e6, 1e9):
        gauss, laplace = dp.m.make_gaussian(*space, scale=scale), dp.m.make_laplace(*flat, scale=scale)
        exact = Scale.at_least(scale)
        pairs = {
            "gaussian": (lambda exact=exact: rounded_gaussian(entropy, exact, count), lambda gauss=gauss: gauss(zeros)),
            "laplace": (lambda exact=exact: discrete_laplace(entropy, exact, count), lambda laplace=laplace: laplace(zeros)),
        }
        for name, (ours, theirs) in pairs.items():
            best = side_by_side({"ours": ours, "opendp": theirs})
            mine, other = best["ours"] / count, best["opendp"] / less
            report.line(f"   {name:8s} scale {scale:<8g} ours {mine * 1e9:7.0f} ns   OpenDP {other * 1e9:9.0f} ns a number")
            report.floor(f"{name} at scale {scale:g}: times OpenDP's throughput", other / mine, at_least=20)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
