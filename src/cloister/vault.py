# SPDX-License-Identifier: Apache-2.0
"""The vault: rows, an account that pays, and a source of noise. ``ask`` is the only method that returns a value.

``ask`` does four things, in this order: price the question, debit the ledger, fold the question over the rows, add one
independent draw of exact integer noise to every number. A crash between any two of them can waste budget; it
cannot hide an answer. Several questions may be asked at once: all are debited, one by one, then the rows are read once.
A question that selects is answered, instead of with noisy numbers, with the index of a low one, drawn by the exponential
mechanism.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import overload

import numpy as np

from cloister import validate
from cloister.columns import FloatArray, Frame, IntArray, Neighbours, Relation, as_neighbours, quiet
from cloister.data import N_PERSON_COLUMNS, Block, BlockCache, Bounding, LocalRows, Persons, Rows, Watch, cells_of
from cloister.exceptions import DataError
from cloister.privacy import Account, Coins, Entropy, Event, Guarantee, Query, Receipt, check_share
from cloister.questions import Answer, NearestQuestion, Question, Spend, Together, price_question

__all__ = ["Vault"]


class Vault:
    """Holds rows and lets noisy answers out, each paid for first.

    Parameters
    ----------
    rows : Rows
        Where the rows are.
    frame : Frame
        Public map to the unit ball; every row passes through ``frame.clean``.
    relation : Relation or Neighbours
        Which tables are neighbours: a relation alone is about rows. Where they differ in persons, the rows must come with ids,
        of each person at most so many are used, and nothing is asked of any others.
    account : Account
        What may be spent.
    entropy : Entropy
        Where noise comes from.
    watch : callable, optional
        Called while the rows are read, with the part of the pass that is done.
    single_pass : bool, default=False
        Whether one pass over the rows is all that is expected, so that keeping them in memory does not pay. Nothing but time
        depends on it.

    Notes
    -----
    **Privacy.** Each answer satisfies the cost recorded in its event: the question's integers move by at most its sensitivity
    between neighbours, because cleaning maps each row by itself; the noise is drawn exactly from the distribution the event
    names, independently for every number, also for those of empty cells; the debit is on disk before the rows are read. What
    is not covered: the time an answer takes, and memory of the process while the rows are in it.

    Where persons are protected, each of them is represented by rows that were chosen among their own, by a function of these
    and of a key drawn for the fit (see ``data.choose_rows``). So two tables that differ in one person differ, as the questions
    see them, in at most so many rows, all of that person; ``domain.PrivacyUnit`` says how far that moves an answer.
    """

    def __init__(
        self,
        rows: Rows,
        *,
        frame: Frame,
        relation: Relation | Neighbours,
        account: Account,
        entropy: Entropy,
        watch: Watch | None = None,
        single_pass: bool = False,
    ) -> None:
        self._source = rows
        self._frame = frame
        self._neighbours = as_neighbours(relation)
        self._persons = Persons.of(self._neighbours.privacy_unit)
        self._rows = self._opened(rows, single_pass=single_pass)
        self._is_bounded = self._persons is None
        self._account = account
        self._entropy = entropy
        self._watch = watch
        self._single_pass = single_pass
        self._cache = self._new_cache()
        self._samples: dict[float, _Sample] = {}  # by the part of the rows that they hold
        self._whole_cleaned = False  # whether a question about clean rows was asked of all
        self._events: list[Event] = []

    def _opened(self, rows: Rows, *, single_pass: bool) -> Rows:
        """Return the rows as they are read: more than once, unless those of every person are chosen first."""
        if self._persons is not None:
            if not rows.n_hidden:
                raise DataError(
                    "Vault: expected rows that come with the ids of persons. Open them with open_rows(privacy_unit=...)."
                )
            return rows
        if rows.n_hidden:
            raise DataError("Vault: expected a guarantee for persons, as the rows come with their ids. Pass privacy_unit=.")
        return rows.held() if isinstance(rows, LocalRows) and not single_pass else rows

    def use(self, frame: Frame) -> None:
        """See the rows through another public map from now on: bounds or places of missing values have been found."""
        self._frame = frame
        self._forget()

    def limit_rows(self, max_rows: int) -> None:
        """Use so many rows of each person from now on. Before that, only persons can be counted, if nobody said how many."""
        privacy_unit = self._neighbours.privacy_unit
        assert privacy_unit is not None
        assert privacy_unit.max_rows is None, "it is said once"
        self._neighbours = Neighbours(self._neighbours.relation, privacy_unit.limited(max_rows))
        if self._persons is not None:
            self._persons = self._persons.limited(max_rows)
        self._forget()

    def _forget(self) -> None:
        self._cache = self._new_cache()
        self._samples = {share: _Sample(sample.rows, self._new_cache()) for share, sample in self._samples.items()}

    def _new_cache(self) -> BlockCache["_CleanBlock"] | None:
        if self._single_pass:
            return None
        return BlockCache(partial(_CleanBlock, frame=self._frame, persons=self._persons))

    @overload
    def ask(self, question: Question, cost: Spend) -> Answer: ...

    @overload
    def ask(self, question: Sequence[Question], cost: Sequence[Spend]) -> tuple[Answer, ...]: ...

    def ask(self, question: Question | Sequence[Question], cost: Spend | Sequence[Spend]) -> Answer | tuple[Answer, ...]:
        """Answer `question` at no more than `cost`; the ledger pays first. Several are answered in one pass over the rows.

        A query with a `row_share` below 1 is answered on a sample of that part of the rows. It is drawn by secret coins at the
        first such query, and serves all later ones with the same share.
        """
        if isinstance(question, Sequence):
            assert isinstance(cost, Sequence)
            return self._ask_together(question, cost)
        assert not isinstance(cost, Sequence)
        share = self._row_share(question, [cost])
        event = self._pay(question, cost)
        exact = question.finish(self._fold(question, share))
        return self._noisy(question, exact, event)

    def _ask_together(self, questions: Sequence[Question], costs: Sequence[Spend]) -> tuple[Answer, ...]:
        together = Together(tuple(questions))
        share = self._row_share(together, costs)
        events = [self._pay(one, part) for one, part in zip(questions, costs, strict=True)]
        parts = together.split(self._fold(together, share))
        return tuple(self._noisy(*each) for each in zip(questions, parts, events, strict=True))

    def _row_share(self, question: Question | Together, costs: Sequence[Spend]) -> float:
        """Return what part of the rows to ask; what is no part of them is refused before anything is paid."""
        shares = {cost.row_share if isinstance(cost, Query) else 1.0 for cost in costs}
        if len(shares) > 1:
            remedy = "Ask those of another share apart."
            validate.refuse("ask", "one part of the rows for all questions asked together", sorted(shares), remedy=remedy)
        share = shares.pop()
        if share != 1.0:
            check_share("ask.row_share", share)
            if question.raw:
                remedy = "Ask it of all rows."
                validate.refuse("ask", "a question about clean rows for a sample", "one about raw cells", remedy=remedy)
        return share

    def _fold(self, question: Question | Together, share: float) -> IntArray:
        self._bound_rows()
        asked = self._whole() if share == 1.0 else self._sample(share)
        cleans = question.reads_values and not question.raw
        cache = asked.cache if cleans else None  # which holds clean rows
        exact: IntArray = asked.rows.fold(_Kernel(question, self._frame, self._persons), watch=self._watch, cache=cache)
        self._whole_cleaned |= cleans and share == 1.0
        return exact

    def _bound_rows(self) -> None:
        """Choose the rows of every person that are used, once. Nothing is released of it, and the first answer is paid."""
        if not self._is_bounded:
            assert self._persons is not None
            bounding = Bounding.draw(self._entropy, self._persons.limit)
            self._rows = self._rows.bounded(bounding, watch=self._watch)
            self._is_bounded = True

    def _whole(self) -> "_Sample":
        """Return all rows. Beside a sample few questions are asked of them, often one.

        So clean ones are kept from the second question on, and on a cluster not at all: keeping takes time as well.
        """
        keeps = not self._samples or (self._whole_cleaned and isinstance(self._rows, LocalRows))
        return _Sample(self._rows, self._cache if keeps else None)

    def _sample(self, share: float) -> "_Sample":
        """Return the sample of a part of the rows; the first time, draw it from the smallest sample that holds more of them.

        Privacy: each row of a sample stands for one row of the table and is in it or not by a coin of its own. Whatever the
        coins show, samples of neighbouring tables, with the same coins for the rows they share, are the same or are neighbours.
        So a question moves on them by no more than its sensitivity. That holds for samples of samples as well.
        """
        if share not in self._samples:
            larger = min((other for other in self._samples if other > share), default=1.0)
            source = self._rows if larger == 1.0 else self._samples[larger].rows
            coins = Coins.draw(self._entropy, share / larger)
            self._samples[share] = _Sample(self._draw(source, coins), self._new_cache())
        return self._samples[share]

    def _draw(self, source: Rows, coins: Coins) -> Rows:
        """Return the rows whose coins show heads; a replay of the audit gives rows that two tables share the same coins."""
        return source.sample(coins, watch=self._watch)

    def _pay(self, question: Question, cost: Spend) -> Event:
        event = self._account.debit(self._price(question, cost))
        self._events.append(event)
        return event

    def _price(self, question: Question, cost: Spend) -> Event:
        price, step = (cost.cost, cost.step) if isinstance(cost, Query) else (cost, "")
        return price_question(question, price, self._neighbours, seeded=self._entropy.seeded, step=step)

    def _noisy(self, question: Question, exact: IntArray, event: Event) -> Answer:
        if question.selects:  # nothing of the costs gets out but where a low one stands
            place = np.unravel_index(event.choose(self._entropy, exact.ravel()), question.shape)
            return Answer(np.array(place, dtype=np.float64), event)
        noisy = exact + event.draw(self._entropy).reshape(question.shape)
        return Answer(np.asarray(noisy * event.unit, dtype=np.float64), event)

    def close(self, guarantee: Guarantee) -> Receipt:
        """Close the account and return the receipt, which adds the events up again and raises if they exceed the guarantee.

        What was kept of the rows is dropped.
        """
        self._rows, self._cache, self._samples, self._is_bounded = self._source, None, {}, self._persons is None
        self._account.close()
        return Receipt(
            guarantee=guarantee,
            neighbours=self._neighbours.value,
            privacy_unit=self._neighbours.privacy_unit,
            events=tuple(self._events),
            account=self._account.identity,
        )

    def __repr__(self) -> str:
        return f"<Vault, {len(self._events)} questions answered>"

    def __reduce__(self) -> str | tuple[object, ...]:
        raise TypeError("Vault: rows do not leave the vault. Keep the release instead.")


@dataclass(frozen=True, eq=False)
class _Sample:
    """Some of the rows, and what is kept of them from one question to the next."""

    rows: Rows
    cache: "BlockCache[_CleanBlock] | None"


class _CleanBlock:
    """The clean rows of a block, and their labels found last: a round asks about the same points more than once.

    It may be kept during a fit. It is never an answer, only what it takes to find one.
    """

    def __init__(self, block: Block, frame: Frame, persons: Persons | None) -> None:
        cells = cells_of(block, persons)
        self._parts = cells.parts
        self.rows = frame.clean(cells.features[:, : frame.n_raw])
        self.rows.setflags(write=False)  # every later question sees them as this one does
        self._last: tuple[NearestQuestion, IntArray] | None = None

    def answer(self, question: Question | Together) -> IntArray:
        """Return the answer of the question, with the weights that rows have."""
        if self._parts is None or not question.weighs_rows:
            return question.exact_by(self.rows, self.find)
        labels: dict[int, IntArray] = {}

        def find(part: slice, one: NearestQuestion, rows: FloatArray) -> IntArray:
            if id(one) not in labels:
                labels[id(one)] = self.find(one, self.rows)
            return labels[id(one)][part]

        answers = (weight * question.exact_by(self.rows[part], partial(find, part)) for weight, part in self._parts)
        return np.asarray(sum(answers), dtype=np.int64)

    def find(self, question: NearestQuestion, rows: FloatArray) -> IntArray:
        """Return the labels of the rows, searched again if the points are not those of the last question."""
        last = self._last
        if last is not None and question.same_labels(last[0]):
            return last[1]
        labels = question.labels(rows)
        self._last = (question, labels)
        return labels


@dataclass(frozen=True, eq=False)
class _Kernel:
    """A question about raw blocks: clean them, unless it sees raw cells or looks at nothing, then answer.

    Plain data, so that a backend can send it to where the rows are.
    """

    question: Question | Together
    frame: Frame
    persons: Persons | None = None

    @property
    def reads_values(self) -> bool:
        """Whether it looks into rows: a source may count them instead, unless they have weights."""
        return self.question.reads_values or self.persons is not None

    @quiet
    def __call__(self, block: Block | _CleanBlock) -> IntArray:
        if self.question.raw or not self.question.reads_values:
            return self._of_raw(np.asarray(block))
        clean = block if isinstance(block, _CleanBlock) else _CleanBlock(block, self.frame, self.persons)
        return clean.answer(self.question)

    def _of_raw(self, block: Block) -> IntArray:
        if isinstance(self.question, Question) and self.question.reads_persons:
            return self.question.exact(block[:, -N_PERSON_COLUMNS:])
        cells = cells_of(block, self.persons)
        if cells.parts is None or not self.question.weighs_rows:
            return self.question.exact(self._cells(cells.features))
        answers = (weight * self.question.exact(self._cells(cells.features[part])) for weight, part in cells.parts)
        return np.asarray(sum(answers), dtype=np.int64)

    def _cells(self, block: Block) -> Block:
        """Return the raw cells of the columns that rows are compared by, which come first, or of all where it says so."""
        whole = isinstance(self.question, Question) and self.question.whole_rows
        return block if whole else block[:, : self.frame.n_raw]

    def merge(self, left: IntArray, right: IntArray) -> IntArray:
        """Join what two blocks answered."""
        return self.question.merge(left, right)
