# SPDX-License-Identifier: Apache-2.0
"""Rows that tests derive theirs from where only some of the protocol matters."""

from cloister.data import Rows, Schema

__all__ = ["FewRows"]


class FewRows(Rows):
    """Rows with two columns that are not to be read, sampled or bounded, unless a test says how."""

    def __init__(self, n_features=2):
        super().__init__(Schema(n_features))

    def fold(self, kernel, *, watch=None, cache=None):
        raise AssertionError("a row was read")

    def sample(self, coins, *, watch=None):
        raise AssertionError("a row was drawn")

    def bounded(self, bounding, *, watch=None):
        raise AssertionError("a row was chosen")
