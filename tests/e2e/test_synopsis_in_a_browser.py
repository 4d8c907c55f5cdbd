# SPDX-License-Identifier: Apache-2.0
"""The page of a synopsis in a real browser: the slider is moved by keyboard, clusters are chosen, and everything follows."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from tests.report.test_explore import blobs, data_of

from cloister import GridSynopsis, PointSynopsis, write_report

from .browser import Tab

pytestmark = pytest.mark.slow

PHONE = 390
ENTER, LEFT, RIGHT, END, TAB = ("Enter", 13), ("ArrowLeft", 37), ("ArrowRight", 39), ("End", 35), ("Tab", 9)
STATE = """({state: document.getElementById('state').textContent, slider: +document.getElementById('k').value,
    map: document.getElementById('marks').innerHTML,
    circles: document.querySelectorAll('#marks [data-label]').length,
    dots: [...document.getElementById('points').children].map(one => one.getAttribute('class')).join(),
    chips: document.querySelectorAll('#chips button').length,
    table: document.getElementById('profile').innerText,
    curve: document.getElementById('curve-at').getAttribute('transform'),
    tree: document.getElementById('tree-at').getAttribute('transform'),
    below: document.getElementById('below').getAttribute('d')})"""


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder, common = tmp_path_factory.mktemp("pages"), {"epsilon": 4.0, "bounds": (0, 100), "random_state": 0}
    models: dict[str, Any] = {f"points-{n}": PointSynopsis(max_clusters=14, **common) for n in (1, 4, 40)}
    models["grid-2"] = GridSynopsis(4, rule=9, **common)
    for name, model in models.items():
        write_report(model.fit(blobs(int(name.partition("-")[2]), n_rows=2000)), folder / f"{name}.html", allow_seeded=True)
    return {name: folder / f"{name}.html" for name in models}


def read(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def press(tab: Tab, key: tuple[str, int]) -> None:
    name, code = key
    text = {"text": "\r"} if key == ENTER else {}
    tab.ask("Input.dispatchKeyEvent", type="keyDown", key=name, code=name, windowsVirtualKeyCode=code, **text)
    tab.ask("Input.dispatchKeyEvent", type="keyUp", key=name, code=name, windowsVirtualKeyCode=code)


def click(tab: Tab, selector: str) -> None:
    place = f"""(() => {{ const one = document.querySelector({json.dumps(selector)}); one.scrollIntoView({{block: 'center'}});
        const box = one.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2] }})()"""
    x, y = tab.value(place)
    for kind in ("mousePressed", "mouseReleased"):
        tab.ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)


EVERY = ("points-1", "points-4", "points-40", "grid-2")
every_page = pytest.mark.parametrize("name", EVERY)


@every_page
def test_the_slider_moves_everything_by_keyboard(tab: Tab, pages: dict[str, Path], name: str) -> None:
    tab.show(pages[name])
    cuts, chosen = data_of(read(pages[name]))["cuts"], data_of(read(pages[name]))["chosen"]
    tab.value("document.getElementById('k').focus()")
    before = tab.value(STATE)
    assert before["state"] == cuts[chosen - 1]["words"]
    for key, k in ((RIGHT, chosen + 1), (RIGHT, chosen + 2), (LEFT, chosen + 1), (END, len(cuts))):
        press(tab, key)
        after = tab.value(STATE)
        assert after["slider"] == after["circles"] == after["chips"] == k
        assert after["state"] == cuts[k - 1]["words"]
        assert after["curve"] == f"translate({cuts[k - 1]['curveAt']:g} 0)"
        assert after["tree"] == f"translate(0 {cuts[k - 1]['treeAt']:g})"
        for part in ("map", "dots", "table", "curve", "tree", "below"):
            assert after[part] != before[part], part
        before = after
    click(tab, "#back")
    assert tab.value(STATE)["slider"] == chosen
    assert tab.complaints == []
    assert tab.value("document.title") != "ran"


@every_page
def test_the_script_draws_what_the_page_shows_without_it(tab: Tab, pages: dict[str, Path], name: str) -> None:
    words = """page => ['state', 'profile', 'points', 'leaves', 'above', 'below'].map(id => {
        const one = page.getElementById(id);
        return one.textContent.replace(/\\s+/g, '') + (one.getAttribute('d') || '')
            + [...one.querySelectorAll('[class]')].map(part => part.getAttribute('class')).join()})"""
    tab.show(pages[name])
    written = json.dumps(read(pages[name]))
    assert tab.value(f"({words})(document)") == tab.value(f"({words})(new DOMParser().parseFromString({written}, 'text/html'))")
    control = "document.querySelector('.control').checkVisibility()"
    assert tab.value(control)
    tab.value("document.documentElement.classList.remove('live')")
    assert not tab.value(control), "what needs the script is hidden without it"


@every_page
def test_a_cluster_that_is_clicked_says_how_it_splits(tab: Tab, pages: dict[str, Path], name: str) -> None:
    tab.show(pages[name])
    data = data_of(read(pages[name]))
    k, cuts = data["chosen"], data["cuts"]
    label = next(one["label"] for one in cuts[k - 1]["clusters"] if len(one["to"]) > 1)
    cluster = cuts[k - 1]["clusters"][label]
    click(tab, f"#chips [data-label='{label}']")
    said = tab.value("document.getElementById('split').innerText")
    assert f"Cluster {label} of {k}: {cluster['rows']}" in said
    assert f"At k = {k + 1} it splits into" in said
    for other, rows in cluster["to"]:
        assert f"cluster {other}: {rows} rows" in said
    for other, rows in cluster["from"]:
        assert f"cluster {other}: {rows} rows" in said
    chosen = f"document.querySelector(\"#chips [data-label='{label}']\").getAttribute('aria-pressed')"
    assert tab.value(chosen) == "true"
    assert tab.value("document.querySelectorAll('#marks .on').length") == 1
    owned = sum(owner == label for owner in cuts[k - 1]["owners"])
    assert tab.value("document.querySelectorAll('#points .on').length") == owned
    target = cluster["to"][1][0]
    click(tab, f"#split [data-k='{k + 1}'][data-label='{target}']")
    assert tab.value(STATE)["slider"] == k + 1
    assert f"Cluster {target} of {k + 1}" in tab.value("document.getElementById('split').innerText")
    assert tab.value("document.activeElement.dataset.label") == str(target)
    assert tab.complaints == []


def test_a_cluster_on_the_map_is_chosen_with_enter(tab: Tab, pages: dict[str, Path]) -> None:
    tab.show(pages["points-4"])
    tab.value("document.getElementById('back').focus()")
    tab.value("document.querySelector('#marks [data-label]').focus()")
    press(tab, ENTER)
    label = tab.value("document.activeElement.dataset.label")
    assert f"Cluster {label} of" in tab.value("document.getElementById('split').innerText")
    assert tab.value("document.activeElement.getAttribute('aria-pressed')") == "true"
    press(tab, ENTER)
    assert "Choose a cluster" in tab.value("document.getElementById('split').innerText")
    order = "[...document.querySelectorAll('#explorer :is(input, button, [tabindex=\"0\"])')].every(one => one.tabIndex === 0)"
    assert tab.value(order)


def test_a_chosen_cluster_is_followed_from_cut_to_cut(tab: Tab, pages: dict[str, Path]) -> None:
    tab.show(pages["points-4"])
    data = data_of(read(pages["points-4"]))
    click(tab, "#chips button")
    line = data["cuts"][data["chosen"] - 1]["clusters"][0]["line"]
    tab.value("document.getElementById('k').focus()")
    press(tab, RIGHT)
    heir = next(one for one in data["cuts"][data["chosen"]]["clusters"] if one["line"] == line)
    assert f"Cluster {heir['label']} of {data['chosen'] + 1}" in tab.value("document.getElementById('split').innerText")


@every_page
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_nothing_is_wider_than_a_phone_at_any_number(tab: Tab, pages: dict[str, Path], name: str, dark: bool) -> None:
    tab.show(pages[name], width=PHONE, dark=dark)
    tab.value("document.getElementById('k').focus()")
    for _ in range(2):
        press(tab, END)
        tab.value("document.querySelector('#chips button').click()")
        assert tab.value("document.documentElement.scrollWidth") == PHONE
        wide = """[...document.querySelectorAll('#choice *')].filter(one => !one.closest('.scroll') && !one.closest('svg')
            && one.checkVisibility() && one.getBoundingClientRect().right > innerWidth + 0.5).map(one => one.outerHTML)"""
        assert tab.value(wide) == []
    assert tab.complaints == []


def test_the_number_that_is_shown_can_be_heard_and_is_printed(tab: Tab, pages: dict[str, Path]) -> None:
    tab.show(pages["points-4"], width=680)
    tab.value("document.getElementById('k').focus()")
    press(tab, RIGHT)
    shown = tab.value(STATE)["state"]
    assert re.fullmatch(r"k = \d+, loss [\d.,]+ ± [\d.,]+, silhouette 0\.\d\d", shown)
    assert tab.value("document.getElementById('state').getAttribute('aria-live')") == "polite"
    assert tab.value("document.querySelector('label[for=k]').textContent") == "Number of clusters"
    tab.ask("Emulation.setEmulatedMedia", media="print")
    assert tab.value("document.getElementById('state').innerText") == shown
    for hidden in (".control", "#back", "#split"):
        assert not tab.value(f"document.querySelector('{hidden}').checkVisibility()"), hidden
    assert tab.value("document.documentElement.scrollWidth") <= 680
