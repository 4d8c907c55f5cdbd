# SPDX-License-Identifier: Apache-2.0
"""The second half of :class:`cloister.KMeans`: place the centres, by sums of clipped offsets.

One round asks how far rows lie from their centre, chooses a radius, asks for the number of rows and the sum of the clipped
offsets at each centre, and moves every centre by the noisy mean offset, shrunk as its noise demands. The radius shrinks
with the error, and the noise with the radius, so a few small rounds place centres better than a single large one. Between
rounds the extra starting centres are joined until k are left. Then, where noise allows it, these settle: without sharp clusters
they go on moving for many rounds, each in the direction of the last. Rows are reached through ``ask`` alone.

**How far to move.** The noise of a mean offset has a known variance e per coordinate. If true offsets vary by V per coordinate,
the best estimate of one is V / (V + e) times what was seen. V is read off all centres together: the observed squares less those
of the noise; a centre that clearly moved more than the others gets a V of its own. Where there is only noise, V is 0 and
nothing moves. Under a projection the part inside its span, which votes have placed already, has its own V.

**Clipping** an offset of length s at r multiplies the mean offset of a small displacement by phi = P(s < r) + (1 - 1/d) E[r/s;
s > r] (the derivative of the clipped mean); the mean is divided by it. r minimises the squared noise of what is left,
plus the square of a part of the mean length cut off, which stands for what clipping hides where a cluster is lopsided.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cloister.algorithms._grid import project_to_total
from cloister.algorithms._merge import join_closest
from cloister.algorithms._scatter import Scatter, find_scatter
from cloister.algorithms._select import select_centers
from cloister.algorithms._space import Space
from cloister.columns import FloatArray
from cloister.questions import Ask, DistanceHistogram, NearestCounts, NearestSquares, NearestSums, Step

STEPS = 2.0 ** (np.arange(-18, 7) / 3)  # edges of a histogram of distances, in units of the length that is expected
LOPSIDED = 0.6  # part of the mean length cut off that counts as bias
FEWEST_ROWS = 2.0  # a count below so many standard deviations of its noise is taken as that
SMALLEST_PHI = 1e-3
NEARLY_ALL = 0.9  # of the rows lie within the length around which the next histogram looks
MOST_ROWS = 0.99  # lie within the distance up to which a histogram tells how far they scatter
SEEN = 8.0  # standard deviations of a histogram of distances: from so many rows on it tells how far they lie
BIN_ERROR = 0.05  # part of a mean squared distance that the width of the bins of STEPS leaves open, about
FAR_ROWS = 4.0  # times that is the square of the farthest bins that matter, about
FINEST = 8  # bins for each of STEPS
TAIL = 2.0  # standard deviations of the noise that the farthest bins must hold together to be looked at
CLEAR_TAIL = 4.0  # the same for rows beyond bins that hold none
FALL = 2.5  # power by which rows that the noise hides may become fewer with the distance, or slower
MANY_HIDDEN = 0.15  # part of the rows, as the standard deviation of the noise
TAIL_RATIO = 4.0  # times as many rows lie beyond where the fall towards them starts to be measured
OVERSTEP = 1.5  # times the step, while centres settle: rows change hands as centres move, so the next step points the same way
SETTLED = 5e-4  # part of the loss: centres whose last step gained less have settled
FARTHER = 2.0  # the last histogram also tells the loss, so it looks farther out, where the tails are
SHORTEST, LONGEST = 2.0**-16, 1.0  # expected lengths, in units of the domain's radius


@dataclass(frozen=True, eq=False)
class Lengths:
    """A noisy histogram of distances."""

    edges: FloatArray
    counts: FloatArray  # one more than edges
    sigma: float

    def parts(self, n_rows: float) -> FloatArray:
        """Return the part of the rows in each bin: not negative, and one in all."""
        mass = project_to_total(self.counts, max(n_rows, 1.0))
        return np.asarray(mass / mass.sum())

    @property
    def middle(self) -> FloatArray:
        """A distance that stands for each bin: the geometric middle, half the first edge and a little more than the last."""
        low = np.concatenate([[self.edges[0] / 4], self.edges])
        return np.asarray(np.sqrt(low * np.concatenate([self.edges, 1.2 * self.edges[-1:]])))


@dataclass(frozen=True, kw_only=True)
class Round:
    """One round: its questions, and how many centres it leaves."""

    step: Step  # "distances", "counts" and "sums"; with "squares" it also tells how far the rows of each centre scatter
    n_left: int  # centres after the round: extra ones are joined
    projected: bool  # whether rows belong to the nearest centre of the projection, or of the full space
    settling: bool = False  # no centre is joined any more and none is final: asks no distances, and moves centres farther

    def rows(self, query: str, n_rows: float) -> float:
        """Return about how many of `n_rows` rows answer a query: all, or those of a sample."""
        return self.step[query].row_share * n_rows


@dataclass(frozen=True, kw_only=True, eq=False)
class Move:
    """What a round decided, and where it left the centres, in the coordinates of the unit ball."""

    step: str
    centers: FloatArray
    points: FloatArray  # centres that it asked about, after their step and before any were joined
    offsets: FloatArray  # their steps
    errors: FloatArray  # standard error of a coordinate, per point
    counts: FloatArray  # noisy numbers of their rows
    count_sigma: float
    radius: float  # at which offsets were clipped
    passed: float  # part of a small displacement that clipping was taken to leave
    gained: float  # in mean squared distance
    scatter: Scatter | None  # of the rows around their centre; None unless the round asked for it


@dataclass(frozen=True, eq=False)
class Refined:
    """The rounds, the last of which holds the centres."""

    moves: tuple[Move, ...]
    lengths: Lengths  # how far rows lay from their centre before the last step
    scatter: Scatter | None  # as the last move has it, and beyond its radius

    @property
    def last(self) -> Move:
        """The last move: no centre is joined after it."""
        return self.moves[-1]

    @property
    def centers(self) -> FloatArray:
        """The centres."""
        return self.last.centers

    @property
    def errors_before(self) -> FloatArray:
        """How well centres were known before the last step: joined ones about as well as those that they were joined of."""
        before = self.moves[-2].errors if len(self.moves) > 1 else self.last.errors
        n_centers = len(self.last.centers)
        return before if len(before) == n_centers else np.full(n_centers, float(np.median(before)))


def refine(
    ask: Ask,
    rounds: Sequence[Round],
    centers: FloatArray,
    space: Space,
    *,
    n_rows: float,
    length: float,
    generator: np.random.Generator,
    restarts: int,
) -> Refined:
    """Run the rounds from `centers`, which lie in the full space: as many as are wanted, or more.

    The first round does not settle. Votes are cast in `space`, whose projection has orthonormal columns. `length` is about how
    far rows may lie from their centre: where the first histogram looks; later ones look where it points. Weighted k-means with
    `restarts` drops the extra centres at the end.
    """
    moves, projection, reach = list[Move](), space.projection, length
    pending = list(rounds)
    while pending:
        one = pending.pop(0)
        placed: dict[str, Any] = {"points": centers, "anchors": None, "projection": None}  # rows belong to the nearest centre
        if one.projected and projection is not None:  # in the projection
            placed = {"points": np.clip(centers @ projection, -2.0, 2.0), "anchors": centers, "projection": projection}
        if not one.settling:
            asked = one.rows("distances", n_rows)
            steps = STEPS if pending else _finer_steps(asked / one.step["distances"].sigma)
            edges = min(max(length if pending else FARTHER * length, SHORTEST), LONGEST) * steps
            histogram = ask(DistanceHistogram(edges=edges, **placed), one.step["distances"])
            lengths = Lengths(edges, histogram.value, histogram.sigma)
            length = quantile(lengths, n_rows=asked, part=NEARLY_ALL)
            loss = mean_square(lengths, n_rows=asked, longest=length).value
        per_centre = max(one.rows("sums", n_rows) / len(centers), 1.0)
        noise = math.sqrt(centers.shape[1]) * one.step["sums"].sigma / per_centre
        radius, phi = choose_radius(lengths, n_rows=asked, noise=noise, n_features=centers.shape[1])
        moved = _move(ask, one, placed, radius, phi, n_rows=n_rows, centers=centers, space=space)
        centers = moved.points
        if len(centers) > one.n_left:
            mass = project_to_total(moved.counts, one.rows("counts", n_rows))
            if any(later.n_left < one.n_left for later in pending):
                left = join_closest(centers, mass, one.n_left)
            else:  # the last time afresh, with restarts, which finds better sets
                left = select_centers(
                    centers, mass, mass, one.n_left, selection="kmeans", generator=generator, restarts=restarts
                )
            centers = space.full.clip(left)
        moves.append(replace(moved, centers=centers))
        loss -= moved.gained
        if one.settling and moved.gained < SETTLED * loss:
            pending = _without_settling(pending)
    scatter = None if moved.scatter is None else _scatter(moved.scatter, lengths, moved, n_rows=asked, reach=reach)
    return Refined(tuple(moves), lengths, scatter)


def _scatter(found: Scatter, lengths: Lengths, moved: Move, *, n_rows: float, reach: float) -> Scatter:
    """Return the scatter of rows beyond the radius too, as sums of squares and the last histogram of distances show it.

    Too few rows tell neither where to clip nor how far they scatter: it may be as far as the domain reaches.
    """
    if not sees_distances(lengths, n_rows=n_rows):
        return Scatter.even(found.variances.shape, mean_square(lengths, n_rows=n_rows, longest=LONGEST).value, LONGEST**2)
    longest = max(quantile(lengths, n_rows=n_rows, part=MOST_ROWS), moved.radius)
    clipped = mean_square(lengths, n_rows=n_rows, longest=moved.radius).value
    unclipped = mean_square(lengths, n_rows=n_rows, longest=longest).value
    seen = mean_square(lengths, n_rows=n_rows, longest=reach)
    found = found.times(unclipped / max(clipped, 1e-300))
    return found.averaged(max(seen.value - moved.gained, 0.0), seen.error, weights=project_to_total(moved.counts, n_rows))


def sees_distances(lengths: Lengths, *, n_rows: float) -> bool:
    """Return whether there are enough rows for a noisy histogram to tell how far they lie."""
    return n_rows >= SEEN * lengths.sigma


def _without_settling(rounds: Sequence[Round]) -> list[Round]:
    """Return the rounds that are left when centres have settled, with the budget of those that are not needed."""
    later = [one for one in rounds if not one.settling]
    factor = sum(one.step.share for one in rounds) / sum(one.step.share for one in later)
    return [replace(one, step=one.step.times(factor)) for one in later]


def _move(
    ask: Ask, one: Round, placed: dict[str, Any], radius: float, phi: float, *, n_rows: float, centers: FloatArray, space: Space
) -> Move:
    """Ask for counts and sums of offsets clipped at `radius`, and move each centre."""
    questions = {
        "counts": NearestCounts(points=placed["points"], projection=placed["projection"]),
        "sums": NearestSums(radius=radius, **placed),
        "squares": NearestSquares(radius=radius, **placed),
    }
    asked = [name for name in questions if one.step.sigma(name) is not None]
    counts, sums, *others = ask([questions[name] for name in asked], [one.step[name] for name in asked])
    sizes = phi * np.maximum(counts.value, max(FEWEST_ROWS * counts.sigma, 1.0))
    offsets = sums.value / sizes[:, None]
    variances = (sums.sigma / sizes) ** 2
    step, left = _shrink(offsets, variances, space.projection, longest=radius / phi)
    points = space.full.clip(centers + (OVERSTEP if one.settling else 1.0) * step)
    mass = project_to_total(counts.value, one.rows("sums", n_rows))
    gained = float(mass @ np.sum(step**2, axis=1)) / max(float(mass.sum()), 1.0)
    return Move(
        step=one.step.name,
        centers=points,
        points=points,
        offsets=step,
        errors=np.sqrt(left),
        counts=counts.value,
        count_sigma=counts.sigma,
        radius=radius,
        passed=phi,
        gained=gained,
        scatter=find_scatter(others[0], counts, step) if others else None,
    )


def shrinkage(offsets: FloatArray, variances: FloatArray, *, longest: float = math.inf) -> FloatArray:
    """Return, per row of `offsets`, the shrinkage factor for coordinates that carry noise of the given variance.

    No true offset is longer than `longest`, so however large the noise happens to be, it is not taken for more than that.
    """
    n_features = offsets.shape[1]
    squares = np.sum(offsets**2, axis=1)
    excess = (squares - n_features * variances) / n_features
    common = max(0.0, float(np.average(excess, weights=variances**-2.0)))
    # A centre of its own kind: more than a standard deviation of the squared noise beyond what noise explains.
    own = excess - math.sqrt(2 * n_features) * variances / n_features
    signal = np.minimum(np.maximum(common, own), longest**2 / n_features)
    return np.asarray(signal / (signal + variances))


def _shrink(
    offsets: FloatArray, variances: FloatArray, projection: FloatArray | None, *, longest: float
) -> tuple[FloatArray, FloatArray]:
    """Return the step of each centre, and the variance that is left in a coordinate."""
    if projection is None:
        part = shrinkage(offsets, variances, longest=longest)
        return part[:, None] * offsets, _risk(part, offsets.size) * variances
    inside = offsets @ projection
    across = offsets - inside @ projection.T
    rest = offsets.shape[1] - projection.shape[1]
    own = shrinkage(inside, variances, longest=longest)
    # `across` has as many coordinates as the full space but only `rest` degrees of freedom.
    other = shrinkage(across * math.sqrt(offsets.shape[1] / rest), variances, longest=longest)
    step = own[:, None] * (inside @ projection.T) + other[:, None] * across
    left = projection.shape[1] * _risk(own, inside.size) + rest * _risk(other, len(offsets) * rest)
    return step, left / offsets.shape[1] * variances


def _risk(part: FloatArray, numbers: int) -> FloatArray:
    """Return what is left of the noise's variance after shrinking by `part`, a factor that was itself read off so many numbers.

    The variance of true offsets is known up to ``sqrt(2 / numbers)`` of the noise's. So much of it may be there unseen, and
    shrinking leaves its part: a centre that did not move is not known exactly.
    """
    return part + (1 - part) ** 2 * math.sqrt(min(1.0, 2 / numbers))


def choose_radius(lengths: Lengths, *, n_rows: float, noise: float, n_features: int) -> tuple[float, float]:
    """Return the radius to clip at, and what clipping leaves of a small displacement.

    `lengths` should add up to `n_rows`; `noise` is the standard deviation of a mean offset, all coordinates together, per unit
    of radius.
    """
    mass, middle, radii = lengths.parts(n_rows), lengths.middle, lengths.edges
    cut = np.maximum(middle[None] - radii[:, None], 0.0) @ mass
    within = np.where(middle[None] <= radii[:, None], 1.0, (1 - 1 / n_features) * radii[:, None] / middle[None])
    phi = np.maximum(within @ mass, SMALLEST_PHI)
    best = int(np.argmin((LOPSIDED * cut) ** 2 + (noise * radii / phi) ** 2))
    return float(radii[best]), float(phi[best])


@dataclass(frozen=True)
class MeanSquare:
    """A mean squared distance, the standard error that noise gives it, and how much it varies from row to row."""

    value: float
    error: float
    deviation: float


def mean_square(lengths: Lengths, *, n_rows: float, longest: float) -> MeanSquare:
    """Return the mean squared distance that a noisy histogram shows; distances beyond `longest` count as that."""
    counts, edges = lengths.counts, lengths.edges
    beyond = np.cumsum(counts[::-1])[::-1][1:]  # rows beyond each edge, and the noise of their number
    noise = lengths.sigma * np.sqrt(np.arange(len(edges), 0, -1))
    hidden = (beyond <= TAIL * noise) | (edges >= longest)
    last = int(np.argmax(np.append(hidden[:-1], True)))  # the first edge beyond which there are no more than noise may hide
    clear = np.flatnonzero((beyond > CLEAR_TAIL * noise) & (edges < longest))  # rows far out, where few bins are added up
    last = min(max(last, int(clear[-1]) + 1 if clear.size else 0), len(edges) - 1)
    tail, power = beyond[: last + 1].copy(), 2.0
    tail[-1] = max(tail[-1], noise[last])
    first = int(np.searchsorted(-tail, -TAIL_RATIO * tail[-1], side="right")) - 1
    if first >= 0:
        power = math.log(tail[first] / tail[-1]) / math.log(edges[last] / edges[first])
    near = Lengths(edges[: last + 1], np.append(counts[: last + 1], max(beyond[last], 0.0)), lengths.sigma)
    parts, start = near.parts(n_rows), min(float(edges[last]), longest)
    squares = np.append(np.minimum(near.middle[:-1], longest) ** 2, start**2 * _mean_beyond(longest / start, power))
    widths = np.append(np.diff(np.append(0.0, np.minimum(near.edges, longest)) ** 2) / math.sqrt(12), squares[-1] - start**2)
    farther = start**2 * _mean_beyond(longest / start, min(power, FALL))  # what the noise hides may lie farther out
    if noise[last] > MANY_HIDDEN * n_rows:  # where it hides a good part of the rows, any of them may lie anywhere
        farther = longest**2
    hides = np.append(lengths.sigma * squares[:-1], noise[last] * farther) / max(n_rows, 1.0)
    value = float(parts @ squares)
    error = math.hypot(float(np.linalg.norm(hides)), float(np.linalg.norm(parts * widths)))
    return MeanSquare(value, error, math.sqrt(max(float(parts @ squares**2) - value**2, 0.0)))


def _mean_beyond(room: float, power: float) -> float:
    """Return the mean square of distances from 1 up to `room`, which exceed t with a chance of t to the minus `power`."""
    excess, log = power - 2.0, math.log(room)
    return 1.0 + 2.0 * (log if abs(excess) < 1e-6 else -math.expm1(-excess * log) / excess)


def _finer_steps(snr: float) -> FloatArray:
    """Return edges that are as fine, where most rows are, as the noise of rows that stand out by `snr` deviations allows.

    More bins leave less open where in them distances lie, and have more noise: with f bins for each of STEPS the squares of the
    two errors are as 1 / f^2 and f.
    """
    ratio = (BIN_ERROR * snr / FAR_ROWS) ** 2 / 2
    fineness = int(min(FINEST, max(1.0, ratio ** (1 / 3))))
    finer = STEPS[:, None] * 2.0 ** (np.arange(fineness) / (3 * fineness))
    return np.unique(np.concatenate([STEPS, finer[(STEPS >= 1 / 16) & (STEPS < 1)].ravel()]))


def quantile(lengths: Lengths, *, n_rows: float, part: float) -> float:
    """Return a distance within which `part` of the rows lie, by a noisy histogram."""
    reached = int(np.searchsorted(np.cumsum(lengths.parts(n_rows)), part))
    return float(lengths.edges[min(reached, len(lengths.edges) - 1)])
