"""Every problem that `check` finds, whole; and models it has nothing to say about."""

import pytest
from onnx_text import FOREVER, ROLLOUT, model

import whorl
from whorl.api.check import Problem


def loop(head, states="", body="", more="", outer=""):
    """A model with one Loop 'l': its inputs, then states and results, the body's nodes, and what else is collected."""
    start, inside, after, final = (states.split("|") + [""] * 4)[:4]
    return model(f"""
        main (int64 n, bool go, float x, float[2] v) => ({final}) {{
            {outer}
            [l] {", ".join(part.split()[-1] for part in final.split(","))} = Loop ({head}{start}) <
                body = b (int64 i, bool on{inside}) => (bool on_out{after}{more}) {{ {body} }}
            >
        }}""")


KEEP = "on_out = Identity(on) "
COUNT = "|, float a|, float b|float y"
STEP = "b = Exp(a)"

CASES = {
    "shadowed-name": (
        loop("n, go", ", x|, float x|, float b|float y", KEEP + "b = Exp(x) v = Neg(b)"),
        "warning",
        "body of Loop 'l'",
        "'x', 'v' hide values of the same name outside; engines disagree on which is meant",
        "rename what is inside",
    ),
    "not-a-scalar": (
        loop("m, go", ", x" + COUNT, KEEP + STEP, outer="k = Constant<value = int64[1] {3}> () m = Identity(k)"),
        "warning",
        "Loop 'l'",
        "the trip count 'm' is int64[1], not a scalar; engines differ on which ranks they take",
        "squeeze it to rank 0",
    ),
    "condition-ignored": (
        loop('n, ""', ", x" + COUNT, STEP + " on_out = Less(a, x)"),
        "warning",
        "Loop 'l'",
        "it has no condition input, so what its body answers is ignored; onnxruntime and OpenVINO stop there",
        "give it a condition input, or answer a constant true",
    ),
    "forever": (
        loop(
            "big, go", ", x" + COUNT, STEP + " on_out = Less(a, x)",
            outer="big = Constant<value = int64 {9223372036854775807}> ()",
        ),
        "note",
        "Loop 'l'",
        "its trip count is 9223372036854775807: engines that allocate for it in advance fail",
        "leave the trip count out",
    ),
    "endless": (
        FOREVER,
        "error",
        "Loop 'forever'",
        "nothing ends it: no bound, and no condition that can become false",
        "give it a trip count or a condition",
    ),
    "never-changes": (
        loop("n, go", ", x, x|, float a, float c|, float b, float c_out|float y, float z",
             KEEP + "b = Add(a, c) c_out = Identity(c)".replace("c_out = Identity(c)", ""), more=""),
        "note",
        "Loop 'l'",
        "carried value 1 ('c') never changes",
        "use the outer value in the body instead",
    ),
    "unused-carried": (
        loop("n, go", ", x" + COUNT, KEEP + "b = Cast<to = 1>(i)"),
        "note",
        "Loop 'l'",
        "carried value 0 ('a') is never read in the body",
        "collect it or compute it after the loop, if only its last value is wanted",
    ),
    "unproved-shape": (
        loop("n, go", "|||int64[n, r, k] y", KEEP + "row = NonZero(v)", more=", int64[r, k] row"),
        "note",
        "Loop 'l'",
        "the axes [2] of 'y' cannot be proved, so no iteration gives length 0 there",
        "declare the shape of the body's output",
    ),
    "branch-ranks": (
        model("""
            main (bool go, float[2] v) => (float[k] y) {
                [pick] y = If (go) <
                    then_branch = t () => (float[2] a) { a = Identity(v) },
                    else_branch = e () => (float s) { s = ReduceSum<keepdims = 0>(v) }
                >
            }"""),
        "warning",
        "If 'pick'",
        "output 0 is float32[2] in one branch and float32[] in the other",
        "reshape both to one rank",
    ),
    "ill-shaped": (
        model("""
            main (bool go, float[2] v, float[3] w) => (float[k] y) {
                [pick] y = If (go) <
                    then_branch = t () => (float[2] a) { a = Identity(v) },
                    else_branch = e () => (float[k] s) { [sum] s = Add(v, w) }
                >
            }"""),
        "warning",
        "Add 'sum'",
        "cannot broadcast [2] with [3]: lengths 2 and 3 do not broadcast, so it must never be reached",
        "make them equal or one of them 1",
    ),
}  # fmt: skip


@pytest.mark.parametrize("code", CASES)
def test_problem_is_found_and_said_whole(code):
    proto, severity, where, message, fix = CASES[code]
    found = [problem for problem in whorl.check(proto) if problem.code == code]
    assert found == [Problem(code, severity, where, message, fix)]


def test_every_code_has_a_case(request):
    source = (request.config.rootpath / "src" / "whorl" / "api" / "check.py").read_text()
    assert all(f'"{code}"' in source for code in CASES) and source.count("Problem(") - source.count("[Problem(") >= 10


def test_ordinary_loop_has_no_problems():
    assert whorl.check(ROLLOUT) == []


def test_problems_inside_are_placed_from_the_inside_out():
    proto = model("""
        main (int64 n, float x) => (float y) {
            go = Constant<value = bool {1}> ()
            [outer] y = Loop (n, go, x) <body = b (int64 i, bool on, float a) => (bool on_out, float d) {
                on_out = Identity(on)
                [inner] d = Loop ("", on, a) <body = c (int64 j, bool go_on, float e) => (bool same, float f) {
                    same = Identity(go_on)
                    f = Exp(e)
                }>
            }>
        }""")
    assert [(p.code, p.where) for p in whorl.check(proto)] == [("endless", "Loop 'inner' in body of Loop 'outer'")]


def test_modules_and_models_with_functions_are_checked():
    assert [problem.code for problem in whorl.check(whorl.load(FOREVER))] == ["endless"]
