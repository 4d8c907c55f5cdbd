# SPDX-License-Identifier: Apache-2.0
"""Workflows, hooks and templates name what exists: versions of Python, targets of make, extras, files."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
NAMES = ("test", "docs", "release")
MADE = ("build/", "dist/", "htmlcov", "demo-output")  # by the steps themselves
FILE = re.compile(
    r"(?<![\w$}/.-])((?:[\w.-]+/)*[\w-]+\.(?:cff|lock|md|py|toml|txt|yaml|yml)|(?:tests|docs|src|benchmarks)/[\w./-]*)(?!\w)"
)


def read(path: str) -> Any:
    """Return a YAML file; `on` is a truth value to YAML, and a key of workflows."""
    text = (ROOT / path).read_text(encoding="utf-8")
    found = yaml.safe_load(text)
    return {("on" if key is True else key): value for key, value in found.items()}


def workflow(name: str) -> dict[str, Any]:
    found: dict[str, Any] = read(f".github/workflows/{name}.yml")
    return found


def steps(name: str) -> Iterator[dict[str, Any]]:
    for job in workflow(name)["jobs"].values():
        yield from job["steps"]


def commands(name: str) -> str:
    return "\n".join(step["run"] for step in steps(name) if "run" in step)


def test_all_workflows_are_read() -> None:
    assert {path.stem for path in (ROOT / ".github" / "workflows").iterdir()} == set(NAMES)


def test_every_supported_python_is_tested_everywhere() -> None:
    matrix = workflow("test")["jobs"]["fast"]["strategy"]["matrix"]
    stated = re.findall(r"Python :: (3\.\d+)$", "\n".join(PROJECT["classifiers"]), re.MULTILINE)
    assert matrix["python"] == stated
    assert PROJECT["requires-python"] == f">={stated[0]}"
    assert [int(one.split(".")[1]) for one in stated] == list(range(11, 11 + len(stated)))
    systems = {"ubuntu": "Linux", "macos": "MacOS", "windows": "Windows"}
    assert {systems[one.removesuffix("-latest")] for one in matrix["os"]} == {
        one.split(" :: ")[-1] for one in PROJECT["classifiers"] if one.startswith("Operating System")
    }


def test_other_jobs_use_a_supported_python() -> None:
    known = {*workflow("test")["jobs"]["fast"]["strategy"]["matrix"]["python"], "${{ matrix.python }}"}
    for name in NAMES:
        for step in steps(name):
            if step.get("uses", "").startswith("actions/setup-python"):
                assert step["with"]["python-version"] in known
    jobs = workflow("test")["jobs"]
    assert jobs["oldest"]["steps"][1]["with"]["python-version"] == PROJECT["requires-python"].removeprefix(">=")
    assert "--resolution lowest-direct" in jobs["oldest"]["steps"][3]["run"]
    assert jobs["newest"]["continue-on-error"] is True
    assert "continue-on-error" not in jobs["fast"]


@pytest.mark.parametrize("name", NAMES)
def test_targets_extras_and_files_exist(name: str) -> None:
    run = commands(name)
    for words in re.findall(r"^make (.*)$", run, re.MULTILINE):
        assert {word for word in words.split() if "=" not in word} <= TARGETS, words
    for extras in re.findall(r"\.\[([\w,-]+)\]", run):
        assert set(extras.split(",")) <= set(PROJECT["optional-dependencies"]), extras
    for step in steps(name):
        with_options = [str(value) for value in step.get("with", {}).values()]
        for place in FILE.findall("\n".join([step.get("run", ""), *with_options])):
            assert place.startswith(MADE) or (ROOT / place).exists(), place


@pytest.mark.parametrize("name", NAMES)
def test_permissions_are_few_and_actions_are_pinned(name: str) -> None:
    found = workflow(name)
    assert found["permissions"] == {"contents": "read"}
    assert found["concurrency"]["group"] == "${{ github.workflow }}-${{ github.ref }}"
    assert "secrets." not in (ROOT / ".github" / "workflows" / f"{name}.yml").read_text(encoding="utf-8")
    for title, job in found["jobs"].items():
        assert job["timeout-minutes"] <= 120
        written = {permission for permission, level in job.get("permissions", {}).items() if level == "write"}
        assert written == {"deploy": {"pages", "id-token"}, "publish": {"id-token"}, "announce": {"contents"}}.get(title, set())
    for step in steps(name):
        if "uses" in step:
            assert re.fullmatch(r"actions/[\w-]+@v\d+|pypa/gh-action-pypi-publish@release/v1", step["uses"])
        if step.get("uses", "").startswith("actions/checkout"):
            assert step["with"] == {"persist-credentials": False}


def test_only_main_is_deployed_and_only_tags_are_released() -> None:
    assert workflow("docs")["jobs"]["deploy"]["if"].startswith("github.ref == 'refs/heads/main'")
    assert workflow("release")["on"] == {"push": {"tags": ["v*"]}}
    assert workflow("release")["jobs"]["publish"]["needs"] == "build"


def test_the_site_is_uploaded_from_where_make_puts_it() -> None:
    (upload,) = [step for step in steps("docs") if "upload-pages" in step.get("uses", "")]
    recipe = re.findall(r"^docs:.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert len(recipe) == 1
    assert re.search(rf"{re.escape(upload['with']['path'])}\b", recipe[0])


# -- hooks --


def test_hooks_are_local_and_check_what_make_checks() -> None:
    (local,) = read(".pre-commit-config.yaml")["repos"]
    assert local["repo"] == "local", "a hook from elsewhere cannot be fetched offline"
    hooks = {hook["id"]: hook for hook in local["hooks"]}
    assert {hook["language"] for hook in hooks.values()} <= {"system", "pygrep", "fail"}
    for name, command in {"ruff-format": "ruff format", "ruff-check": "ruff check", "mypy": "mypy"}.items():
        assert f"exec {command}" in hooks[name]["entry"]
    (skipped,) = [step["env"]["SKIP"] for step in steps("test") if "SKIP" in step.get("env", {})]
    assert set(skipped.split(",")) == {name for name, hook in hooks.items() if hook["language"] == "system"}


# -- templates --


def test_forms_of_issues_are_complete() -> None:
    for name in ("bug", "accuracy", "feature"):
        form = read(f".github/ISSUE_TEMPLATE/{name}.yml")
        assert {"name", "description", "body"} <= set(form)
        ids = [part["id"] for part in form["body"] if part["type"] != "markdown"]
        assert len(ids) == len(set(ids))
        for part in form["body"]:
            assert part["type"] in ("markdown", "textarea", "input", "checkboxes")
            assert "value" in part["attributes"] if part["type"] == "markdown" else "label" in part["attributes"]
        assert any(part.get("validations", {}).get("required") for part in form["body"])


def test_faults_of_privacy_are_not_reported_in_public() -> None:
    settings = read(".github/ISSUE_TEMPLATE/config.yml")
    assert settings["blank_issues_enabled"] is False
    assert settings["contact_links"][0]["url"].endswith("/blob/main/SECURITY.md#reporting-a-vulnerability")
    assert "## Reporting a vulnerability" in (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    for name in ("bug", "accuracy"):
        assert "**Never paste real rows" in (ROOT / f".github/ISSUE_TEMPLATE/{name}.yml").read_text(encoding="utf-8")


def test_links_of_templates_lead_to_files() -> None:
    pages = [*(ROOT / ".github").rglob("*.yml"), *(ROOT / ".github").rglob("*.md"), ROOT / "CODE_OF_CONDUCT.md"]
    places = [place for page in pages for place in re.findall(r"/blob/main/([^)#\s]+)", page.read_text(encoding="utf-8"))]
    assert [place for place in places if not (ROOT / place).exists()] == []
