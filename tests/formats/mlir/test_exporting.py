"""A module as an ONNX graph with the type of every value."""

from __future__ import annotations

import numpy as np
import pytest
from formats.onnx.nodes_text import program

from whorl.errors import SaveError
from whorl.formats.mlir.exporting import DIALECT_OPSET, Exported, export_module
from whorl.formats.onnx.signatures import NEWEST

LOOP = """
main(%x: float32[N, 2], %n: int64[]) {
  %y: float32[N, 2], %ys: float32[n, N, 2] = Loop(%n, _, %x) {carried = 1, collected = (Collected(),)}
  body(%i: int64[], %go: bool[], %h: float32[N, 2]) {
    %a: float32[N, 2] = Neg(%h)
    return %go, %a, %a
  }
  return y = %y, ys = %ys
}"""


def exported(text: str, recipes: bool = False) -> Exported:
    return export_module(program(text), recipes)


def test_every_name_has_its_type_in_bodies_too() -> None:
    result = exported(LOOP)
    assert {name: str(type) for name, type in result.types.items()} == {
        "x": "float32[N, 2]",
        "n": "int64[]",
        "y": "float32[N, 2]",
        "ys": "float32[ys.0, N, 2]",
        "i": "int64[]",
        "go": "bool[]",
        "h": "float32[N, 2]",
        "a": "float32[N, 2]",
    }
    assert result.opset == DIALECT_OPSET


def test_names_that_nodes_between_give_have_types() -> None:
    """A collected axis of 1 is put there by a Transpose behind the loop, whose input has a type of its own."""
    result = exported(LOOP.replace("Collected()", "Collected(axis = 1)").replace("n, N, 2] =", "N, n, 2] ="))
    (loop, transpose) = result.graph.node
    assert (loop.op_type, transpose.op_type) == ("Loop", "Transpose")
    assert str(result.types[loop.output[1]]).startswith("float32[")
    assert str(result.types["ys"]) == "float32[N, ys.1, 2]"


def test_constants_are_apart_from_the_graph() -> None:
    result = exported("""
        main(%x: float32[2]) {
            %c: float32[2] = Constant() {value = float32[2] <1 2>}
            %y: float32[2] = Add(%x, %c)
            return y = %y
        }""")
    assert np.asarray(result.constants["c"]).tolist() == [1, 2]
    assert [node.op_type for node in result.graph.node] == ["Add"]
    assert str(result.types["c"]) == "float32[2]"


def test_op_that_the_dialect_lacks_is_written_in_the_newest_opset() -> None:
    result = exported("main(%x: float32[2]) { %y: float32[2] = Swish(%x) return y = %y }")
    assert result.opset in (DIALECT_OPSET, NEWEST[""])
    wide = exported('main(%x: string[2]) { %y: bool[2] = RegexFullMatch(%x) {pattern = "a"} return y = %y }')
    assert wide.opset == DIALECT_OPSET


def test_what_no_opset_says_is_refused_as_at_the_first() -> None:
    text = """
        main(%x: float32[*], %n: int64[]) {
            %y: float32[*] = Loop "l" (%n, _, %x) {collected = (Collected(axis = 1),)}
            body(%i: int64[], %go: bool[], %h: float32[*]) {
                %a: float32[*] = Neg(%h)
                return %go, %a
            }
            return y = %y
        }"""
    with pytest.raises(SaveError) as refused:
        exported(text)
    assert str(refused.value).startswith("Loop 'l': collects along axis 1 of %y: float32[*], whose rank is not known")
