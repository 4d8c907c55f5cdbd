# SPDX-License-Identifier: Apache-2.0
"""``python -m tests.fuzz``: play the corpus, draw new cases of every target, print what came of them; exit 1 on a finding."""

import argparse
import json
import multiprocessing
import os
import sys
import time

from tests.fuzz._run import Tally
from tests.fuzz._targets import TARGETS, work

BATCH = 500  # cases that one process draws at a time: the next batch begins with a seed of its own
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}  # the tables are tiny


def main() -> int:
    """Run."""
    options = _read_options()
    chosen = {name: TARGETS[name] for name in (options.targets or TARGETS)}
    total = sum(target.share for target in chosen.values())
    wanted = {name: round(options.cases * target.share / total) for name, target in chosen.items()}
    tallies = {name: Tally() for name in chosen}
    tasks = [(name, 0, 0) for name in chosen]
    for name, count in wanted.items():
        tasks += [(name, min(BATCH, count - start), options.seed + start) for start in range(0, count, BATCH)]
    tasks[len(chosen) :] = sorted(tasks[len(chosen) :], key=lambda task: task[2])  # all targets advance together
    began = last = time.monotonic()
    os.environ.update(ONE_THREAD)  # of the processes that are started now
    # Not an executor of concurrent.futures: with a limit of tasks for each process it can wait for ever for the next one.
    with multiprocessing.get_context("spawn").Pool(options.jobs, maxtasksperchild=20) as pool:
        for name, tally in pool.imap_unordered(work, tasks):
            for case, text in tally.findings:
                if text not in [known for _, known in tallies[name].findings]:
                    print(f"FINDING in {name}: {text}\n  {json.dumps(case)}", flush=True)
            tallies[name].add(tally)
            if time.monotonic() - last > options.every:
                last = time.monotonic()
                done = sum(one.cases for one in tallies.values())
                print(f"{done:>7,} of {options.cases:,} cases, {last - began:.0f} s", flush=True)
    if options.keep:
        for name, tally in tallies.items():
            chosen[name].keep([*tally.examples.values(), *(case for case, _ in tally.findings)])
    return _report(tallies, time.monotonic() - began, outcomes=options.outcomes)


def _report(tallies: dict[str, Tally], seconds: float, *, outcomes: bool) -> int:
    print(f"\n{'target':<12}{'cases':>9}{'outcomes':>10}{'findings':>10}")
    for name, tally in tallies.items():
        print(f"{name:<12}{tally.cases:>9,}{len(tally.outcomes):>10}{len(tally.findings):>10}")
        for text, times in tally.outcomes.most_common() if outcomes else ():
            print(f"    {times:>7,}  {text}")
    cases, findings = (
        sum(numbers) for numbers in zip(*((one.cases, len(one.findings)) for one in tallies.values()), strict=True)
    )
    print(f"{'in all':<12}{cases:>9,}{'':>10}{findings:>10}   {seconds:.0f} s")
    return 1 if findings else 0


def _read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"of {', '.join(TARGETS)}; all by default")
    parser.add_argument("--cases", type=int, default=100_000, help="new cases in all (default: %(default)s)")
    parser.add_argument("--jobs", type=int, default=2, help="processes (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=time.time_ns() % 10**9, help="draws the same cases again")
    parser.add_argument("--keep", action="store_true", help="add a case of every outcome, and every finding, to the corpus")
    parser.add_argument("--outcomes", action="store_true", help="print how often every outcome was seen")
    parser.add_argument("--every", type=float, default=30.0, help="seconds between lines of progress (default: %(default)s)")
    options = parser.parse_args()
    if unknown := set(options.targets) - set(TARGETS):
        parser.error(f"no such target: {', '.join(sorted(unknown))}")
    print(f"seed {options.seed}", flush=True)
    return options


if __name__ == "__main__":
    sys.exit(main())
