"""Every problem that `check` finds, whole; and models it has nothing to say about."""

import re
from pathlib import Path

import pytest
from onnx_text import FOREVER, ROLLOUT, model

import whorl
from whorl.api.check import Problem, check


def main(outputs, nodes):
    """A model with the inputs n, go, x and v."""
    return model(f"main (int64 n, bool go, float x, float[2] v) => ({outputs}) {{ {nodes} }}")


def scan(inputs, operands, arguments, state="Add (a, e)"):
    """A Scan with one state; `arguments` are those of its body."""
    count = operands.count(",")
    return model(f"""main ({inputs}) => (float[m] y, float[k, n] ys) {{
        [l] y, ys = Scan ({operands}) <num_scan_inputs = {count}, body = b ({arguments}) => (t, u) {{
            t = {state}
            u = Identity(e)
        }}>
    }}""")


CASES = [
    (
        main("float y", """
            [l] y = Loop (n, go, x) <body = b (int64 i, bool on, float x) => (bool on_out, float b) {
                on_out = Identity(on)
                v = Exp(x)
                b = Neg(v)
            }>"""),
        Problem(
            "shadowed-name",
            "warning",
            "body of Loop 'l'",
            "'x', 'v' hide values of the same name outside; engines disagree on which is meant",
            "rename what is inside",
        ),
    ),
    (
        main("float y", """
            count = Constant<value = int64[1] {3}> ()
            [l] y = Loop (count, go, x) <body = b (int64 i, bool on, float a) => (bool on_out, float b) {
                on_out = Identity(on)
                b = Exp(a)
            }>"""),
        Problem(
            "not-a-scalar",
            "warning",
            "Loop 'l'",
            "the trip count 'count' is int64[1], not a scalar; engines differ on which ranks they take",
            "squeeze it to rank 0",
        ),
    ),
    (
        main("float y", """
            axis = Constant<value = int64[1] {0}> ()
            flag = Unsqueeze(go, axis)
            [l] y = Loop (n, flag, x) <body = b (int64 i, bool on, float a) => (bool on_out, float b) {
                on_out = Identity(on)
                b = Exp(a)
            }>"""),
        Problem(
            "not-a-scalar",
            "warning",
            "Loop 'l'",
            "the condition 'flag' is bool[1], not a scalar; engines differ on which ranks they take",
            "squeeze it to rank 0",
        ),
    ),
    (
        main("float y", """
            [l] y = Loop (n, "", x) <body = b (int64 i, bool on, float a) => (bool on_out, float b) {
                b = Exp(a)
                on_out = Less(b, x)
            }>"""),
        Problem(
            "condition-ignored",
            "warning",
            "Loop 'l'",
            "it has no condition input, so what its body answers is ignored; onnxruntime and OpenVINO stop there",
            "give it a condition input, or answer a constant true",
        ),
    ),
    (
        main("float y", """
            most = Constant<value = int64 {9223372036854775807}> ()
            [l] y = Loop (most, go, x) <body = b (int64 i, bool on, float a) => (bool on_out, float b) {
                b = Exp(a)
                on_out = Less(b, x)
            }>"""),
        Problem(
            "forever",
            "note",
            "Loop 'l'",
            "its trip count is 9223372036854775807: engines that allocate for it in advance fail",
            "leave the trip count out",
        ),
    ),
    (
        FOREVER,
        Problem(
            "endless",
            "error",
            "Loop 'forever'",
            "nothing ends it: no bound, and no condition that can become false",
            "give it a trip count or a condition",
        ),
    ),
    (
        main("float y, float z", """
            [l] y, z = Loop (n, go, x, x) <body = b (int64 i, bool on, float a, float c)
                => (bool on_out, float b, float c) {
                on_out = Identity(on)
                b = Add(a, c)
            }>"""),
        Problem(
            "never-changes",
            "note",
            "Loop 'l'",
            "carried value 1 ('c') never changes",
            "use the outer value in the body instead",
        ),
    ),
    (
        main("float y", """
            [l] y = Loop (n, go, x) <body = b (int64 i, bool on, float a) => (bool on_out, float b) {
                on_out = Identity(on)
                b = Cast<to = 1>(i)
            }>"""),
        Problem(
            "unused-carried",
            "note",
            "Loop 'l'",
            "carried value 0 ('a') is never read in the body",
            "collect it or compute it after the loop, if only its last value is wanted",
        ),
    ),
    (
        main("int64[n, r, k] y", """
            [l] y = Loop (n, go) <body = b (int64 i, bool on) => (bool on_out, int64[r, k] row) {
                on_out = Identity(on)
                row = NonZero(v)
            }>"""),
        Problem(
            "unproved-shape",
            "note",
            "Loop 'l'",
            "the axes [2] of 'y' cannot be proved, so no iteration gives length 0 there",
            "declare the shape of the body's output",
        ),
    ),
    (
        main("float[k] y", """
            [pick] y = If (go) <
                then_branch = t () => (float[2] a) { a = Identity(v) },
                else_branch = e () => (float s) { s = ReduceSum<keepdims = 0>(v) }
            >"""),
        Problem(
            "branch-ranks",
            "warning",
            "If 'pick'",
            "output 0 is float32[2] in one branch and float32[] in the other",
            "reshape both to one rank",
        ),
    ),
    (
        main("float[k] y", """
            w = Constant<value = float[3] {1, 2, 3}> ()
            [pick] y = If (go) <
                then_branch = t () => (float[2] a) { a = Identity(v) },
                else_branch = e () => (float[k] s) { [sum] s = Add(v, w) }
            >"""),
        Problem(
            "ill-shaped",
            "warning",
            "Add 'sum'",
            "cannot broadcast [2] with [3]: lengths 2 and 3 do not broadcast, so it must never be reached",
            "make them equal or one of them 1",
        ),
    ),
    (
        scan("float[2] s, float[5, 2] x", "s, x", "float[2] a, float[3] e"),
        Problem(
            "declared-shape",
            "error",
            "body of Scan 'l'",
            "input 'e' is declared float32[3] but receives float32[2]",
            "correct the declaration",
        ),
    ),
    (
        model("main (float[2] x) => (float[3] y) { y = Neg(x) }"),
        Problem(
            "declared-output",
            "warning",
            "the graph",
            "output 'y' is declared float32[3] but is computed as float32[2]",
            "correct the declaration",
        ),
    ),
    (
        scan("float[2] s, float[5, 2] x, float[4, 2] z", "s, x, z", "float[2] a, float[2] e, float[2] f"),
        Problem(
            "scanned-lengths",
            "error",
            "Loop 'l'",
            "scanned input 1 ('z') has 4 slices, scanned input 0 ('x') has 5",
            "give all scanned inputs one length",
        ),
    ),
    (
        scan("float[2] s, float[5, 2] x", "s, x", "float[2] a, float[2] e", state="Concat<axis = 0> (a, e)"),
        Problem(
            "carried-shape",
            "error",
            "Loop 'l'",
            "carried value 0 ('s') is float32[2] before an iteration and float32[4] after it, "
            "which Scan does not allow",
            "keep its shape, or use Loop",
        ),
    ),
    (
        model("main (float[2] x, float[2] y) => (float[2] z) { [rest] z = Mod (x, y) }", opset=18),
        Problem(
            "mod-of-floats",
            "error",
            "Mod 'rest'",
            "has no fmod, so opsets before 28 take only integers, but its inputs are float32; the remainder has the "
            "sign of the divisor here, onnxruntime refuses it",
            "set fmod=1, or import opset 28",
        ),
    ),
]  # fmt: skip


@pytest.mark.parametrize(("proto", "problem"), CASES, ids=[problem.code for _, problem in CASES])
def test_problem_is_reached_and_stated_whole(proto, problem):
    assert [actual for actual in whorl.check(proto) if actual.code == problem.code] == [problem]


def test_every_code_has_a_case():
    folder = Path(check.__code__.co_filename).parent
    source = "".join((folder / name).read_text(encoding="utf-8") for name in ("check.py", "contradictions.py"))
    codes = re.findall(r'Problem\(\s*"([\w-]+)"', source)
    assert set(codes) == {problem.code for _, problem in CASES}


def test_carried_value_handed_on_through_identity_never_changes():
    proto = main("float y, float z, float w", """
        [l] y, z, w = Loop (n, go, x, x, x) <body = b (int64 i, bool on, float a, float c, float d)
            => (bool on_out, float b, float c_out, float d_out) {
            on_out = Identity(on)
            c_read = Identity(c)
            c_out = Identity(c_read)
            d_out = Identity(a)
            e = Add(c_read, d)
            b = Add(a, e)
        }>""")  # fmt: skip
    report = [(problem.code, problem.message) for problem in whorl.check(proto)]
    assert report == [("never-changes", "carried value 1 ('c') never changes")]


def test_condition_handed_on_through_two_identities_ends_nothing():
    proto = main("float y", """
        [l] y = Loop ("", go, x) <body = b (int64 i, bool on, float a) => (bool on_out, float b) {
            on_read = Identity(on)
            on_out = Identity(on_read)
            b = Exp(a)
        }>""")  # fmt: skip
    assert [problem.code for problem in whorl.check(proto)] == ["endless"]


def test_ordinary_loop_has_no_problems():
    assert whorl.check(ROLLOUT) == []


def test_condition_that_can_become_false_and_a_false_one_are_no_endless_loops():
    proto = main("float y, float z", """
        [a] y = Loop ("", go, x) <body = b (int64 i, bool on, float a) => (bool on_out, float b) {
            b = Exp(a)
            on_out = Less(b, x)
        }>
        never = Constant<value = bool {0}> ()
        [c] z = Loop ("", never, x) <body = d (int64 j, bool go_on, float e) => (bool go_on_out, float f) {
            f = Exp(e)
            go_on_out = Identity(go_on)
        }>""")  # fmt: skip
    assert whorl.check(proto) == []


def test_problems_inside_are_located_from_the_inside_out():
    proto = main("float y", """
        [outer] y = Loop (n, go, x) <body = b (int64 i, bool on, float a) => (bool on_out, float d) {
            on_out = Identity(on)
            [inner] d = Loop ("", on, a) <body = c (int64 j, bool go_on, float e) => (bool same, float f) {
                same = Identity(go_on)
                f = Exp(e)
            }>
        }>""")  # fmt: skip
    assert [(p.code, p.where) for p in whorl.check(proto)] == [("endless", "Loop 'inner' in body of Loop 'outer'")]


def test_module_is_checked_too():
    assert [problem.code for problem in whorl.check(whorl.load(FOREVER))] == ["endless"]
