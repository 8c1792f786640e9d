"""Functions of a model and SequenceMap, around and inside control flow."""

from __future__ import annotations

from whorl.conformance.case import Case
from whorl.conformance.values import f32, flags, i64

HEADER = '<ir_version: 8, opset_import: ["" : 17, "local" : 1]>\n'
FUNCTION = '\n<domain: "local", opset_import: ["" : 17]>\n'

POWER = (
    FUNCTION
    + """
power <n> (x) => (y) {
  M = Constant <value_int: int = @n> ()
  one = Constant <value_float = 1.0> ()
  y = Loop (M, "", one) <body = step (int64 i, bool go, float v) => (bool on, float w) {
    on = Identity (go)
    w = Mul (v, x)
  }>
}"""
)

ADD_SCALED = (
    FUNCTION
    + """
add_scaled <k> (a, b) => (c) {
  s = Constant <value_float: float = @k> ()
  m = Mul (b, s)
  c = Add (a, m)
}"""
)


def nested_functions(depth: int, may_refuse: bool = False) -> Case:
    header = '<domain: "local", opset_import: ["" : 17, "local" : 1]>'
    functions = "".join(
        f"""
        {header}
        level{k} (x) => (y) {{
          M = Constant <value_int = 1> ()
          y = Loop (M, "", x) <body = step (int64 i, bool go, float v) => (bool on, float w) {{
            on = Identity (go)
            w = {f"local.level{k + 1}" if k < depth else "Neg"} (v)
          }}>
        }}"""
        for k in range(1, depth + 1)
    )
    return Case(
        f"functions_with_loops_depth_{depth}",
        rules=("functions", 11),
        doc=f"{depth} functions, each with a loop whose body calls the next one"
        + (": the value, or a clean error that this is too deep." if may_refuse else "."),
        model=HEADER + "main (float x) => (float y) { y = local.level1 (x) }" + functions,
        inputs={"x": f32(3)},
        expected=[f32(-3)],
        may_refuse=may_refuse,
    )


CASES = [
    nested_functions(5),
    nested_functions(25),
    nested_functions(150, may_refuse=True),
    Case(
        "function_with_loop",
        rules=("functions", "captured"),
        doc="A function holds a loop that captures the function's input; its trip count is an attribute.",
        model=HEADER + "main (float x) => (float y) { y = local.power <n = 5> (x) }" + POWER,
        inputs={"x": f32(2)},
        expected=[f32(32)],
    ),
    Case(
        "function_called_twice",
        rules=("functions", 7),
        doc="A function is called twice with different attributes; its inner names are those of the caller.",
        model=HEADER
        + """
        main (float v) => (float w, float x) {
          w = local.power <n = 2> (v)
          x = local.power <n = 3> (w)
        }"""
        + POWER,
        inputs={"v": f32(3)},
        expected=[f32(9), f32(729)],
    ),
    Case(
        "function_called_with_zero",
        rules=("functions", 3),
        doc="The attribute that is the trip count is 0.",
        model=HEADER + "main (float x) => (float y) { y = local.power <n = 0> (x) }" + POWER,
        inputs={"x": f32(2)},
        expected=[f32(1)],
    ),
    Case(
        "attribute_reference_in_body",
        rules=("functions",),
        doc="A node in a loop's body in a function refers to an attribute of the function.",
        model=HEADER
        + "main (int64 M, float x) => (float y) { y = local.scale <k = 1.5> (M, x) }"
        + FUNCTION
        + """
        scale <k> (M, x) => (y) {
          y = Loop (M, "", x) <body = step (int64 i, bool go, float v) => (bool on, float w) {
            on = Identity (go)
            s = Constant <value_float: float = @k> ()
            w = Mul (v, s)
          }>
        }""",
        inputs={"M": i64(2), "x": f32(4)},
        expected=[f32(9)],
    ),
    Case(
        "attribute_reference_two_bodies_deep",
        rules=("functions", 11),
        doc="The reference stands in a branch in a body, and names an axis.",
        model=HEADER
        + "main (int64 M, float[a,b] x) => (float[c,d] y) { y = local.stack <axis = 1> (M, x) }"
        + FUNCTION
        + """
        stack <axis> (M, x) => (y) {
          one = Constant <value_int = 1> ()
          y = Loop (M, "", x) <body = step (int64 i, bool go, float[a,b] v) => (bool on, float[c,d] w) {
            on = Identity (go)
            later = Less (i, one)
            w = If (later) <
              then_branch = t () => (float[c,d] p) { p = Concat <axis: int = @axis> (v, x) },
              else_branch = e () => (float[c,d] q) { q = Neg (v) }>
          }>
        }""",
        inputs={"M": i64(2), "x": f32([[1], [2]])},
        expected=[f32([[-1, -1], [-2, -2]])],
    ),
    Case(
        "attribute_default",
        rules=("functions",),
        doc="An attribute of the function has a default, which one of two calls uses.",
        model=HEADER
        + """
        main (float x) => (float y, float z) {
          y = local.times (x)
          z = local.times <n = 4> (x)
        }"""
        + FUNCTION
        + """
        times <n: int = 2> (x) => (y) {
          M = Constant <value_int: int = @n> ()
          y = Loop (M, "", x) <body = step (int64 i, bool go, float v) => (bool on, float w) {
            on = Identity (go)
            w = Add (v, v)
          }>
        }""",
        inputs={"x": f32(1)},
        expected=[f32(4), f32(16)],
    ),
    Case(
        "function_called_in_body",
        rules=("functions",),
        doc="A loop's body calls a function with a captured value and an attribute.",
        model=HEADER
        + """
        main (int64 M, float x, float d) => (float y) {
          y = Loop (M, "", x) <body = step (int64 i, bool go, float v) => (bool on, float w) {
            on = Identity (go)
            w = local.add_scaled <k = 10.0> (v, d)
          }>
        }"""
        + ADD_SCALED,
        inputs={"M": i64(3), "x": f32(1), "d": f32(2)},
        expected=[f32(61)],
    ),
    Case(
        "function_with_loop_called_in_body",
        rules=("functions", 11),
        doc="A loop's body calls a function that holds a loop; inner names meet.",
        model=HEADER
        + """
        main (int64 M, float x) => (float v, float[n] w) {
          v, w = Loop (M, "", x) <body = step (int64 i, bool go, float y) => (bool on, float one, float all) {
            on = Identity (go)
            one = local.power <n = 2> (y)
            all = Identity (y)
          }>
        }"""
        + POWER,
        inputs={"M": i64(3), "x": f32(2)},
        expected=[f32(256), f32([2, 4, 16])],
    ),
    Case(
        "function_called_in_branch",
        rules=("functions", 15),
        doc="Both branches call a function, with different attributes.",
        model=HEADER
        + """
        main (bool c, float x) => (float y) {
          y = If (c) <
            then_branch = t () => (float p) { p = local.power <n = 2> (x) },
            else_branch = e () => (float q) { q = local.power <n = 3> (x) }>
        }"""
        + POWER,
        inputs={"c": flags(False), "x": f32(3)},
        expected=[f32(27)],
    ),
    Case(
        "function_calls_function",
        rules=("functions",),
        doc="A function with a loop is called by another function, which hands its own attribute on.",
        model=HEADER
        + "main (float x) => (float y) { y = local.twice <m = 2> (x) }"
        + """
        <domain: "local", opset_import: ["" : 17, "local" : 1]>
        twice <m> (x) => (y) {
          p = local.power <n: int = @m> (x)
          y = local.power <n: int = @m> (p)
        }"""
        + POWER,
        inputs={"x": f32(3)},
        expected=[f32(81)],
    ),
    Case(
        "function_with_several_outputs",
        rules=("functions", "collected"),
        doc="A function returns a carried and a collected output; the caller uses them in the other order.",
        model=HEADER
        + """
        main (int64 M) => (int64[n] all, int64 last) {
          last, all = local.count (M)
        }"""
        + FUNCTION
        + """
        count (M) => (last, all) {
          zero = Constant <value_int = 0> ()
          last, all = Loop (M, "", zero) <body = step (int64 i, bool go, int64 v) => (bool on, int64 w, int64 e) {
            on = Identity (go)
            w = Add (v, i)
            e = Identity (w)
          }>
        }""",
        inputs={"M": i64(4)},
        expected=[i64([0, 1, 3, 6]), i64(6)],
    ),
    *(
        Case(
            f"sequence_map_{len(items)}_items",
            rules=("functions", 10) + ((3,) if not items else ()),
            doc=f"SequenceMap over {len(items)} items of different lengths.",
            model="""
            main (seq(float[k]) s) => (seq(float[k]) r) {
              r = SequenceMap (s) <body = each (float[k] e) => (float[k] f) { f = Neg (e) }>
            }""",
            inputs={"s": [f32(item) for item in items]},
            expected=[[-f32(item) for item in items]],
        )
        for items in ([], [[1, 2]], [[1], [], [2, 3, 4]])
    ),
    Case(
        "sequence_map_of_two_sequences",
        rules=("functions", 10),
        doc="SequenceMap over two sequences at once.",
        model="""
        main (seq(float[k]) s, seq(float[k]) t) => (seq(float[k]) r) {
          r = SequenceMap (s, t) <body = each (float[k] e, float[l] f) => (float[m] g) { g = Concat <axis = 0> (e, f) }>
        }""",
        inputs={"s": [f32([1]), f32([2, 3])], "t": [f32([4]), f32([])]},
        expected=[[f32([1, 4]), f32([2, 3])]],
    ),
    Case(
        "sequence_map_with_tensor",
        rules=("functions", 10),
        doc="A tensor beside the sequence goes to every item.",
        model="""
        main (seq(float[k]) s, float w) => (seq(float[k]) r) {
          r = SequenceMap (s, w) <body = each (float[k] e, float f) => (float[k] g) { g = Mul (e, f) }>
        }""",
        inputs={"s": [f32([1]), f32([2, 3])], "w": f32(10)},
        expected=[[f32([10]), f32([20, 30])]],
    ),
    Case(
        "sequence_map_with_two_outputs_and_capture",
        rules=("functions", 10, "captured"),
        doc="Two output sequences of different types; the body captures a value of the main graph.",
        model="""
        main (seq(float[k]) s, float w) => (seq(float[k]) r, seq(int64) lengths) {
          r, lengths = SequenceMap (s) <body = each (float[k] e) => (float[k] g, int64 n) {
            g = Add (e, w)
            n = Size (e)
          }>
        }""",
        inputs={"s": [f32([1]), f32([2, 3])], "w": f32(10)},
        expected=[[f32([11]), f32([12, 13])], [i64(1), i64(2)]],
    ),
    Case(
        "sequence_map_in_loop",
        rules=("functions", 11),
        doc="A loop carries a sequence and maps it in each iteration.",
        model="""
        main (int64 M, seq(float[k]) s) => (seq(float[k]) r) {
          r = Loop (M, "", s) <body = step (int64 i, bool go, seq(float[k]) v) => (bool go, seq(float[k]) w) {
            k = Cast <to = 1> (i)
            w = SequenceMap (v) <body = each (float[k] e) => (float[k] f) { f = Add (e, k) }>
          }>
        }""",
        inputs={"M": i64(3), "s": [f32([1]), f32([2, 3])]},
        expected=[[f32([4]), f32([5, 6])]],
    ),
]
