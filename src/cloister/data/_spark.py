# SPDX-License-Identifier: Apache-2.0
"""Rows of a Spark data frame, or files that Spark executors read.

Rows stay with the executors. Each question is broadcast once; each partition answers with integers, which are joined as a tree.
An answer is the result of a task, and of several attempts at a task Spark takes one result: nothing counts twice, as an
accumulator would. Where more than one question is expected, partitions are kept in the executors' memory as far as they fit;
the others are read again.
"""

import pickle
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial, reduce
from typing import Any

import numpy as np
import pyarrow as pa

from cloister.data._backend import (
    Block,
    Integers,
    Kernel,
    Source,
    Watch,
    blank_block,
    block_rows,
    empty_block,
    merge_of,
    reads_values,
    slices,
)
from cloister.data._bound import Bounding
from cloister.data._cache import BlockCache
from cloister.data._columns import (
    Chosen,
    Column,
    Declared,
    Holds,
    IdColumn,
    IdValues,
    choose_columns,
    hidden_of,
    refuse_id_values,
)
from cloister.data._deal import choose_buckets, count_ranges, deal_block
from cloister.data._files import FileSet, Piece
from cloister.data._share import Sampled, fold_blocks, join_sampled, unpack
from cloister.data._spark_driver import Job, explained, start_session
from cloister.data._table import to_matrix
from cloister.exceptions import DataError
from cloister.privacy import Coins

__all__ = ["SparkRows", "open_collection", "open_files"]

NUMBERS = {"boolean", "byte", "decimal", "double", "float", "integer", "long", "short", "void"}  # void: nothing but nulls
HOLDS = {
    "boolean": Holds.BOOL,
    **dict.fromkeys(("byte", "integer", "long", "short"), Holds.INTEGER),
    **dict.fromkeys(("decimal", "double", "float"), Holds.FRACTION),
    **dict.fromkeys(("string", "char", "varchar"), Holds.TEXT),
    **dict.fromkeys(("date", "timestamp", "timestamp_ntz"), Holds.TIME),
    "binary": Holds.BYTES,
    "void": Holds.ANYTHING,
}
NEVER_NULL = (Holds.BOOL, Holds.INTEGER, Holds.TIME)  # where a field says so
FEW_PARTITIONS, FEW_BYTES = 16, 1 << 25  # up to where the driver joins all answers itself
SAMPLE_PARTITIONS = 16  # a sample has no more: its rows are few, and every partition is a task
MANY_PARTITIONS = 4096  # from where answers are joined on three levels


class SparkRows(Source):
    """Rows in partitions of a Spark cluster. `partitions` reads them."""

    def __init__(
        self,
        where: str,
        partitions: "_FramePartitions | _FilePartitions",
        n_features: int,
        feature_names: tuple[str, ...],
        *,
        nullable: tuple[bool, ...] | None = None,
    ) -> None:
        super().__init__(n_features, feature_names, nullable=nullable)
        self._where = where
        self._partitions = partitions
        self._blocks: Any = None  # kept by the executors
        self._n_folds = 0  # after which more were expected

    def fold(self, kernel: Kernel, *, watch: Watch | None = None, cache: BlockCache[Any] | None = None) -> Integers:
        """Broadcast the kernel to the partitions and join what they answer, as a tree."""
        from pyspark import cloudpickle

        packed = cloudpickle.dumps(kernel)  # before the kernel prepares itself: executors do that for themselves
        nothing = kernel(empty_block(self._n_features))
        size = int(getattr(nothing, "nbytes", 0))
        if not reads_values(kernel) and (count := self._count(watch)) is not None:
            return kernel(blank_block(count, self._n_features))
        found = explained(self._where, lambda: self._answer(packed, size, watch, keep=cache is not None))
        return nothing if found is None else merge_of(kernel)(nothing, found)

    def _count(self, watch: Watch | None) -> int | None:
        """Return the number of rows, if Spark can count them by itself: they need not be brought into Python."""
        count = self._partitions.count
        if count is None:
            return None
        return int(explained(self._where, lambda: Job(self._where, self._partitions.context, watch).run(count)))

    def _answer(self, packed: bytes, size: int, watch: Watch | None, *, keep: bool) -> Integers | None:
        context = self._partitions.context
        if keep:
            self._keep()
        question = context.broadcast(packed)
        try:
            return Job(self._where, context, watch).run(partial(self._ask, question, size))
        finally:
            question.destroy()

    def sample(self, coins: Coins, *, watch: Watch | None = None) -> "SparkRows":
        """Draw the sample where the rows are. Executors keep it in few partitions: every later question is a job."""
        return _SparkSample(self, explained(self._where, lambda: self._draw(coins, watch)))

    def _draw(self, coins: Coins, watch: Watch | None) -> Any:
        """Return the parts of a sample, kept. If there are more cores than parts, all of them draw before any are joined."""
        context = self._partitions.context
        if self._blocks is None:
            drawn = self._partitions.drawn(coins, self._n_features)
        else:
            drawn = self._blocks.mapPartitionsWithIndex(partial(_draw_blocks, coins, self._n_features))
        n_cores = max(1, context.defaultParallelism)
        if n_cores <= SAMPLE_PARTITIONS:
            return self._made(drawn.coalesce(n_cores).mapPartitions(_join_drawn), watch)
        drawn = self._made(drawn, watch)
        try:
            return self._made(drawn.coalesce(SAMPLE_PARTITIONS).mapPartitions(_join_drawn), None)
        finally:
            _forget(drawn)

    def bounded(self, bounding: Bounding, *, watch: Watch | None = None) -> "SparkRows":
        """Choose after one shuffle. Executors keep what is kept, in few partitions."""
        return _SparkSample(self, explained(self._where, lambda: self._bound(bounding, watch)))

    def _bound(self, bounding: Bounding, watch: Watch | None) -> Any:
        """Return the rows that are kept, by ranges of buckets.

        What does not fit into memory goes to the executors' disks, where the shuffle has left rows anyway: to choose again
        would take as long as several questions.
        """
        blocks = self._partitions.blocks(self._n_features) if self._blocks is None else self._blocks
        n_ranges = count_ranges(
            n_cores=self._partitions.context.defaultParallelism, n_parts=blocks.getNumPartitions(), size=self._partitions.size
        )
        dealt = blocks.mapPartitions(partial(_deal, n_ranges)).partitionBy(n_ranges, _same)
        return self._made(dealt.mapPartitions(partial(_choose, bounding, self._n_features)), watch, on_disk=True)

    def _made(self, parts: Any, watch: Watch | None, *, on_disk: bool = False) -> Any:
        """Have parts of a sample computed and kept."""
        kept = parts.persist(_memory_and_disk() if on_disk else _memory_only())
        Job(self._where, self._partitions.context, watch).run(kept.count)
        return kept

    def _keep(self) -> None:
        """Have the executors keep the rows from the second question on, unless there is nothing to be gained by it.

        Bringing rows into the form in which they are kept takes as long as two or three questions about them.
        """
        self._n_folds += 1
        if self._n_folds > 1 and self._blocks is None and not self._partitions.kept:
            self._blocks = self._partitions.blocks(self._n_features).persist(_memory_only())
            weakref.finalize(self, _forget, self._blocks)

    def _ask(self, question: Any, size: int) -> Integers | None:
        if self._blocks is None:
            shares = self._partitions.shares(question, self._n_features)
        else:
            shares = self._blocks.mapPartitions(partial(_fold, question, self._n_features))
        join = partial(_join, question)
        return shares.treeAggregate(None, join, join, _depth(shares.getNumPartitions(), size))


class _SparkSample(SparkRows):
    """A sample, or rows that were bounded, that executors keep. It keeps its source.

    A partition that is lost is made again, with the same coins or the same key.
    """

    def __init__(self, source: SparkRows, parts: Any) -> None:
        names, nullable = source.feature_names or (), source.nullable
        super().__init__(source._where, source._partitions, source.width, names, nullable=nullable)
        self.n_hidden = source.n_hidden
        self._source = source
        self._blocks = parts
        weakref.finalize(self, _forget, parts)

    def _count(self, watch: Watch | None) -> None:
        """Leave counting to Python, where the rows are already."""

    def _answer(self, packed: bytes, size: int, watch: Watch | None, *, keep: bool) -> Integers | None:
        """Send the question with the tasks, which are few, and join what they answer here."""
        shares = self._blocks.mapPartitions(partial(_fold_packed, packed, self._n_features))
        found = Job(self._where, self._partitions.context, watch).run(shares.collect)
        return reduce(merge_of(unpack(packed)), found) if found else None

    def _draw(self, coins: Coins, watch: Watch | None) -> Any:
        return self._made(self._blocks.map(partial(_draw_again, coins)), watch)


class _FramePartitions:
    """Partitions of a data frame, reached in Arrow batches; `declared` says what its columns are."""

    def __init__(self, owned: Any, frame: Any, declared: Declared) -> None:
        self._owned = owned
        self._frame = frame
        self._declared = declared
        self.context = frame.sparkSession.sparkContext
        self.size: int | None = None
        self.count = frame.count

    @property
    def kept(self) -> bool:
        """Whether the owner of the frame keeps it already."""
        level = self._owned.storageLevel
        return bool(level.useMemory or level.useDisk)

    def shares(self, question: Any, n_features: int) -> Any:
        """Return what each partition answers."""
        answers = self._frame.mapInArrow(partial(_fold_batches, question, n_features, self._declared), "integers binary")
        return answers.rdd.map(_first)

    def blocks(self, n_features: int) -> Any:
        """Return the rows as matrices, in the form in which they are kept."""
        # Once more through Python: matrices are pickled as they lie in memory, and then read much faster than rows.
        packed = self._frame.mapInArrow(partial(_pack_batches, n_features, self._declared), "block binary")
        return packed.rdd.map(partial(_matrix, n_features))

    def drawn(self, coins: Coins, n_features: int) -> Any:
        """Return a sample of each partition."""
        from pyspark.sql.functions import spark_partition_id

        # The number comes with the rows: that of the task would be another one where a lost partition is drawn again.
        numbered = self._frame.select("*", spark_partition_id().alias("partition"))
        return numbered.mapInArrow(partial(_draw_batches, coins, self._declared), "part binary").rdd.map(_first)


class _FilePartitions:
    """Pieces of files, each read where it is needed."""

    def __init__(self, context: Any, pieces: list[Piece]) -> None:
        self.context = context
        self.size = None if any(piece.is_text for piece in pieces) else sum(piece.size for piece in pieces)  # bytes, if known
        self.count: Callable[[], int] | None = None
        self.kept = not any(piece.is_text or piece.place.address for piece in pieces)  # reading others takes no longer
        self._pieces = context.parallelize(list(enumerate(pieces)), max(1, len(pieces)))

    def shares(self, question: Any, n_features: int) -> Any:
        """Return what each piece answers."""
        return self._pieces.values().map(partial(_fold_piece, question, n_features))

    def blocks(self, n_features: int) -> Any:
        """Return the rows as matrices, in the form in which they are kept."""
        return self._pieces.values().flatMap(_read_piece)

    def drawn(self, coins: Coins, n_features: int) -> Any:
        """Return a sample of each piece."""
        return self._pieces.map(partial(_draw_piece, coins, n_features))


def open_collection(
    where: str, frame: Any, columns: Chosen, *, n_jobs: int, ids: IdColumn | IdValues | None = None
) -> SparkRows:
    """Open a Spark data frame; no row is read."""
    if not hasattr(frame, "mapInArrow") or not hasattr(frame, "schema"):
        kind = type(frame).__name__
        raise DataError(f"{where}: expected a Spark data frame, got a {kind} of pyspark. Convert it with to_spark() or toDF().")
    if type(frame).__module__.startswith("pyspark.sql.connect"):
        raise DataError(
            f"{where}: expected a frame of a session with a Spark context, got one of Spark Connect. Run on the driver, "
            "or pass the files with engine='spark'."
        )
    if frame.isStreaming:
        raise DataError(f"{where}: expected a table, got a stream. Write it to a table first.")
    if isinstance(ids, IdValues):
        refuse_id_values(where, "Spark")
    table = [_describe(field) for field in frame.schema.fields]
    chosen = choose_columns(where, table, columns, ids=ids)
    # By position: Spark takes a dot for a field of a field, and "a" for "A".
    numbered = frame.toDF(*(f"c{index}" for index in range(len(table)))).select(*(f"c{index}" for index in chosen.places))
    partitions = _FramePartitions(frame, numbered, chosen.declared)
    rows = SparkRows(where, partitions, chosen.width, chosen.names, nullable=chosen.nullable)
    rows.n_hidden = hidden_of(chosen.declared)
    return rows


def open_files(where: str, files: FileSet, *, scheduler: str | None, n_jobs: int) -> SparkRows:
    """Open files that all executors see under the same path."""
    from pyspark.sql import SparkSession

    session = SparkSession.getActiveSession()
    started = None
    if session is None or scheduler not in (None, session.sparkContext.master):
        session = started = start_session(where, scheduler or f"local[{n_jobs}]", running=session)
    partitions = _FilePartitions(session.sparkContext, list(files.pieces()))
    rows = SparkRows(where, partitions, files.width, files.names, nullable=files.nullable)
    rows.n_hidden = files.n_hidden
    if started is not None:
        weakref.finalize(rows, _stop, started)
    return rows


def _depth(n_partitions: int, size: int) -> int:
    """Return on how many levels answers of so many bytes are joined: the last one is the driver's."""
    if n_partitions <= FEW_PARTITIONS and n_partitions * size <= FEW_BYTES:
        return 1
    return 2 if n_partitions <= MANY_PARTITIONS else 3


def _describe(field: Any) -> Column:
    kind = field.dataType.typeName()
    holds = HOLDS.get(kind, Holds.OTHER)
    never = not field.nullable and (holds in NEVER_NULL or kind == "decimal")
    return Column(field.name, field.dataType.simpleString(), kind in NUMBERS, holds, nullable=not never)


# -- what runs on executors ------------------------------------------------------------------------------------------------


def _fold(question: Any, n_features: int, blocks: Iterable[Block | Sampled]) -> Iterator[Integers]:
    yield fold_blocks(_matrices(blocks), unpack(question.value), n_features)


def _fold_packed(packed: bytes, n_features: int, blocks: Iterable[Block | Sampled]) -> Iterator[Integers]:
    yield fold_blocks(_matrices(blocks), unpack(packed), n_features)


def _matrices(blocks: Iterable[Block | Sampled]) -> Iterator[Block]:
    for block in blocks:
        if isinstance(block, Sampled):
            yield from slices(block.rows, block_rows(block.rows.shape[1]))
        else:
            yield block


def _fold_piece(question: Any, n_features: int, piece: Piece) -> Integers:
    return fold_blocks(piece.blocks(), unpack(question.value), n_features)


def _fold_batches(
    question: Any, n_features: int, declared: Declared, batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    integers = fold_blocks(_gather(batches, n_features, declared), unpack(question.value), n_features)
    yield pa.record_batch({"integers": pa.array([pickle.dumps(integers)], pa.binary())})


def _pack_batches(n_features: int, declared: Declared, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for block in _gather(batches, n_features, declared):
        yield pa.record_batch({"block": pa.array([block.tobytes()], pa.binary())})


def _draw_blocks(coins: Coins, n_features: int, number: int, blocks: Iterable[Block]) -> Iterator[Sampled]:
    tosses = coins.partition(number)
    rows = np.concatenate([empty_block(n_features), *(block[tosses.take(len(block))] for block in blocks)])
    yield Sampled(rows, {number: len(rows)})


def _draw_piece(coins: Coins, n_features: int, numbered: tuple[int, Piece]) -> Sampled:
    number, piece = numbered
    rows = np.concatenate([empty_block(n_features), *piece.blocks(coins.partition(number))])
    return Sampled(rows, {number: len(rows)})


def _draw_batches(coins: Coins, declared: Declared, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    number, tosses, kept = 0, None, []
    for batch in batches:
        if batch.num_rows and tosses is None:
            number = batch.column(batch.num_columns - 1)[0].as_py()
            tosses = coins.partition(number)
        if tosses is not None:
            kept.append(batch.take(pa.array(tosses.take(batch.num_rows))))
    if kept:
        table = pa.Table.from_batches(kept)
        rows = to_matrix(table.select(table.column_names[:-1]), declared)
        yield pa.record_batch({"part": pa.array([pickle.dumps(Sampled(rows, {number: len(rows)}))], pa.binary())})


def _deal(n_ranges: int, blocks: Iterable[Block | Sampled]) -> Iterator[tuple[int, Block]]:
    for block in _matrices(blocks):
        yield from ((number, rows) for number, rows in enumerate(deal_block(block, n_ranges)) if len(rows))


def _same(number: int) -> int:
    return number


def _choose(bounding: Bounding, n_features: int, dealt: Iterable[tuple[int, Block]]) -> Iterator[Sampled]:
    return choose_buckets((rows for _, rows in dealt), bounding, n_features)


def _draw_again(coins: Coins, part: Sampled) -> Sampled:
    return part.draw(coins)


def _join_drawn(parts: Iterable[Sampled]) -> Iterator[Sampled]:
    found = list(parts)
    if found:
        yield join_sampled(found)


def _gather(batches: Iterable[pa.RecordBatch], n_features: int, declared: Declared) -> Iterator[Block]:
    """Yield the rows of small batches in blocks of a good size."""
    waiting: list[pa.RecordBatch] = []
    for batch in batches:
        waiting.append(batch)
        if sum(one.num_rows for one in waiting) >= block_rows(n_features):
            yield to_matrix(pa.Table.from_batches(waiting), declared)
            waiting = []
    if waiting:
        yield to_matrix(pa.Table.from_batches(waiting), declared)


def _read_piece(piece: Piece) -> Iterator[Block]:
    return piece.blocks()


def _first(row: Any) -> Integers:
    return pickle.loads(row[0])  # noqa: S301 - written by the executor's own half of this module


def _matrix(n_features: int, row: Any) -> Block:
    return np.frombuffer(row[0]).reshape(-1, n_features)


def _join(question: Any, left: Integers | None, right: Integers | None) -> Integers | None:
    if left is None or right is None:
        return right if left is None else left
    return merge_of(unpack(question.value))(left, right)


# -- small things of the driver's ------------------------------------------------------------------------------------------


def _memory_only() -> Any:
    from pyspark import StorageLevel

    return StorageLevel.MEMORY_ONLY


def _memory_and_disk() -> Any:
    from pyspark import StorageLevel

    return StorageLevel.MEMORY_AND_DISK


def _forget(blocks: Any) -> None:
    with suppress(Exception):  # the session may be gone
        blocks.unpersist()


def _stop(session: Any) -> None:
    with suppress(Exception):
        session.stop()
