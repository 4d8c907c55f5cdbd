# SPDX-License-Identifier: Apache-2.0
"""The formats of files as JSON Schemas (draft 2020-12): ``release.json``, ``synopsis.json`` and ``ledger.json`` in this folder.

What differs between kinds of columns, the kinds say themselves. Imports ``columns`` and ``validate``.
"""

import json
from importlib.resources import files
from typing import Any

from cloister import validate
from cloister.columns import KINDS

__all__ = ["FORMATS", "json_schema"]

FORMATS = ("release", "synopsis", "ledger")  # of a ledger: of one line


def json_schema(name: str) -> dict[str, Any]:
    """Return the JSON Schema of a file that Cloister writes.

    Parameters
    ----------
    name : {"release", "synopsis", "ledger"}
        Of a ledger, the schema is that of one line.

    Returns
    -------
    dict
        The schema, of draft 2020-12, for any validator. Fields that it does not name are allowed: later versions add some.

    Raises
    ------
    ParameterError
        If there is no such format.

    Notes
    -----
    **Privacy.** A schema is about files, not about rows; it costs nothing.

    A file that satisfies its schema has every field of the right type. That arrays have equal lengths, that centres lie in
    their domain and that events add up to no more than the guarantee is what ``load_release`` checks.

    Examples
    --------
    >>> json_schema("release")["properties"]["format"]["const"]
    'cloister.release'
    """
    found = validate.one_of("json_schema.name", name, FORMATS)
    schema: dict[str, Any] = json.loads((files(__name__) / f"{found}.json").read_text(encoding="utf-8"))
    parts = schema.get("$defs", {})
    if "column" in parts:
        parts["column"]["oneOf"] = [one.json_schema() for one in KINDS.values()]
    for one in parts.get("profile", {}).get("oneOf", ()):
        has_levels = "levels" in one["properties"]
        one["properties"]["kind"]["enum"] = [kind for kind, each in KINDS.items() if each.has_levels == has_levels]
    return schema
