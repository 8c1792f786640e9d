"""Layers that nothing reads are not written."""

from whorl.formats.openvino.document import Body, Edge, Layer, Net
from whorl.formats.openvino.writing.dce import remove_unused_layers


def net_of(*layers: Layer, edges: list[tuple[int, int]]) -> Net:
    return Net(layers=list(layers), edges=[Edge(a, 0, b, 0) for a, b in edges])


def test_layers_that_lead_to_no_result_go() -> None:
    x, used, unused, more = (
        Layer(k, f"l{k}", type, "opset1") for k, type in enumerate(["Parameter", "Abs", "Exp", "Log"])
    )
    result = Layer(4, "r", "Result", "opset1")
    net = net_of(x, used, unused, more, result, edges=[(0, 1), (0, 2), (2, 3), (1, 4)])
    assert [layer.type for layer in remove_unused_layers(net)] == ["Exp", "Log"]
    assert [layer.type for layer in net.layers] == ["Parameter", "Abs", "Result"]
    assert [(edge.from_layer, edge.to_layer) for edge in net.edges] == [(0, 1), (1, 4)]


def test_states_layers_with_bodies_and_parameters_stay() -> None:
    x, y = Layer(0, "x", "Parameter", "opset1"), Layer(1, "y", "Parameter", "opset1")
    loop, state = Layer(2, "l", "Loop", "opset5", bodies={"body": Body(Net())}), Layer(3, "s", "Assign", "opset6")
    net = net_of(x, y, loop, state, edges=[(0, 2), (0, 3)])
    assert remove_unused_layers(net) == []
    assert len(net.layers) == 4
