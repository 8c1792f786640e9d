"""A branch that one condition decides in all iterations becomes a branch between two loops, with the same results."""

import itertools

import numpy as np
import pytest
from onnx_text import model
from passes.bits import assert_same_bits, interpreted, optimized
from passes.programs import Case, check, read

import whorl
from whorl.ir.text import print_module
from whorl.ops.control.flow import If, Loop
from whorl.passes.unswitch import MOST_BYTES, MOST_NODES

LOOP = """main(%c: bool{shape}, %e: bool[], %x: float32[N, 2]) {{
  %zeros: float32[2] = Constant() {{value = float32[2] <0 0>}}
  %t: float32[2], %y: float32[k, 2] = Loop(_, _, %zeros, %x, %c, %e)
  {{carried = 1, scanned = (Scanned(),), collected = (Collected(),)}}
  body(%i: int64[], %g: bool[], %s: float32[2], %w: float32[2], %d: bool{shape}, %f: bool[]) {{
    {before}
    %u: float32[2] = If({decides}, %w)
    then_branch(%a: float32[2]) {{
      {node}
      return %p
    }}
    else_branch(%a: float32[2]) {{
      %q: float32[2] = Cos(%a)
      return %q
    }}
    {after}
    return %g, %{result}, %u
  }}
  return t = %t, y = %y
}}"""
PLAIN = {
    "shape": "[]",
    "before": "",
    "decides": "%d",
    "node": "%p: float32[2] = Exp(%a)",
    "after": "",
    "result": "u",
}
PLAIN_AFTER = """main(%c: bool[], %e: bool[], %x: float32[N, 2]) {
  %t: float32[2], %y: float32[N, 2] = If(%c, %x)
  then_branch(%x: float32[N, 2]) {
    %zeros: float32[2] = Constant() {value = float32[2] <0.0 0.0>}
    %t: float32[2], %y: float32[N, 2] = Loop(_, _, %zeros, %x) HOW
    body(%i: int64[], %g: bool[] {True}, %s: float32[2], %w: float32[2]) {
      %p: float32[2] = Exp(%w)
      return %g, %p, %p
    }
    return %t, %y
  }
  else_branch(%x: float32[N, 2]) {
    %zeros: float32[2] = Constant() {value = float32[2] <0.0 0.0>}
    %t: float32[2], %y: float32[N, 2] = Loop(_, _, %zeros, %x) HOW
    body(%i: int64[], %g: bool[] {True}, %s: float32[2], %w: float32[2]) {
      %q: float32[2] = Cos(%w)
      return %g, %q, %q
    }
    return %t, %y
  }
  return t = %t, y = %y
}""".replace("HOW", "{carried = 1, scanned = (Scanned(),), collected = (Collected(),)}")
SECOND = """%v: float32[2] = If(%f, %u)
    then_branch(%a: float32[2]) {
      %r: float32[2] = Neg(%a)
      return %r
    }
    else_branch(%a: float32[2]) {
      return %a
    }"""
TWO = {**PLAIN, "after": SECOND, "result": "v"}
HOISTED = {**PLAIN, "before": "%b: bool[] = Not(%d)", "decides": "%b"}
VARYING = {
    **PLAIN,
    "before": "%z: int64[] = Constant() {value = int64[] <2>}\n    %b: bool[] = Less(%i, %z)",
    "decides": "%b",
}
MANY = "\n".join(
    f"%p{k}: float32[2] = {('Exp', 'Tanh')[k % 2]}(%{f'p{k - 1}' if k else 'a'})" for k in range(MOST_NODES // 2)
)


def count(text: str, kind: type) -> int:
    return sum(isinstance(node.op, kind) for node in optimized(read(text)).nodes())


def check_bits(text: str) -> None:
    """The optimised program gives every bit, for both values of both conditions and for no iterations, too."""
    module = read(text)
    actual = optimized(module)
    types = {value.name: value.type for value in module.main.arguments}
    rng = np.random.default_rng(0)
    for c, e, n in itertools.product((True, False), (True, False), (0, 1, 5)):
        every = {"c": np.full(types["c"].shape, c), "e": np.array(e), "n": np.array(n)}
        feeds = {"x": rng.standard_normal((n, 2)).astype(np.float32)} | {k: v for k, v in every.items() if k in types}
        expected = interpreted(module, feeds)
        assert expected is not None
        assert_same_bits(expected, interpreted(actual, feeds))


def test_branch_on_a_captured_condition_becomes_one_between_two_loops():
    check(Case(LOOP.format(**PLAIN), PLAIN_AFTER))
    check_bits(LOOP.format(**PLAIN))


@pytest.mark.parametrize(
    ("changes", "loops"), [(TWO, 4), (HOISTED, 2), ({**PLAIN, "shape": "[1]"}, 2)], ids=["two", "computed", "one"]
)
def test_loop_has_no_branch_for_each_invariant_condition(changes, loops):
    text = LOOP.format(**changes)
    assert (count(text, Loop), count(text, If)) == (loops, loops - 1)
    check_bits(text)


def test_branches_on_one_condition_go_together():
    text = LOOP.format(**{**TWO, "after": SECOND.replace("%f", "%d")})
    assert (count(text, Loop), count(text, If)) == (2, 1)
    check_bits(text)


def test_branch_leaves_all_loops_around_it():
    text = """main(%c: bool[], %x: float32[N, 2], %n: int64[]) {
  %t: float32[N, 2] = Loop(%n, _, %x, %n, %c) {carried = 1}
  body(%i: int64[], %g: bool[], %s: float32[N, 2], %m: int64[], %d: bool[]) {
    %u: float32[N, 2] = Loop(%m, _, %s, %d) {carried = 1}
    body(%j: int64[], %h: bool[], %a: float32[N, 2], %o: bool[]) {
      %v: float32[N, 2] = If(%o, %a)
      then_branch(%b: float32[N, 2]) {
        %p: float32[N, 2] = Tanh(%b)
        return %p
      }
      else_branch(%b: float32[N, 2]) {
        %q: float32[N, 2] = Cos(%b)
        return %q
      }
      return %h, %v
    }
    %w: float32[N, 2] = Neg(%u)
    return %g, %w
  }
  return t = %t
}"""
    module = optimized(read(text))
    assert [type(node.op) for node in module.main.nodes] == [If]
    check_bits(text)


@pytest.mark.parametrize(
    "changes",
    [
        VARYING,
        {**PLAIN, "shape": "[k]"},
        {**PLAIN, "shape": "[1, 1]"},
        {**PLAIN, "node": MANY + f"\n%p: float32[2] = Neg(%p{MOST_NODES // 2 - 1})"},
        {**PLAIN, "node": "%z: float32[2] = RandomNormalLike(%a)\n%p: float32[2] = Add(%a, %z)"},
    ],
    ids=["varying", "maybe_not_one", "two_axes", "large", "random"],
)
def test_branch_remains_in_the_loop(changes):
    text = LOOP.format(**changes)
    assert (count(text, Loop), count(text, If)) == (1, 1)


def test_loop_of_large_constants_is_not_doubled():
    length = MOST_BYTES // 4
    weights = f"%w: float32[{length}] = Constant() {{value = float32[{length}] <{' '.join('1' * length)}>}}"
    node = f"{weights}\n%m: float32[] = ReduceMax(%w) {{keepdims = 0}}\n%p: float32[2] = Mul(%a, %m)"
    module = read(LOOP.format(**{**PLAIN, "node": node}))
    after = optimized(module, only=("simplify_control_flow",))
    assert sum(isinstance(node.op, Loop) for node in after.nodes()) == 1


def test_loop_whose_elements_differ_in_length_by_branch_remains():
    text = """main(%c: bool[], %x: float32[N, 2], %n: int64[]) {
  %y: float32[k, l, 2] = Loop(%n, _, %x, %c) {collected = (Collected(),)}
  body(%i: int64[], %g: bool[], %s: float32[N, 2], %d: bool[]) {
    %u: float32[m, 2] = If(%d, %s)
    then_branch(%a: float32[N, 2]) {
      %p: float32[N, 2] = Exp(%a)
      return %p
    }
    else_branch(%a: float32[N, 2]) {
      %q: float32[2*N, 2] = Concat(%a, %a) {axis = 0}
      return %q
    }
    return %g, %u
  }
  return y = %y
}"""
    assert (count(text, Loop), count(text, If)) == (1, 1)
    check_bits(text)
    surely = text.replace("= Loop(%n,", "= Loop(%three,").replace(
        "  %y: float32[k, l", "  %three: int64[] = Constant() {value = int64[] <3>}\n  %y: float32[k, l"
    )
    assert (count(surely, Loop), count(surely, If)) == (2, 1)
    check_bits(surely)


def test_carried_value_of_a_branch_has_a_closed_form():
    sums = """main(%c: bool[], %x: float32[N, 2]) {
  %zeros: float32[2] = Constant() {value = float32[2] <0 0>}
  %t: float32[2], %y: float32[N, 2] = Loop(_, _, %zeros, %x, %c)
  {carried = 1, scanned = (Scanned(),), collected = (Collected(),)}
  body(%i: int64[], %g: bool[], %s: float32[2], %v: float32[2], %d: bool[]) {
    %u: float32[2] = If(%d, %s, %v)
    then_branch(%a: float32[2], %b: float32[2]) {
      %p: float32[2] = Add(%a, %b)
      return %p
    }
    else_branch(%a: float32[2], %b: float32[2]) {
      %q: float32[2] = Tanh(%b)
      return %q
    }
    return %g, %u, %u
  }
  return t = %t, y = %y
}"""
    after = whorl.deloop(read(sums), target="any")
    assert [node.op.name for node in after.nodes() if node.regions] == [] and "CumSum" in print_module(after)
    check_bits(sums)


@pytest.mark.parametrize("outputs", ["t", 't, ""', 't, "", ""', '"", y', '"", y, z', 't, "", z'])
def test_loop_without_its_last_outputs(outputs):
    proto = model(f"""main (float[n] x, bool c, int64 k) => (float[a] r) {{
        zero = Constant <value = float {{0}}> ()
        {outputs} = Loop (k, "", zero) <body = each (int64 i, bool g, float s) => (bool h, float u, float v, float w) {{
            h = Identity (g)
            v = Gather (x, i)
            u = If (c) <then_branch = a () => (p) {{ p = Add (s, v) }}, else_branch = b () => (q) {{ q = Tanh (v) }}>
            w = Neg (v)
        }}>
        f = Constant <value_ints = [-1]> ()
        r = Reshape ({outputs.replace('"', "").replace(",", "").split()[0]}, f)
    }}""")
    x = np.arange(3, dtype=np.float32)
    after = whorl.optimize(proto, disabled=["dce"])
    assert sum(isinstance(node.op, Loop) for node in after.nodes()) == 2
    for c, k in itertools.product((True, False), (0, 3)):
        feeds = {"x": x, "c": np.array(c), "k": np.array(k)}
        for each in (after, whorl.deloop(proto, target="any")):
            assert_same_bits([*whorl.run(proto, feeds).values()], [*whorl.run(each, feeds).values()])
