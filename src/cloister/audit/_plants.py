# SPDX-License-Identifier: Apache-2.0
"""Planted faults: what an audit must catch, as data. Each is a change of the code that lasts while a block runs."""

import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from cloister.audit._swap import find, wrapped
from cloister.columns import Relation
from cloister.exceptions import ParameterError
from cloister.privacy import DISJOINT, SAME, Entropy, Tally

__all__ = ["PLANTS", "Plant", "planted"]

Change: TypeAlias = tuple[str, Callable[[Any], object]]  # where, and what is made of what stands there

# What faults are planted in.
DRAW, CHOOSE = "cloister.privacy._events:Event.draw", "cloister.privacy._events:Event.choose"
GAUSSIAN, WHOLE_PARTS = "cloister.privacy._mechanisms:rounded_gaussian", "cloister.privacy._samplers:_wholes"
SEED = "cloister.privacy._entropy:Entropy.__init__"
COINS, SAMPLE = "cloister.privacy._coins:Coins.draw", "cloister.data._backend:MemoryRows.sample"
NOISY, TOGETHER, ASK = "cloister.vault:Vault._noisy", "cloister.vault:Vault._ask_together", "cloister.vault:Vault.ask"
CLEAN, READ = "cloister.columns:Frame.clean", "cloister.data._backend:LocalRows._stream"
CLEAN_DECLARED = "cloister.columns:ColumnFrame.clean"
COLUMNS, MISSING = "cloister.questions._columns:ColumnHistograms", "cloister.questions._columns:NearestMissing"
PROFILES = "cloister.questions._profiles:NearestHistograms"
COUNTS, SUMS = "cloister.questions._counts:Counts", "cloister.questions._sums:ClippedSums"
NEAREST = "cloister.questions._sums:NearestSums.exact_given"
SQUARES = "cloister.questions._squares:NearestSquares"
PRICE, DEBIT = "cloister.questions._price:price", "cloister.privacy._account:Account.debit"
CHOICE, FACTOR, WEIGHT = (
    "cloister.data._cut:choose_canonical",
    "cloister.columns:PrivacyUnit.factor",
    "cloister.columns:PrivacyUnit.weight",
)
WITH_ID, SPLIT = "cloister.data._bounded:with_id", "cloister.data._bounded:split_by_bucket"
ROWS_PER_UNIT = "cloister.questions._persons:RowsPerUnit.exact"
FITS, CONNECT = "cloister.privacy._accounting:Tally.fits", "cloister.privacy._ledger_store:LedgerStore.connect"
COVERS = "cloister.privacy._ledger_state:AccountState.covers"
COUNTED = "cloister.privacy._ledger_state:AccountState.counts_as"
GRAMMAR, CUTS = "cloister.data._csv:_grammar", "cloister.data._records:_cuts_of_records"
TABLES = "cloister.data._places:refuse_tables"
TOGETHER_IN_PARTS = "cloister.privacy._receipt:_together"
SCALED_BY, SCALER_RECEIPT = "cloister.data._open:scaled_by", "cloister.cluster._base:PrivateEstimator._scaler_receipt"
ADD = Relation.ADD_REMOVE


@dataclass(frozen=True)
class Plant:
    """A fault: its name, what it does, the check that must catch it, and the changes that make it."""

    name: str
    description: str
    check: str
    changes: tuple[Change, ...]


@contextmanager
def planted(name: str) -> Iterator[None]:
    """Plant the fault of this name while the block runs; nothing for an empty name."""
    if not name:
        yield
        return
    if name not in PLANTS:
        raise ParameterError(f"audit.plant: expected one of {', '.join(PLANTS)}, got {name!r}. See --list-plants.")
    with wrapped(*PLANTS[name].changes):
        yield


# -- noise ---------------------------------------------------------------------------------------------------------------


def _halved(draw: Any) -> object:
    return lambda event, entropy: draw(replace(event, scale=event.scale / 2), entropy)


def _forgotten(draw: Any) -> object:
    return lambda event, entropy: np.zeros(event.size, dtype=np.int64)


def _shared(draw: Any) -> object:
    return lambda event, entropy: np.repeat(draw(replace(event, size=1), entropy), event.size)


def _choice_halved(choose: Any) -> object:
    return lambda event, entropy, costs: choose(replace(event, scale=event.scale / 2), entropy, costs)


def _cut_output(sampler: Any) -> object:
    def cut(entropy: Any, scale: Any, size: int) -> Any:
        most = int(4.5 * float(scale))
        return np.clip(sampler(entropy, scale, size), -most, most)

    return cut


def _cut_wholes(wholes: Any) -> object:
    return lambda draws, count, power: np.minimum(wholes(draws, count, power), 15 if power == 1 else 99)


def _no_noise_where_empty(noisy: Any) -> object:
    def planted_noisy(vault: Any, question: Any, exact: Any, event: Any) -> Any:
        answer = noisy(vault, question, exact, event)
        if not question.selects:
            answer.value[exact == 0] = 0.0
        return answer

    return planted_noisy


def _one_seed(together: Any) -> object:
    def planted_together(vault: Any, questions: Any, costs: Any) -> Any:
        seed, noisy, before = int(vault._entropy.words(1)[0]), vault._noisy, vault._entropy

        def reseeded(*each: Any) -> Any:
            vault._entropy = Entropy(seed)
            return noisy(*each)

        vault._noisy = reseeded
        try:
            return together(vault, questions, costs)
        finally:
            del vault._noisy
            vault._entropy = before

    return planted_together


def _same_noise_in_every_fit(init: Any) -> object:
    def planted_init(entropy: Any, random_state: Any = None, **options: Any) -> None:
        init(entropy, 0 if random_state is None else random_state, **options)

    return planted_init


def _first_event_for_all(together: Any) -> object:
    def planted_together(vault: Any, questions: Any, costs: Any) -> Any:
        events, noisy = [], vault._noisy
        pay = vault._pay

        def paying(question: Any, cost: Any) -> Any:
            events.append(pay(question, cost))
            return events[-1]

        vault._pay = paying
        vault._noisy = lambda question, exact, event: noisy(question, exact, replace(event, scale=events[0].scale))
        try:
            return together(vault, questions, costs)
        finally:
            del vault._pay, vault._noisy

    return planted_together


def _public_key(draw: Any) -> object:
    return classmethod(lambda cls, entropy, share: draw.__func__(cls, Entropy(0), share))


def _wrong_rate(draw: Any) -> object:
    return classmethod(lambda cls, entropy, share: draw.__func__(cls, entropy, share**1.25))


def _by_content(sample: Any) -> object:
    from cloister.audit._coupling import shows_heads
    from cloister.data import ArrayRows

    def planted_sample(rows: Any, coins: Any, *, watch: Any = None) -> Any:
        table = np.concatenate([np.empty((0, rows.n_features)), *rows.blocks()])
        return ArrayRows(table[[shows_heads(coins, row.tobytes(), 0) for row in table]])

    return planted_sample


# -- sensitivity ---------------------------------------------------------------------------------------------------------


def _unclipped(clean: Any) -> object:
    from cloister.columns import snap

    def planted_clean(frame: Any, block: Any) -> Any:
        rows = np.asarray(block, dtype=np.float64)
        rows = np.where(np.isfinite(rows).all(axis=1, keepdims=True), rows, frame.center)
        return snap(np.clip((rows - frame.center) / frame.scale, -100, 100))

    return planted_clean


def _warned(clean: Any) -> object:
    def planted_clean(frame: Any, rows: Any) -> Any:
        with np.errstate(invalid="warn"):
            np.add(rows, 0.0)  # reports a signalling NaN
        return clean(frame, rows)

    return planted_clean


def _dropped(clean: Any) -> object:
    def planted_clean(frame: Any, block: Any) -> Any:
        rows = np.asarray(block, dtype=np.float64)
        return clean(frame, rows[np.isfinite(rows).all(axis=1)])

    return planted_clean


def _placed_by_the_table(clean: Any) -> object:
    def planted_clean(frame: Any, block: Any) -> Any:
        rows = np.array(block, dtype=np.float64)
        with np.errstate(all="ignore"):
            means = [column[np.isfinite(column)].mean() if np.isfinite(column).any() else 0.0 for column in rows.T]
        return clean(frame, np.where(np.isfinite(rows), rows, means))

    return planted_clean


def _scaled_by_the_table(clean: Any) -> object:
    def planted_clean(frame: Any, block: Any) -> Any:
        rows = clean(frame, block)
        return rows / max(float(np.abs(rows).max(initial=0.0)), 1e-3) * 0.5 if len(rows) else rows

    return planted_clean


def _unclipped_projected(exact_given: Any) -> object:
    def planted_exact(question: Any, rows: Any, labels: Any) -> Any:
        return exact_given(replace(question, radius=4.0) if question.projection is not None else question, rows, labels)

    return planted_exact


def _of_one_column(sensitivity: Any) -> object:
    return lambda question, relation: 1.0 if relation is ADD else 2.0


def _as_if_added(sensitivity: Any) -> object:
    return lambda question, relation: sensitivity(question, ADD)


def _halve(sensitivity: Any) -> object:
    return lambda question, relation: sensitivity(question, relation) / 2


def _twice(stream: Any) -> object:
    def planted_stream(rows: Any) -> Any:
        for block in stream(rows):
            yield block
            yield block

    return planted_stream


# -- persons -------------------------------------------------------------------------------------------------------------


def _all_of_them(choose: Any) -> object:
    return lambda block, bounding: choose(block, replace(bounding, limit=len(block)))


def _by_the_table(choose: Any) -> object:
    def planted_choose(block: Any, bounding: Any) -> Any:
        return choose(block, replace(bounding, key=bounding.key + str(len(block)).encode()))

    return planted_choose


def _as_a_row(factor: Any) -> object:
    return property(lambda privacy_unit: privacy_unit.steps)


def _rounded_up(weight: Any) -> object:
    return lambda privacy_unit, n_rows: -(-privacy_unit.steps // n_rows) if privacy_unit.is_weighted else 1


def _all_rows(with_id: Any) -> object:
    return lambda block: block


def _by_block(split: Any) -> object:
    number = itertools.count()

    def planted_split(block: Any) -> Any:
        return split(np.column_stack([block[:, :-1], (block[:, -1] + next(number)) % 2.0**52]))

    return planted_split


def _as_asserted(factor: Any) -> object:
    return property(lambda unit: unit.steps if unit.stated else factor.fget(unit))


def _each_row(exact: Any) -> object:
    return lambda question, rows: exact(question, rows * [0, 1])


# -- paying --------------------------------------------------------------------------------------------------------------


def _no_debit(debit: Any) -> object:
    return lambda account, event: event


def _answer_first(ask: Any) -> object:
    def planted_ask(vault: Any, question: Any, cost: Any) -> Any:
        due: list[tuple[Any, Any]] = []

        def later(*each: Any) -> Any:
            due.append(each)
            return vault._price(*each)

        vault._pay = later
        try:
            answer = ask(vault, question, cost)
        finally:
            del vault._pay
        for each in due:
            vault._pay(*each)
        return answer

    return planted_ask


def _double_cost(price: Any) -> object:
    def planted_price(cost: Any, **options: Any) -> Any:
        return price(cost.with_strength(2 * cost.strength), **options)

    return planted_price


def _choices_fit(covers: Any) -> object:
    return lambda account, cost: not cost.is_gaussian or covers(account, cost)


def _settled_is_free(counts_as: Any) -> object:
    return lambda account, composition: Tally() if account.settled else counts_as(account, composition)


def _always_true(fits: Any) -> object:
    return lambda *_, **__: True


# -- receipts ------------------------------------------------------------------------------------------------------------


def _first_part(together: Any) -> object:
    return lambda parts, joined: parts[0] if joined == DISJOINT else together(parts, joined)


def _one_way(together: Any) -> object:
    return lambda parts, joined: together([part[:1] for part in parts] if joined == SAME else parts, joined)


def _nobody(scaled_by: Any) -> object:
    return lambda values: None


def _unchecked(receipt: Any) -> object:
    return lambda estimator, rows, near: rows.scaled_by


# -- files on a disk -----------------------------------------------------------------------------------------------------


def _no_sync(connect: Any) -> object:
    def planted_connect(ledger: Any) -> Any:
        connection = connect(ledger)
        connection.execute("PRAGMA synchronous = OFF")
        return connection

    return planted_connect


# -- files ---------------------------------------------------------------------------------------------------------------


def _lines_as_rows(grammar: Any) -> object:
    return lambda dialect, width: replace(grammar(dialect, width), joins=False)


def _cut_anywhere(cuts: Any) -> object:
    return getattr(*find("cloister.data._records:_cuts_of_lines"))


def _no_refusal(refuse: Any) -> object:
    return lambda *_: None


def _plant(name: str, description: str, check: str, *changes: Change) -> tuple[str, Plant]:
    return name, Plant(name, description, check, changes)


_WRONG_RELATION = tuple((f"{one}_sensitivity", _as_if_added) for one in (f"{COUNTS}.l1", f"{COUNTS}.l2", f"{SUMS}.l2"))
_ONE_COLUMN = tuple(
    (f"{one}.{norm}_sensitivity", _of_one_column) for one in (COLUMNS, MISSING, PROFILES) for norm in ("l1", "l2")
)
PLANTS: dict[str, Plant] = dict(
    [
        _plant("noise-halved", "noise drawn at half its stated scale", "attacks", (DRAW, _halved)),
        _plant("noise-forgotten", "no noise is added", "samplers", (DRAW, _forgotten)),
        _plant("noise-shared", "one draw for all numbers of an answer", "attacks", (DRAW, _shared)),
        _plant("one-seed", "answers of one pass are drawn from one seed", "samplers", (TOGETHER, _one_seed)),
        _plant("one-seed-attacked", "the same, seen by an attacker", "attacks", (TOGETHER, _one_seed)),
        _plant("every-fit-the-same", "fits without a seed draw the same noise", "samplers", (SEED, _same_noise_in_every_fit)),
        _plant("empty-cells", "cells without rows get no noise", "samplers", (NOISY, _no_noise_where_empty)),
        _plant("gaussian-cut", "Gaussian noise cut at 4.5 standard deviations", "samplers", (GAUSSIAN, _cut_output)),
        _plant("laplace-cut", "Laplace noise cut at 16 scales", "samplers", (WHOLE_PARTS, _cut_wholes)),
        _plant("choice-sharp", "the exponential mechanism at half its scale", "samplers", (CHOOSE, _choice_halved)),
        _plant("coins-public", "samples are drawn under a key that everybody knows", "samplers", (COINS, _public_key)),
        _plant("coins-by-content", "equal rows are in a sample together or not at all", "samplers", (SAMPLE, _by_content)),
        _plant("coins-off", "samples hold another part of the rows than stated", "samplers", (COINS, _wrong_rate)),
        _plant("second-scale", "the second answer drawn at the scale of the first", "replay", (TOGETHER, _first_event_for_all)),
        _plant("unclipped", "rows outside the domain are not pulled into it", "replay", (CLEAN, _unclipped)),
        _plant("unclipped-projected", "offsets are not clipped under a projection", "replay", (NEAREST, _unclipped_projected)),
        _plant("wrong-relation", "replacing a row is taken for adding one", "replay", *_WRONG_RELATION),
        _plant("half-sensitivity", "sums state half their sensitivity", "replay", (f"{SUMS}.l2_sensitivity", _halve)),
        _plant(
            "half-squares", "sums of squares state half their sensitivity", "attacks", (f"{SQUARES}.l2_sensitivity", _halve)
        ),
        _plant("rows-twice", "every row is counted twice", "replay", (READ, _twice)),
        _plant("missing-dropped", "rows with missing values are dropped instead of placed", "replay", (CLEAN, _dropped)),
        _plant("odd-rows-warn", "a row with a signalling NaN makes NumPy warn", "replay", (CLEAN, _warned)),
        _plant("scaled-by-rows", "rows are scaled by the largest row", "replay", (CLEAN, _scaled_by_the_table)),
        _plant("columns-as-one", "histograms of several columns state the sensitivity of one", "replay", *_ONE_COLUMN),
        _plant(
            "unknown-dropped", "rows with a missing cell of a declared column are dropped", "replay", (CLEAN_DECLARED, _dropped)
        ),
        _plant("exact-means", "missing values are placed at exact means", "replay", (CLEAN_DECLARED, _placed_by_the_table)),
        _plant("persons-unbounded", "all rows of a person are used", "persons", (CHOICE, _all_of_them)),
        _plant("persons-as-rows", "what a person can do is taken for what a row can do", "persons", (FACTOR, _as_a_row)),
        _plant(
            "choice-by-others", "which rows of a person are used depends on other people's", "persons", (CHOICE, _by_the_table)
        ),
        _plant("weights-up", "weights of rows are rounded up", "persons", (WEIGHT, _rounded_up)),
        _plant("sizes-by-row", "every row of a person is counted where persons are", "persons", (ROWS_PER_UNIT, _each_row)),
        _plant("missing-ids-used", "rows without an id are used, as those of one person", "persons", (WITH_ID, _all_rows)),
        _plant(
            "choice-by-block", "rows of a person in several files are those of several persons", "persons", (SPLIT, _by_block)
        ),
        _plant(
            "asserted-as-rows", "where rows are not counted, a person is taken for a row", "persons", (FACTOR, _as_asserted)
        ),
        _plant("debit-skipped", "answers are not debited", "spending", (DEBIT, _no_debit)),
        _plant("choices-overdrawn", "an account gives any number of choices", "spending", (COVERS, _choices_fit)),
        _plant(
            "overspent",
            "questions cost twice what the plan says, and the account lets it pass",
            "spending",
            (PRICE, _double_cost),
            (FITS, _always_true),
        ),
        _plant("lines-as-rows", "every line of a quoted text is a row", "files", (GRAMMAR, _lines_as_rows)),
        _plant("cut-in-quotes", "files are cut into pieces within a quoted text", "files", (CUTS, _cut_anywhere)),
        _plant("deleted-rows-read", "files of a table are read without its log", "files", (TABLES, _no_refusal)),
        _plant("answer-first", "the answer is computed before it is debited", "kills", (ASK, _answer_first)),
        _plant("no-sync", "the ledger does not wait for the disk", "kills", (CONNECT, _no_sync)),
        _plant("settled-is-free", "a settled account counts as nothing", "kills", (COUNTED, _settled_is_free)),
        _plant("merge-of-one", "a merge states what one table's people spent", "receipts", (TOGETHER_IN_PARTS, _first_part)),
        _plant(
            "merge-one-way",
            "of one table counted again, one way to take part is added up",
            "receipts",
            (TOGETHER_IN_PARTS, _one_way),
        ),
        _plant("scaler-forgotten", "a fit behind a scaler states its own cost alone", "receipts", (SCALED_BY, _nobody)),
        _plant(
            "scaler-of-others", "a scaler under another relation or unit is accepted", "receipts", (SCALER_RECEIPT, _unchecked)
        ),
    ]
)
