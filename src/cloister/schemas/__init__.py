# SPDX-License-Identifier: Apache-2.0
"""The formats of files as JSON Schemas (draft 2020-12): ``release.json``, ``synopsis.json`` and ``ledger.json`` in this folder.

Each stands alone. Imports nothing of the package but ``validate``; anyone may import it.
"""

import json
from importlib.resources import files
from typing import Any

from cloister import validate

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
    return schema
