# SPDX-License-Identifier: Apache-2.0
"""Lock file, citation, addresses and notes agree with the package."""

import re
import tomllib
from pathlib import Path

import yaml
from packaging.requirements import Requirement
from packaging.version import Version

import cloister

ROOT = Path(__file__).parents[2]
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = SETTINGS["project"]
LOCK = (ROOT / "requirements-dev.lock").read_text(encoding="utf-8")


def direct(extra: str) -> list[Requirement]:
    """Return what an extra asks for, through other extras too."""
    found = []
    for line in PROJECT["optional-dependencies"][extra]:
        asked = Requirement(line)
        found += [one for name in sorted(asked.extras) for one in direct(name)] if asked.name == PROJECT["name"] else [asked]
    return found


def locked() -> dict[str, list[Version]]:
    found: dict[str, list[Version]] = {}
    for name, version in re.findall(r"^([\w.-]+)==([^\s;]+)", LOCK, re.MULTILINE):
        found.setdefault(name, []).append(Version(version))
    return found


def test_every_direct_dependency_is_locked_at_a_version_that_is_allowed() -> None:
    asked = [*map(Requirement, PROJECT["dependencies"]), *direct("dev")]
    have = locked()
    for one in asked:
        versions = have.get(re.sub(r"[-_.]+", "-", one.name).lower(), [])
        assert versions, f"{one.name} is not in requirements-dev.lock: make lock"
        assert all(one.specifier.contains(version, prereleases=True) for version in versions), f"{one}: make lock"


def test_every_line_of_the_lock_is_pinned_and_names_no_place() -> None:
    lines = [line for line in LOCK.splitlines() if line and not line.startswith("#")]
    assert all(re.match(r"[\w.-]+==[\w.!+]+( ; .+?)?\s+# via ", line) for line in lines)
    assert not re.search(r"https?:|file:|--|@|/(tmp|home|root|work|opt)\b", LOCK)
    assert "make lock" in LOCK.split("\n")[1]


def test_what_is_needed_has_a_lower_bound_and_no_upper_one() -> None:
    for line in [*map(Requirement, PROJECT["dependencies"]), *direct("test")]:
        assert [one.operator for one in line.specifier] == [">="], line


def test_the_citation_is_of_this_version() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert {"cff-version", "message", "title", "authors"} <= set(citation)
    assert citation["cff-version"] == "1.2.0"
    assert citation["type"] == "software"
    assert str(citation["version"]) == cloister.__version__
    assert citation["license"] == PROJECT["license"]
    assert citation["authors"] == PROJECT["authors"]
    assert citation["repository-code"] == PROJECT["urls"]["Source"]
    assert citation["url"] == PROJECT["urls"]["Homepage"]
    assert citation["keywords"] == PROJECT["keywords"]
    assert "date-released" not in citation or re.search(
        rf"^## {re.escape(cloister.__version__)} \({citation['date-released']}\)", changelog(), re.MULTILINE
    )


def changelog() -> str:
    return (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_addresses_lead_to_what_they_are_called() -> None:
    urls = PROJECT["urls"]
    assert set(urls) == {"Homepage", "Documentation", "Source", "Issues", "Changelog"}
    assert urls["Issues"] == f"{urls['Source']}/issues"
    assert (ROOT / urls["Changelog"].removeprefix(f"{urls['Source']}/blob/main/")).is_file()


def test_this_version_has_notes_and_a_heading_in_the_changelog() -> None:
    version = Version(cloister.__version__).base_version
    newest = re.findall(r"^## (\S+) \((unreleased|\d{4}-\d\d-\d\d)\)$", changelog(), re.MULTILINE)[0]
    assert newest[0] == version
    notes = (ROOT / "docs" / "release-notes" / f"{version}.md").read_text(encoding="utf-8")
    assert notes.startswith(f"# Cloister {version}\n")


def test_the_changelog_keeps_its_order_of_headings() -> None:
    order = ["Added", "Changed", "Deprecated", "Removed", "Fixed", "Privacy"]
    for part in re.split(r"^## ", changelog(), flags=re.MULTILINE)[1:]:
        headings = re.findall(r"^### (.*)$", part, re.MULTILINE)
        assert headings == sorted(headings, key=order.index)
        assert len(set(headings)) == len(headings)


def test_versions_of_python_are_those_of_the_page() -> None:
    stated = re.findall(r"Python :: (3\.\d+)$", "\n".join(PROJECT["classifiers"]), re.MULTILINE)
    assert f"{stated[0]} to {stated[-1]}" in (ROOT / "docs" / "versions.md").read_text(encoding="utf-8")
