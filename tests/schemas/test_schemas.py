# SPDX-License-Identifier: Apache-2.0
"""The schemas: files satisfy them, damaged ones do not, and no field goes without a description."""

import json
from typing import Any

import numpy as np
import pytest
from jsonschema import Draft202012Validator, ValidationError
from tests.goldens.cases import people
from tests.release.test_damage import LOST as GONE
from tests.release.test_damage import damaged

from cloister import Category, Date, Flag, GridKMeans, GridSynopsis, KMeans, Ledger, Number, PointSynopsis, Release, json_schema
from cloister.algorithms import COUNT_RULES
from cloister.columns import Neighbours, PrivacyUnit, Relation
from cloister.exceptions import ParameterError
from cloister.privacy import FIGURES, GDP, ZCDP, ApproxDP, Event, PureDP
from cloister.privacy._mechanisms import MECHANISMS
from cloister.schemas import FORMATS
from cloister.synopsis import read_synopsis
from cloister.synopsis._files import decode

from .checker import accepts, check, objects

every_schema = pytest.mark.parametrize("name", FORMATS)


COLUMNS: dict[str, Any] = {
    "age": Number(0, 110, missing="own"),
    "dose": "private",
    "sex": Category(["f", "m"], weight=0.5),
    "smoker": Flag(missing="middle"),
    "admitted": Date("2020-01-01", "2026-12-31"),
}


@pytest.fixture(scope="module")
def full() -> dict[str, Any]:
    """A release that has every field."""
    ledger = Ledger(epsilon=9.0, delta=1e-6, unit="person", name="people")
    options = {"privacy_unit": "patient", "max_rows_per_unit": 3, "describe": 0.2, "scaling": "spread", "n_init": 1}
    stated = {"ledger": ledger, "dataset": "visits", "purpose": "a test"}
    more = {"describe_columns": {"again": (0, 5)}}
    model = KMeans(2, epsilon=4.0, bounds=COLUMNS, **options, **stated, **more).fit(people().assign(again=1.0))
    return json.loads(model.release_.to_json())


# -- the schemas themselves ----------------------------------------------------------------------------------------------


@every_schema
def test_a_schema_is_one(name: str) -> None:
    schema = json_schema(name)
    Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["$id"].endswith(f"/schemas/{name}.json")


def test_there_is_no_other() -> None:
    with pytest.raises(ParameterError, match=r"json_schema.name: expected one of 'ledger', 'release', 'synopsis', got 'table'"):
        json_schema("table")


@every_schema
def test_every_field_says_what_it_means(name: str) -> None:
    for one in objects(json_schema(name)):
        for field, about in one["properties"].items():
            assert about.get("description") or "$ref" in about, field


def test_parts_of_one_name_are_the_same_in_every_schema() -> None:
    parts: dict[str, Any] = {}
    for name in FORMATS:
        for part, about in json_schema(name)["$defs"].items():
            assert parts.setdefault(part, about) == about, f"{part} of {name}"


def test_words_are_those_of_the_code() -> None:
    release, synopsis = json_schema("release"), json_schema("synopsis")
    event = release["$defs"]["event"]["properties"]
    assert event["event"]["enum"] == list(MECHANISMS)
    assert set(event) == set(Event(mechanism="exponential", question_name="", size=1, scale=1, sensitivity=1, unit=1,
                                   relation="replace", seeded=False).to_line())  # fmt: skip
    kinds = [one["properties"]["kind"]["const"] for one in release["$defs"]["guarantee"]["oneOf"]]
    assert kinds == [PureDP.kind, ApproxDP.kind, ZCDP.kind, GDP.kind]
    assert set(release["$defs"]["step"]["properties"]["figures"]["properties"]) == set(FIGURES)
    assert set(synopsis["$defs"]["grid"]["properties"]["counts"]["enum"]) == set(COUNT_RULES)


# -- releases ------------------------------------------------------------------------------------------------------------


def test_a_release_with_every_field(full: dict[str, Any]) -> None:
    check("release", full)
    assert json.loads(Release.from_dict(full).to_json()) == full
    assert set(json_schema("release")["properties"]) == set(full)
    assert accepts("release", full | {"later": 1}), "later versions may have more fields"
    for place in (("later",), ("receipt", "events", 0, "later"), ("domain", "columns", 0, "later")):
        with pytest.raises(ValidationError):  # of this version none goes unnamed
            check("release", damaged(full, place, 1))


# -- synopses ------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def synopses() -> dict[str, Any]:
    numbers, rows = {"age": (0, 110), "dose": "private"}, np.random.default_rng(2).uniform(-1, 1, size=(400, 2))
    people_options = {"privacy_unit": "patient", "max_rows_per_unit": 3}
    split = {"bounds": (-1, 1), "rule": "adaptive"}
    made = {
        "grid": GridSynopsis(bounds=numbers, epsilon=4.0).fit(people()),
        "split grid": GridSynopsis(epsilon=4.0, **split).fit(rows),
        "split grid of persons": GridSynopsis(epsilon=4.0, max_rows_per_unit=1, **split).fit(rows, privacy_unit=np.arange(400)),
        "points": PointSynopsis(bounds=COLUMNS, epsilon=4.0, max_clusters=4, **people_options).fit(people()),
    }
    found = {name: model.synopsis_ for name, model in made.items()}
    twice = found["grid"].merge(found["grid"])
    return {**found, "merged": twice.merge(twice, rows="same")}


def test_a_synopsis_of_every_kind(synopses: dict[str, Any]) -> None:
    for synopsis in synopses.values():
        check("synopsis", synopsis.to_dict())
        release = synopsis.cut(2).to_dict()
        check("release", release)
        assert Release.from_dict(release).receipt == synopsis.receipt
        for kind in ("json", "parquet"):
            assert read_synopsis(synopsis.to_bytes(kind), name="a file").to_dict() == synopsis.to_dict()
        head = decode(synopsis.to_bytes("parquet"))
        check("synopsis", head | {"noisy_counts": np.asarray(head["noisy_counts"]).tolist()})


# -- ledgers -------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def lines() -> list[dict[str, Any]]:
    """A ledger of persons with every field that lines have."""
    ledger = Ledger(epsilon=2.0, delta=1e-6, unit="person", name="people", pure_epsilon=0.5)
    options = {"bounds": {"age": (0, 110)}, "rule": 3, "n_init": 1, "privacy_unit": "patient", "max_rows_per_unit": 3}
    stated = {"ledger": ledger, "dataset": "visits", "purpose": "a test"}
    GridKMeans(2, epsilon=0.5, delta=1e-6, **options, **stated).fit(people())
    GridKMeans(2, epsilon=0.5, delta=0.0, **options, ledger=ledger).fit(people())
    near = Neighbours(Relation.ADD_REMOVE, PrivacyUnit(name="patient"))
    ledger.reserve(GDP(0.1), purpose="lost", relation=near)
    ledger.settle()
    return ledger.lines


def test_every_line_of_a_ledger(lines: list[dict[str, Any]]) -> None:
    budgets = (PureDP(1.0), ApproxDP(1.0, 1e-6), ZCDP(0.5), GDP(0.5))
    for line in (*lines, *(Ledger(budget, neighbours="replace", planned=True).lines[0] for budget in budgets)):
        check("ledger", line)
    parts = json_schema("ledger")["$defs"]
    for kind in ("budget", "reserve", "debit", "close"):
        written = {field for line in lines if line["kind"] == kind for field in line}
        assert written == set(parts[kind]["properties"]), kind


# -- damage --------------------------------------------------------------------------------------------------------------

DAMAGE: dict[str, list[tuple[tuple[Any, ...], Any]]] = {  # of each kind of rule some: what is needed, types, ranges, lengths
    "release": [
        *(((name,), GONE) for name in ("method", "domain", "count_errors", "receipt", "steps")),
        (("format",), "cloister.synopsis"),
        (("domain", "kind"), "cube"),
        (("domain", "columns", 1, "low"), GONE),
        (("domain", "columns", 2, "levels"), []),
        (("domain", "columns", 2, "weight"), 0),
        *((("cluster_centers", 0, 0), value) for value in ("3", None, True)),
        (("stability", 0), 1.5),
        (("cells", "missing"), 0.1),
        (("created",), "today"),
        (("profiles", "columns", 0, "edges"), GONE),
        *((("receipt", "guarantee"), value) for value in (GONE, None)),
        (("receipt", "guarantee", "kind"), "strong"),
        (("receipt", "guarantee", "delta"), GONE),
        (("receipt", "neighbours"), "replace"),  # the events are about the other relation
        (("receipt", "dataset"), "x" * 201),
        (("receipt", "events", 0, "event"), "uniform"),
        (("receipt", "events", 0, "size"), 1.5),
        (("receipt", "events", 0, "when"), "noon"),
        (("steps", 0, "figures", "n_points"), "many"),
    ],
    "grid": [(("cells",), GONE), (("noisy_counts",), None), (("counts",), "exact"), (("domain", "kind"), "ball")],
    "split grid": [(("split", "factors", 0), 0.5)],
    "points": [(("kind",), GONE), (("max_clusters",), 0)],
    "budget": [*((("budget",), value) for value in (GONE, {"kind": "pure", "epsilon": "1"})), (("pure_epsilon",), -1)],
    "reserve": [(("cost",), {"kind": "approx", "epsilon": 1.0, "delta": 1e-6}), (("kind",), "refund")],
    "debit": [(("event",), "uniform"), (("when",), "12:30")],
    "close": [(("account",), 7)],
}


@pytest.mark.parametrize("name", DAMAGE)
def test_damage_is_found(full: dict[str, Any], synopses: dict[str, Any], lines: list[dict[str, Any]], name: str) -> None:
    schema, data = "release", full
    if name in synopses:
        schema, data = "synopsis", json.loads(json.dumps(synopses[name].to_dict()))
    elif name != "release":
        schema, data = "ledger", next(line for line in lines if line["kind"] == name)
    assert accepts(schema, data)
    for place, value in DAMAGE[name]:
        assert not accepts(schema, damaged(data, place, value)), (place, value)
