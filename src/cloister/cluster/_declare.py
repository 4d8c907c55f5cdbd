# SPDX-License-Identifier: Apache-2.0
"""How an estimator is declared: parameters as fields, documented in the class that declares them.

A class lists the parameters of its own with their defaults and documents these; ``dataclasses`` writes the constructor. What
its bases declare is documented there and copied into its docstring, so a parameter of all estimators is added in one place.
"""

import dataclasses
import inspect
import re
from dataclasses import dataclass
from typing import TypeVar, dataclass_transform

Estimator = TypeVar("Estimator")

EXAMPLE = """
Examples
--------
>>> import numpy as np
>>> rows = np.random.default_rng(0).normal([[20.0], [60.0]], 2.0, size=(2, 500)).reshape(-1, 1)
>>> model = {name}(n_clusters=2, epsilon=2.0, bounds=(0, 100), random_state=0).fit(rows)
>>> np.sort(model.cluster_centers_[:, 0]).round(-1)
array([20., 60.])
"""  # of a method that has centres, and no example of its own


@dataclass_transform(kw_only_default=True, eq_default=False, field_specifiers=(dataclasses.field,))
def estimator(cls: type[Estimator]) -> type[Estimator]:
    """Write the constructor of an estimator from its annotated fields, and complete its docstring by those of its bases."""
    made = dataclass(kw_only=True, eq=False, repr=False, match_args=False)(cls)
    defaults = {
        name: f'"{one.default}"' if isinstance(one.default, str) else repr(one.default)
        for name, one in inspect.signature(made).parameters.items()
    }
    docs = [inspect.cleandoc(base.__doc__ or "") for base in made.__mro__ if dataclasses.is_dataclass(base)]
    parameters, attributes = _entries(docs, "Parameters"), _entries(docs, "Attributes")
    described = []
    for entry in (parameters[name] for name in defaults if name in parameters):
        head, line, text = entry.partition("\n")
        what, found, _ = head.partition(", default=")
        if found:  # this class may have another default than the one that documents the parameter
            head = f"{what}{found}{' and '.join(defaults[name] for name in what.partition(' : ')[0].split(', '))}"
        described.append(head + line + text)
    doc = _replace(_replace(docs[0], "Parameters", described), "Attributes", list(attributes.values()))
    needs_example = "Notes\n---" in doc and "Examples\n---" not in doc and "cluster_centers_" in attributes
    made.__doc__ = doc + EXAMPLE.format(name=made.__name__) if needs_example else doc
    return made


def _section(doc: str, title: str) -> re.Match[str] | None:
    return re.search(rf"^{title}\n-+\n(?P<body>.*?)(?=^\S[^\n]*\n-+\n|\Z)", doc, flags=re.M | re.S)


def _entries(docs: list[str], title: str) -> dict[str, str]:
    """Return what the first docstring that mentions a name says of it; names that share an entry have it under the first."""
    entries: dict[str, str] = {}
    seen: set[str] = set()
    for doc in docs:
        found = _section(doc, title)
        for entry in re.split(r"\n(?=\S)", found["body"].strip()) if found is not None else ():
            names = entry.partition(" : ")[0].split(", ")
            if seen.isdisjoint(names):
                entries[names[0]] = entry
            seen.update(names)
    return entries


def _replace(doc: str, title: str, entries: list[str]) -> str:
    """Return a docstring with these entries in its section; one without the section stays."""
    found = _section(doc, title)
    if found is None:
        return doc
    return f"{doc[: found.start('body')]}{chr(10).join(entries)}\n\n{doc[found.end('body') :]}".rstrip("\n") + "\n"
