# SPDX-License-Identifier: Apache-2.0
"""One browser for all pages that a process looks at."""

from collections.abc import Iterator

import pytest

from .browser import NAMES, Tab, find_browser, open_tab


@pytest.fixture(scope="session")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tab]:
    browser = find_browser()
    if browser is None:
        pytest.fail(f"Pages are tested in a real browser: install one of {', '.join(NAMES)}, or set CHROMIUM to its path.")
    with open_tab(browser, tmp_path_factory.mktemp("profile")) as opened:
        yield opened
