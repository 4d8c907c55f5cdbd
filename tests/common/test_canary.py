# SPDX-License-Identifier: Apache-2.0
"""A canary is planted in the rows, then looked for in everything a fit leaves behind, of every public estimator.

The canary is a value of one row and the exact number of rows. It is looked for as text, as bytes and as a number, in what is
printed and stored and in every object that can be reached from the model, its release, its ledger and its errors. Noise can hit
the exact number of rows by chance; a leak is found again when the fit is repeated.
"""

import copy
import dataclasses
import fractions
import inspect
import io
import itertools
import pickle
import re

import joblib
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from packaging.version import Version
from sklearn import __version__ as sklearn_release
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils import estimator_html_repr

from cloister import Ledger
from cloister.cli import main
from cloister.exceptions import CloisterError
from cloister.report import report_html, summary, synopsis_html, synopsis_summary

from ._cases import CASES, every_clusterer, every_method
from ._search import BOUNDS, COUNT, VALUE, Search

LLOYD = next(case for case in CASES if case.name == "LloydKMeans")
CLOCK = re.compile(rb"\d\d:\d\d:\d\d|\d\d\d\d-\d\d-\d\d[T ]\d\d")


# -- what a fit leaves behind ----------------------------------------------------------------------------------------------


def plant(generator, n_features=2):
    rows = generator.uniform(10, 60, size=(COUNT, n_features))
    rows[1234] = VALUE
    return rows


def as_frame(rows):
    return pd.DataFrame(rows, columns=[f"column {index}" for index in range(rows.shape[1])])


def fit(case, rows, generator, **parameters):
    """Fit; the target of source-target clustering is public and of another size."""
    width = rows.shape[1] if len(getattr(rows, "shape", ())) == 2 else 2
    target = generator.uniform(0, 50, size=(60, width))
    model = case.make(width=width, **{"bounds": BOUNDS, **parameters})
    return case.fit_to(model, rows, target=as_frame(target) if isinstance(rows, pd.DataFrame) else target)


def of_a_model(model):
    """Yield, by name, what a fitted model shows and what is kept of it."""
    yield from {"repr": repr(model), "str": str(model), "parameters": model.get_params(), "state": model.__getstate__()}.items()
    yield "repr of the attributes", repr(vars(model))
    for name, value in inspect.getmembers(model):  # what scikit-learn and notebooks list
        if not inspect.isroutine(value):
            yield f"attribute {name}", value
            yield f"repr of {name}", repr(value)
    yield "page", estimator_html_repr(model)
    yield "notebook", model._repr_mimebundle_()
    yield "page with what is published", model._repr_html_()
    yield "page of a pipeline", estimator_html_repr(make_pipeline(FunctionTransformer(), model))
    if hasattr(model, "set_output"):
        yield "page with an output container", estimator_html_repr(copy.deepcopy(model).set_output(transform="pandas"))
    yield "pickle", pickle.dumps(model)
    for name, another in {
        "pickled": pickle.loads(pickle.dumps(model)),
        "copy": copy.copy(model),
        "deep copy": copy.deepcopy(model),
        "clone": clone(model),
    }.items():
        yield name, another
        yield f"labels of the {name}", getattr(another, "labels_", None)
    stored = io.BytesIO()
    joblib.dump(model, stored)
    yield "joblib", stored.getvalue()


def of_what_is_published(model):
    """Yield, by name, what a fit publishes."""
    yield "receipt", str(model.privacy_receipt_.to_dict())
    yield "receipt in words", " ".join(model.privacy_receipt_.explain())
    yield "receipt, printed", repr(model.privacy_receipt_)
    if hasattr(model, "release_"):
        yield "release", model.release_.to_json()
        yield "release, printed", repr(model.release_)
        yield "release in a notebook", model.release_._repr_html_()
        yield "report", report_html(model.release_)
        yield "summary", str(summary(model.release_))
    if hasattr(model, "synopsis_"):
        yield "synopsis", model.synopsis_.to_bytes("json")
        yield "synopsis in Parquet", model.synopsis_.to_bytes("parquet")
        yield "synopsis, printed", repr(model.synopsis_)
        yield "synopsis in a notebook", model.synopsis_._repr_html_()
        if model.synopsis_.grid is not None:
            dense = model.synopsis_.density_clusters()
            yield from {"dense cells": dense.to_dict(), "dense cells, printed": repr(dense)}.items()
            yield "dense cells in a notebook", dense._repr_html_()
        yield "summary of the synopsis", str(synopsis_summary(model.synopsis_))
        yield "report of the synopsis", synopsis_html(model.synopsis_, release=model.synopsis_.cut(2))


def of_a_ledger(ledger):
    yield from {"ledger": ledger, "ledger lines": ledger.lines, "ledger summary": ledger.summary()}.items()
    yield "ledger checkpoint", ledger.checkpoint
    yield from {"ledger, printed": repr(ledger), "ledger events": ledger.events}.items()


@pytest.fixture
def leaks(tmp_path, found_again, generator):
    """Return a function that fits, uses, prints and stores models, and says where the canary is found again."""

    numbers = itertools.count()

    def look(case, *, n_features=2, form=np.asarray, **extra):
        relation = {"neighbours": extra.get("neighbours", "add-remove")}

        def things():
            path = tmp_path / f"{next(numbers)}.sqlite"
            with Ledger.create(path, epsilon=20.0, delta=extra.get("delta", 1e-6), name="canary", **relation) as ledger:
                model = fit(case, form(plant(generator, n_features)), generator, ledger=ledger, **extra)
                yield from (*of_a_model(model), *of_what_is_published(model), *of_a_ledger(ledger))
            yield from (
                ("file of the ledger", one.read_bytes()) for one in tmp_path.iterdir() if one.name.startswith(path.name)
            )

        return found_again(Search(n_features), things)

    return look


# -- the laws ------------------------------------------------------------------------------------------------------------


@pytest.mark.fast("KMeans")
@every_method
def test_the_canary_is_found_nowhere(leaks, case):
    assert leaks(case, epsilon=0.1, progress=True) == []
    assert leaks(case, epsilon=0.1, delta=0.0, neighbours="replace", form=as_frame) == []


@pytest.mark.fast("KMeans-*")
@pytest.mark.parametrize(
    "extra", [{"form": as_frame}, {"delta": 0.0}, {"neighbours": "replace"}], ids=["frame", "pure", "replace"]
)
def test_nor_with_any_noise_form_and_relation(leaks, case, extra):
    assert leaks(case, epsilon=0.1, **extra) == []


@pytest.mark.fast("KMeans")
@every_method
def test_nor_in_many_columns(leaks, case):
    assert leaks(case, epsilon=0.1, n_features=case.method.max_features or 40) == []


@every_clusterer
def test_labels_exist_for_this_process_alone(generator, case):
    rows = plant(generator)
    model = fit(case, rows, generator)
    assert model.labels_.shape == (COUNT,)
    assert "labels_" not in vars(model)
    assert "labels_" not in dir(model)
    for another in (copy.copy(model), copy.deepcopy(model), pickle.loads(pickle.dumps(model)), clone(model)):
        assert not hasattr(another, "labels_")
    assert model.labels_.shape == (COUNT,)
    del model.labels_
    with pytest.raises(AttributeError, match="has no attribute 'labels_'"):
        _ = model.labels_
    with pytest.raises(AttributeError, match="has no attribute 'labels_'"):
        del model.labels_


@pytest.mark.fast("KMeans", "PointSynopsis")
@every_method
def test_no_time_of_day_is_published(generator, case):
    # Between two noisy answers lies the time it took to read the rows, and that depends on them.
    for name, content in of_what_is_published(fit(case, plant(generator), generator)):
        raw = content if isinstance(content, bytes) else str(content).encode()
        assert not CLOCK.findall(raw), name


# -- errors --------------------------------------------------------------------------------------------------------------


def hostile_tables(generator):
    """Return tables that are no numbers, or not everywhere, or of the wrong shape; some may be read, none may be quoted."""
    rows = plant(generator)
    frame, numbers_of_one = as_frame(rows), rows[:, 0].tolist()
    last, first = [*numbers_of_one[1:], f"about {VALUE}"], [f"about {VALUE}", *numbers_of_one[1:]]
    objects = rows.astype(object)
    objects[1234, 0] = f"about {VALUE}"
    return {
        "a column of text": frame.assign(name=str(VALUE)),
        "text in the last row": frame.assign(name=pd.Series(last, dtype=object)),
        "text in the first row": frame.assign(name=pd.Series(first, dtype=object)),
        "a whole number too large": frame.assign(name=pd.Series([*numbers_of_one[1:], 2**70], dtype=object)),
        "a fraction": frame.assign(name=pd.Series([*numbers_of_one[1:], fractions.Fraction(VALUE)], dtype=object)),
        "dates": frame.assign(name=pd.Timestamp("2020-01-01")),
        "an array of objects": objects,
        "a list with text": objects.tolist(),
        "a list of unequal rows": [*rows[1:].tolist(), [VALUE]],
        "text alone": [[str(VALUE), "?"]] * 10,
        "one axis": rows[:, 0],
        "three axes": rows[:, :, None],
        "no table": {"value": VALUE},
    }


def refusals(case, generator):
    """Yield, by name, calls that may be refused: parameters, budgets, tables."""
    rows, ledger = plant(generator), Ledger(epsilon=2.0, delta=1e-6)
    for wrong in ({"epsilon": 50.0, "ledger": ledger}, {"n_clusters": 0}, {"n_rows": -1}, {"bounds": (1, 0)}):
        yield f"parameter {wrong}", lambda wrong=wrong: fit(case, rows, generator, **wrong)
    for name, table in hostile_tables(generator).items():
        yield name, lambda table=table: fit(case, table, generator)


@pytest.mark.fast("KMeans", "GridSynopsis", "SourceTargetKMedoids")
@every_method
def test_no_error_quotes_the_canary_nor_does_what_it_was_raised_from(case, generator):
    errors = []
    for name, call in refusals(case, generator):
        try:
            call()
        except CloisterError as error:
            errors.append((name, error))
    assert sum(name.startswith("parameter") for name, _ in errors) == 4
    assert Search()(errors) == set()


def test_the_command_line_keeps_it_too(generator, tmp_path):
    rows = plant(generator)
    as_frame(rows).to_csv(tmp_path / "rows.csv", index=False)
    as_frame(generator.uniform(0, 50, size=(60, 2))).to_csv(tmp_path / "target.csv", index=False)
    table, public = str(tmp_path / "rows.csv"), str(tmp_path / "target.csv")
    commands = {
        "fit": ["fit", table, "-k", "2", "--epsilon", "1", "--bounds", "0,100"],
        "source-target": ["source-target", public, "--source", table, "-k", "2", "--epsilon", "1"],
    }
    search, found = Search(), None
    for _ in range(3):
        things = []
        for name, command in commands.items():
            files = {"-o": tmp_path / f"{name}.json", "--report": tmp_path / f"{name}.html"}
            options = [str(part) for pair in files.items() for part in pair]
            for further in (options, ["--json"], ["--epsilon", "x"], ["--columns", "z"]):
                things.append((f"{name} {further[0]}", CliRunner().invoke(main, [*command, *further]).output))
            things += [(f"{name} {option}", path.read_bytes()) for option, path in files.items()]
        found = search(things) if found is None else found & search(things)
    assert found == set()


# -- the search itself -----------------------------------------------------------------------------------------------------


class Slotted:
    """Something private that prints as nothing."""

    __slots__ = ("_inner",)

    def __init__(self, inner):
        self._inner = inner

    def __repr__(self):
        return "<nothing to see>"


class Plain(Slotted):
    """The same, with attributes of its own."""

    def __init__(self, inner):
        self._own = inner


def raised_from(cause):
    """Return an error that was raised while another one was handled, and quotes nothing of it."""
    try:
        try:
            raise ValueError(cause)
        except ValueError:
            raise CloisterError("a table of numbers, got others") from None
    except CloisterError as error:
        return error


def cycle():
    one = [Slotted(COUNT)]
    one.append(one)
    return one


def model_with(generator, **attributes):
    model = fit(LLOYD, plant(generator)[:50], generator)
    vars(model).update(attributes)
    return model


PLANTED = {
    "text": lambda: str(VALUE),
    "text of a fraction": lambda: repr(fractions.Fraction(VALUE)),
    "count as text": lambda: f"n={COUNT}, ",
    "count with a comma": lambda: f"{COUNT:,} rows",
    "count as a number": lambda: {"rows": [COUNT]},
    "length": lambda: [0] * COUNT,
    "shape": lambda: (np.zeros((3, COUNT)),),
    "value in an array": lambda: np.array([1.0, VALUE]),
    "value in the unit ball": lambda: [np.float64((VALUE - 50) / (50 * 2**0.5))],
    "array of objects": lambda: np.array(["", [VALUE]], dtype=object),
    "pickled array": lambda: pickle.dumps(np.array([VALUE])),
    "pickled count": lambda: pickle.dumps({"rows": COUNT}),
    "context": lambda: raised_from(VALUE),
    "slots": lambda: Slotted(Slotted({"deep": [VALUE]})),
    "attributes": lambda: Plain(Plain({"deep": {VALUE}})),
    "cycle": cycle,
}


@pytest.mark.parametrize("form", PLANTED)
def test_the_search_finds(form):
    assert Search()([(form, PLANTED[form]())])


def places(model):
    """Return where, of all that a model shows, the canary is found."""
    return {name for name, thing in of_a_model(model) if Search()([(name, thing)])}


def test_the_search_finds_what_a_model_keeps(generator):
    kept = places(model_with(generator, _kept=np.zeros(COUNT, dtype=int), _deep=Plain(Plain(VALUE))))
    assert {"state", "attribute _kept", "attribute _deep", "pickle", "pickled", "copy", "deep copy"} <= kept


@pytest.mark.skipif(Version(sklearn_release) < Version("1.9"), reason="pages list fitted attributes since scikit-learn 1.9")
def test_the_search_finds_what_a_notebook_shows(generator):
    leaking = places(model_with(generator, counted_=np.zeros(COUNT, dtype=int), seen_=str(VALUE)[:7] + " is seen"))
    shown = {"page", "notebook", "page with what is published", "page of a pipeline", "page with an output container"}
    assert shown <= leaking


def test_the_search_finds_what_a_card_shows(generator):
    model = fit(LLOYD, plant(generator)[:50], generator)
    counts = np.full(model.release_.n_clusters, float(COUNT))
    model.release_ = dataclasses.replace(model.release_, cluster_counts=counts, count_errors=np.zeros_like(counts))
    assert {"notebook", "page with what is published"} <= places(model)
    published = {name for name, thing in of_what_is_published(model) if Search()([(name, thing)])}
    assert {"release, printed", "release in a notebook"} <= published


def test_the_clock_is_found():
    for text in (b"2026-11-15T09:30:01.123+00:00", b"at 09:30:01 UTC", b"2026-11-15 09"):
        assert CLOCK.search(text)
    assert not CLOCK.search(b'"when": "2026-11-15", "x": 12:30')


# -- what is not there -----------------------------------------------------------------------------------------------------


@every_clusterer
def test_there_is_no_exact_loss_nor_anything_else_but_what_is_listed(generator, case):
    model = fit(case, plant(generator), generator)
    assert not hasattr(model, "inertia_")
    fitted = {name for name in vars(model) if name.endswith("_")}
    assert fitted <= FITTED | OWN.get(case.name, set())


FITTED = {"cluster_centers_", "cluster_counts_", "n_features_in_", "n_iter_", "plan_", "privacy_receipt_", "release_"}
OWN = {
    "CoresetKMeans": {"coreset_"},
    "FastLloyd": {"rounds_"},
    "GridKMeans": {"synopsis_"},
    "KMeans": {"loss_", "n_clusters_"},
    "LloydKMeans": {"rounds_"},
    "PEMeans": {"generations_"},
    "TreeKMeans": {"search_"},
}
