# SPDX-License-Identifier: Apache-2.0
"""The site: ``make docs`` builds it, offline, and any warning is an error."""

import ast
import json
import os
import sys
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

DOCS = Path(__file__).parent
ROOT = DOCS.parent
sys.path[:0] = [str(DOCS / "_tools")]

from repository_links import REPOSITORY, SHOWN, rewrite  # noqa: E402

from cloister import __version__, json_schema  # noqa: E402
from cloister.schemas import FORMATS  # noqa: E402

os.environ.setdefault("MPLBACKEND", "agg")

project = "Cloister"
author = "The Cloister contributors"
copyright = "The Cloister contributors, Apache-2.0"  # noqa: A001 - Sphinx's name
version = release = __version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_*", "examples/**", "gallery/**/*.ipynb", "**/sg_execution_times.rst"]
templates_path = ["_templates"]
nitpicky = True
default_role = "literal"  # docstrings write `parameter`
highlight_language = "none"  # commands and drawings; Python says so
smartquotes = False  # quotes in docstrings are those of the language
maximum_signature_line_length = 88
toc_object_entries_show_parents = "hide"

# Markdown
myst_enable_extensions = ["attrs_inline", "colon_fence", "deflist"]
myst_heading_anchors = 4

# Docstrings
autosummary_generate = True
autosummary_ignore_module_all = False
autodoc_typehints = "none"  # docstrings say what a parameter is
autodoc_member_order = "bysource"
numpydoc_show_class_members = False  # the template lists them
numpydoc_xref_param_type = False

# Gallery
EXAMPLES_OF_NAMES = "reference/api/examples"
sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "ignore_pattern": r"(^|/)_",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "capture_repr": ("_repr_html_",),
    "backreferences_dir": EXAMPLES_OF_NAMES,
    "doc_module": ("cloister",),
    "reference_url": {"cloister": None},
    "download_all_examples": False,
    "remove_config_comments": True,
    "reset_modules": ("matplotlib", "strict_gallery.refuse_warnings"),
    "reset_modules_order": "both",
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
}

# Pages
html_theme = "pydata_sphinx_theme"
html_title = "Cloister"
html_static_path = ["_static"]
html_css_files = ["cloister.css"]
html_logo = "_static/logo.svg"
html_favicon = "_static/logo.svg"
html_baseurl = "https://cloister-dp.github.io/cloister/"
html_show_sourcelink = False
html_copy_source = False
html_sidebars = {"index": [], "scoreboard": [], "start": []}  # pages without a section
html_context = {"default_mode": "auto"}
html_theme_options = {
    "logo": {"text": "Cloister", "image_dark": "_static/logo-dark.svg"},
    "github_url": REPOSITORY,
    "header_links_before_dropdown": 7,
    "navbar_align": "left",
    "navigation_with_keys": False,
    "show_nav_level": 1,
    "show_toc_level": 2,
    "show_prev_next": True,
    "footer_start": ["copyright"],
    "footer_center": [],
    "footer_end": ["theme-version"],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
    "back_to_top_button": False,
}

# Pages that are read where the repository is browsed hold no table of contents for the site; it is added here.
CONTENTS = {
    "proofs/README": ["cleaning", "exactness", "sampling", "persons", "mechanisms/*", "questions/*", "composition/*"],
}


def read_page(app: Sphinx, docname: str, content: list[str]) -> None:
    """Give a page its links, and the contents that it needs on the site."""
    if app.env.doc2path(docname).suffix == ".md":
        folder = Path("docs", docname).parent.as_posix()
        content[0] = rewrite(content[0], root=ROOT, written_in=folder, shown_in=folder)
    if docname in CONTENTS:
        entries = "\n".join(CONTENTS[docname])
        content[0] += f"\n\n```{{toctree}}\n:hidden:\n:glob:\n\n{entries}\n```\n"
    name = docname.removeprefix("reference/api/")
    if name != docname and name in _names_in_examples():
        content[0] += f"\n\n.. rubric:: In the gallery\n\n.. minigallery:: {name}\n"


def _names_in_examples() -> dict[str, object]:
    found: dict[str, object] = json.loads((DOCS / EXAMPLES_OF_NAMES / "backreferences_all.json").read_text(encoding="utf-8"))
    return found


def read_root_file(app: Sphinx, path: Path, docname: str, content: list[str]) -> None:
    """Give a file of the repository's root, which a page includes, the links it has on the site."""
    if path.name in SHOWN:
        shown_in = Path("docs", SHOWN[path.name]).parent.as_posix()
        content[0] = rewrite(content[0], root=ROOT, written_in=".", shown_in=shown_in)


def skip_foreign(app: Sphinx, what: str, name: str, member: object, skip: bool, options: object) -> bool | None:
    """Leave out what scikit-learn or the language gives a class: their own pages describe it."""
    if name.startswith("set_") and name.endswith("_request"):
        return True
    home = getattr(member, "__module__", None) or getattr(getattr(member, "fget", None), "__module__", None)
    return True if home and not home.startswith("cloister") else None


def colour_code(app: Sphinx, page: nodes.document) -> None:
    """Colour indented blocks, which name no language, as what they are: Python, commands, or neither."""
    for block in page.findall(nodes.literal_block):
        if block.get("language") == "none":
            block["language"] = _language(block.astext())


def _language(code: str) -> str:
    if code.startswith(("cloister ", "make ", "python ", "pip ", "git ")):
        return "sh"
    try:
        return "python" if len(list(ast.walk(ast.parse(code)))) > 4 else "none"
    except (SyntaxError, ValueError):
        return "none"


def copy_schemas(app: Sphinx, error: Exception | None) -> None:
    """Put the schemas of files where their ``$id`` says."""
    if error is None:
        folder = Path(app.outdir, "schemas")
        folder.mkdir(exist_ok=True)
        for name in FORMATS:
            (folder / f"{name}.json").write_text(json.dumps(json_schema(name), indent=2) + "\n", encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect what is done to pages while they are read."""
    app.connect("source-read", read_page)
    app.connect("include-read", read_root_file)
    app.connect("doctree-read", colour_code)
    app.connect("build-finished", copy_schemas)
    app.connect("autodoc-skip-member", skip_foreign)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
