"""`to_loop` and `to_step`: they undo each other, loops give what steps give one by one, and what cannot be is said."""

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx_text import model

import whorl
from whorl.ir.text import print_module

STEP = model("""main (float[B, 4] x, float[B, 4] h, float[4] w) => (float[B, 4] y, float[B, 4] h_next) {
    a = Mul(h, w)
    h_next = Sub(a, x)
    y = Abs(h_next)
}""")
CACHE = model("""main (float[1, 2] x, float[past, 2] cache) => (float[m] sums, float[total, 2] grown) {
    grown = Concat<axis = 0>(cache, x)
    axis = Constant<value_ints = [0]> ()
    sums = ReduceSum<keepdims = 0>(grown, axis)
}""")
WALK = model("""main (int64 position, int64 speed) => (int64 position_next, int64 twice) {
    position_next = Add(position, speed)
    twice = Add(position_next, position_next)
}""")


def run(source, **feeds):
    options = whorl.SessionOptions()
    options.backend = "interpreter"
    session = whorl.InferenceSession(source, options)
    return dict(zip((o.name for o in session.get_outputs()), session.run(None, feeds), strict=True))


def types(module):
    return [f"{value.name}: {value.type}" for value in module.main.arguments]


def refusal(function, *arguments, **options):
    with pytest.raises(whorl.StepError) as caught:
        function(*arguments, **options)
    return str(caught.value)


def whole(*shape):
    return (np.arange(np.prod(shape)) % 5 - 2).reshape(shape).astype(np.float32)


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("steps", [0, 1, 2, 5])
def test_loop_gives_what_the_step_gives_one_by_one(tmp_path, steps, axis):
    loop = whorl.to_loop(STEP, carry={"h": "h_next"}, scan={"x": axis}, collect={"y": axis})
    x, h, w = whole(steps, 3, 4), whole(3, 4), whole(4)
    expected, state = [], h
    for row in x:
        y, state = run(STEP, x=row, h=state, w=w).values()
        expected.append(y)
    stacked = np.moveaxis(np.array(expected, np.float32).reshape(steps, 3, 4), 0, axis)
    feeds = {"x": np.moveaxis(x, 0, axis), "h": h, "w": w}
    for result in (
        run(loop, **feeds),
        dict(zip(("y", "h_next"), whorl.InferenceSession(loop).run(None, feeds), strict=True)),
    ):
        np.testing.assert_array_equal(result["y"], stacked)
        np.testing.assert_array_equal(result["h_next"], state)
    whorl.save(loop, tmp_path / "loop.onnx")
    assert [node.op_type for node in onnx.load(tmp_path / "loop.onnx").graph.node] == ["Scan"]
    if steps:
        session = onnxruntime.InferenceSession(tmp_path / "loop.onnx")
        for got, want in zip(session.run(None, feeds), (stacked, state), strict=True):
            np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize(
    ("step", "options"),
    [
        (STEP, {"carry": {"h": "h_next"}, "scan": ["x"]}),
        (STEP, {"carry": {"h": "h_next"}, "scan": {"x": 1, "w": 0}, "collect": {"y": -1}, "steps": "frames"}),
        (STEP, {"scan": ["x", "h", "w"]}),
        (CACHE, {"carry": {"cache": "grown"}, "scan": ["x"], "collect": []}),
        (WALK, {"carry": {"position": "position_next"}}),
    ],
)
def test_step_of_a_loop_of_a_step_is_the_step(step, options):
    options = {"collect": None, **options}
    if options["collect"] is None:
        module = whorl.load(step)
        back = whorl.to_step(whorl.to_loop(module, **options))
        assert print_module(back) == print_module(module)
    loop = whorl.to_loop(step, **options)
    again = whorl.to_loop(whorl.to_step(loop), **{**options, "carry": None})
    assert print_module(again) == print_module(loop)


@pytest.mark.parametrize("suffix", ["onnx", "onnxtxt", "mlir"])
def test_round_trip_through_a_file(tmp_path, suffix):
    first, second = tmp_path / f"loop.{suffix}", tmp_path / f"step.{suffix}"
    whorl.save(whorl.to_loop(STEP, carry={"h": "h_next"}, scan=["x"]), first)
    whorl.save(whorl.to_step(first), second)
    feeds = {"x": whole(3, 4), "h": whole(3, 4) + 1, "w": whole(4)}
    expected = run(STEP, **feeds)
    for name, got in run(second, **feeds).items():
        np.testing.assert_array_equal(got, expected[name])


def test_without_scanned_inputs_the_number_of_iterations_is_an_input():
    loop = whorl.to_loop(WALK, carry={"position": "position_next"}, steps="count")
    assert types(loop) == ["position: int64[]", "speed: int64[]", "count: int64[]"]
    for count, twice in ((0, []), (1, [6]), (4, [6, 10, 14, 18])):
        outputs = run(loop, position=np.array(1), speed=np.array(2), count=np.array(count))
        assert outputs["position_next"] == 1 + 2 * count
        np.testing.assert_array_equal(outputs["twice"], np.array(twice, np.int64))


def test_carried_value_may_grow():
    loop = whorl.to_loop(CACHE, carry={"cache": "grown"}, scan=["x"])
    x = whole(4, 1, 2)
    outputs = run(loop, x=x, cache=np.zeros((0, 2), np.float32))
    np.testing.assert_array_equal(outputs["grown"], x[:, 0])
    np.testing.assert_array_equal(outputs["sums"], np.cumsum(x[:, 0], axis=0))


def test_output_that_is_carried_may_be_collected_too():
    loop = whorl.to_loop(STEP, carry={"h": "h_next"}, scan=["x"], collect=["h_next"])
    assert loop.output_names == ["h_next", "h_next.steps"]
    outputs = run(loop, x=whole(3, 1, 4), h=whole(1, 4), w=whole(4))
    np.testing.assert_array_equal(outputs["h_next.steps"][-1], outputs["h_next"])


def test_session_of_a_step_hands_on_what_the_loop_carries():
    loop = whorl.to_loop(STEP, carry={"h": "h_next"}, scan=["x"])
    step = whorl.to_step(loop)
    x, h, w = whole(4, 3, 4), whole(3, 4), whole(4)
    session = whorl.InferenceSession(step)
    session.set_state({"h": h})
    assert [value.name for value in session.get_inputs()] == ["x", "w"]
    assert [value.name for value in session.get_outputs()] == ["y"]
    expected = run(loop, x=x, h=h, w=w)
    for row, y in zip(x, expected["y"], strict=True):
        np.testing.assert_array_equal(session.run(None, {"x": row, "w": w})[0], y)
    np.testing.assert_array_equal(session.get_state()["h"], expected["h_next"])


COUNTING = model("""main (int64 count, int64 offset) => (int64[n] numbers, int64 total) {
    one = Constant<value_int = 1> ()
    first = Add(offset, one)
    total, numbers = Loop(count, "", offset) <body = step (int64 i, bool go, int64 s) => (bool go2, int64 s2, int64 k) {
        go2 = Identity(go)
        s2 = Add(s, i)
        k = Where(go, i, first)
    }>
}""")
SCAN = """main (float[n, 2] x, float[2] w) => (float[2] total, float[n, 2] rows) {{
    start = {start}
    total, rows = Scan<num_scan_inputs = 1, body = step (float[2] s, float[2] row) => (float[2] s2, float[2] r) {{
        scaled = Mul(row, {factor})
        s2 = Add(s, scaled)
        r = Identity(s2)
    }}>(start, x)
}}"""


def scan(start, factor="w", before=""):
    text = SCAN.format(start=start, factor=factor)
    return model(text.replace("start = ", f"{before} start = ", 1))


def test_first_value_that_is_computed_is_what_a_session_begins_with():
    module = whorl.to_step(scan("Mul(w, w)"))
    assert types(module) == ["x: float32[2]", "w: float32[2]", "s: float32[2]"]
    session = whorl.InferenceSession(module)
    x, w = whole(3, 2), np.array([2, 3], np.float32)
    got = [session.run(None, {"x": row, "w": w})[0] for row in x]
    np.testing.assert_array_equal(got, run(scan("Mul(w, w)"), x=x, w=w)["rows"])


def test_first_value_that_is_constant_is_a_default():
    module = whorl.to_step(scan("Constant<value = float[2] {1, 2}>()"))
    np.testing.assert_array_equal(module.defaults["s"], np.array([1, 2], np.float32))
    np.testing.assert_array_equal(run(module, x=whole(2), w=whole(2))["rows"], whole(2) * whole(2) + [1, 2])


def test_number_of_the_iteration_is_a_state_that_counts():
    step = whorl.to_step(COUNTING)
    assert types(step) == ["offset: int64[]", "s: int64[]", "i: int64[]"]
    assert [(state.input, state.output) for state in step.states] == [("s", "total"), ("i", "i.next")]
    session = whorl.InferenceSession(step)
    numbers = [session.run(None, {"offset": np.array(4)})[0] for _ in range(3)]
    np.testing.assert_array_equal(numbers, run(COUNTING, count=np.array(3), offset=np.array(4))["numbers"])
    assert session.get_state() == {"s": 7, "i": 3}
    outputs = run(whorl.to_loop(step), offset=np.array(4), steps=np.array(3))
    np.testing.assert_array_equal(outputs["numbers"], numbers)


def test_what_is_captured_is_computed_in_the_step():
    source = scan("Neg(w)", "v", "v = Exp(w)")
    x, w = whole(1, 2), whole(2)
    got = run(whorl.to_step(source), x=x[0], w=w, s=-w)
    np.testing.assert_array_equal(got["rows"], run(source, x=x, w=w)["rows"][0])


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (
            model("main (float[n] x) => (float[n] y) { y = Neg(x) }"),
            "the model has no loop outside of branches, so there is no step to take out of it",
        ),
        (
            scan("Gather(x, i)", before="i = Constant<value_int = 0>()"),
            "Loop 'total' scans input 'x', of which Gather 'start' reads more than a slice\n"
            "  fix: give the model an input for what is scanned, and one for the other",
        ),
        (
            scan("Neg(w)", "m", "axes = Constant<value_ints = [0]>() m = ReduceSum<keepdims = 0>(x, axes)"),
            "Loop 'total' scans input 'x', of which ReduceSum 'm' reads more than a slice\n"
            "  fix: give the model an input for what is scanned, and one for the other",
        ),
        (
            scan("Neg(w)", "m", "m = RandomNormalLike(w)"),
            "Loop 'total' captures 'm', which is drawn once for all iterations",
        ),
        (
            model(
                SCAN.format(start="Neg(w)", factor="w")
                .replace("(start, x)", "(start, z)", 1)
                .replace("start =", "z = Neg(x) start =")
            ),
            "Loop 'total' scans 'z', which Neg 'z' computes from all of it\n"
            "  fix: save the model from there on, with what is scanned as its input",
        ),
        (
            model(
                SCAN.format(start="Neg(w)", factor="w")
                .replace("total, rows =", "sum, rows =")
                .replace("(start, x)", "(start, x) total = Neg(sum)")
            ),
            "output 'total' is Neg 'total', not what Loop 'sum' gives\n"
            "  fix: save the model without what follows the loop",
        ),
    ],
)
def test_loop_without_a_step_of_its_own_is_refused(source, text):
    assert refusal(whorl.to_step, source) == text


def test_loop_that_may_end_early_is_refused():
    source = model("""main (float x) => (float y) {
        yes = Constant<value = bool {1}> ()
        limit = Constant<value = float {9}> ()
        y = Loop("", yes, x) <body = b (int64 i, bool go, float s) => (bool less, float t) {
            t = Add(s, s)
            less = Less(t, limit)
        }>
    }""")
    assert refusal(whorl.to_step, source) == (
        "Loop 'y' may end early, by the condition 'less', and a step does not say when to stop\n"
        "  fix: collect the condition as an output, and let the loop run without it"
    )


def test_two_loops_are_refused():
    text = SCAN.format(start="Neg(w)", factor="w")
    second = text.replace("total", "more").replace("rows", "others").replace("start", "begin")
    body = second[second.index("{") + 1 : second.rindex("}")]
    source = model(text[: text.rindex("}")] + body + "}")
    assert refusal(whorl.to_step, source) == (
        "the model has 2 loops: Loop 'total', Loop 'more'\n  fix: take out the step of a model with one"
    )


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"carry": {"g": "h_next"}}, "the model has no input 'g'\n  fix: choose from x, h, w"),
        ({"carry": {"h": "h_nxt"}}, "the model has no output 'h_nxt'\n  fix: did you mean 'h_next'?"),
        ({"scan": ["xx"]}, "the model has no input 'xx'\n  fix: did you mean 'x'?"),
        ({"scan": ["x"], "collect": ["z"]}, "the model has no output 'z'\n  fix: choose from y, h_next"),
        ({"carry": {"h": "y"}, "scan": ["h"]}, "input 'h' is carried and scanned\n  fix: choose one of the two"),
        (
            {"carry": {"h": "y", "x": "y"}},
            "output 'y' is carried by two inputs\n  fix: carry it by one",
        ),
        (
            {"carry": {"w": "y"}},
            "input 'w' is float32[4], and output 'y', which it would be next, is float32[B, 4]\n"
            "  fix: carry an output of the input's type",
        ),
        (
            {"scan": {"x": 3}},
            "input 'x' cannot have iterations along axis 3\n  fix: choose from -3 to 2",
        ),
        (
            {"scan": ["x"], "collect": {"y": -4}},
            "output 'y' cannot have iterations along axis -4\n  fix: choose from -3 to 2",
        ),
        ({"scan": ["x"], "steps": "B"}, "the model has a dim 'B'\n  fix: give the iterations another name"),
        ({"steps": "w"}, "the model has an input 'w'\n  fix: give the number of iterations another name"),
    ],
)
def test_what_no_loop_can_be_made_of_is_refused(options, text):
    assert refusal(whorl.to_loop, STEP, **options) == text


def test_only_tensors_are_scanned_and_collected():
    source = model("main (seq(float[2]) s) => (seq(float[2]) t) { t = Identity(s) }")
    assert refusal(whorl.to_loop, source, scan=["s"]) == (
        "input 's' is seq(float32[2]), and only tensors have an axis of iterations"
    )


def test_states_have_to_be_carried():
    step = whorl.to_step(whorl.to_loop(STEP, carry={"h": "h_next"}, scan=["x"]))
    assert refusal(whorl.to_loop, step, carry={}, scan=["x"]) == (
        "state 'h' lasts from one run to the next, and is not carried\n  fix: carry h:h_next"
    )
