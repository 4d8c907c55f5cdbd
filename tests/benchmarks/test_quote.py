# SPDX-License-Identifier: Apache-2.0
"""Tables of a page stand in the documentation as they are, where they are marked."""

from benchmarks.quote import quote_tables

PAGE = "Words.\n\n**Losses**\n\n| data | loss |\n| :--- | ---: |\n| iris | 1 |\n\nA note.\n"


def test_a_marked_table_is_replaced_and_the_rest_is_left():
    text = "Before\n\n<!-- table: Losses -->\nold\n<!-- end -->\n\n<!-- table: Other -->\nkept\n<!-- end -->\nAfter\n"
    done = quote_tables(text, PAGE)
    assert "| iris | 1 |" in done
    assert "old" not in done
    assert "kept" in done
    assert done.startswith("Before")
    assert done.endswith("After\n")
    assert quote_tables(done, PAGE) == done
