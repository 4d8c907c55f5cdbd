# SPDX-License-Identifier: Apache-2.0
"""An engine is added by one module and one entry of the table: a toy follows the recipe."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest

from cloister import KMeans, engines, open_rows
from cloister.data import Rows, Schema, choose_rows
from cloister.engines import Engine
from cloister.exceptions import DataError
from cloister.privacy import Coins, Entropy


class Kernel:
    def __call__(self, block):
        return np.rint(np.ldexp(block, 30)).astype(np.int64).sum(axis=0)

    def merge(self, left, right):
        return left + right


class Deck:
    """A collection that only the toy engine knows: rows on cards."""

    def __init__(self, cards):
        self.cards = cards


class DeckRows(Rows):
    """What the protocol asks for: columns, a fold that reads one card at a time, a sample of the cards, a choice of them."""

    def __init__(self, deck, schema=None):
        super().__init__(Schema(len(deck.cards[0])) if schema is None else schema)
        self._cards = deck.cards

    def fold(self, kernel, *, watch=None, cache=None):
        total = kernel(np.empty((0, self.width)))
        for card in self._cards:
            total = kernel.merge(total, kernel(np.array([card])))
        return total

    def sample(self, coins, *, watch=None):
        return DeckRows(Deck([self._cards[place] for place in coins.partition(0).take(len(self._cards))]), self.schema)

    def bounded(self, bounding, *, watch=None):
        return DeckRows(Deck(choose_rows(np.array(self._cards), bounding).tolist()), self.schema)


@pytest.fixture
def deck_engine(monkeypatch):
    module = SimpleNamespace(open_collection=lambda where, data, columns, *, n_jobs, ids: DeckRows(data))
    monkeypatch.setitem(sys.modules, "deck_engine", module)
    toy = Engine(name="deck", summary="cards", module="deck_engine", holds=lambda kind: kind is Deck)
    # An engine that takes what no other does comes last.
    table = {"deck": toy, **engines.ENGINES}
    engines.ENGINES.clear()
    engines.ENGINES.update(table)
    yield
    del engines.ENGINES["deck"]


def test_a_table_of_the_new_engine_is_opened_and_fitted_like_any_other(deck_engine, generator):
    rows = generator.uniform(-1, 1, (60, 2))
    assert isinstance(open_rows(Deck(rows.tolist())), DeckRows)
    settings = {"n_clusters": 2, "bounds": (-1, 1), "epsilon": 5.0, "random_state": 1}
    model = KMeans(**settings).fit(Deck(rows.tolist()))
    assert np.array_equal(model.cluster_centers_, KMeans(**settings).fit(rows).cluster_centers_), "the same integers"


def test_a_sample_of_the_new_engine_holds_the_same_rows(deck_engine, generator):
    rows, coins = generator.uniform(-1, 1, (60, 2)), Coins.draw(Entropy(3), 0.4)
    kernel = Kernel()
    found = [open_rows(data).sample(coins).fold(kernel) for data in (rows, Deck(rows.tolist()))]
    assert np.array_equal(*found)
    assert found[0].any()


def test_without_its_entry_nobody_knows_it():
    with pytest.raises(DataError):
        open_rows(Deck([[0.0, 1.0]]))
