# SPDX-License-Identifier: Apache-2.0
"""Public names: sorted, documented with what they cost, and the same in code and prose; files that begin as they should."""

import ast
import inspect
import re

from tests.architecture._sources import MODULES, SOURCE, nodes, place, tree

import cloister
from cloister import grids, rivals

PUBLIC = {name: getattr(cloister, name) for name in cloister.__all__ if not name.startswith("_")}
WORDS = [name for name, thing in PUBLIC.items() if inspect.isclass(thing) and issubclass(thing, Exception)]
PUBLIC |= {name: getattr(grids, name) for name in grids.__all__ if name.islower()}
PUBLIC |= {name: thing for name, thing in vars(rivals).items() if hasattr(thing, "fit")}
CLASSES = [name for name, thing in PUBLIC.items() if inspect.isclass(thing) and name not in WORDS]
FUNCTIONS = [name for name, thing in PUBLIC.items() if inspect.isfunction(thing)]
PRINTERS = {"cli", "demo.py", "__main__.py"}
WARNERS = {"cluster/_base.py", "synopsis/_grid.py"}  # of public numbers alone


def section(doc, title):
    found = re.search(rf"^{title}\n-+\n(.*?)(?=^\S[^\n]*\n-+\n|\Z)", inspect.cleandoc(doc), flags=re.M | re.S)
    return found.group(1) if found else None


def isort_key(name):
    """Constants, then classes, then the rest, as the linter sorts them."""
    return (0 if name.isupper() else 1 if name[0].isupper() else 2, name)


def test_public_names_are_sorted_and_exist():
    assert cloister.__all__ == sorted(cloister.__all__, key=isort_key)
    assert len(set(cloister.__all__)) == len(cloister.__all__)
    assert all(hasattr(cloister, name) for name in cloister.__all__)
    expected = {"ApproxDP", "Ball", "Box", "GDP", "Ledger", "PEMeans", "PureDP", "Release", "ZCDP", "load_release", "open_rows"}
    assert expected <= set(cloister.__all__)
    assert re.fullmatch(r"\d+\.\d+\.\d+.*", cloister.__version__)


def test_public_names_are_documented():
    for name in (*CLASSES, *FUNCTIONS):
        doc = inspect.getdoc(PUBLIC[name]) or ""
        assert doc.splitlines()[0].endswith("."), f"{name}: a summary in one line"
        assert ">>>" in (section(doc, "Examples") or ""), name
        assert name in CLASSES or (section(doc, "Returns") and section(doc, "Raises")), name
        assert name.endswith("DP") or (section(doc, "Notes") or "").startswith("**Privacy.**"), (
            f"{name}: notes open with the price"
        )
        lines = re.findall(r"^(\S[^:\n]*)(?: :|$)", section(doc, "Parameters"), flags=re.M)
        documented = {word.strip("* ") for line in lines for word in line.split(",")}
        assert documented == set(inspect.signature(PUBLIC[name]).parameters) - {"self", "args", "kwargs"}, name


def test_errors_and_warnings_say_in_one_line_what_they_mean():
    assert WORDS == ["AccuracyWarning", "PrivacyWarning"]
    assert all(inspect.getdoc(PUBLIC[name]).endswith(".") for name in WORDS)


ESTIMATORS = [name for name in CLASSES if hasattr(PUBLIC[name], "fit")]
OWN_DEFAULTS = {"PrivateScaler": {"epsilon": 0.1, "bounds": "private"}}  # a small part of a pipeline, which finds bounds
SHARED = {
    "epsilon": 1.0,
    "bounds": None,
    "neighbours": "add-remove",
    "n_rows": None,
    "ledger": None,
    "random_state": None,
    "n_jobs": None,
    "progress": False,
}


def test_documented_defaults_are_the_defaults():
    for estimator in map(PUBLIC.get, ESTIMATORS):
        text = section(inspect.getdoc(estimator), "Parameters")
        for names, described in re.findall(r"^(\w[\w, ]*) : .*?default=(.+)$", text, flags=re.M):
            stated = [ast.literal_eval(part) for part in described.split(" and ")]
            parameters = [inspect.signature(estimator).parameters[one.strip()] for one in names.split(",")]
            assert [one.default for one in parameters] == stated, (estimator.__name__, names)


def test_estimators_share_their_parameters_and_their_defaults():
    for name in ESTIMATORS:
        signature = inspect.signature(PUBLIC[name]).parameters
        assert signature["delta"].default in (1e-6, 0.0), "a method that adds Laplace noise anyway is pure by default"
        for parameter, default in (SHARED | OWN_DEFAULTS.get(name, {})).items():
            assert signature[parameter].default == default, (name, parameter)
            first = list(signature).index(parameter) == 0
            assert first or signature[parameter].kind is inspect.Parameter.KEYWORD_ONLY, (name, parameter)


def test_files_begin_with_a_licence_and_say_what_they_are():
    for path in MODULES:
        assert path.read_text(encoding="utf-8").startswith("# SPDX-License-Identifier: Apache-2.0\n"), place(path)
        assert ast.get_docstring(tree(path)), place(path)


def test_rooms_list_what_is_public_once():
    """A room's ``__init__`` lists what others may import; in its private files, what begins with no underscore is shared."""
    for path in MODULES:
        body = tree(path).body
        public = [one.name for one in body if isinstance(one, ast.FunctionDef | ast.ClassDef) and not one.name.startswith("_")]
        names = [one for one in body if isinstance(one, ast.Assign) and ast.unparse(one.targets[0]) == "__all__"]
        if path.name.startswith("_") and path.name != "__init__.py":
            assert not names, f"{place(path)}: the room lists what is public"
            continue
        assert names or not public, f"{place(path)}: public things are listed in __all__"
        if names:
            listed = ast.literal_eval(names[0].value)
            assert listed == sorted(listed, key=isort_key), place(path)


def test_nothing_prints_or_warns_but_what_may():
    forbidden = {"print", "sys.stdout.write", "breakpoint", "input", "exit", "sys.exit"}
    for path in MODULES:
        calls = [(ast.unparse(one.func), one) for one in nodes(path) if isinstance(one, ast.Call)]
        assert path.relative_to(SOURCE).parts[0] in PRINTERS or not {name for name, _ in calls} & forbidden, place(path)
        assert place(path) == "exceptions.py" or "warnings.warn" not in {name for name, _ in calls}, place(path)
        warned = {ast.unparse(call.args[1]) for name, call in calls if name == "warn"}
        assert not warned or place(path) in WARNERS, place(path)
        assert warned <= set(WORDS), place(path)


def test_the_package_says_that_it_is_typed():
    assert (SOURCE / "py.typed").exists()
