"""Records and graphs as pictures."""

import numpy as np
import pytest
from mdf.models import LINKS, NETWORK, OSCILLATOR, model, node

from whorl.errors import SaveError
from whorl.mdf.plotting import layers_of, plot_graph, plot_lines, write_figure

pytest.importorskip("matplotlib", reason="matplotlib is not installed")


def test_records_are_drawn_into_a_file(tmp_path):
    figure = model(OSCILLATOR).simulate(3, 0.1, batch=2).plot(tmp_path / "fn.svg", ["FN.V"], "one panel")
    (panel,) = figure.axes
    assert (len(panel.lines), panel.get_ylabel(), figure.get_suptitle()) == (2, "FN.V", "one panel")
    assert (tmp_path / "fn.svg").stat().st_size > 1000


def test_run_without_records_is_refused():
    with pytest.raises(SaveError, match="nothing was recorded"):
        plot_lines(np.zeros(1), {})


def test_file_that_cannot_be_written_is_an_error(tmp_path):
    figure = plot_lines(np.arange(2), {"x": np.zeros((1, 2))})
    with pytest.raises(SaveError, match=r"cannot write '.*fn\.odd'"):
        write_figure(figure, str(tmp_path / "fn.odd"))


def test_graph_has_a_box_for_each_node_and_an_arrow_for_each_edge(tmp_path):
    network = model(NETWORK, LINKS)
    figure = network.plot(tmp_path / "graph.png")
    texts = [text for text in figure.axes[0].texts if text.get_text()]
    arrows = [text for text in figure.axes[0].texts if not text.get_text()]
    assert [text.get_text() for text in texts] == ["stimulus", "net", "sum"]
    assert len(arrows) == len(LINKS)
    assert (tmp_path / "graph.png").stat().st_size > 1000


def test_layers_of_a_graph_follow_its_edges_and_cycles_end():
    copy = node({"y": {"value": "x"}}, ("y",), {"x": {}})
    graph = model(dict.fromkeys("ABCD", copy), ["A.y -> B.x", "B.y -> C.x", "C.y -> B.x", "A.y -> D.x"]).graph
    assert layers_of(graph) in ([["A"], ["B", "D"], ["C"]], [["A"], ["D"], ["C"], ["B"]], [["A", "C"], ["B", "D"]])
    assert len(plot_graph(graph).axes[0].texts) == 8
