# SPDX-License-Identifier: Apache-2.0
"""Files held to their schemas: as anyone may do it, and closed, so that a field which the schema does not name is found."""

import copy
import json
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator

from cloister import json_schema


def objects(schema: Any) -> list[dict[str, Any]]:
    """Return every part of a schema that describes an object field by field."""
    if isinstance(schema, list):
        return [one for part in schema for one in objects(part)]
    if not isinstance(schema, dict):
        return []
    own = [schema] if schema.get("type") == "object" and "properties" in schema else []
    return own + [one for part in schema.values() for one in objects(part)]


@cache
def _validator(name: str, *, closed: bool) -> Draft202012Validator:
    """Return what holds a file to its schema; `closed`, it allows no other fields than the schema names."""
    schema = copy.deepcopy(json_schema(name))
    for one in objects(schema) if closed else ():
        one.setdefault("additionalProperties", False)
    return Draft202012Validator(schema)


def accepts(name: str, data: Any) -> bool:
    """Whether the schema that is shipped accepts what a file holds."""
    return _validator(name, closed=False).is_valid(data)


def check(name: str, data: Any) -> None:
    """Check that what would be written satisfies its schema, and that the schema names every field of it."""
    plain = json.loads(json.dumps(data, allow_nan=False))
    for closed in (False, True):
        _validator(name, closed=closed).validate(plain)
