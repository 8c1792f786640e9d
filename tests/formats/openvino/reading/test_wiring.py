"""Which port feeds which input, and in which order layers are read."""

import pytest

from whorl.errors import LoadError
from whorl.formats.openvino.document import Edge, Layer, Net, Port
from whorl.formats.openvino.reading.context import ReadContext
from whorl.formats.openvino.reading.wiring import Wiring
from whorl.formats.openvino.weights.read import Weights


def layer(id: int, type: str, inputs: int = 0, outputs: int = 1) -> Layer:
    """A layer whose ports have ids of 10 and more, so that they are no positions."""
    ports = [Port(10 + k) for k in range(inputs + outputs)]
    return Layer(id, f"l{id}", type, "opset1", {}, ports[:inputs], ports[inputs:], line=id)


def wiring(layers: list[Layer], *edges: tuple[int, int, int, int]) -> Wiring:
    return Wiring(Net(layers=layers, edges=[Edge(*edge) for edge in edges]), ReadContext(Weights(b"")))


SUM = [layer(1, "Parameter"), layer(2, "Parameter"), layer(3, "Add", 2, 2), layer(4, "Result", 1, 0)]
WIRES = (2, 10, 3, 10), (1, 10, 3, 11), (3, 13, 4, 10)


def test_inputs_come_from_layers_and_positions_of_outputs() -> None:
    net = wiring(SUM, *WIRES)
    assert net.inputs_of(SUM[2]) == [(2, 0), (1, 0)]
    assert net.inputs_of(SUM[3]) == [(3, 1)]
    assert net.sinks() == [SUM[3]]


def test_layers_come_behind_what_they_need_in_the_order_of_inputs() -> None:
    net = wiring(SUM[::-1], *WIRES)
    assert [each.id for each in net.order(net.sinks(), lambda each: False)] == [2, 1, 3, 4]
    assert [each.id for each in net.order(net.sinks(), lambda each: each.id == 3)] == [3, 4]


def test_long_cycle_is_named_in_short() -> None:
    chain = [layer(k, "Abs", 1) for k in range(9)]
    net = wiring([*chain, layer(9, "Result", 1, 0)], *((k, 11, (k + 1) % 9, 10) for k in range(9)), (8, 11, 9, 10))
    with pytest.raises(LoadError) as caught:
        net.order(net.sinks(), lambda each: False)
    assert str(caught.value) == (
        "Abs 'l8' (line 8): OV206: needs itself: "
        "Abs 'l8' <- Abs 'l7' <- Abs 'l6' <- ... <- Abs 'l0' <- Abs 'l8'\n  fix: use a Loop"
    )


def test_input_that_nothing_feeds_is_named_when_it_is_needed() -> None:
    net = wiring(SUM, *WIRES[1:])
    with pytest.raises(LoadError) as caught:
        net.order(net.sinks(), lambda each: False)
    assert str(caught.value) == (
        "Add 'l3' (line 3): OV205: nothing is connected to its input 0 (port 10)\n  fix: add an edge that leads there"
    )


@pytest.mark.parametrize(
    ("edge", "message"),
    [
        (
            (7, 10, 3, 10),
            "the net: OV202: the edge from layer 7 port 10 to layer 3 port 10 names layer 7, which does not",
        ),
        ((1, 11, 3, 10), "the net: OV203: the edge from layer 1 port 11 to layer 3 port 10 names an output port that "),
        (
            (1, 10, 3, 12),
            "the net: OV203: the edge from layer 1 port 10 to layer 3 port 12 names an input port that Add",
        ),
        (
            (1, 10, 4, 10),
            "the net: OV204: the edge from layer 1 port 10 to layer 4 port 10 is a second one to the same",
        ),
    ],
)
def test_edge_that_makes_no_sense_is_refused(edge: tuple[int, int, int, int], message: str) -> None:
    with pytest.raises(LoadError) as caught:
        wiring(SUM, *WIRES[2:], edge)
    assert str(caught.value).startswith(message)


def test_ids_are_supplied_once() -> None:
    with pytest.raises(LoadError) as caught:
        wiring([layer(1, "Abs"), layer(1, "Exp")])
    assert str(caught.value).startswith("Exp 'l1' (line 1): OV201: has the id 1 of Abs 'l1' in line 1")
    twice = layer(1, "Abs", 2)
    twice.inputs[1].id = 10
    with pytest.raises(LoadError, match="OV210: has two ports with the id 10"):
        wiring([twice])
