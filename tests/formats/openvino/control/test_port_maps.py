"""How the body of a layer is connected: what each entry means, and what is refused."""

import pytest
from formats.openvino.control_text import FINAL, GOES_ON, PART, PARTS, STATE, looped, refusal, warnings


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"inputs": (STATE | {"internal_layer_id": 3}, PART)}, "OV305: input 2 goes to layer 3, which is no Parameter"),
        ({"inputs": (STATE, PART | {"internal_layer_id": 0})}, "OV323: Parameter 0 is fed twice"),
        (
            {"inputs": (STATE, PART | {"external_port_id": 2})},
            "OV302: an external port id is duplicated: input 2 feeds",
        ),
        ({"inputs": (STATE, PART | {"external_port_id": 9})}, "OV328: maps input 9, the layer has 4"),
        (
            {"inputs": (STATE | {"purpose": "execution_condition"}, PART)},
            "OV324: an input has the purpose 'execution_c",
        ),
        ({"inputs": (STATE | {"purpose": "mine"}, PART)}, "OV324: an input has the purpose 'mine'"),
        ({"inputs": (STATE,)}, "OV303: nothing feeds Parameter 'parameter1' of the body"),
        ({"inputs": (STATE,), "back": ((3, 0), (4, 1))}, "OV309: nothing feeds Parameter 'parameter1' of the body"),
        (
            {"outputs": (FINAL | {"internal_layer_id": 2}, PARTS, GOES_ON)},
            "OV305: output 4 comes from layer 2, which is",
        ),
        ({"outputs": (FINAL, PARTS | {"external_port_id": 4}, GOES_ON)}, "OV304: output 4 is mapped twice"),
        ({"outputs": (FINAL, GOES_ON)}, "OV317: Number of outputs must be the same as number of output descriptions"),
        ({"outputs": (FINAL, PARTS, GOES_ON, GOES_ON)}, "OV316: two Results are the execution condition"),
        ({"outputs": (FINAL | {"purpose": "current_iteration"}, PARTS, GOES_ON)}, "OV324: an output has the purpose"),
        ({"back": ((2, 0),)}, "OV308: a back edge leads from layer 2 to layer 0"),
        ({"back": ((3, 4),)}, "OV308: a back edge leads from layer 3 to layer 4"),
    ],
)
def test_connection_that_makes_no_sense_is_refused(changes: dict, message: str) -> None:
    assert refusal(looped(**changes)).startswith(f"Loop 'l' (line): {message}")


@pytest.mark.parametrize(
    ("changes", "code", "message"),
    [
        ({"back": ((3, 0), (4, 0))}, "OV306", "two back edges lead to Parameter 0; the first one counts"),
        (
            {"back": ((3, 0), (4, 1))},
            "OV307",
            "a back edge leads to Parameter 1, which takes slices; it is ignored",
        ),
    ],
)
def test_connection_without_an_effect_is_noted(changes: dict, code: str, message: str) -> None:
    assert (code, message) in warnings(looped(**changes))
