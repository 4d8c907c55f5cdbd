# SPDX-License-Identifier: Apache-2.0
"""Measurements that the repository keeps: ``measured/SUITE.jsonl``, a line for each data set, method and epsilon.

A line has the number of repeats, their mean loss and standard deviation, and the name of its run; a run, on a line of its own
before them, has seed, commits, versions and command: enough for areas with intervals, and for repeating it. Lines are made from
the folders of runs, never written by hand.
"""

import json
import math
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from ._errors import BenchError
from ._methods import LIMITS, METHODS
from ._results import Results, open_results
from ._stats import EPSILONS, Estimate, area_from

__all__ = ["HOME", "Measurement", "area_of_lines", "condense", "read_measured", "write_measured"]

HOME = Path(__file__).resolve().parent / "measured"
DIGITS = 6  # of means and deviations
RUN = ("suite", "seed", "commits", "versions", "command")  # what the lines of a run share


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """The repeats of one fit: a data set, a method, an epsilon."""

    suite: str
    data: str
    origin: str
    method: str
    epsilon: float | None
    n: int  # repeats
    mean: float  # loss
    sd: float | None  # of a repeat; None for a single one
    seconds: float  # of a fit, mean
    failed: int  # repeats that failed
    seed: int  # base seed of the run
    commits: tuple[str, ...]
    versions: Mapping[str, str]
    command: str

    @property
    def estimate(self) -> Estimate:
        """The mean with its variance."""
        if self.sd is None:
            return Estimate(self.mean, n_runs=self.n)
        return Estimate(self.mean, self.sd**2 / self.n, self.n - 1, self.n)


def area_of_lines(lines: Iterable[Measurement]) -> Estimate | None:
    """Return the area under the mean loss; None where an epsilon of Table I is missing."""
    means = {line.epsilon: line.estimate for line in lines if line.epsilon is not None}
    return area_from({epsilon: means[epsilon] for epsilon in EPSILONS}) if set(means) == set(EPSILONS) else None


def condense(folders: Sequence[Path]) -> list[Measurement]:
    """Return the measurements of runs; a fit that two of the folders hold is refused."""
    lines: dict[tuple[Any, ...], Measurement] = {}
    for folder in folders:
        results = open_results(folder)
        groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
        for record in results:
            key = (record["suite"], record["data"], record["origin"], record["method"], record["epsilon"], record["base_seed"])
            groups.setdefault(key, []).append(record)
        command = _command(results)
        for key, records in groups.items():
            if all(record["status"] != "ok" for record in records):
                continue
            line = _line(records, command)
            if key in lines and key[3] not in LIMITS:
                raise BenchError(f"scoreboard: {folder} measures {key[3]} on {key[1]} again. Put its lines into one folder.")
            if key not in lines or line.n > lines[key].n:
                lines[key] = line
    return list(lines.values())


def write_measured(path: Path, lines: Iterable[Measurement]) -> None:
    """Write measurements, sorted, one to a line."""
    order = {name: index for index, name in enumerate(METHODS)}
    found = sorted(lines, key=lambda line: (line.data, order.get(line.method, len(order)), line.method, line.epsilon or 0.0))
    runs: dict[str, str] = {}
    written = []
    for line in found:
        facts = asdict(line)
        shared = json.dumps({name: facts.pop(name) for name in RUN})
        written.append({"run": runs.setdefault(shared, str(len(runs) + 1)), **facts})
    first = [{"run": name, **json.loads(shared)} for shared, name in runs.items()]
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in [*first, *written]), encoding="utf-8")


def read_measured(path: Path) -> list[Measurement]:
    """Return the measurements of a file."""
    runs, found = {}, []
    for line in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
        name = line.pop("run")
        if "command" in line:
            runs[name] = {**line, "commits": tuple(line["commits"])}
        else:
            found.append(Measurement(**line, **runs[name]))
    return found


def _line(records: Sequence[Mapping[str, Any]], command: str) -> Measurement:
    good = [record for record in records if record["status"] == "ok"]
    losses = [record["loss"] for record in good]
    first = good[0]
    other = {f"{name} (worker)": version for name, version in first.get("other_versions", {}).items()}
    return Measurement(
        suite=first["suite"],
        data=first["data"],
        origin=first["origin"],
        method=first["method"],
        epsilon=first["epsilon"],
        n=len(good),
        mean=_round(fmean(losses)),
        sd=_round(stdev(losses)) if len(losses) > 1 else None,
        seconds=_round(fmean(record["seconds"] for record in good), 3),
        failed=len(records) - len(good),
        seed=first["base_seed"],
        commits=tuple(sorted({record["commit"] for record in good})),
        versions={**first["versions"], **other},
        command=command,
    )


def _round(value: float, digits: int = DIGITS) -> float:
    return 0.0 if value == 0 else round(value, digits - 1 - math.floor(math.log10(abs(value))))


def _command(results: Results) -> str:
    """Return the command that measures what a folder holds; where data and interpreters lie is the user's matter."""
    methods = [name for name in results.names("method") if name not in LIMITS]
    repeats = 1 + max(record["repeat"] for record in results)
    words = ["python", "-m", "benchmarks", results.names("suite")[0], "--datasets", ",".join(results.names("data"))]
    words += ["--methods", ",".join(methods), "--repeats", str(repeats), "--seed", str(results.names("base_seed")[0])]
    words += ["--data", "DIR"] if "file" in results.names("origin") else []
    return shlex.join(words)
