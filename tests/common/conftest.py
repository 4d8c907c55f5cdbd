# SPDX-License-Identifier: Apache-2.0
"""A method is tested here by being listed in `cloister.methods`: `case` is every one of them, with its variants."""

import pytest

from ._cases import CASES, draw_rows


@pytest.fixture(params=CASES, ids=str)
def case(request):
    return request.param


@pytest.fixture
def rows(generator):
    return draw_rows(generator, size=40)
