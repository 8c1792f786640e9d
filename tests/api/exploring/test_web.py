"""The page in Chromium: it shows every model, nothing goes wrong in it, and what is clicked comes up."""

import hashlib
from pathlib import Path

import numpy as np
import pytest
from explored_models import NAMES, chain, explored_models, layered
from traced_models import NESTED, X

import whorl
from whorl.api.exploring.page import WEB

CHECKOUT = Path(__file__).parents[3]
EXPLORER = CHECKOUT / "explorer"
MODELS = (
    *("nested", "no iteration", "OpenVINO IR", "MDF", "sequence_of_different_shapes", "while_over_strings"),
    *("loops_in_both_branches_with_different_results", "mamba", "beam search", "hostile names", "NaN"),
)


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    return explored_models(tmp_path_factory.mktemp("models"))


def test_program_is_built_from_the_sources() -> None:
    sources = sorted((EXPLORER / "src").iterdir(), key=lambda path: path.name)
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in (*sources, EXPLORER / "package.json"))).hexdigest()
    first_line = (WEB / "explorer.js").read_text(encoding="utf-8").partition("\n")[0]
    assert f"sources {digest};" in first_line, "run `make explorer`"


def test_program_comes_with_the_licences_of_what_it_contains() -> None:
    licences = (WEB / "LICENSES.txt").read_text(encoding="utf-8")
    assert all(name in licences for name in ("@dagrejs/dagre", "@dagrejs/graphlib", "uplot"))
    assert licences.count("Permission is hereby granted") == 3


@pytest.mark.parametrize("name", MODELS)
def test_model_is_shown_and_every_body_opens(name, open_page, models) -> None:
    module, inputs = models[name]
    tab = open_page(whorl.explore(module, inputs, title=name))
    assert tab.title() == name
    entries = tab.locator(".tree button")
    assert entries.count() == 1 + sum(len(node.regions) for node in module.nodes())
    for k in range(entries.count()):
        entries.nth(k).click()
        assert tab.locator(".canvas .item").count() > 0
        for key in ("End", "ArrowLeft", "j", "j", "f", "t"):
            tab.keyboard.press(key)
        for mode in ("lines", "heat map", "histogram", "elements"):
            if tab.locator(".tabs").is_visible():
                tab.get_by_role("tab", name=mode).click()


def test_click_on_an_iteration_shows_all_values_there(open_page) -> None:
    inputs = {"n": np.array(4), "x": X}
    tab = open_page(whorl.explore(NESTED, inputs))
    trace = whorl.trace(NESTED, inputs)
    picture = tab.locator(".row[data-value='2'] .row-picture")
    box = picture.bounding_box()
    picture.click(position={"x": box["width"] * 0.6, "y": 10})
    assert tab.locator(".where").inner_text().startswith("iteration 2")
    readings = dict(
        zip(tab.locator(".row-name b").all_inner_texts(), tab.locator(".row-reading").all_inner_texts(), strict=True)
    )
    s = trace.records("outer/s").at(2)
    assert readings["s"] == f"[{', '.join(f'{x:g}' for x in s)}]"
    assert readings["⟳ inner"] == "2 iterations"
    assert readings["longer"].endswith(f"{trace.records('outer/longer').at(2).max():g}")


def test_loop_in_a_loop_is_read_at_the_iterations_of_both(open_page) -> None:
    inputs = {"n": np.array(4), "x": X}
    tab = open_page(whorl.explore(NESTED, inputs))
    tab.get_by_role("treeitem", name="inner").click()
    tab.keyboard.press("End")
    assert tab.locator(".where").inner_text().startswith("outer 3 · inner 2")
    assert whorl.trace(NESTED, inputs).records("outer/inner/j").at(3, 2) == 2
    assert tab.locator(".row[data-value='0'] .row-reading").inner_text() == "2"
    tab.keyboard.press("ArrowLeft")
    assert tab.locator(".row[data-value='0'] .row-reading").inner_text() == "1"
    assert tab.locator(".row[data-value='5'] .row-reading").inner_text() == "false"


def test_carried_values_go_around_the_body(open_page) -> None:
    tab = open_page(whorl.explore(NESTED))
    tab.get_by_role("treeitem", name="outer").click()
    assert tab.locator(".canvas .back").count() == 2
    assert sorted(tab.locator(".canvas .back-label").all_text_contents()) == [
        "grown: next iteration",
        "s: next iteration",
    ]


def test_search_opens_the_body_and_highlights_the_path(open_page) -> None:
    tab = open_page(whorl.explore(NESTED))
    tab.keyboard.press("/")
    tab.keyboard.type("neg")
    tab.keyboard.press("Enter")
    assert tab.locator(".path").inner_text() == "main graph › outer › inner › then"
    assert tab.locator(".item.selected .title").text_content() == "Neg"
    assert tab.locator(".inspector h2").inner_text() == "Neg"
    tab.keyboard.press("Backspace")
    assert tab.locator(".item.selected .title").text_content() == "◇ If choice"
    assert tab.locator(".item.dim").count() == 0
    tab.get_by_role("treeitem", name="outer").click()
    tab.locator(".item", has_text="Concat").click()
    assert tab.locator(".item.dim").count() == 3


def test_loop_opens_by_double_click_and_by_enter(open_page) -> None:
    tab = open_page(whorl.explore(NESTED))
    tab.locator(".item.control").dblclick()
    assert tab.locator(".path").inner_text() == "main graph › outer"
    tab.locator(".item.control").click()
    tab.keyboard.press("Enter")
    assert tab.locator(".path").inner_text() == "main graph › outer › inner"


def test_not_a_number_is_marked(open_page) -> None:
    tab = open_page(whorl.explore(NESTED, {"n": np.array(2), "x": np.array([1, np.nan, 2], np.float32)}))
    assert tab.locator(".row-reading.bad").count() == 4
    assert tab.locator(".reading.bad").count() > 0


def test_names_of_a_model_stay_texts(open_page, models) -> None:
    module, inputs = models["hostile names"]
    page = whorl.explore(module, inputs, title=NAMES[0])
    assert page.html.count("<script") == 2
    tab = open_page(page)
    assert tab.title() == NAMES[0]
    assert tab.locator("h1").inner_text() == NAMES[0]
    assert tab.locator("img").count() == 0


def test_page_reads_nothing_from_the_network(open_page) -> None:
    tab = open_page(whorl.explore(NESTED))
    tab.evaluate("fetch('https://example.org').catch(() => {})")
    assert open_page.faults
    assert all("Content Security Policy" in fault for fault in open_page.faults)
    open_page.faults.clear()


@pytest.mark.parametrize("make", [layered, chain])
def test_body_of_five_thousand_nodes_is_grouped(make, open_page) -> None:
    tab = open_page(whorl.explore(make(5000)))
    tab.get_by_role("treeitem", name="layers").click()
    boxes = tab.locator(".item.group")
    assert 2 <= boxes.count() <= 100
    assert tab.locator(".item").count() < 200
    before = tab.locator(".item").count()
    boxes.first.click()
    assert tab.locator(".item").count() > before
    tab.keyboard.press("/")
    tab.keyboard.type("t4321")
    tab.keyboard.press("Enter")
    assert tab.locator(".item.selected").count() == 1


def test_dark_and_light_colours_differ(open_page) -> None:
    tab = open_page(whorl.explore(NESTED))
    background = "getComputedStyle(document.body).backgroundColor"
    before = tab.evaluate(background)
    tab.keyboard.press("t")
    assert tab.evaluate(background) != before


def test_printed_page_has_the_graph(open_page) -> None:
    tab = open_page(whorl.explore(NESTED))
    tab.emulate_media(media="print")
    assert tab.locator(".canvas").is_visible()
    assert not tab.locator(".search").is_visible()


def test_notebook_shows_the_page_in_a_frame(open_page) -> None:
    module = whorl.load(NESTED)
    frame = module._repr_html_()
    assert frame.startswith('<iframe sandbox="allow-scripts" srcdoc="&lt;!doctype html&gt;')
    tab = open_page.blank()
    tab.set_content(frame)
    tab.frame_locator("iframe").locator(".canvas .item").first.wait_for()


def test_two_runs_show_where_they_part(open_page) -> None:
    ours = {"n": np.array(4), "x": X}
    theirs = ours | {"x": np.array([1, 2, 0.75], np.float32)}
    first, second = whorl.trace(NESTED, ours), whorl.trace(NESTED, theirs)
    tab = open_page(whorl.explore(NESTED, trace=first, other=second))
    assert tab.locator(".banner").inner_text().startswith("this run\nthe other run\nfirst difference:")
    tab.keyboard.press("End")
    tab.get_by_role("button", name="s in outer 0").click()
    assert tab.locator(".where").inner_text().startswith("iteration 0")
    readings = tab.locator(".row.chosen .row-reading").inner_text()
    assert readings == "[1, 2, 0.5] | [1, 2, 0.75]"


def test_equal_runs_say_so(open_page) -> None:
    tab = open_page(whorl.explore(NESTED, {"n": np.array(2), "x": X}, other=NESTED))
    assert "no recorded value differs" in tab.locator(".banner").inner_text()


def test_costs_stand_on_the_nodes(open_page) -> None:
    tab = open_page(whorl.explore(NESTED, {"n": np.array(4), "x": X}, costs=True, backend="native"))
    tab.get_by_role("treeitem", name="main graph").click()
    assert "native" in tab.locator(".item", has_text="Loop outer").text_content()
    assert any(text.startswith("Loop 'outer'") for text in tab.locator(".inspector .cost").all_inner_texts())
    tab.get_by_role("treeitem", name="then", exact=False).first.click()
    text = tab.locator(".item", has_text="Neg").text_content()
    assert "native" in text or "too short to time" in text
