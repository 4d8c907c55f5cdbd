# SPDX-License-Identifier: Apache-2.0
"""Every question, mechanism and rule of composition has a proof, and no proof speaks of what is not there."""

import ast
import inspect
import re
from functools import cache
from pathlib import Path

from cloister import questions, rivals
from cloister.privacy import KINDS, MECHANISMS, Composition

ROOT = Path(__file__).parents[2]
PROOFS = ROOT / "docs" / "proofs"
PAGES = sorted(path for path in PROOFS.rglob("*.md") if path.name != "README.md")
HEADINGS = ["Statement", "Argument", "Where", "Tests"]
RULES = {"conversions", "gaussian", "mixed", "parallel", "planned", "pure", "reservations", "together", "zcdp"}


def sections(page):
    """Return the text under each heading."""
    parts = re.split(r"^## (.+)$", page.read_text(), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


@cache
def defined_in(path):
    """Return the names of all functions, classes and methods that a file defines."""
    tree = ast.parse((ROOT / path).read_text())
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return {node.name for node in ast.walk(tree) if isinstance(node, kinds)}


def stems(folder):
    return {path.stem for path in (PROOFS / folder).glob("*.md")}


def test_every_question_mechanism_and_rule_of_composition_has_a_page_and_no_other():
    classes = [one for room in (questions, rivals) for one in vars(room).values() if inspect.isclass(one)]
    kinds = {one for one in classes if issubclass(one, questions.Question) and not inspect.isabstract(one)}
    assert stems("questions") == {one.__name__ for one in kinds}
    assert stems("mechanisms") == set(MECHANISMS)
    assert stems("composition") == RULES


def test_every_guarantee_and_every_way_to_compose_is_spoken_of():
    text = " ".join(page.read_text() for page in (PROOFS / "composition").glob("*.md"))
    for word in [*(kind.__name__ for kind in KINDS.values()), *vars(Composition())]:
        assert f"`{word}" in text, word


def test_a_page_has_its_four_parts():
    for page in PAGES:
        assert page.read_text().startswith("# "), page.name
        assert list(sections(page)) == HEADINGS, page.name
        assert all(text.strip() for text in sections(page).values()), page.name


def test_a_question_is_proved_for_both_relations():
    for page in (PROOFS / "questions").glob("*.md"):
        parts = sections(page)
        for part in ("Statement", "Argument"):
            assert "add-remove" in parts[part].lower(), page.name
            assert "replace" in parts[part].lower(), page.name
        assert page.stem in defined_in(re.search(r"`(src/\S+\.py)`", parts["Where"]).group(1)), page.name


def listed(page, part):
    """Return the entries of a list."""
    lines = [line for line in sections(page)[part].splitlines() if line.strip() and not line.startswith(" ")]
    assert lines, page.name
    return lines


def test_the_code_and_the_tests_a_page_names_exist():
    for page in PAGES:
        for line in listed(page, "Where"):
            path, _, rest = line.removeprefix("- ").partition(":")
            found = re.fullmatch(r"`(src/\S+\.py)`", path)
            assert found, line
            names = set(re.findall(r"`(\w+)`", rest.partition(";")[0]))
            assert names, line
            assert names <= defined_in(found[1]), line
        for line in listed(page, "Tests"):
            found = re.fullmatch(r"- `(tests/\S+\.py)::(test_\w+)`", line)
            assert found, line
            assert found[2] in defined_in(found[1]), line


def test_every_page_is_in_the_index():
    index = set(re.findall(r"\]\(([^)#]+?\.md)\)", (PROOFS / "README.md").read_text()))
    assert {page.relative_to(PROOFS).as_posix() for page in PAGES} <= index
