"""What a body may look like: blank outputs, initializers, missing types, no nodes."""

from __future__ import annotations

import onnx
from onnx import ModelProto

from whorl.conformance.case import Case
from whorl.conformance.values import Value, f32, f64, flags, i64

UNTYPED = """
<ir_version: 8, opset_import: ["" : 17]>
main (int64 M, float x) => (float y, float[n] all) {
  y, all = Loop (M, "", x) <body = step (int64 i, bool go, float v) => (bool on, float w, float e) {
    on = Identity (go)
    w = Add (v, v)
    e = Neg (v)
  }>
}"""

OLD = '<ir_version: 3, opset_import: ["" : 11]>\n'


def without_types() -> ModelProto:
    """UNTYPED, with the types of the body's inputs and outputs left out, which ONNX text cannot say."""
    model = onnx.parser.parse_model(UNTYPED.strip())
    body = model.graph.node[0].attribute[0].g
    for info in (*body.input, *body.output):
        info.ClearField("type")
    return model


def without_shapes() -> ModelProto:
    """UNTYPED, with the shapes of everything in the body left out."""
    model = onnx.parser.parse_model(UNTYPED.strip())
    body = model.graph.node[0].attribute[0].g
    for info in (*body.input, *body.output):
        info.type.tensor_type.ClearField("shape")
    return model


def two_of_three(name: str, outputs: str, doc: str, expected: list[Value]) -> Case:
    kind = "float[n]" if expected[0].ndim else "float"
    return Case(
        name,
        rules=(14,),
        doc=doc,
        model=f"""
        main (int64 M, float a, float b) => ({kind} y) {{
          {outputs} = Loop (M, "", a, b) <body = step (int64 i, bool go, float p, float q)
              => (bool on, float r, float s, float e) {{
            on = Identity (go)
            r = Add (p, q)
            s = Sub (p, q)
            e = Mul (p, q)
          }}>
          y = Identity (z)
        }}""",
        inputs={"M": i64(2), "a": f32(3), "b": f32(1)},
        expected=expected,
        ambiguous=True,
    )


CASES = [
    two_of_three(
        "blank_second_carried",
        'z, "", ""',
        "Of two carried and one collected output only the first is named.",
        [f32(6)],
    ),
    two_of_three(
        "blank_first_carried", '"", z, ""', "The first carried output is blank, the second one named.", [f32(2)]
    ),
    two_of_three(
        "blank_both_carried", '"", "", z', "Both carried outputs are blank; the collected one is used.", [f32([3, 8])]
    ),
    two_of_three("trailing_outputs_left_out", "z", "The loop names only the first of its three outputs.", [f32(6)]),
    Case(
        "blank_scan_outputs",
        rules=(14, 8),
        doc="A Scan's final state and one of its collected outputs are blank.",
        model="""
        main (float zero, float[T] x) => (float[T] sums) {
          "", "", sums = Scan (zero, x) <num_scan_inputs = 1,
            body = step (float s, float e) => (float t, float u, float v) {
            t = Add (s, e)
            u = Neg (t)
            v = Identity (t)
          }>
        }""",
        inputs={"zero": f32(0), "x": f32([1, 2, 3])},
        expected=[f32([1, 3, 6])],
        ambiguous=True,
    ),
    Case(
        "blank_outputs_zero_trips",
        rules=(14, 3),
        doc="Blank outputs with no iteration.",
        model="""
        main (int64 M, float a) => (float y) {
          y, "" = Loop (M, "", a) <body = step (int64 i, bool go, float p) => (bool on, float r, float e) {
            on = Identity (go)
            r = Add (p, p)
            e = Neg (p)
          }>
        }""",
        inputs={"M": i64(0), "a": f32(3)},
        expected=[f32(3)],
        ambiguous=True,
    ),
    Case(
        "body_initializer",
        rules=(14,),
        doc="The body holds initializers of its own.",
        model="""
        main (int64 M, float[2] x) => (float[2] y) {
          y = Loop (M, "", x) <body = step (int64 i, bool go, float[2] v) => (bool yes, float[2] w)
              <bool yes = {1}, float[2] half = {0.5, 0.25}> {
            w = Mul (v, half)
          }>
        }""",
        inputs={"M": i64(3), "x": f32([8, 64])},
        expected=[f32([1, 1])],
    ),
    Case(
        "body_initializer_is_an_output",
        rules=(14, 5),
        doc="A body initializer is the new carried value and a collected element.",
        model="""
        main (int64 M, float x) => (float y, float[n] all) {
          y, all = Loop (M, "", x) <body = step (int64 i, bool go, float v) => (bool yes, float five, float six)
              <bool yes = {1}, float five = {5}, float six = {6}> {}>
        }""",
        inputs={"M": i64(2), "x": f32(1)},
        expected=[f32(5), f32([6, 6])],
    ),
    Case(
        "initializer_in_inner_body_captured_further_in",
        rules=(14, "captured"),
        doc="An initializer of the outer body is captured by the inner body.",
        model="""
        main (int64 M, float x) => (float y) {
          y = Loop (M, "", x) <body = outer (int64 i, bool go, float v) => (bool go, float w) <float three = {3}> {
            w = Loop (M, "", v) <body = inner (int64 j, bool go2, float p)
                => (bool go2, float q) { q = Mul (p, three) }>
          }>
        }""",
        inputs={"M": i64(2), "x": f32(1)},
        expected=[f32(81)],
    ),
    Case(
        "body_initializer_shadows_outer_value",
        rules=(14, 7),
        doc="A body initializer has the name of an outer initializer: inside, the inner one counts.",
        model="""
        main (int64 M, float x) => (float y, float same) <float k = {100}> {
          y = Loop (M, "", x) <body = step (int64 i, bool go, float v)
              => (bool go, float w) <float k = {3}> { w = Mul (v, k) }>
          same = Identity (k)
        }""",
        inputs={"M": i64(2), "x": f32(1)},
        expected=[f32(9), f32(100)],
        ambiguous=True,
    ),
    Case(
        "body_initializer_listed_as_input",
        rules=(14, "versions"),
        doc="IR version 3 lists initializers among a graph's inputs: in a body it is a constant, not an input.",
        model=OLD
        + """
        main (int64 M, float x) => (float y) {
          y = Loop (M, "", x) <body = step (int64 i, bool go, float v, float k = {3}) => (bool on, float w) {
            on = Identity (go)
            w = Mul (v, k)
          }>
        }""",
        inputs={"M": i64(2), "x": f32(1)},
        expected=[f32(9)],
        ambiguous=True,
    ),
    Case(
        "branch_initializer_listed_as_input",
        rules=(14, 15, "versions"),
        doc="IR version 3: a branch's initializer is listed among the branch's inputs.",
        model=OLD
        + """
        main (bool c, float x) => (float y) {
          y = If (c) <
            then_branch = t (float k = {3}) => (float p) { p = Mul (x, k) },
            else_branch = e (float l = {4}) => (float q) { q = Mul (x, l) }>
        }""",
        inputs={"c": flags(False), "x": f32(2)},
        expected=[f32(8)],
        ambiguous=True,
    ),
    *(
        Case(
            f"graph_input_with_default_{name}",
            rules=(14, "captured"),
            doc=f"An initializer that is also a graph input is its default; the input, captured by a body, is {name}.",
            model="""
            main (int64 M, float x, float k = {3}) => (float y) {
              y = Loop (M, "", x) <body = step (int64 i, bool go, float v) => (bool on, float w) {
                on = Identity (go)
                w = Mul (v, k)
              }>
            }""",
            inputs={"M": i64(2), "x": f32(1)} | given,
            expected=[f32(value)],
            ambiguous=True,
        )
        for name, given, value in (("not_given", {}, 9), ("given", {"k": f32(5)}, 25))
    ),
    Case(
        "body_without_types",
        rules=(7, 13),
        doc="The body's inputs and outputs have names and no types.",
        model=without_types,
        inputs={"M": i64(2), "x": f32(3)},
        expected=[f32(12), f32([-3, -6])],
        ambiguous=True,
    ),
    Case(
        "body_without_shapes",
        rules=(7, 13),
        doc="The body's inputs and outputs have element types and no shapes.",
        model=without_shapes,
        inputs={"M": i64(2), "x": f32(3)},
        expected=[f32(12), f32([-3, -6])],
    ),
    Case(
        "body_without_nodes",
        rules=(5, 14),
        doc="A body without nodes passes everything on.",
        model="""
        main (int64 M, float x) => (float y, float[n] all) {
          y, all = Loop (M, "", x) <body = nothing (int64 i, bool go, float v) => (bool go, float v, float v) {}>
        }""",
        inputs={"M": i64(3), "x": f32(2)},
        expected=[f32(2), f32([2, 2, 2])],
        ambiguous=True,
    ),
    Case(
        "body_with_unused_nodes",
        rules=(14,),
        doc="Nodes of the body whose results nobody reads, one of which is costly.",
        model="""
        main (int64 M, double x) => (double y) {
          y = Loop (M, "", x) <body = step (int64 i, bool go, double v) => (bool go, double w) {
            w = Neg (v)
            unused = Exp (v)
            more = Mul (unused, unused)
          }>
        }""",
        inputs={"M": i64(3), "x": f64(2)},
        expected=[f64(-2)],
    ),
    Case(
        "constants_in_body",
        rules=(14,),
        doc="Constants of several kinds in a body: value, value_int, value_floats, ConstantOfShape.",
        model="""
        main (int64 M, float[2] x) => (float[2] y) {
          y = Loop (M, "", x) <body = step (int64 i, bool go, float[2] v) => (bool go, float[2] w) {
            a = Constant <value = float[2] {1, 2}> ()
            b = Constant <value_floats = [10.0, 20.0]> ()
            n = Constant <value_ints = [2]> ()
            c = ConstantOfShape <value = float[1] {100}> (n)
            d = Sum (a, b, c)
            w = Add (v, d)
          }>
        }""",
        inputs={"M": i64(2), "x": f32([0, 0])},
        expected=[f32([222, 244])],
    ),
    Case(
        "dims_named_alike_inside_and_outside",
        rules=(7,),
        doc="The body's dim names N and M mean something else than the main graph's.",
        model="""
        main (int64 trips, float[N] x, float[M] z) => (float[k] y, float[l] w) {
          y, w = Loop (trips, "", z, x) <body = swap (int64 i, bool go, float[N] p, float[M] q)
              => (bool go, float[M] r, float[N] s) {
            r = Identity (q)
            s = Identity (p)
          }>
        }""",
        inputs={"trips": i64(1), "x": f32([1, 2]), "z": f32([3, 4, 5])},
        expected=[f32([1, 2]), f32([3, 4, 5])],
        ambiguous=True,
    ),
]
