"""Inference on programs: what it writes over `float32[*]`, which names leave a region, how often it visits nodes."""

from __future__ import annotations

import numpy as np
import pytest

import whorl.ops
from whorl.errors import TypeRuleError
from whorl.ir import dims
from whorl.ir.build import Builder
from whorl.ir.dims import UNKNOWN
from whorl.ir.graph import REGISTRY, Module, Node, Region, Value
from whorl.ir.infer import Inference, escape, names_in_type, names_of, region_title, unshaped
from whorl.ir.parse import parse_module
from whorl.ir.text import print_module
from whorl.ir.types import Known, MapType, OptionalType, SequenceType, TensorType
from whorl.ops.control.flow import Loop

assert whorl.ops
FLOAT32, INT64 = np.dtype(np.float32), np.dtype(np.int64)
N, M = dims.name("N"), dims.name("M")


class Counting(Inference):
    """Inference that counts its visits of nodes."""

    visits = 0

    def node(self, node: Node) -> None:
        self.visits += 1
        super().node(node)


def infer(text: str) -> tuple[Module, Counting]:
    module = parse_module(text, check=False)
    inference = Counting(names_of(module.main.arguments))
    inference.region(module.main)
    return module, inference


def inferred(text: str) -> str:
    return print_module(infer(text.removeprefix("\n"))[0])


CASES = {
    "carried length that changes gets a name": (
        """
main(%x: float32[2, 3], %n: int64[]) {
  %y: float32[*] = Loop(%n, _, %x) {carried = 1}
  body(%i: int64[], %go: bool[], %h: float32[*]) {
    %g: float32[*] = Concat(%h, %h) {axis = 0}
    return %go, %g
  }
  return y = %y
}
""",
        """
main(%x: float32[2, 3], %n: int64[]) {
  %y: float32[y.0, 3] = Loop(%n, _, %x) {carried = 1}
  body(%i: int64[], %go: bool[] {True}, %h: float32[h.0, 3]) {
    %g: float32[2*h.0, 3] = Concat(%h, %h) {axis = 0}
    return %go, %g
  }
  return y = %y
}
""",
    ),
    "carried value that must keep its shape has it throughout": (
        """
main(%x: float32[N, 3], %rows: float32[T, 3], %to: int64[2]) {
  %y: float32[*] = Loop(_, _, %x, %rows, %to) {carried = 1, scanned = (Scanned(),), keep_shapes = True}
  body(%i: int64[], %go: bool[], %h: float32[*], %row: float32[*], %to: int64[*]) {
    %g: float32[*] = Reshape(%h, %to)
    return %go, %g
  }
  return y = %y
}
""",
        """
main(%x: float32[N, 3], %rows: float32[T, 3], %to: int64[2]) {
  %y: float32[N, 3] = Loop(_, _, %x, %rows, %to) {carried = 1, scanned = (Scanned(),), keep_shapes = True}
  body(%i: int64[], %go: bool[] {True}, %h: float32[N, 3], %row: float32[3], %to: int64[2]) {
    %g: float32[g.0, g.1] = Reshape(%h, %to)
    return %go, %g
  }
  return y = %y
}
""",
    ),
    "carried rank that changes becomes any rank": (
        """
main(%x: float32[2], %n: int64[]) {
  %zero: int64[*] = Constant() {value = int64[1] <0>}
  %y: float32[*] = Loop(%n, _, %x, %zero) {carried = 1}
  body(%i: int64[], %go: bool[], %h: float32[*], %zero: int64[*]) {
    %g: float32[*] = Unsqueeze(%h, %zero)
    return %go, %g
  }
  return y = %y
}
""",
        """
main(%x: float32[2], %n: int64[]) {
  %zero: int64[1] = Constant() {value = int64[1] <0>}
  %y: float32[*] = Loop(%n, _, %x, %zero) {carried = 1}
  body(%i: int64[], %go: bool[] {True}, %h: float32[*], %zero: int64[1] {0}) {
    %g: float32[*] = Unsqueeze(%h, %zero)
    return %go, %g
  }
  return y = %y
}
""",
    ),
    "carried lengths that stay are kept, and those that change places are not": (
        """
main(%a: float32[N, 2], %b: float32[N, 3], %n: int64[]) {
  %y: float32[*], %z: float32[*] = Loop(%n, _, %a, %b) {carried = 2}
  body(%i: int64[], %go: bool[], %a: float32[*], %b: float32[*]) {
    return %go, %b, %a
  }
  return y = %y, z = %z
}
""",
        """
main(%a: float32[N, 2], %b: float32[N, 3], %n: int64[]) {
  %y: float32[N, y.1], %z: float32[N, z.1] = Loop(%n, _, %a, %b) {carried = 2}
  body(%i: int64[], %go: bool[] {True}, %a: float32[N, a.1], %b: float32[N, b.1]) {
    return %go, %b, %a
  }
  return y = %y, z = %z
}
""",
    ),
    "a change travels through the carried values": (
        """
main(%a: float32[1], %b: float32[1], %c: float32[1], %n: int64[]) {
  %y: float32[*], %z: float32[*], %w: float32[*] = Loop(%n, _, %a, %b, %c) {carried = 3}
  body(%i: int64[], %go: bool[], %a: float32[*], %b: float32[*], %c: float32[*]) {
    %d: float32[*] = Concat(%c, %c) {axis = 0}
    return %go, %b, %c, %d
  }
  return y = %y, z = %z, w = %w
}
""",
        """
main(%a: float32[1], %b: float32[1], %c: float32[1], %n: int64[]) {
  %y: float32[y.0], %z: float32[z.0], %w: float32[w.0] = Loop(%n, _, %a, %b, %c) {carried = 3}
  body(%i: int64[], %go: bool[] {True}, %a: float32[a.0], %b: float32[b.0], %c: float32[c.0]) {
    %d: float32[2*c.0] = Concat(%c, %c) {axis = 0}
    return %go, %b, %c, %d
  }
  return y = %y, z = %z, w = %w
}
""",
    ),
    "names of the body do not leave it, names of its inputs do": (
        """
main(%x: float32[N, 2], %n: int64[] {4}) {
  %a: int64[*], %b: float32[*] = Loop(%n, _, %x) {collected = (Collected(), Collected(axis = 1))}
  body(%i: int64[], %go: bool[], %x: float32[*]) {
    %p: int64[*] = NonZero(%x)
    return %go, %p, %x
  }
  return a = %a, b = %b
}
""",
        """
main(%x: float32[N, 2], %n: int64[] {4}) {
  %a: int64[4, 2, a.2], %b: float32[N, 4, 2] = Loop(%n, _, %x) {collected = (Collected(), Collected(axis = 1))}
  body(%i: int64[], %go: bool[] {True}, %x: float32[N, 2]) {
    %p: int64[2, p.1] = NonZero(%x)
    return %go, %p, %x
  }
  return a = %a, b = %b
}
""",
    ),
    "a condition leaves the number of iterations open": (
        """
main(%x: float32[N], %n: int64[] {4}, %c: bool[]) {
  %a: float32[*] = Loop(%n, %c, %x) {collected = (Collected(),)}
  body(%i: int64[], %go: bool[], %x: float32[*]) {
    return %go, %x
  }
  return a = %a
}
""",
        """
main(%x: float32[N], %n: int64[] {4}, %c: bool[]) {
  %a: float32[a.0, N] = Loop(%n, %c, %x) {collected = (Collected(),)}
  body(%i: int64[], %go: bool[] {True}, %x: float32[N]) {
    return %go, %x
  }
  return a = %a
}
""",
    ),
    "branches that differ have what they agree on": (
        """
main(%x: float32[N, 2], %y: float32[N, 3], %c: bool[]) {
  %a: float32[*], %b: float32[*] = If(%c, %x, %y)
  then_branch(%x: float32[*], %y: float32[*]) {
    return %x, %x
  }
  else_branch(%x: float32[*], %y: float32[*]) {
    %s: int64[*] = Shape(%x)
    %z: float32[*] = Cast(%s) {to = float32}
    return %y, %z
  }
  return a = %a, b = %b
}
""",
        """
main(%x: float32[N, 2], %y: float32[N, 3], %c: bool[]) {
  %a: float32[N, a.1], %b: float32[*] = If(%c, %x, %y)
  then_branch(%x: float32[N, 2], %y: float32[N, 3]) {
    return %x, %x
  }
  else_branch(%x: float32[N, 2], %y: float32[N, 3]) {
    %s: int64[2] {N, 2} = Shape(%x)
    %z: float32[2] {?, 2.0} = Cast(%s) {to = float32}
    return %y, %z
  }
  return a = %a, b = %b
}
""",
    ),
    "a known condition picks its branch": (
        """
main(%x: float32[N, 2], %y: float32[5], %c: bool[] {False}) {
  %a: float32[*] = If(%c, %x, %y)
  then_branch(%x: float32[*], %y: float32[*]) {
    return %x
  }
  else_branch(%x: float32[*], %y: float32[*]) {
    return %y
  }
  return a = %a
}
""",
        """
main(%x: float32[N, 2], %y: float32[5], %c: bool[] {False}) {
  %a: float32[5] = If(%c, %x, %y)
  then_branch(%x: float32[N, 2], %y: float32[5]) {
    return %x
  }
  else_branch(%x: float32[N, 2], %y: float32[5]) {
    return %y
  }
  return a = %a
}
""",
    ),
    "a fresh name is never one that is taken": (
        """
main(%x: float32[4], %z: float32[y.1, y.1'1]) {
  %y: int64[*] = NonZero(%x)
  %y~1: int64[*] = NonZero(%x)
  return a = %y~1
}
""",
        """
main(%x: float32[4], %z: float32[y.1, y.1'1]) {
  %y: int64[1, y.1'2] = NonZero(%x)
  %y~1: int64[1, y.1'3] = NonZero(%x)
  return a = %y~1
}
""",
    ),
    "inside a body shapes that do not fit are left to the run": (
        """
main(%x: float32[2], %y: float32[3], %n: int64[]) {
  %a: float32[*] = Loop(%n, _, %x, %y) {collected = (Collected(),)}
  body(%i: int64[], %go: bool[], %x: float32[*], %y: float32[*]) {
    %z: float32[*] = Add(%x, %y)
    return %go, %z
  }
  return a = %a
}
""",
        """
main(%x: float32[2], %y: float32[3], %n: int64[]) {
  %a: float32[*] = Loop(%n, _, %x, %y) {collected = (Collected(),)}
  body(%i: int64[], %go: bool[] {True}, %x: float32[2], %y: float32[3]) {
    %z: float32[*] = Add(%x, %y)
    return %go, %z
  }
  return a = %a
}
""",
    ),
}


@pytest.mark.parametrize(("before", "after"), CASES.values(), ids=CASES)
def test_inference(before: str, after: str) -> None:
    assert inferred(before) == after.removeprefix("\n")


@pytest.mark.parametrize(("before", "after"), CASES.values(), ids=CASES)
def test_inference_again_gives_the_same(before: str, after: str) -> None:
    assert inferred(after) == after.removeprefix("\n")


def test_shapes_that_do_not_fit_in_a_body_are_noted() -> None:
    _, inference = infer(CASES["inside a body shapes that do not fit are left to the run"][0])
    assert inference.problems == [
        "Add 'z': cannot broadcast [2] with [3]: lengths 2 and 3 do not broadcast\n"
        "  fix: make them equal or one of them 1"
    ]


def test_shapes_that_do_not_fit_outside_are_an_error() -> None:
    region = Region()
    x, y = (region.add_argument("x", TensorType(FLOAT32, (length,))) for length in (2, 3))
    with pytest.raises(TypeRuleError) as caught:
        Builder(region, Inference()).add(REGISTRY["Add"](), x, y, name="z")
    assert str(caught.value) == (
        "Add 'z': cannot broadcast [2] with [3]: lengths 2 and 3 do not broadcast\n"
        "  fix: make them equal or one of them 1"
    )


def test_element_types_that_do_not_fit_in_a_body_are_an_error() -> None:
    text = CASES["inside a body shapes that do not fit are left to the run"][0].replace(
        "%y: float32[3]", "%y: int64[3]"
    )
    with pytest.raises(TypeRuleError) as caught:
        infer(text)
    assert str(caught.value) == "Add 'z': inputs have different element types: float32, int64\n  fix: insert a Cast"


def test_carried_value_that_changes_its_element_type_is_an_error() -> None:
    text = CASES["carried length that changes gets a name"][0].replace(
        "Concat(%h, %h) {axis = 0}", "Cast(%h) {to = int8}"
    )
    with pytest.raises(TypeRuleError) as caught:
        infer(text)
    assert str(caught.value) == (
        "Loop 'y': carried value 0 is float32[2, 3] before an iteration and int8[2, 3] after it"
    )


def test_too_many_outputs_are_an_error() -> None:
    with pytest.raises(TypeRuleError) as caught:
        infer("main(%x: float32[2]) { %y: float32[*], %z: float32[*] = Neg(%x) return z = %z }")
    assert str(caught.value) == "Neg 'y': has 2 outputs, the op gives 1"


def nest(depth: int) -> str:
    """Loops in each other, each of which makes what it carries longer along another axis."""
    text = "%h~1: float32[*] = Concat(%h, %h) {axis = 0}"
    for level in range(depth):
        text = f"""
  %r: float32[*] = Loop "level {level}" (%n, _, %h, %n) {{carried = 1}}
  body(%i: int64[], %go: bool[], %h: float32[*], %n: int64[]) {{
    {text}
    %s: float32[*] = Concat({"%r, %r" if level else "%h~1, %h~1"}) {{axis = {level % 2}}}
    return %go, %s
  }}"""
    return f"main(%h: float32[2, 3], %n: int64[]) {{\n{text}\n  return y = %r\n}}"


def test_nested_loops_with_changing_shapes_are_inferred_in_bounded_time() -> None:
    visits = {depth: infer(nest(depth))[1].visits for depth in (1, 10, 30)}
    assert visits[10] < 200 and visits[30] < 1500
    (loop,) = (node for node in infer(nest(30))[0].main.nodes)
    assert str(loop.outputs[0].type).startswith("float32[r.0'")


def test_unknown_dims_of_one_value_keep_their_names_within_a_run() -> None:
    region, inference = Region(), Inference()
    node = Node(REGISTRY["NonZero"](), [region.add_argument("x", TensorType(FLOAT32, (2,)))])
    node.outputs = [Value("y", TensorType(FLOAT32), node, 0)]
    inference.node(node)
    first = node.outputs[0].type
    inference.node(node)
    assert node.outputs[0].type == first == TensorType(INT64, (1, dims.name("y.1")))
    assert inference.is_own(node.outputs[0], dims.name("y.1"))
    assert not inference.is_own(node.outputs[0], dims.name("y.1") + 1)


def test_fresh_names_keep_clear_of_the_ones_that_inputs_have() -> None:
    module = parse_module(
        """main(%a: float32[y.1], %b: float32["y.1'1"]) {
  %y: int64[*] = NonZero(%a)
  %y~1: int64[*] = NonZero(%b)
  return y = %y
}""",
        check=False,
    )
    Inference().region(module.main)
    assert [str(node.outputs[0].type) for node in module.main.nodes] == ["int64[1, y.1'2]", "int64[1, y.1'3]"]


def test_body_that_takes_another_number_of_values_is_an_error() -> None:
    text = """main(%n: int64[], %x: float32[N]) {
  %y: float32[N] = Loop "loop" (%n, _, %x) {carried = 1}
  body(%i: int64[], %go: bool[]) {
    return %go, %i
  }
  return y = %y
}"""
    with pytest.raises(TypeRuleError, match="Loop 'loop': the body takes 2 values, expected 3"):
        infer(text)


def test_first_visit_is_true_once() -> None:
    inference, node = Inference(), Node(Loop(), [])
    assert [inference.first_visit(node), inference.first_visit(node)] == [True, False]


def test_known_elements_beyond_the_limit_are_dropped() -> None:
    text = """main() {
  %c: int64[200] = Constant() {value = int64[200] <ELEMENTS>}
  %d: int64[*] = Concat(%c, %c) {axis = 0}
  return d = %d
}""".replace("ELEMENTS", "1 " * 200)
    module, _ = infer(text)
    constant, combined = (node.outputs[0] for node in module.main.nodes)
    assert constant.known is not None and combined.known is None
    assert combined.type == TensorType(INT64, (400,))


def test_escape_keeps_what_is_visible() -> None:
    inner = TensorType(FLOAT32, (N, M, N + M, 3))
    assert [d is UNKNOWN for d in escape(inner, {"N"}).shape] == [False, True, True, False]
    sequence = escape(SequenceType(OptionalType(TensorType(FLOAT32, (M,)))), set())
    assert sequence.element.element.shape[0] is UNKNOWN
    other = MapType(INT64, TensorType(FLOAT32, ()))
    assert escape(other, set()) is other
    assert escape(TensorType(FLOAT32), set()) == TensorType(FLOAT32)


def test_names_of_finds_types_and_known_elements() -> None:
    known = np.array([dims.call("floor", M, 2), 3], object)
    facts = [Known(SequenceType(TensorType(FLOAT32, (N,)))), None, Known(TensorType(INT64, (2,)), known)]
    assert names_of(facts) == {"N", "M"}
    assert names_in_type(MapType(INT64, TensorType(FLOAT32, ()))) == set()


def test_unshaped_forgets_every_shape() -> None:
    assert unshaped(SequenceType(TensorType(FLOAT32, (N,)))) == SequenceType(TensorType(FLOAT32))
    assert unshaped(OptionalType(TensorType(INT64, ()))) == OptionalType(TensorType(INT64))
    assert unshaped(MapType(INT64, TensorType(FLOAT32, ()))) == MapType(INT64, TensorType(FLOAT32, ()))


def test_region_title_names_region_and_node() -> None:
    node = Node(Loop(), [], [Region(), Region("then_branch")], "rollout")
    assert region_title(node, 0) == "body of Loop 'rollout'"
    assert region_title(node, 1) == "then_branch of Loop 'rollout'"
