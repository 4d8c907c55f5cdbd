# SPDX-License-Identifier: Apache-2.0
"""Rows of a Dask array, a Dask data frame, or files that Dask workers read.

Rows stay with the workers. Each question is sent once to every worker; each partition answers with integers, which are joined
eight at a time, and one small array comes back. Every step is a task with a key, computed from its inputs alone: one that is
lost with a worker is computed again and takes the place of the first, so that nothing counts twice. Rows that fit into
the memory of the workers are kept there from one question to the next, where more than one is expected.
"""

import os
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, TypeVar, cast

import numpy as np

from cloister.data._backend import Integers, Kernel, Rows, Watch, empty_block, explained, merge_of
from cloister.data._bound import Bounding
from cloister.data._cache import BlockCache
from cloister.data._columns import (
    N_LANES,
    Chosen,
    Declared,
    IdColumn,
    IdValues,
    Schema,
    check_id_array,
    choose_columns,
    refuse_id_values,
    refuse_names,
)
from cloister.data._files import FileSet
from cloister.data._numpy import check_array_type
from cloister.data._pandas import describe_column
from cloister.data._parts import new_shuffle, rows_of_parts, store
from cloister.data._share import (
    Failure,
    Sampled,
    Share,
    choose_range,
    count_ranges,
    deal_part,
    draw_part,
    failure_of,
    hold,
    identify,
    join_parts,
    join_shares,
    share_of,
    shuffle_part,
)
from cloister.data._values import DOUBLE
from cloister.exceptions import DataError
from cloister.privacy import Coins

Result = TypeVar("Result")

SAMPLE_PARTS = 16  # a sample has no more: its rows are few, and every part costs something
FAN_IN = 8  # answers joined at a time
RETRIES = 2  # of a task that raised an error
KEPT_PART = 0.6  # of the free memory that rows may take
CONNECT_SECONDS = 20.0
PATIENCE_SECONDS = 120.0  # without a single worker
LOOK_SECONDS = 1.0


class DaskRows(Rows):
    """Rows in partitions that Dask computes.

    `parts` are delayed arrays, pandas frames or pieces of files; `size` is what they take in bytes, if that is known;
    `declared` says what the columns of frames are, and travels with every part.
    """

    def __init__(
        self,
        where: str,
        parts: Sequence[Any],
        schema: Schema,
        *,
        size: int | None,
        client: Any = None,
        declared: Declared = (),
        n_jobs: int = 1,
    ) -> None:
        super().__init__(schema)
        self._where = where
        self._parts = list(parts)
        self._size = size
        self._own_client = client
        self._declared = declared
        self._n_jobs = n_jobs
        self._decided = False  # whether to keep the rows

    def fold(self, kernel: Kernel, *, watch: Watch | None = None, cache: BlockCache[Any] | None = None) -> Integers:
        """Send the kernel to the partitions and join what they answer, as a tree. How far it is, Dask's own pages say."""
        import cloudpickle

        packed = cloudpickle.dumps(kernel)  # before the kernel prepares itself: workers do that for themselves
        nothing = kernel(empty_block(self.width))
        if not self._parts:  # a file without rows may have none
            return nothing
        share = self._explained(lambda: self._answer(packed, self._client(), keep=cache is not None))
        self._size = share.size
        return merge_of(kernel)(nothing, share.integers)

    def _answer(self, packed: bytes, client: Any, *, keep: bool) -> Share | Failure:
        if keep:
            self._keep(client)
        answer: Share | Failure = self._compute(_tree(self._where, self._parts, packed, self.width, self._declared), client)
        return answer

    def sample(self, coins: Coins, *, watch: Watch | None = None) -> Rows:
        """Draw the sample where the rows are. It stays there, in few parts; without a cluster it is in this process."""
        client = self._client()
        return self._explained(lambda: self._draw(coins) if client is None else self._draw_remotely(coins, client))

    def _explained(self, work: Callable[[], Result | Failure]) -> Result:
        """Return what the work makes of the rows. What goes wrong becomes an error that quotes nothing."""
        found = explained(work, lambda error: self._explain(type(error).__name__))
        if isinstance(found, Failure):
            raise DataError(found.message)
        return found

    def _draws(self, coins: Coins) -> list[Any]:
        import dask

        secret = dask.delayed(coins, traverse=False)  # a task of its own, as a question is
        draw = dask.delayed(partial(draw_part, declared=self._declared), pure=False)
        return [draw(self._where, part, secret, number) for number, part in enumerate(self._parts)]

    def _draw(self, coins: Coins) -> Rows | Failure:
        import dask

        parts = dask.compute(*self._draws(coins))
        blocks = [[part.rows] for part in parts if isinstance(part, Sampled)]
        return failure_of(parts) or rows_of_parts(blocks, self.schema, self._n_jobs)

    def _draw_remotely(self, coins: Coins, client: Any) -> Rows | Failure:
        """Draw from every part, then join what is on one worker, so that later questions meet few parts and rows stay put."""
        import dask

        join, failed = (dask.delayed(one, pure=False) for one in (join_parts, failure_of))
        drawn = client.persist(self._draws(coins), retries=RETRIES)
        if failure := self._compute(failed([failed([one]) for one in drawn]), client):
            return cast(Failure, failure)
        homes = client.who_has([one.key for one in drawn])
        drawn.sort(key=lambda one: homes.get(one.key, ()))
        n_parts = min(len(drawn), SAMPLE_PARTS, max(1, sum(client.nthreads().values())))
        groups = [drawn[len(drawn) * number // n_parts : len(drawn) * (number + 1) // n_parts] for number in range(n_parts)]
        parts = client.persist([join(group) for group in groups], retries=RETRIES)
        return _DaskSample(self, parts, client)

    def bounded(self, bounding: Bounding, *, watch: Watch | None = None) -> Rows:
        """Choose where the rows are, after each has moved once; without a cluster they come to this process.

        What is kept stays where it was chosen. Until then, workers hold all rows: in memory and, beyond what Dask is set to
        allow, on disk.
        """
        client = self._client()
        return self._explained(lambda: self._bound(bounding) if client is None else self._bound_remotely(bounding, client))

    def _bound(self, bounding: Bounding) -> Rows | Failure:
        """Have partitions bring their rows to one place, in one computation, so that what they share is computed once."""
        import dask

        shuffle = new_shuffle(self.width)
        bring = dask.delayed(partial(shuffle_part, shuffle=shuffle, declared=self._declared), pure=False)
        # In threads of this process, whatever is set: rows could not be brought from another one.
        threads = "threads" if dask.config.get("scheduler", None) in (None, "threads", "threading") else "sync"
        found = dask.compute(*(bring(self._where, part) for part in self._parts), scheduler=threads)
        return failure_of(found) or store(shuffle.piles(), bounding, schema=self.schema, n_jobs=self._n_jobs)

    def _bound_remotely(self, bounding: Bounding, client: Any) -> Rows | Failure:
        """Deal every part out by ranges of buckets, and choose from each range in one task."""
        import dask

        n_cores = sum(client.nthreads().values())
        n_ranges = count_ranges(n_cores=n_cores, n_parts=len(self._parts), size=self._size)
        secret = dask.delayed(bounding, traverse=False)
        deal = dask.delayed(partial(deal_part, declared=self._declared), pure=False, nout=n_ranges)
        choose, failed = (dask.delayed(one, pure=False) for one in (choose_range, failure_of))
        dealt = [deal(self._where, part, n_ranges, self.width) for part in self._parts]
        ranges = [choose(self._where, [hand[number] for hand in dealt], secret, self.width) for number in range(n_ranges)]
        kept = client.persist(ranges, retries=RETRIES)
        return self._compute(failed([failed([one]) for one in kept]), client) or _DaskSample(self, kept, client)

    def _client(self) -> Any:
        """Return the cluster to use: the one that was named, else the current one, else None: threads of this process."""
        import dask

        if self._own_client is not None:
            return self._own_client
        if dask.config.get("scheduler", None) not in (None, "dask.distributed", "distributed"):
            return None
        distributed = sys.modules.get("distributed")
        with suppress(ValueError):  # there is no client
            return None if distributed is None else distributed.Client.current()
        return None

    def _keep(self, client: Any) -> None:
        """Keep the rows in memory if it is known that they fit."""
        import dask

        if self._decided or self._size is None:
            return
        self._decided = True
        if self._size <= KEPT_PART * _free_memory(client):
            task = partial(hold, declared=self._declared)
            held = [dask.delayed(task, pure=False)(self._where, part) for part in self._parts]
            self._parts = list(dask.persist(*held) if client is None else client.persist(held, retries=RETRIES))

    def _compute(self, total: Any, client: Any) -> Any:
        if client is None:
            return total.compute()
        future = client.compute(total, retries=RETRIES)
        with _cancelling([future]):
            return self._await(future, client)

    def _await(self, future: Any, client: Any) -> Any:
        """Return the result; wait for it as long as there is a worker, a while longer for one to come, then give up.

        Nothing is raised and caught on the way: a traceback would keep the rows that workers hold alive after their last use.
        """
        finished = threading.Event()
        future.add_done_callback(lambda _: finished.set())
        seen = time.monotonic()
        while not (finished.wait(LOOK_SECONDS) or future.done()):
            if client.status == "running" and client.scheduler_info().get("workers"):
                seen = time.monotonic()
            elif time.monotonic() - seen > PATIENCE_SECONDS:
                raise DataError(
                    f"{self._where}: no Dask worker for {PATIENCE_SECONDS:g} seconds. Start workers, or check the scheduler."
                )
        return future.result()

    def _explain(self, kind: str) -> str:
        if kind == "KilledWorker":
            return (
                f"{self._where}: Dask workers died again and again at the same partition. Give them more memory, "
                "or pass smaller partitions."
            )
        if kind in ("CancelledError", "FutureCancelledError", "CommClosedError", "TimeoutError", "ClosedClientError"):
            return f"{self._where}: the Dask cluster can no longer be reached ({kind}). Check the scheduler."
        return (
            f"{self._where}: Dask cannot compute a partition ({kind}). Check that all partitions have the same columns and "
            "can still be read, and that workers have the same versions installed."
        )


class _DaskSample(DaskRows):
    """A sample, or rows that were bounded: workers keep it in few parts. It keeps its source alive."""

    def __init__(self, source: DaskRows, parts: Sequence[Any], client: Any) -> None:
        super().__init__(source._where, parts, source.schema, size=None, client=client)
        self._source = source

    def _answer(self, packed: bytes, client: Any, *, keep: bool) -> Share | Failure:
        """Ask each part for itself and join the answers here, which takes half the time that a tree of tasks does."""
        held = client.futures_of(self._parts)
        futures = [client.submit(share_of, self._where, one, packed, self.width, pure=False, retries=RETRIES) for one in held]
        with _cancelling(futures):
            return join_shares([self._await(future, client) for future in futures], packed)


def open_collection(where: str, data: Any, columns: Chosen, *, n_jobs: int, ids: IdColumn | IdValues | None) -> DaskRows:
    """Open a Dask array or data frame; no partition is computed."""
    kind = type(data)
    if hasattr(kind, "chunks"):
        return _open_array(where, data, columns, n_jobs, ids=ids)
    if isinstance(ids, IdValues):
        refuse_id_values(where, "Dask")
    if not (hasattr(kind, "columns") and data.ndim == 2):
        raise DataError(
            f"{where}: expected a Dask array or data frame, got a Dask {kind.__name__}. Convert it to one of these."
        )
    table = [describe_column(name, dtype) for name, dtype in data.dtypes.items()]
    chosen = choose_columns(where, table, columns, ids=ids)
    parts = data[[data.columns[index] for index in chosen.places]].to_delayed()
    return DaskRows(where, list(parts), chosen.schema, size=None, declared=chosen.declared, n_jobs=n_jobs)


def open_files(where: str, files: FileSet, *, scheduler: str | None, n_jobs: int) -> DaskRows:
    """Open files that all workers see under the same path."""
    import dask

    parts = [dask.delayed(piece, traverse=False) for piece in files.pieces]
    client = None if scheduler is None else connect_dask(where, scheduler)
    rows = DaskRows(where, parts, files.schema, size=files.size, client=client, n_jobs=n_jobs)
    if client is not None:
        weakref.finalize(rows, client.close)
    return rows


def connect_dask(where: str, scheduler: str) -> Any:
    """Return a client of the scheduler at this address."""
    import distributed

    return explained(
        lambda: distributed.Client(scheduler, timeout=CONNECT_SECONDS, set_as_default=False),
        lambda error: (
            f"{where}: no Dask scheduler answers at {scheduler!r} ({type(error).__name__}). Check the address, or start one "
            "with 'dask scheduler'."
        ),
        (OSError, ValueError, TimeoutError),
    )


def _open_array(where: str, array: Any, columns: Chosen, n_jobs: int, *, ids: IdColumn | IdValues | None) -> DaskRows:
    refuse_names(where, columns, type(array))
    if array.ndim != 2:
        raise DataError(f"{where}: expected a 2-d table, got {array.ndim} dimension(s). Pass rows and columns.")
    check_array_type(where, array.dtype)
    n_features = array.shape[1]
    if not n_features > 0:  # also where Dask does not know it
        raise DataError(f"{where}: expected a known number of columns, at least 1. Call compute_chunk_sizes() first.")
    size = array.nbytes
    parts = array.rechunk({1: -1}).to_delayed().ravel().tolist()
    if ids is not None:
        return _with_ids(where, array, parts, ids, n_jobs)
    return DaskRows(where, parts, Schema(int(n_features)), size=None if np.isnan(size) else int(size), n_jobs=n_jobs)


def _with_ids(where: str, array: Any, parts: Sequence[Any], ids: IdColumn | IdValues, n_jobs: int) -> DaskRows:
    """Return rows whose ids are a Dask array of one dimension, cut as the rows are."""
    import dask

    if not isinstance(ids, IdValues):
        refuse_id_values(where, "Dask")
    given, lengths = ids.values, array.chunks[0]
    if getattr(given, "ndim", 0) != 1 or getattr(given, "chunks", None) != (lengths,) or np.isnan(sum(lengths)):
        refuse_id_values(where, "Dask")
    check_id_array(f"{where}.privacy_unit", given.dtype)
    join = dask.delayed(partial(identify, ids=ids.ids), pure=False)
    joined = [join(where, part, some) for part, some in zip(parts, given.to_delayed(), strict=True)]
    schema = Schema(array.shape[1], n_hidden=N_LANES)
    return DaskRows(where, joined, schema, size=int(sum(lengths)) * schema.width * DOUBLE, n_jobs=n_jobs)


def _tree(where: str, parts: Sequence[Any], packed: bytes, width: int, declared: Declared) -> Any:
    """Return the delayed answer of all parts. The question is a task of its own: workers get it from one another, once each."""
    import dask

    question = dask.delayed(bytes, pure=False)(packed)
    task = partial(share_of, declared=declared)
    shares = [dask.delayed(task, pure=False)(where, part, question, width) for part in parts]
    while True:
        shares = [
            dask.delayed(join_shares, pure=False)(shares[start : start + FAN_IN], question)
            for start in range(0, len(shares), FAN_IN)
        ]
        if len(shares) == 1:
            return shares[0]


@contextmanager
def _cancelling(futures: Sequence[Any]) -> Iterator[None]:
    """Have workers drop what they are computing if the block fails or is interrupted."""
    try:
        yield
    except BaseException:
        for future in futures:
            with suppress(Exception):
                future.cancel()
        raise


def _free_memory(client: Any) -> float:
    """Return the bytes that workers have left, infinite where one has no limit; without a cluster, half of this machine's."""
    if client is None:
        with suppress(AttributeError, OSError, ValueError):  # it does not say
            return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")) / 2
        return 0.0
    workers = client.scheduler_info()["workers"].values()
    limits = [worker.get("memory_limit") or float("inf") for worker in workers]
    used = [worker.get("metrics", {}).get("memory", 0) for worker in workers]
    return float(sum(max(limit - spent, 0.0) for limit, spent in zip(limits, used, strict=True)))
