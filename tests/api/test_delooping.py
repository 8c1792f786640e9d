"""`deloop`: programs without loops and branches that give the same, and what stays with its reason."""

import numpy as np
import onnx
import pytest
from onnx_text import FOREVER, ROLLOUT, model

import whorl
from whorl.api.delooping import DeloopOptions, deloop_with_reasons
from whorl.conformance.cases import load_cases
from whorl.conformance.messages import Answer
from whorl.conformance.runner import verdict
from whorl.formats.options import LoadOptions
from whorl.ops.control.flow import If, Loop

INTERPRETED = whorl.SessionOptions()
INTERPRETED.backend = "interpreter"


def run(module, **feeds):
    assert not any(isinstance(node.op, If | Loop) for node in module.nodes())
    return whorl.InferenceSession(module, INTERPRETED).run(None, feeds)


def kinds(module):
    return [node.op.name for node in module.nodes() if node.op.name != "Constant"]


def reason(source, **options):
    with pytest.raises(whorl.DeloopError) as caught:
        whorl.deloop(source, **options)
    return str(caught.value)


DECAY = model("""main (float[n] x) => (float total, float[n] sums) {
    zero = Constant<value = float {0}> ()
    total, sums = Scan (zero, x) <num_scan_inputs = 1, body = add (float s, float e) => (float t, float u) {
        a = Add(s, e)
        t = Tanh(a)
        u = Identity(t)
    }>
}""")
"""What it carries has no closed form."""

SUM = model("""main (float[n] x) => (float total, float[n] sums) {
    zero = Constant<value = float {0}> ()
    total, sums = Scan (zero, x) <num_scan_inputs = 1, body = add (float s, float e) => (float t, float u) {
        t = Add(s, e)
        u = Identity(t)
    }>
}""")


def test_sum_over_an_open_length_becomes_a_cumulative_sum():
    module = whorl.deloop(SUM)
    assert "CumSum" in kinds(module)
    total, sums = run(module, x=np.array([1, 2, 4], np.float32))
    assert total == 7 and sums.tolist() == [1, 3, 7]
    total, sums = run(module, x=np.zeros(0, np.float32))
    assert total == 0 and sums.shape == (0,)


def test_scan_over_a_fixed_length_becomes_a_chain():
    module = whorl.deloop(DECAY, dims={"n": 3})
    assert kinds(module).count("Tanh") == 3
    x = np.array([1, 2, 4], np.float32)
    expected = whorl.InferenceSession(DECAY, INTERPRETED).run(None, {"x": x})
    for got, want in zip(run(module, x=x), expected, strict=True):
        assert got.tobytes() == want.tobytes()


HALVING = model("""main (float x) => (float y, int64 steps) {
    one = Constant<value = float {1}> () half = Constant<value = float {0.5}> () zero = Constant<value = int64 {0}> ()
    step = Constant<value = int64 {1}> () begins = Greater(x, one)
    [halve] y, steps = Loop ("", begins, x, zero) <body = b (int64 i, bool g, float s, int64 k)
        => (bool h, float t, int64 k1) { t = Mul(s, half) k1 = Add(k, step) h = Greater(t, one) }>
}""")
"""Only its condition ends it."""


def test_loop_that_only_its_condition_ends_is_bounded_and_longer_runs_are_cut():
    message = reason(HALVING)
    assert message.endswith("fix: try --bound halve=64, in Python bounds={'halve': 64}")
    for name in ("halve", "steps"):
        module = whorl.deloop(HALVING, bounds={name: 3})
        for x, y, steps in ((0.5, 0.5, 0), (3.0, 0.75, 2), (8.0, 1.0, 3), (64.0, 8.0, 3)):
            assert run(module, x=np.float32(x)) == [y, steps]


def test_bound_below_one_and_bound_of_no_loop_are_refused():
    with pytest.raises(whorl.WhorlError) as caught:
        whorl.deloop(HALVING, bounds={"halve": 0})
    assert str(caught.value) == "loop 'halve' cannot be bound by 0\n  fix: give 1 or more"
    with pytest.raises(whorl.WhorlError) as caught:
        whorl.deloop(HALVING, bounds={"double": 4})
    assert str(caught.value) == "no loop is called 'double'\n  fix: choose from halve, steps, y"


def test_unknown_target_is_refused_with_the_known_ones():
    with pytest.raises(whorl.WhorlError) as caught:
        whorl.deloop(SUM, target="tpu")
    known = "default, any, onnxruntime, openvino, tensorrt, coreml, tflite, whorl"
    assert str(caught.value) == f"there is no target 'tpu'\n  fix: choose from {known}"


def test_length_that_is_not_fixed_keeps_the_loop():
    assert (
        "Loop 'total': the number of its iterations is known only when it runs; "
        "not all iterations at once: carried value 's' has no closed form"
    ) in reason(DECAY)


def test_loop_that_may_end_early_becomes_copies_that_then_change_nothing():
    source = model("""main (float x, float limit) => (float last, float[k] seen) {
        most = Constant<value = int64 {4}> ()
        yes = Constant<value = bool {1}> ()
        last, seen = Loop (most, yes, x) <body = twice (int64 i, bool g, float s) => (bool h, float t, float u) {
            t = Add(s, s)
            u = Identity(t)
            h = Less(t, limit)
        }>
    }""")
    module = whorl.deloop(source, target="any")
    for limit, seen in ((0, [2]), (3, [2, 4]), (8, [2, 4, 8]), (100, [2, 4, 8, 16])):
        got = run(module, x=np.float32(1), limit=np.float32(limit))
        assert got[0] == seen[-1] and got[1].tolist() == seen


def test_trip_count_that_is_fixed_unrolls_and_needs_no_feed():
    module = whorl.deloop(ROLLOUT, inputs={"count": 3})
    assert [value.name for value in module.main.arguments] == ["table"]
    assert run(module, table=np.arange(12, dtype=np.float32)) == [3]


def test_branches_are_both_computed_and_one_is_selected():
    source = model("""main (bool[1] c, float[2] x) => (float[2] y) {
        y = If (c) <then_branch = a () => (float[2] p) { p = Neg(x) },
                    else_branch = b () => (float[2] q) { q = Exp(x) }>
    }""")
    module = whorl.deloop(source, target="any")
    assert sorted(kinds(module)) == ["Exp", "Neg", "Reshape", "Where"]
    x = np.array([0, 1], np.float32)
    assert run(module, c=np.array([True]), x=x)[0].tolist() == [-0.0, -1]
    assert run(module, c=np.array([False]), x=x)[0].tolist() == np.exp(x).tolist()


@pytest.mark.parametrize(
    ("then", "why"),
    [
        ("w = Pow(k, k) p = Cast<to = 1>(w)", "Pow 'w' may fail on values that it does not see now"),
        ("p = ReduceSum<keepdims = 0>(x)", "output 0 is float32[] or float32[2]"),
        ("p = Bernoulli(x)", "Bernoulli 'p' is random, and would draw where it did not"),
    ],
    ids=["could fail", "another shape", "random"],
)
def test_branch_that_cannot_be_computed_in_any_case_remains(then, why):
    source = model(f"""main (bool c, float[2] x, int64[2] k) => (float[m] y) {{
        [pick] y = If (c) <then_branch = a () => (float[m] p) {{ {then} }},
                           else_branch = b () => (float[m] q) {{ q = Exp(x) }}>
    }}""")
    assert f"If 'pick': {why}" in reason(source)


def drawing(node, trips):
    return model(f"""main (float[4] x) => (float[n, 4] y) {{
        trips = Constant<value = int64 {{{trips}}}> ()
        on = Constant<value = bool {{1}}> ()
        [l] y = Loop (trips, on) <body = b (int64 i, bool g) => (bool h, float[4] c) {{
            h = Identity(g)
            half = Constant<value = float {{0.5}}> ()
            c = {node}
        }}>
    }}""")


@pytest.mark.parametrize("node", ["RandomUniformLike<seed = 1.0> (x)", "Dropout<seed = 1> (x, half, on)"])
def test_loop_that_draws_from_a_seed_keeps_its_draws_apart(node):
    why = f"Loop 'l': {node.partition('<')[0]} 'c' draws from a seed, and copies of it would all draw the same"
    assert why in reason(drawing(node, 5))


def test_draws_without_a_seed_and_a_single_one_are_copied():
    rows = run(whorl.deloop(drawing("RandomUniformLike (x)", 3)), x=np.zeros(4, np.float32))[0]
    assert len({tuple(row) for row in rows.tolist()}) == 3
    assert kinds(whorl.deloop(drawing("RandomUniformLike<seed = 1.0> (x)", 1))).count("RandomUniformLike") == 1


def test_dropout_that_does_not_train_draws_nothing():
    module = whorl.deloop(drawing("Dropout<seed = 1> (x, half)", 3))
    assert run(module, x=np.ones(4, np.float32))[0].tolist() == [[1.0] * 4] * 3


def test_inner_loop_that_remains_keeps_the_outer_one():
    source = model("""main (int64 n, float x) => (float y) {
        two = Constant<value = int64 {2}> ()
        [outer] y = Loop (two, , x) <body = a (int64 i, bool g, float s) => (bool h, float t) {
            h = Identity(g)
            [inner] t = Loop (n, , s) <body = b (int64 j, bool p, float u) => (bool q, float v) {
                q = Identity(p)
                v = Exp(u)
            }>
        }>
    }""")
    report = reason(source)
    assert "Loop 'inner' in body of Loop 'outer': the number of its iterations is known only when it runs" in report
    assert "Loop 'outer': what is inside remains" in report


def test_no_more_copies_are_made_than_allowed():
    assert "it may run 300 times, more than 256" in reason(DECAY, dims={"n": 300})
    assert len(kinds(whorl.deloop(DECAY, dims={"n": 300}, max_iterations=300, target="any"))) > 300


STEPS = model("""main (int64 count, float[2] x) => (float[2] y) {
    y = Loop (count, , x) <body = step (int64 i, bool g, float[2] s) => (bool h, float[2] t) {
        h = Identity(g)
        t = Exp(s)
    }>
}""")

NEST = """main (int64[1] n, float x, float[T, 2] z, int64[3] k) => (float y) {{
    [outer] y = Scan (x, z) <num_scan_inputs = 1, body = a (float s, float[2] e) => (float t) {{
        {first}
        [inner] t = Loop (m, , s) <body = b (int64 j, bool p, float u) => (bool q, float v) {{
            q = Identity(p)
            v = Exp(u)
        }}>
    }}>
}}"""


@pytest.mark.parametrize(
    ("source", "options", "fix"),
    [
        (DECAY, {}, "try --dim n=8, in Python dims={'n': 8}"),
        (DECAY, {"dims": {"n": 300}, "target": "any"}, "try --max-iterations 300, in Python max_iterations=300"),
        (
            DECAY,
            {"dims": {"n": 300}},
            "try --max-iterations 300 --target any, in Python max_iterations=300, target='any'",
        ),
        (STEPS, {}, "try --input count=8, in Python inputs={'count': 8}"),
        (
            model(NEST.format(first="m = Add(n, n)")),
            {},
            "try --dim T=8 --input 'n=[8]', in Python dims={'T': 8}, inputs={'n': [8]}",
        ),
        (model(NEST.format(first="m = ReduceSum(k)")), {}, "try --dim T=8, in Python dims={'T': 8}"),
        (
            model(NEST.format(first="m = Cast<to = 7>(s)")),
            {"dims": {"T": 3}},
            "no option removes it: change the model, or choose a runtime with control flow",
        ),
        (FOREVER, {}, "no option removes it: change the model, or choose a runtime with control flow"),
    ],
    ids=["length", "iterations", "slower", "input", "several", "large input", "state", "condition"],
)
def test_fix_names_the_options_that_help(source, options, fix):
    assert reason(source, **options).splitlines()[-1] == f"  fix: {fix}"


def test_names_that_the_model_does_not_have_are_refused():
    with pytest.raises(whorl.WhorlError, match="no input has a dim 'm'"):
        whorl.deloop(SUM, dims={"m": 3})
    with pytest.raises(whorl.WhorlError, match="the model has no input 'z'"):
        whorl.deloop(SUM, inputs={"z": 3})


def test_nodes_of_copies_have_names_of_their_own_in_the_file(tmp_path):
    source = model("""main (float x) => (float y) {
        two = Constant<value = int64 {2}> ()
        y = Loop (two, , x) <body = a (int64 i, bool g, float s) => (bool h, float t) {
            h = Identity(g)
            [step] t = Exp(s)
        }>
    }""")
    whorl.save(whorl.deloop(source), tmp_path / "flat.onnx")
    assert [node.name for node in onnx.load(tmp_path / "flat.onnx").graph.node] == ["step", "step_1"]


@pytest.mark.parametrize(("target", "tried"), [("any", []), ("onnxruntime", ["trying without Loop 'total'"])])
def test_progress_names_what_is_done_next(target, tried):
    steps = []
    choices = DeloopOptions(target=target, progress=steps.append)
    deloop_with_reasons(SUM, choices, None, LoadOptions())
    assert steps == ["optimizing", *tried, "removing loops and branches"]


def test_conformance_cases_give_the_same_without_loops():
    """Every case of the suite that gives values, with inputs of one integer fixed and named dims at their lengths."""
    done = 0
    for case in load_cases():
        if case.expected is None or case.may_refuse:
            continue
        arrays = {name: x for name, x in case.inputs.items() if isinstance(x, np.ndarray)}
        fixed = {name: x for name, x in arrays.items() if x.size == 1 and x.dtype.kind == "i"}
        try:
            module = whorl.deloop(case.data, inputs=fixed)
        except whorl.DeloopError:
            continue
        feeds = {name: x for name, x in case.inputs.items() if name not in fixed}
        outputs = whorl.InferenceSession(module, INTERPRETED).run(None, feeds)
        outcome, detail = verdict(case, Answer("ran", runs=(outputs,) * case.sessions * case.repeat))
        assert outcome == "pass", f"{case.name}: {detail}"
        done += 1
    assert done >= 250
