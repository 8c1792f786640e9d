"""Functions of the onnx dialect as onnx-mlir prints them."""

from __future__ import annotations

from formats.onnx.nodes_text import program

from whorl.formats.mlir.printer import Locations, Style
from whorl.formats.mlir.saving import print_mlir


def printed(text: str) -> list[str]:
    """The lines of the function of a program, without its indentation."""
    lines = print_mlir(program(text)).splitlines()
    return [line.strip() for line in lines[1 : next(k for k, line in enumerate(lines) if line == "  }")]]


def test_arguments_and_values_are_numbered_and_named_by_attributes() -> None:
    assert printed("main(%x: float32[2]) { %y: float32[2] = Neg(%x) return out = %y }") == [
        'func.func @main_graph(%arg0: tensor<2xf32> {onnx.name = "x"}) -> (tensor<2xf32> {onnx.name = "out"}) {',
        '%0 = "onnx.Neg"(%arg0) : (tensor<2xf32>) -> tensor<2xf32>',
        "onnx.Return %0 : tensor<2xf32>",
    ]


def test_odd_characters_of_names_are_escaped() -> None:
    (head, *_) = printed('main(%"a\\"b é": float32[2]) { %y: float32[2] = Neg(%"a\\"b é") return "x y" = %y }')
    assert '{onnx.name = "a\\22b \\C3\\A9"}' in head
    assert '{onnx.name = "x y"}' in head


def test_input_that_is_left_out_is_none() -> None:
    lines = printed("""
        main(%x: float32[2], %m: float32[]) {
            %y: float32[2] = Clip(%x, _, %m)
            return y = %y
        }""")
    assert lines[1] == '%0 = "onnx.NoValue"() <{value}> : () -> none'
    assert lines[2] == '%1 = "onnx.Clip"(%arg0, %0, %arg1) : (tensor<2xf32>, none, tensor<f32>) -> tensor<2xf32>'


def test_values_of_a_body_are_numbered_behind_ones_around_it() -> None:
    lines = printed("""
        main(%x: float32[2], %c: bool[]) {
            %y: float32[2] = If(%c, %x)
            then_branch(%a: float32[2]) { %b: float32[2] = Neg(%a) return %b }
            else_branch(%a: float32[2]) { return %a }
            return y = %y
        }""")
    assert lines[1:-1] == [
        '%0 = "onnx.If"(%arg1) ({',
        '%1 = "onnx.Neg"(%arg0) : (tensor<2xf32>) -> tensor<2xf32>',
        "onnx.Yield %1 : tensor<2xf32>",
        "}, {",
        "onnx.Yield %arg0 : tensor<2xf32>",
        "}) : (tensor<i1>) -> tensor<2xf32>",
    ]


def test_attributes_have_their_types() -> None:
    lines = printed("""
        main(%x: float32[2, 3]) {
            %y: float32[3, 2] = Transpose(%x) {perm = (1, 0)}
            %z: float32[3, 2] = LeakyRelu(%y) {alpha = 0.25}
            %w: float32[3, 2] = Gelu(%z) {approximate = "tanh"}
            return w = %w
        }""")
    assert "<{perm = [1, 0]}>" in lines[1]
    assert "<{alpha = 2.500000e-01 : f32}>" in lines[2]
    assert '<{approximate = "tanh"}>' in lines[3]


def test_locations_have_aliases_in_the_order_in_which_they_are_met() -> None:
    locations = Locations({"#a": '"file":1:2'}, Style(locations=True))
    suffixes = [locations.suffix(text) for text in ("#a", "", '"file":1:2', '"b"')]
    assert suffixes == [" loc(#loc)", " loc(#loc1)", " loc(#loc)", " loc(#loc2)"]
    assert locations.lines() == ['#loc = loc("file":1:2)', "#loc1 = loc(unknown)", '#loc2 = loc("b")']
    assert Locations({}, Style()).suffix("#a") == ""
