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
from operator import methodcaller
from typing import Any

import pyarrow as pa

from cloister.data._backend import (
    Block,
    Integers,
    Kernel,
    Rows,
    Watch,
    blank_block,
    block_rows,
    empty_block,
    explained,
    merge_of,
    runs,
    slices,
)
from cloister.data._bound import Bounding
from cloister.data._cache import BlockCache
from cloister.data._columns import Chosen, Column, Declared, Holds, IdColumn, IdValues, Schema, choose_columns, refuse_id_values
from cloister.data._files import FileSet, Piece
from cloister.data._share import Failure, Sampled, choose_buckets, count_ranges, fold_blocks, join_parts, unpack
from cloister.data._spark_driver import explain, run_job, start_session
from cloister.data._spill import split_by_bucket
from cloister.data._table import to_matrix
from cloister.exceptions import DataError
from cloister.privacy import Coins

HOLDS = {
    "boolean": Holds.BOOL,
    **dict.fromkeys(("byte", "integer", "long", "short"), Holds.INTEGER),
    **dict.fromkeys(("decimal", "double", "float"), Holds.FRACTION),
    **dict.fromkeys(("string", "char", "varchar"), Holds.TEXT),
    **dict.fromkeys(("date", "timestamp", "timestamp_ntz"), Holds.TIME),
    "binary": Holds.BYTES,
    "void": Holds.ANYTHING,  # nothing but nulls
}
NEVER_NULL = (Holds.BOOL, Holds.INTEGER, Holds.TIME)  # where a field says so
FEW_PARTITIONS, FEW_BYTES = 16, 1 << 25  # up to where the driver joins all answers itself
SAMPLE_PARTITIONS = 16  # a sample has no more: its rows are few, and every partition is a task
MANY_PARTITIONS = 4096  # from where answers are joined on three levels


class SparkRows(Rows):
    """Rows in partitions of a Spark cluster. `partitions` reads them."""

    def __init__(self, where: str, partitions: "_FramePartitions | _FilePartitions", schema: Schema) -> None:
        super().__init__(schema)
        self._where = where
        self._partitions = partitions
        self._blocks: Any = None  # kept by the executors
        self._n_folds = 0  # after which more were expected
        self._count = partitions.count  # by Spark itself, if it can: rows need not be brought into Python

    def fold(self, kernel: Kernel, *, watch: Watch | None = None, cache: BlockCache[Any] | None = None) -> Integers:
        """Broadcast the kernel to the partitions and join what they answer, as a tree."""
        from pyspark import cloudpickle

        packed = cloudpickle.dumps(kernel)  # before the kernel prepares itself: executors do that for themselves
        nothing = kernel(empty_block(self.width))
        size = int(getattr(nothing, "nbytes", 0))
        if not getattr(kernel, "reads_values", True) and (count := self._count) is not None:
            return kernel(blank_block(int(self._explained(lambda: self._run(count, watch))), self.width))
        found = self._explained(lambda: self._answer(packed, size, watch, keep=cache is not None))
        return nothing if found is None else merge_of(kernel)(nothing, found)

    def _run(self, work: Callable[[], Any], watch: Watch | None) -> Any:
        return run_job(self._where, self._partitions.context, watch, work)

    def _explained(self, work: Callable[[], Any]) -> Any:
        return explained(work, partial(explain, self._where))

    def _answer(self, packed: bytes, size: int, watch: Watch | None, *, keep: bool) -> Integers | None:
        if keep:
            self._keep()
        question = self._partitions.context.broadcast(packed)
        try:
            return self._run(partial(self._ask, question, size), watch)
        finally:
            question.destroy()

    def sample(self, coins: Coins, *, watch: Watch | None = None) -> "SparkRows":
        """Draw the sample where the rows are. Executors keep it in few partitions: every later question is a job."""
        return _SparkSample(self, self._explained(lambda: self._draw(coins, watch)))

    def _draw(self, coins: Coins, watch: Watch | None) -> Any:
        """Return the parts of a sample, kept. If there are more cores than parts, all of them draw before any are joined."""
        if self._blocks is None:
            drawn = self._partitions.drawn(coins, self.width)
        else:
            drawn = self._blocks.mapPartitionsWithIndex(partial(_draw_blocks, coins, self.width))
        n_cores = max(1, self._partitions.context.defaultParallelism)
        if n_cores <= SAMPLE_PARTITIONS:
            return self._made(drawn.coalesce(n_cores).mapPartitions(_join_drawn), watch)
        drawn = self._made(drawn, watch)
        try:
            return self._made(drawn.coalesce(SAMPLE_PARTITIONS).mapPartitions(_join_drawn), None)
        finally:
            _quietly(drawn.unpersist)

    def bounded(self, bounding: Bounding, *, watch: Watch | None = None) -> "SparkRows":
        """Choose after one shuffle. Executors keep what is kept, in few partitions."""
        return _SparkSample(self, self._explained(lambda: self._bound(bounding, watch)))

    def _bound(self, bounding: Bounding, watch: Watch | None) -> Any:
        """Return the rows that are kept, by ranges of buckets.

        What does not fit into memory goes to the executors' disks, where the shuffle has left rows anyway: to choose again
        would take as long as several questions.
        """
        blocks = self._partitions.blocks(self.width) if self._blocks is None else self._blocks
        n_ranges = count_ranges(
            n_cores=self._partitions.context.defaultParallelism, n_parts=blocks.getNumPartitions(), size=self._partitions.size
        )
        dealt = blocks.mapPartitions(partial(_deal, n_ranges)).partitionBy(n_ranges, int).values()
        chosen = dealt.mapPartitions(partial(choose_buckets, bounding=bounding, width=self.width))
        return self._made(chosen, watch, on_disk=True)

    def _made(self, parts: Any, watch: Watch | None, *, on_disk: bool = False) -> Any:
        """Have parts of a sample computed and kept."""
        kept = parts.persist(_level("MEMORY_AND_DISK" if on_disk else "MEMORY_ONLY"))
        self._run(kept.count, watch)
        return kept

    def _keep(self) -> None:
        """Have the executors keep the rows from the second question on, unless there is nothing to be gained by it.

        Bringing rows into the form in which they are kept takes as long as two or three questions about them.
        """
        self._n_folds += 1
        if self._n_folds > 1 and self._blocks is None and not self._partitions.kept:
            self._blocks = self._partitions.blocks(self.width).persist(_level("MEMORY_ONLY"))
            weakref.finalize(self, _quietly, self._blocks.unpersist)

    def _ask(self, question: Any, size: int) -> Integers | None:
        shares = (
            self._partitions.shares(question, self.width)
            if self._blocks is None
            else _shares(self._blocks, question, self.width)
        )
        join, n_partitions = partial(_join, question), shares.getNumPartitions()
        few = n_partitions <= FEW_PARTITIONS and n_partitions * size <= FEW_BYTES
        return shares.treeAggregate(None, join, join, 1 if few else 2 if n_partitions <= MANY_PARTITIONS else 3)


class _SparkSample(SparkRows):
    """A sample, or rows that were bounded, that executors keep. It keeps its source.

    A partition that is lost is made again, with the same coins or the same key.
    """

    def __init__(self, source: SparkRows, parts: Any) -> None:
        super().__init__(source._where, source._partitions, source.schema)
        self._source = source
        self._blocks = parts
        self._count = None  # Python counts faster: the rows are there already
        weakref.finalize(self, _quietly, parts.unpersist)

    def _answer(self, packed: bytes, size: int, watch: Watch | None, *, keep: bool) -> Integers | None:
        """Send the question with the tasks, which are few, and join what they answer here."""
        found = self._run(_shares(self._blocks, packed, self.width).collect, watch)
        return reduce(merge_of(unpack(packed)), found) if found else None

    def _draw(self, coins: Coins, watch: Watch | None) -> Any:
        return self._made(self._blocks.map(methodcaller("draw", coins)), watch)


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
        return _in_python(self._frame, partial(_fold_batches, question, n_features, self._declared))

    def blocks(self, n_features: int) -> Any:
        """Return the rows as matrices, in the form in which they are kept."""
        # Once more through Python: matrices are pickled as they lie in memory, and then read much faster than rows.
        return _in_python(self._frame, partial(_gather, n_features, self._declared))

    def drawn(self, coins: Coins, n_features: int) -> Any:
        """Return a sample of each partition."""
        from pyspark.sql.functions import spark_partition_id

        # The number comes with the rows: that of the task would be another one where a lost partition is drawn again.
        numbered = self._frame.select("*", spark_partition_id().alias("partition"))
        return _in_python(numbered, partial(_draw_batches, coins, self._declared))


class _FilePartitions:
    """Pieces of files, each read where it is needed."""

    def __init__(self, context: Any, pieces: tuple[Piece, ...]) -> None:
        self.context = context
        self.size = None if any(piece.is_text for piece in pieces) else sum(piece.size for piece in pieces)  # bytes, if known
        self.count: Callable[[], int] | None = None
        self.kept = not any(piece.is_text or piece.place.address for piece in pieces)  # reading others takes no longer
        self._pieces = context.parallelize(list(enumerate(pieces)), max(1, len(pieces)))

    def shares(self, question: Any, n_features: int) -> Any:
        """Return what each piece answers."""
        return _shares(self.blocks(n_features), question, n_features)

    def blocks(self, n_features: int) -> Any:
        """Return the rows as matrices, in the form in which they are kept."""
        return self._pieces.values().flatMap(methodcaller("blocks"))

    def drawn(self, coins: Coins, n_features: int) -> Any:
        """Return a sample of each piece."""

        def draw(numbered: tuple[int, Piece]) -> Sampled:
            number, piece = numbered
            return Sampled.of(number, n_features, piece.blocks(coins.partition(number)))

        return self._pieces.map(draw)


def open_collection(where: str, frame: Any, columns: Chosen, *, n_jobs: int, ids: IdColumn | IdValues | None) -> SparkRows:
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
    return SparkRows(where, _FramePartitions(frame, numbered, chosen.declared), chosen.schema)


def open_files(where: str, files: FileSet, *, scheduler: str | None, n_jobs: int) -> SparkRows:
    """Open files that all executors see under the same path."""
    from pyspark.sql import SparkSession

    session = SparkSession.getActiveSession()
    started = None
    if session is None or scheduler not in (None, session.sparkContext.master):
        session = started = start_session(where, scheduler or f"local[{n_jobs}]", running=session)
    partitions = _FilePartitions(session.sparkContext, files.pieces)
    rows = SparkRows(where, partitions, files.schema)
    if started is not None:
        weakref.finalize(rows, _quietly, started.stop)
    return rows


def _describe(field: Any) -> Column:
    kind = field.dataType.typeName()
    holds = HOLDS.get(kind, Holds.OTHER)
    never = not field.nullable and (holds in NEVER_NULL or kind == "decimal")
    return Column(field.name, field.dataType.simpleString(), holds, nullable=not never)


# -- what runs on executors ------------------------------------------------------------------------------------------------


def _shares(blocks: Any, question: Any, width: int) -> Any:
    """Return what each partition of blocks answers to a question that was broadcast, or is sent with every task."""
    return blocks.mapPartitions(partial(_fold, question, width))


def _fold(question: Any, width: int, blocks: Iterable[Block | Sampled]) -> Iterator[Integers]:
    packed = question if isinstance(question, bytes) else question.value
    yield fold_blocks(_matrices(blocks), unpack(packed), width)


def _matrices(blocks: Iterable[Block | Sampled]) -> Iterator[Block]:
    for block in blocks:
        if isinstance(block, Sampled):
            yield from slices(block.rows, block_rows(block.rows.shape[1]))
        else:
            yield block


def _in_python(frame: Any, work: Callable[[Iterable[pa.RecordBatch]], Iterator[Any]]) -> Any:
    """Return what work makes of the batches of each partition of a frame: pickled, on its way through Spark."""

    def pickled(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for found in work(batches):
            yield pa.record_batch({"found": pa.array([pickle.dumps(found, pickle.HIGHEST_PROTOCOL)], pa.binary())})

    return frame.mapInArrow(pickled, "found binary").rdd.map(_first)


def _fold_batches(question: Any, n_features: int, declared: Declared, batches: Iterable[pa.RecordBatch]) -> Iterator[Integers]:
    yield fold_blocks(_gather(n_features, declared, batches), unpack(question.value), n_features)


def _draw_blocks(coins: Coins, n_features: int, number: int, blocks: Iterable[Block]) -> Iterator[Sampled]:
    tosses = coins.partition(number)
    yield Sampled.of(number, n_features, (block[tosses.take(len(block))] for block in blocks))


def _draw_batches(coins: Coins, declared: Declared, batches: Iterable[pa.RecordBatch]) -> Iterator[Sampled]:
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
        yield Sampled(rows, {number: len(rows)})


def _deal(n_ranges: int, blocks: Iterable[Block | Sampled]) -> Iterator[tuple[int, Block]]:
    for block in _matrices(blocks):
        yield from ((number, rows) for number, rows in enumerate(split_by_bucket(block, n_ranges)) if len(rows))


def _join_drawn(parts: Iterable[Sampled]) -> Iterator[Sampled | Failure]:
    found = list(parts)
    if found:
        yield join_parts(found)


def _gather(n_features: int, declared: Declared, batches: Iterable[pa.RecordBatch]) -> Iterator[Block]:
    """Yield the rows of small batches in blocks of a good size."""
    return (to_matrix(pa.Table.from_batches(some), declared) for some in runs(batches, block_rows(n_features)))


def _first(row: Any) -> Any:
    return pickle.loads(row[0])  # noqa: S301 - written by the executor's own half of this module


def _join(question: Any, left: Integers | None, right: Integers | None) -> Integers | None:
    if left is None or right is None:
        return right if left is None else left
    return merge_of(unpack(question.value))(left, right)


# -- small things of the driver's ------------------------------------------------------------------------------------------


def _level(name: str) -> Any:
    from pyspark import StorageLevel

    return getattr(StorageLevel, name)


def _quietly(close: Callable[[], object]) -> None:
    with suppress(Exception):  # the session may be gone
        close()
