"""The flame graph is whole XML whose boxes lie in each other; Chrome's events do, too."""

from __future__ import annotations

from api.tracing.test_spending import PROFILE
from defusedxml import ElementTree

from whorl.api.tracing.flames import chrome_events, flame_graph

SVG = "{http://www.w3.org/2000/svg}"


def test_boxes_of_a_flame_graph_lie_below_the_ones_around_them() -> None:
    root = ElementTree.fromstring(flame_graph(PROFILE, "a <model> & more"))
    boxes = {}
    for group in root.iter(f"{SVG}g"):
        title, box = group.find(f"{SVG}title"), group.find(f"{SVG}rect")
        assert title is not None and title.text is not None and box is not None
        boxes[title.text.split(":")[0]] = tuple(float(box.attrib[name]) for name in ("x", "y", "width"))
    assert list(boxes) == ["a <model> & more", "Loop 'y'", "MatMul 'm'", "end of the iteration"]
    (x, y, width), (inner_x, inner_y, inner_width) = boxes["Loop 'y'"], boxes["MatMul 'm'"]
    assert inner_y > y and inner_x >= x and inner_x + inner_width <= x + width
    assert inner_width / width == 8 / 9 or abs(inner_width / width - 8 / 9) < 1e-3


def test_chrome_events_lie_in_each_other() -> None:
    _, loop, product, *_ = chrome_events(PROFILE)
    assert (loop["name"], loop["ts"], loop["dur"]) == ("Loop 'y'", 0.0, 9000.0)
    assert (product["name"], product["ts"], product["dur"]) == ("MatMul 'm'", 0.0, 8000.0)
    assert product["args"]["advice"] == "'w' is an input of the model"
