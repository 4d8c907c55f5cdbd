# SPDX-License-Identifier: Apache-2.0
"""How an estimator is declared: parameters as fields, and a docstring that is completed by what all estimators share.

A class lists the parameters of its own with their defaults and documents these; the constructor is written by
``dataclasses``, so that a parameter of all estimators is added in one place, the base class, and documented in one place, here.
"""

import dataclasses
import inspect
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar, dataclass_transform

__all__ = ["estimator"]

Estimator = TypeVar("Estimator")


@dataclass(frozen=True)
class _Part:
    """The text on one or several names; `first` stand before the class's own ones, the others after."""

    names: tuple[str, ...]
    text: str
    first: bool = True


_PARAMETERS = (
    _Part(
        ("n_clusters",), "n_clusters : int, default={n_clusters}\n    Number of centres; always exactly so many are returned."
    ),
    _Part(
        ("epsilon", "delta"),
        "epsilon, delta : float, default={epsilon} and {delta}\n"
        "    The guarantee. ``delta=0`` is pure differential privacy, with Laplace noise; Gaussian noise above.",
    ),
    _Part(("guarantee",), "guarantee : PureDP, ApproxDP, ZCDP or GDP, optional\n    Replaces `epsilon` and `delta`."),
    _Part(
        ("bounds",),
        'bounds : (low, high), Box, Ball, list of pairs, mapping or "private"\n'
        "    Where rows may lie, known without looking at them: ``(X.min(0), X.max(0))`` publishes rows that nobody paid for.\n"
        "    Rows outside are moved to the boundary. A mapping says what\n"
        '    each column is, ``{{"age": (0, 120), "sex": Category(["f", "m"])}}``, and only these columns are used; see\n'
        '    :class:`Number`, :class:`Category`, :class:`Flag` and :class:`Date`. ``"private"``, for all columns or for\n'
        "    some, finds bounds with noise.",
    ),
    _Part(
        ("scaling",),
        'scaling : {{"auto", "none", "bounds", "spread"}}, default="auto"\n'
        "    Measure distances in the units of the input, with every column divided by the width of its bounds, or by a\n"
        '    private spread (paid from `bounds_share`). ``"auto"``: by the bounds, if their widths differ or columns are\n'
        "    declared.",
    ),
    _Part(
        ("neighbours",),
        'neighbours : {{"add-remove", "replace"}}, default="add-remove"\n    Which tables count as neighbours.',
    ),
    _Part(
        ("privacy_unit",),
        "privacy_unit : str, optional\n"
        "    The column that says whose row it is. Then a person is protected with all of their rows, instead of one row: two\n"
        "    tables are neighbours if they differ in one person. It is never clustered by, and no id is published. Rows\n"
        "    without an id are left out. Ids of a table in memory may be passed to ``fit(X, privacy_unit=ids)`` instead.",
    ),
    _Part(
        ("max_rows_per_unit",),
        'max_rows_per_unit : "auto" or int, default="auto"\n'
        "    Rows of a person that are used, up to 1,000; of whoever has more, as many are drawn at random. More rows are\n"
        '    more noise: where every row counts, so many times as much. ``"auto"`` spends 2 % of the budget on a noisy\n'
        "    histogram of rows per person and takes the number with the least expected error.",
    ),
    _Part(
        ("weighting",),
        'weighting : {{"row", "person"}}, default="row"\n'
        "    With `privacy_unit`: every row that is used counts 1, or every person, in equal parts for each of their rows.\n"
        "    Persons need less noise, and counts are numbers of persons.",
    ),
    _Part(
        ("units_bounded",),
        "units_bounded : bool, default=False\n"
        "    Your statement that nobody has more than `max_rows_per_unit` rows: they are not counted, which saves a pass.\n"
        "    The guarantee rests on it.",
    ),
    _Part(
        ("n_rows",),
        "n_rows : int, optional\n"
        "    The number of rows, if it is public; with `privacy_unit`, that of persons. ``len(X)`` is not: it counts private\n"
        "    rows exactly. None spends 2 % of the budget on a noisy count, where the method needs one.",
    ),
    _Part(
        ("missing",),
        'missing : {{"mean", "middle"}}, default={missing}\n'
        "    Where a missing value is placed, in its own column alone, unless the column says so itself: at a private mean of\n"
        "    the column, or in the middle of its bounds. Up to 3 % of the budget asks what part of each column is missing or\n"
        "    outside its bounds, which is published, and for the means: less with many rows, nothing with too few.\n"
        '    ``"middle"`` asks nothing.',
        first=False,
    ),
    _Part(
        ("bounds_share",),
        "bounds_share : float, default={bounds_share}\n"
        "    Part of the budget that finds private bounds and spreads, where there are any to be found.",
        first=False,
    ),
    _Part(
        ("dataset", "purpose"),
        "dataset, purpose : str, default={dataset} and {purpose}\n"
        "    What the data set is called and what the fit is for: public words that ledger, release and report keep. They\n"
        "    change no result.",
        first=False,
    ),
    _Part(
        ("describe",),
        "describe : float, default={describe}\n"
        "    Part of the budget, up to 0.9, that says what the clusters look like: noisy histograms of every column in each\n"
        "    of them (``release_.profiles``). It is taken from what finds the centres. 0 asks nothing.",
        first=False,
    ),
    _Part(
        ("describe_columns",),
        "describe_columns : mapping, optional\n"
        "    Further columns to describe, declared as in `bounds`, which must be a mapping, too:\n"
        '    ``{{"income": (0, 200_000), "region": Category(["north", "south"])}}``. They are read from the same table and\n'
        "    never clustered by. Their bounds and levels must be public.",
        first=False,
    ),
    _Part(
        ("ledger",),
        "ledger : Ledger, optional\n    A budget shared with other fits; the fit is refused where it does not fit.",
        first=False,
    ),
    _Part(
        ("random_state",),
        "random_state : int, optional\n"
        "    Makes noise and choices reproducible and stamps the receipt ``seeded``: for tests, not for publication.",
        first=False,
    ),
    _Part(("n_jobs",), "n_jobs : int, optional\n    Threads; None uses all processors.", first=False),
    _Part(("progress",), "progress : bool, default=False\n    Show a progress bar on standard error.", first=False),
)
_ATTRIBUTES = (
    _Part(
        ("cluster_centers_",),
        "cluster_centers_ : array of shape (n_clusters, n_features)\n    In the units of the input, inside the domain.",
    ),
    _Part(
        ("cluster_counts_",),
        "cluster_counts_ : array of shape (n_clusters,)\n    Noisy numbers of rows; of persons with ``weighting='person'``.",
    ),
    _Part(("plan_",), "plan_ : Plan\n    What was asked, step by step, and how the budget was divided.", first=False),
    _Part(("release_",), "release_ : Release\n    What may be published.", first=False),
    _Part(("privacy_receipt_",), "privacy_receipt_ : Receipt\n    Guarantee and events.", first=False),
    _Part(
        ("labels_",),
        "labels_ : array of shape (n_rows,)\n"
        "    Row-level, not covered by the guarantee, absent from pickles. Only for tables in memory.",
        first=False,
    ),
    _Part(("n_features_in_",), "n_features_in_ : int\n    Columns.", first=False),
    _Part(("n_iter_",), "n_iter_ : int\n    Rounds.", first=False),
)
_EXAMPLE = """
Examples
--------
>>> import numpy as np
>>> rows = np.random.default_rng(0).normal([[20.0], [60.0]], 2.0, size=(2, 500)).reshape(-1, 1)
>>> model = {name}(n_clusters=2, epsilon=2.0, bounds=(0, 100), random_state=0).fit(rows)
>>> np.sort(model.cluster_centers_[:, 0]).round(-1)
array([20., 60.])
"""  # of a class that has centres, and no example of its own


@dataclass_transform(kw_only_default=True, eq_default=False, field_specifiers=(dataclasses.field,))
def estimator(cls: type[Estimator]) -> type[Estimator]:
    """Write the constructor of an estimator from its annotated fields, and complete its docstring."""
    made = dataclass(kw_only=True, eq=False, repr=False, match_args=False)(cls)
    defaults = {name: repr(parameter.default) for name, parameter in inspect.signature(made).parameters.items()}
    doc = inspect.cleandoc(made.__doc__ or "")
    doc = _complete(doc, "Parameters", _PARAMETERS, set(defaults), defaults)
    attributes = set(getattr(made, "_attributes", ()))
    done = _complete(doc, "Attributes", _ATTRIBUTES, attributes, {})
    ready = done == doc or "Examples\n---" in done or "cluster_centers_" not in attributes
    made.__doc__ = done if ready else done + _EXAMPLE.format(name=made.__name__)
    return made


def _complete(doc: str, title: str, parts: Sequence[_Part], names: set[str], values: dict[str, str]) -> str:
    """Add the parts on those of `names` that the section does not mention yet; a docstring without the section stays."""
    found = re.search(rf"^{title}\n-+\n(?P<own>.*?)(?=^\S[^\n]*\n-+\n|\Z)", doc, flags=re.M | re.S)
    if found is None:
        return doc
    own = found.group("own").strip("\n")
    documented = {name.strip() for line in re.findall(r"^(\S[^:\n]*)", own, flags=re.M) for name in line.split(",")}
    wanted = [part for part in parts if names.intersection(part.names) and not documented.intersection(part.names)]
    before = [part.text.format(**values) for part in wanted if part.first]
    after = [part.text.format(**values) for part in wanted if not part.first]
    body = "\n".join(text for text in (*before, own, *after) if text)
    return f"{doc[: found.start('own')]}{body}\n\n{doc[found.end('own') :]}".rstrip("\n") + "\n"
