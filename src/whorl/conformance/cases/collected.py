"""Collected outputs: one element an iteration, stacked on a new first axis, of length 0 where nothing ran."""

from __future__ import annotations

import numpy as np

from whorl.conformance.case import Case
from whorl.conformance.values import empty, f32, f64, flags, i64, words

MATRICES = """
main (int64 M, float[2,3] x) => (float[n,2,3] all) {
  all = Loop (M, "") <body = step (int64 i, bool go) => (bool go, float[2,3] element) {
    k = Cast <to = 1> (i)
    element = Add (x, k)
  }>
}"""

WHILE_COLLECTING = """
main (int64 limit) => (float y, float[n] all) {
  yes = Constant <value = bool {1}> ()
  one = Constant <value_float = 1.0> ()
  y, all = Loop ("", yes, one) <body = step (int64 i, bool go, float v) => (bool go_on, float next, float element) {
    next = Add (v, v)
    element = Neg (v)
    go_on = Less (i, limit)
  }>
}"""

X = f32([[1, 2, 3], [4, 5, 6]])


def matrices_case(trips: int) -> Case:
    return Case(
        f"collected_matrices_{trips}_trips",
        rules=("collected",) + ((3,) if trips == 0 else ()),
        doc=f"A 2x3 matrix is collected in each of {trips} trips.",
        model=MATRICES,
        inputs={"M": i64(trips), "x": X},
        expected=[np.stack([X + k for k in range(trips)]) if trips else empty(0, 2, 3)],
    )


def zero_trips(
    name: str, doc: str, body: str, element: str, expected: list[np.ndarray], ambiguous: bool = False
) -> Case:
    """A loop over x: float[2,N] (fed as [2,4]) that runs no iteration; `body` computes `element` from x."""
    joined = element.replace("[", "[n,") if "[" in element else f"{element}[n]"
    return Case(
        f"zero_trips_{name}",
        rules=(3, "collected"),
        doc=f"No iteration ran: {doc}.",
        model=f"""
        main (int64 M, float[2,N] x) => ({joined} all) {{
          all = Loop (M, "") <body = step (int64 i, bool go) => (bool go, {element} element) {{
            {body}
          }}>
        }}""",
        inputs={"M": i64(0), "x": np.ones((2, 4), np.float32)},
        expected=expected,
        ambiguous=ambiguous,
    )


CASES = [
    *(matrices_case(trips) for trips in (0, 1, 2, 5)),
    *(
        Case(
            f"collected_in_the_last_iteration_{limit + 1}",
            rules=(4, "collected"),
            doc=f"Iteration {limit} turns the condition false; its element is kept, so there are {limit + 1}.",
            model=WHILE_COLLECTING,
            inputs={"limit": i64(limit)},
            expected=[f32(2 ** (limit + 1)), f32([-(2**k) for k in range(limit + 1)])],
        )
        for limit in (0, 1, 4)
    ),
    Case(
        "collected_captured_value",
        rules=("collected", "captured"),
        doc="A captured value is collected unchanged in every iteration.",
        model="""
        main (int64 M, float[2] x) => (float[n,2] all) {
          all = Loop (M, "") <body = step (int64 i, bool go) => (bool go, float[2] element) { element = Identity (x) }>
        }""",
        inputs={"M": i64(3), "x": f32([4, 5])},
        expected=[f32([[4, 5]] * 3)],
    ),
    Case(
        "collected_constant",
        rules=("collected",),
        doc="A constant of the body is collected in every iteration.",
        model="""
        main (int64 M) => (float[n,2] all) {
          all = Loop (M, "") <body = step (int64 i, bool go)
              => (bool go, float[2] pair) <float[2] pair = {1.5, 2.5}> {}>
        }""",
        inputs={"M": i64(3)},
        expected=[f32([[1.5, 2.5]] * 3)],
    ),
    Case(
        "collected_twice",
        rules=("collected",),
        doc="Two collected outputs hold the same elements.",
        model="""
        main (int64 M) => (int64[n] a, int64[n] b) {
          a, b = Loop (M, "") <body = step (int64 i, bool go) => (bool go, int64 square, int64 again) {
            square = Mul (i, i)
            again = Identity (square)
          }>
        }""",
        inputs={"M": i64(4)},
        expected=[i64([0, 1, 4, 9])] * 2,
    ),
    Case(
        "collected_of_several_types",
        rules=("collected", 10),
        doc="Collected outputs of different element types and ranks.",
        model="""
        main (int64 M, float[2] x) => (int64[n] a, bool[n,1] b, string[n] c, double[n,2] d) {
          a, b, c, d = Loop (M, "") <
            body = step (int64 i, bool go) => (bool go, int64 twice, bool[1] odd, string word, double[2] wide) {
              twice = Add (i, i)
              two = Constant <value_ints = [2]> ()
              half = Mod (i, two)
              odd = Cast <to = 9> (half)
              word = Cast <to = 8> (i)
              wide = Cast <to = 11> (x)
            }>
        }""",
        inputs={"M": i64(3), "x": f32([0.5, 0.25])},
        expected=[i64([0, 2, 4]), flags([[False], [True], [False]]), words(["0", "1", "2"]), f64([[0.5, 0.25]] * 3)],
    ),
    Case(
        "collected_strings_zero_trips",
        rules=(3, "collected", 10),
        doc="No iteration ran: collected strings have length 0 and are strings.",
        model="""
        main (int64 M, string[2] x) => (string[n,2] all, string[m] one) {
          all, one = Loop (M, "") <body = step (int64 i, bool go) => (bool go, string[2] w, string v) {
            w = Identity (x)
            v = Gather (x, i)
          }>
        }""",
        inputs={"M": i64(0), "x": words(["a", "b"])},
        expected=[words(np.zeros((0, 2))), words(np.zeros(0))],
    ),
    Case(
        "collected_elements_without_elements",
        rules=("collected",),
        doc="Elements of shape [2, 0] are collected: the result has no elements but counts the iterations.",
        model="""
        main (int64 M, float[2,k] x) => (float[n,2,k] all) {
          all = Loop (M, "") <body = step (int64 i, bool go) => (bool go, float[2,k] element) { element = Neg (x) }>
        }""",
        inputs={"M": i64(3), "x": empty(2, 0)},
        expected=[empty(3, 2, 0)],
    ),
    Case(
        "collected_with_unknown_length",
        rules=("collected",),
        doc="The element's length is known only at run time.",
        model="""
        main (int64 M, float[k] x) => (float[n,l] all) {
          all = Loop (M, "") <body = step (int64 i, bool go) => (bool go, float[l] element) {
            element = Concat <axis = 0> (x, x)
          }>
        }""",
        inputs={"M": i64(2), "x": f32([1, 2])},
        expected=[f32([[1, 2, 1, 2]] * 2)],
    ),
    Case(
        "collected_of_rank_4",
        rules=("collected",),
        doc="Elements of rank 4 make a result of rank 5.",
        model="""
        main (int64 M, float[1,2,1,3] x) => (float[n,1,2,1,3] all) {
          all = Loop (M, "") <body = step (int64 i, bool go) => (bool go, float[1,2,1,3] element) {
            k = Cast <to = 1> (i)
            element = Mul (x, k)
          }>
        }""",
        inputs={"M": i64(3), "x": X.reshape(1, 2, 1, 3)},
        expected=[np.stack([X.reshape(1, 2, 1, 3) * k for k in range(3)])],
    ),
    Case(
        "collected_transposed",
        rules=("collected",),
        doc="Elements that an engine may hold as views (transposed, sliced, broadcast) keep their own order.",
        model="""
        main (int64 M, float[2,3] x) => (float[n,3,2] a, float[n,2,1] b, float[n,2,2,3] c) {
          a, b, c = Loop (M, "") <body = step (int64 i, bool go)
              => (bool go, float[3,2] t, float[2,1] s, float[2,2,3] e) {
            t = Transpose <perm = [1, 0]> (x)
            one = Constant <value_ints = [1]> ()
            zero = Constant <value_ints = [0]> ()
            from = Unsqueeze (i, zero)
            to = Add (from, one)
            s = Slice (x, from, to, one)
            shape = Constant <value_ints = [2, 2, 3]> ()
            e = Expand (x, shape)
          }>
        }""",
        inputs={"M": i64(2), "x": X},
        expected=[np.stack([X.T] * 2), np.stack([X[:, :1], X[:, 1:2]]), np.stack([np.stack([X, X])] * 2)],
    ),
    Case(
        "collected_from_branches",
        rules=("collected", 15),
        doc="Even iterations collect from one branch, odd ones from the other.",
        model="""
        main (int64 M, float[2] x) => (float[n,2] all) <int64 two = {2}> {
          all = Loop (M, "") <body = step (int64 i, bool go) => (bool go, float[2] element) {
            half = Mod (i, two)
            odd = Cast <to = 9> (half)
            element = If (odd) <
              then_branch = minus () => (float[2] a) { a = Neg (x) },
              else_branch = plus () => (float[2] b) { b = Add (x, x) }>
          }>
        }""",
        inputs={"M": i64(3), "x": f32([1, 2])},
        expected=[f32([[2, 4], [-1, -2], [2, 4]])],
    ),
    Case(
        "many_collected",
        rules=("collected",),
        doc="Twelve collected outputs, each a multiple of the iteration number.",
        model=(
            "main (int64 M) => ("
            + ", ".join(f"int64[n] z{k}" for k in range(12))
            + ") {\n"
            + ", ".join(f"z{k}" for k in range(12))
            + ' = Loop (M, "") <body = step (int64 i, bool go) => (bool go, '
            + ", ".join(f"int64 e{k}" for k in range(12))
            + ") {\n"
            + "\n".join(f"c{k} = Constant <value_int = {k}> ()\ne{k} = Mul (c{k}, i)" for k in range(12))
            + "\n}>\n}"
        ),
        inputs={"M": i64(3)},
        expected=[i64([0, k, 2 * k]) for k in range(12)],
    ),
    Case(
        "collected_used_after_the_loop",
        rules=("collected", 3),
        doc="The sum over a collected output that has length 0 is 0.",
        model="""
        main (int64 M, float[3] x) => (float[3] total, int64 count) {
          all = Loop (M, "") <body = step (int64 i, bool go) => (bool go, float[3] element) { element = Neg (x) }>
          axis = Constant <value_ints = [0]> ()
          total = ReduceSum <keepdims = 0> (all, axis)
          shape = Shape (all)
          zero = Constant <value_int = 0> ()
          count = Gather (shape, zero)
        }""",
        inputs={"M": i64(0), "x": f32([1, 2, 3])},
        expected=[f32([0, 0, 0]), i64(0)],
    ),
    zero_trips(
        "declared_element",
        "the element's declared shape [2] is kept",
        "e = Constant <value_floats = [1.0, 2.0]> ()\nelement = Identity (e)",
        "float[2]",
        [empty(0, 2)],
    ),
    zero_trips(
        "scalar_element",
        "scalar elements make a vector of length 0",
        "element = Cast <to = 1> (i)",
        "float",
        [empty(0)],
    ),
    zero_trips(
        "declared_rank_3",
        "the declared dims [2, 1, 3] are kept",
        "shape = Constant <value_ints = [2, 1, 3]> ()\none = Constant <value_float = 1.0> ()\n"
        "element = Expand (one, shape)",
        "float[2,1,3]",
        [empty(0, 2, 1, 3)],
    ),
    zero_trips(
        "dim_of_an_input",
        "a dim named N is the input's at run time, 4",
        "element = Neg (x)",
        "float[2,N]",
        [empty(0, 2, 4)],
        ambiguous=True,
    ),
    zero_trips(
        "provable_dim",
        "nothing is declared, but x[:, :2] joined to itself is provably [2, 4]",
        "a = Constant <value_ints = [0]> ()\nb = Constant <value_ints = [2]> ()\n"
        "c = Constant <value_ints = [1]> ()\nhead = Slice (x, a, b, c)\nelement = Concat <axis = 1> (head, head)",
        "float[p,q]",
        [empty(0, 2, 4)],
        ambiguous=True,
    ),
    zero_trips(
        "computed_dim",
        "the element joins two inputs, so its dims are 2 and 4 + 4",
        "element = Concat <axis = 1> (x, x)",
        "float[p,q]",
        [empty(0, 2, 8)],
        ambiguous=True,
    ),
    zero_trips(
        "unprovable_dim",
        "the number of non-zero elements cannot be known, so that dim is 0",
        "element = NonZero (x)",
        "int64[2,q]",
        [np.zeros((0, 2, 0), np.int64)],
        ambiguous=True,
    ),
    Case(
        "zero_trips_false_condition_collected",
        rules=(1, 3, "collected"),
        doc="A condition that is false at the start gives a collected output of length 0 with the element's dims.",
        model="""
        main (bool cond, float[2,3] x) => (float[2,3] y, bool[n,2,3] all) {
          y, all = Loop ("", cond, x) <body = step (int64 i, bool go, float[2,3] v)
              => (bool no, float[2,3] w, bool[2,3] b) {
            no = Constant <value = bool {0}> ()
            w = Neg (v)
            b = Cast <to = 9> (v)
          }>
        }""",
        inputs={"cond": flags(False), "x": X},
        expected=[X, flags(np.zeros((0, 2, 3)))],
    ),
]
