# SPDX-License-Identifier: Apache-2.0
"""A method is tested here by being listed in `cloister.methods`: `case` is every one of them, with its variants."""

import logging
import warnings

import pytest

from ._cases import CASES, draw_rows


@pytest.fixture(params=CASES, ids=str)
def case(request):
    return request.param


@pytest.fixture
def rows(generator):
    return draw_rows(generator, size=40)


@pytest.fixture
def found_again(caplog, capfd):
    """Return a function that makes things up to three times, notes what is said, and tells what is found each time."""

    def look(search, make_things):
        found = None
        for _ in range(3):
            with caplog.at_level(logging.DEBUG), warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                things = list(make_things())
            things += [*zip(("stdout", "stderr"), capfd.readouterr(), strict=True), ("log", caplog.text)]
            things += [("warnings", [str(one.message) for one in caught])]
            again = search(things)
            found = again if found is None else found & again
            if not found:
                break
        return sorted(found)

    return look
