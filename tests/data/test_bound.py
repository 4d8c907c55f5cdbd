# SPDX-License-Identifier: Apache-2.0
"""At most so many rows of each person: chosen by the rows of that person alone, uniformly, and alike however rows are cut."""

import os
from collections import Counter, defaultdict
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2
from tests.contracts.test_bounded import expected_samples, samples

from cloister.data import ArrayRows, Bounding, Schema
from cloister.data._bound import N_BUCKETS, buckets_of, choose, choose_rows, contents_of, number_copies
from cloister.exceptions import DataError
from cloister.privacy import Coins, Entropy

FALSE_ALARMS = 1e-6  # of a statistical test here
LARGEST = 2.0**52 - 1


def with_ids(array, names=None, **options):
    """Return rows whose last two columns say whose they are."""
    return ArrayRows(array, Schema(array.shape[1] - 2, names, n_hidden=2), **options)


def matrix_of(rows):
    return np.concatenate([np.empty((0, rows.width)), *rows.blocks()])


def identical(left, right):
    return left.shape == right.shape and left.tobytes() == right.tobytes()


def sorted_rows(matrix):
    return sorted(map(bytes, np.ascontiguousarray(matrix)))


@pytest.fixture
def bounding(seed):
    return Bounding.draw(Entropy(seed), 3)


@pytest.fixture
def table(generator):
    """Few different rows, so that there are many copies; a person with a quarter of all rows, and many with few."""
    persons = np.floor(generator.uniform(0, 2**52, (150, 2)))
    whose = np.minimum(generator.geometric(0.03, 3000), 150) - 1
    whose[:700] = 7
    features = generator.choice([0.0, -0.0, np.nan, np.inf, -np.inf, 0.5, 1e-300, 3.0], (3000, 3))
    features[700:1500] = generator.normal(size=(800, 3))
    table = np.column_stack([features, persons[whose]])
    return table[generator.permutation(len(table))]


# -- the choice --------------------------------------------------------------------------------------------------------------


def canonical(row):
    """Return a row as text in which equal rows are equal, however zero and missing values are written."""
    return tuple("nan" if value != value else (value + 0.0).hex() for value in map(float, row))


def reference(block, bounding):
    """Return the kept rows of each person, by the definition: a number for each copy, the smallest are kept."""
    copies = defaultdict(Counter)
    for row in block[block[:, -2:].any(axis=1)]:  # the others have no id
        copies[canonical(row[-2:])][canonical(row)] += 1
    kept = {}
    for person, rows in copies.items():
        drawn = []
        for row, count in rows.items():
            values = np.array([[np.nan if text == "nan" else float.fromhex(text) for text in row]])
            content = contents_of(values, bounding)
            drawn += [(int(number_copies(content, np.array([before]), bounding)[0]), row) for before in range(count)]
        kept[person] = [row for _, row in sorted(drawn)[: bounding.limit]]
    return kept


values = st.sampled_from([0.0, -0.0, np.nan, np.inf, -np.inf, 1.0, 1.5, 5e-324])
lanes = st.sampled_from([0.0, 1.0, 2.0**51, LARGEST])


@st.composite
def blocks(draw):
    n_features = draw(st.integers(1, 3))
    row = st.tuples(*[values] * n_features, lanes, lanes)
    rows = draw(st.lists(row, max_size=30)) + draw(st.lists(row, max_size=2)) * draw(st.integers(0, 9))
    return np.array(rows, dtype=np.float64).reshape(-1, n_features + 2)


@given(block=blocks(), limit=st.integers(1, 6), key=st.binary(min_size=32, max_size=32))
def test_the_choice_is_the_one_that_is_defined(block, limit, key):
    bounding = Bounding(key, limit)
    kept = choose_rows(block, bounding)
    wanted = reference(block, bounding)
    persons = sorted(wanted, key=lambda lanes: tuple(map(float.fromhex, lanes)))
    assert [canonical(row[:-2]) for row in kept] == [row[:-2] for person in persons for row in wanted[person]]
    assert kept[:, -2].tolist() == [rank for person in persons for rank in range(len(wanted[person]))]
    assert kept[:, -1].tolist() == [len(wanted[person]) for person in persons for _ in wanted[person]]


@given(block=blocks(), limit=st.integers(1, 6), key=st.binary(min_size=32, max_size=32), data=st.data())
def test_the_order_of_rows_decides_nothing(block, limit, key, data):
    order = data.draw(st.permutations(range(len(block))))
    bounding = Bounding(key, limit)
    assert identical(choose_rows(block, bounding), choose_rows(block[order], bounding))


def test_rows_with_equal_contents_are_told_apart_by_what_stands_in_them(table, bounding, monkeypatch, generator):
    monkeypatch.setattr("cloister.data._bound.contents_of", lambda block, _: np.full(len(block), 5, dtype=np.uint64))
    shuffled = table[generator.permutation(len(table))]
    assert identical(choose_rows(table, bounding), choose_rows(shuffled, bounding))


def test_at_most_so_many_rows_of_each_person_are_kept(table, bounding):
    kept = choose(table, bounding)
    sizes = Counter(map(bytes, table[:, -2:]))
    assert len(kept.rows) == sum(min(size, 3) for size in sizes.values())
    firsts = kept.rows[kept.rows[:, -2] == 0]
    assert Counter(firsts[:, -1]) == Counter(min(size, 3) for size in sizes.values())
    assert np.array_equal(kept.lengths, np.bincount(buckets_of(table[choice_of(table, bounding)]), minlength=N_BUCKETS))


def choice_of(table, bounding):
    """Return the positions of kept rows, by a column that does not change which are kept."""
    order = np.lexsort((contents_of(table, bounding), table[:, -1], table[:, -2]))
    _, starts, sizes = np.unique(table[order][:, -2:], axis=0, return_index=True, return_counts=True)
    ranks = np.arange(len(order)) - np.repeat(starts, sizes)
    return order[ranks < bounding.limit]


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int64, np.int8, np.uint16])
def test_the_type_of_the_numbers_decides_nothing(dtype, generator, bounding):
    table = generator.integers(0, 90, (400, 5)).astype(dtype)
    assert identical(choose_rows(table, bounding), choose_rows(table.astype(np.float64), bounding))
    assert identical(choose_rows(np.asfortranarray(table), bounding), choose_rows(table.astype(np.float64), bounding))
    assert identical(choose_rows(table[::-1], bounding), choose_rows(table.astype(np.float64), bounding))


def test_what_was_passed_is_not_changed(table, bounding):
    before = table.tobytes()
    choose_rows(table, bounding)
    with_ids(table).bounded(bounding)
    assert table.tobytes() == before


def test_rows_without_an_id_are_left_out(table, bounding, generator):
    """Somebody with rows under an id and others without one moves no more rows than somebody with an id alone."""
    nobody = np.column_stack([generator.normal(size=(50, 3)), np.zeros((50, 2))])
    both = generator.permutation(np.concatenate([table, nobody]))
    for rows in (table, both):
        assert identical(choose_rows(rows, bounding), choose_rows(table, bounding))
        assert sorted_rows(matrix_of(with_ids(rows).bounded(bounding))) == sorted_rows(choose_rows(table, bounding))


@pytest.mark.parametrize("change", ["gone", "other rows", "more rows", "come"])
def test_a_person_moves_nobody_else(change, table, bounding, generator):
    person = table[0, -2:].copy()
    mine = (table[:, -2:] == person).all(axis=1)
    others = table[~mine]
    rows = np.column_stack([generator.normal(size=(40, 3)), np.tile(person, (40, 1))])
    other = {
        "gone": others,
        "other rows": np.concatenate([rows, others]),
        "more rows": np.concatenate([table, rows]),
        "come": np.concatenate([table, rows + np.array([0, 0, 0, 0, 1])]),
    }[change]
    other = other[generator.permutation(len(other))]
    left, right = (
        sorted_rows(matrix_of(with_ids(table).bounded(bounding))),
        sorted_rows(matrix_of(with_ids(other).bounded(bounding))),
    )
    lost, won = Counter(left) - Counter(right), Counter(right) - Counter(left)
    assert sum(lost.values()) <= bounding.limit
    assert sum(won.values()) <= bounding.limit
    alone = Counter(sorted_rows(choose_rows(others, bounding)))
    assert not alone - Counter(left)
    assert not alone - Counter(right), "what is kept of the others"


def test_another_key_keeps_other_rows(table, seed):
    kept = {choose_rows(table, Bounding.draw(Entropy(seed + number), 3)).tobytes() for number in range(5)}
    assert len(kept) == 5


@pytest.mark.parametrize("limit", [1, 3])
@pytest.mark.parametrize("copies", [[1] * 12, [6, 1, 1, 3, 1]])
def test_every_row_is_as_likely_to_be_kept_as_any(copies, limit, generator):
    """Chi-square of how often each row is kept, one in so many tests fails: see FALSE_ALARMS."""
    n_persons = 20_000
    rows = np.repeat(np.arange(len(copies), dtype=np.float64), copies)
    lanes = np.floor(generator.uniform(0, 2**52, (n_persons, 2)))
    table = np.column_stack([np.tile(rows, n_persons), np.repeat(lanes, len(rows), axis=0)])
    kept = choose_rows(table, Bounding(generator.bytes(32), limit))
    for rank in range(limit):  # each place by itself: rows of one person are not independent
        found = np.bincount(kept[kept[:, -2] == rank][:, 0].astype(int), minlength=len(copies))
        expected = n_persons * np.array(copies) / len(rows)
        assert chi2.sf(((found - expected) ** 2 / expected).sum(), len(copies) - 1) > FALSE_ALARMS


def test_pairs_of_rows_are_as_likely_to_be_kept_as_any(generator):
    """As above, of the two rows that are kept together: a draw without replacement."""
    n_persons, copies = 20_000, [3, 1, 2]
    rows = np.repeat(np.arange(3.0), copies)
    lanes = np.floor(generator.uniform(0, 2**52, (n_persons, 2)))
    table = np.column_stack([np.tile(rows, n_persons), np.repeat(lanes, len(rows), axis=0)])
    kept = choose_rows(table, Bounding(generator.bytes(32), 2))[:, 0].reshape(-1, 2).astype(int)
    found = np.bincount(kept[:, 0] * 3 + kept[:, 1], minlength=9)
    chances = [Fraction(a * (b - (i == j)), 30) for i, a in enumerate(copies) for j, b in enumerate(copies)]
    expected = n_persons * np.array(chances, dtype=float)
    assert found[expected == 0].sum() == 0
    used = expected > 0
    assert chi2.sf(((found - expected)[used] ** 2 / expected[used]).sum(), used.sum() - 1) > FALSE_ALARMS


def test_contents_are_spread_evenly_whatever_the_rows_are(generator):
    """Chi-square of the first and of the last six bits of contents of rows with much structure: see FALSE_ALARMS."""
    grid = np.stack(np.meshgrid(*[np.arange(32.0)] * 3), axis=-1).reshape(-1, 3)
    table = np.column_stack([grid, np.zeros((len(grid), 2))])
    contents = contents_of(table, Bounding(generator.bytes(32), 1))
    assert len(np.unique(contents)) == len(grid)
    for bits in (contents >> np.uint64(58), contents & np.uint64(63)):
        found, expected = np.bincount(bits.astype(int), minlength=64), len(grid) / 64
        assert chi2.sf(((found - expected) ** 2 / expected).sum(), 63) > FALSE_ALARMS


# -- rows of this process ------------------------------------------------------------------------------------------------------

SMALL = {
    "_parts.WAITING_NUMBERS": 1000,
    "_cut.AT_ONCE": 300,
    "_cut.FEW_AT_ONCE": 50,
}


@pytest.fixture
def spilling(monkeypatch):
    """Few numbers may be in memory."""
    for name, value in SMALL.items():
        monkeypatch.setattr(f"cloister.data.{name}", value)


@pytest.fixture
def second_file(monkeypatch):
    monkeypatch.setattr("cloister.data._parts.STORED_NUMBERS", 100)


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_a_file_changes_nothing(n_jobs, table, bounding, spilling, second_file):
    rows = with_ids(table, n_jobs=n_jobs).bounded(bounding)
    assert identical(matrix_of(rows), choose_rows(table, bounding))
    assert identical(matrix_of(rows), choose_rows(table, bounding)), "read again"
    assert rows.n_numbers == choose_rows(table, bounding).size
    assert (rows.n_features, rows.n_hidden, rows.width, rows.nullable) == (3, 2, 5, (True,) * 3)
    assert rows.fold(lambda block: np.array([len(block)])) * 5 == rows.n_numbers
    assert rows.n_blocks == len(list(rows.blocks()))
    assert "3 columns" in repr(rows)


@pytest.mark.fast("17")
@pytest.mark.parametrize("size", [1, 17, 5000])
def test_how_rows_are_cut_into_blocks_changes_nothing(size, table, bounding, spilling):
    rows = with_ids(table)
    rows._size = size
    assert identical(matrix_of(rows.bounded(bounding)), choose_rows(table, bounding))


PERSONS = {"one": ([0.0], [0.0]), "one lane": ([LARGEST], [0.0, 1.0, LARGEST]), "neighbours": ([8.0, 9.0], [3.0])}


@pytest.mark.parametrize("persons", PERSONS)
@pytest.mark.parametrize("n_different", [1, 2, 5000])
@pytest.mark.parametrize("limit", [1, 4, 1000])
def test_a_person_with_enormously_many_rows(persons, n_different, limit, generator, spilling, seed):
    first, second = PERSONS[persons]
    features = generator.integers(0, n_different, (2500, 1)).astype(np.float64)
    table = np.column_stack([features, generator.choice(first, 2500), generator.choice(second, 2500)])
    bounding = Bounding.draw(Entropy(seed), limit)
    assert identical(matrix_of(with_ids(table, n_jobs=2).bounded(bounding)), choose_rows(table, bounding))


def test_rows_with_equal_contents_are_told_apart_in_files_too(generator, bounding, spilling, monkeypatch):
    for module in ("_bound.contents_of", "_cut.contents_of"):
        monkeypatch.setattr(f"cloister.data.{module}", lambda block, bounding: np.full(len(block), 5, dtype=np.uint64))
    table = np.column_stack([generator.integers(0, 9, (2500, 1)), np.ones((2500, 2))]).astype(np.float64)
    assert identical(matrix_of(with_ids(table).bounded(bounding)), choose_rows(table, bounding))


def test_few_rows_are_in_memory_at_a_time(table, bounding, spilling, monkeypatch):
    loaded = []
    monkeypatch.setattr(
        "cloister.data._cut.choose_canonical", lambda block, bounding: loaded.append(block.size) or choose(block, bounding)
    )
    with_ids(table, n_jobs=2).bounded(bounding)
    assert max(loaded) <= 300


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_sample_of_bounded_rows_in_a_file_is_drawn_by_buckets(n_jobs, table, bounding, second_file, seed):
    coins = [Coins.draw(Entropy(seed + number), 0.4) for number in range(2)]
    assert samples(with_ids(table, n_jobs=n_jobs).bounded(bounding), coins) == expected_samples(table, bounding, coins)


def test_a_sample_that_is_too_large_for_memory_is_read_from_the_file(table, bounding, second_file, seed, monkeypatch):
    coins = Coins.draw(Entropy(seed), 0.4)
    wanted = matrix_of(with_ids(table).bounded(bounding).sample(coins))
    monkeypatch.setattr("cloister.data._parts.SpilledRows.kept_numbers", 10)
    sample = with_ids(table).bounded(bounding).sample(coins)  # the rows themselves are gone
    assert identical(matrix_of(sample), wanted)
    assert identical(matrix_of(sample), wanted)


@pytest.mark.parametrize("rows", [np.empty((0, 4)), np.array([[1.0, -0.0, 5.0, 6.0]])], ids=["empty", "one row"])
def test_a_table_with_next_to_nothing_in_it(rows, bounding, spilling, second_file, seed):
    bounded = with_ids(rows).bounded(bounding)
    assert np.array_equal(matrix_of(bounded), np.column_stack([np.abs(rows[:, :2]), 0 * rows[:, 2], 1 + 0 * rows[:, 3]]))
    assert bounded.sample(Coins.draw(Entropy(seed), 0.5)).n_features == 2


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_bounding_tells_how_far_it_is(n_jobs, table, bounding):
    told = []
    with_ids(table, n_jobs=n_jobs).bounded(bounding, watch=told.append)
    assert told == sorted(told)
    assert all(0 <= part <= 1 for part in told)
    assert told[-1] == 1.0


@pytest.mark.skipif(not os.path.exists("/proc/self/fd"), reason="looks at open files as Linux shows them")
def test_nothing_is_left_behind(table, bounding, spilling, second_file, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    seen = []
    rows = with_ids(table).bounded(bounding, watch=lambda part: seen.append(list(tmp_path.iterdir())))
    assert not any(seen), "files without names"
    assert n_open(tmp_path) == 1
    del rows
    assert n_open(tmp_path) == 0
    assert not list(tmp_path.iterdir())


def n_open(folder):
    """Return how many files of a folder this process has open, those without a name included."""
    places = [f"/proc/self/fd/{number}" for number in os.listdir("/proc/self/fd")]
    return sum(os.readlink(place).startswith(str(folder)) for place in places if os.path.islink(place))


def test_a_disk_that_is_full_is_told_without_a_value(table, bounding, spilling, monkeypatch):
    class Full:
        def seek(self, place):
            pass

        def write(self, data):
            raise OSError(28, "No space left on device: 77.123")

        def close(self):
            pass

    monkeypatch.setattr("tempfile.TemporaryFile", lambda **options: Full())
    with pytest.raises(DataError, match=r"temporary files has no room left\. Set TMPDIR to a folder") as caught:
        with_ids(table).bounded(bounding)
    assert "77" not in str(caught.value)
    assert caught.value.__context__ is None


def test_a_folder_for_temporary_files_that_is_missing_is_told(table, bounding, spilling, monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "gone"))
    with pytest.raises(DataError, match=r"cannot be written to \(FileNotFoundError\)\. Set TMPDIR"):
        with_ids(table).bounded(bounding)


def test_a_file_that_was_cut_short_is_told(table, bounding, second_file):
    rows = with_ids(table).bounded(bounding)
    rows._whole.file._file.truncate(100)
    with pytest.raises(DataError, match=r"the temporary file of rows has become shorter"):
        matrix_of(rows)


# -- the key -------------------------------------------------------------------------------------------------------------------


def test_the_key_is_drawn_and_not_shown(seed):
    left, right = (Bounding.draw(Entropy(seed), 5) for _ in range(2))
    assert left == right
    assert left != Bounding.draw(Entropy(seed + 1), 5)
    assert len(left.key) == 32
    assert repr(left) == "Bounding(limit=5)"


@pytest.mark.parametrize("limit", [0, -1, 2.5, None, True])
def test_a_limit_is_a_number_of_rows(limit, seed):
    with pytest.raises((ValueError, TypeError), match=r"max_rows_per_unit: expected"):
        Bounding.draw(Entropy(seed), limit)
