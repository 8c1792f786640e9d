"""`vmap`: models of many rows that give what a loop over the rows gives, and what is said of those that cannot."""

import numpy as np
import pytest
from onnx_text import model
from test_corpus import feeds_for

import whorl
from whorl.conformance.cases import load_cases

INTERPRETED = whorl.SessionOptions()
INTERPRETED.backend = "interpreter"
DENSE = model("""main (float[n, 4] x, float[4, 3] w) => (float[n, 3] y, int64[1] length) {
    p = MatMul(x, w)
    y = Softmax(p)
    length = Shape<end = 1>(x)
}""")


def run(source, **feeds):
    return whorl.InferenceSession(source, INTERPRETED).run(None, feeds)


def types(module):
    return [str(value.type) for value in module.main.arguments], [str(t) for t in module.output_types().values()]


def refusal(source, *arguments, **options):
    with pytest.raises(whorl.VmapError) as caught:
        whorl.vmap(source, *arguments, **options)
    return str(caught.value)


def whole(*shape):
    return (np.arange(np.prod(shape)) % 5 - 2).reshape(shape).astype(np.float32)


@pytest.mark.parametrize(
    ("in_axes", "out_axes", "inputs", "outputs"),
    [
        (0, 0, ["batch, n, 4", "batch, 4, 3"], ["float32[batch, n, 3]", "int64[batch, 1]"]),
        (-1, 1, ["n, 4, batch", "4, 3, batch"], ["float32[n, batch, 3]", "int64[1, batch]"]),
        ({"x": 0}, {"length": None}, ["batch, n, 4", "4, 3"], ["float32[batch, n, 3]", "int64[1]"]),
        ({"x": None, "w": 1}, {"y": -1}, ["n, 4", "4, batch, 3"], ["float32[n, 3, batch]", "int64[batch, 1]"]),
    ],
)
@pytest.mark.parametrize("rows", [0, 1, 3])
def test_axes_are_the_requested_ones(in_axes, out_axes, inputs, outputs, rows):
    module = whorl.vmap(DENSE, in_axes, out_axes=out_axes)
    assert types(module) == ([f"float32[{dims}]" for dims in inputs], outputs)
    axes = in_axes if isinstance(in_axes, dict) else dict.fromkeys("xw", in_axes)
    one = {"x": whole(2, 4), "w": whole(4, 3)}
    every = {name: [np.roll(x, k) for k in range(max(rows, 1))] for name, x in one.items()}
    feeds = {name: every[name][0] for name in one}
    for name, axis in axes.items():
        if axis is not None:
            feeds[name] = np.moveaxis(np.stack(every[name])[:rows], 0, axis)
    alone = [run(DENSE, **{n: every[n][k if axes.get(n) is not None else 0] for n in one}) for k in range(max(rows, 1))]
    for number, (name, got) in enumerate(zip(("y", "length"), run(module, **feeds), strict=True)):
        axis = out_axes.get(name, 0) if isinstance(out_axes, dict) else out_axes
        want = np.stack([results[number] for results in alone])[:rows]
        expected = alone[0][number] if axis is None else np.moveaxis(want, 0, axis)
        np.testing.assert_allclose(got, expected, rtol=1e-6)
        assert got.shape == expected.shape


def test_dim_of_the_rows_has_the_name_that_it_is_called():
    assert types(whorl.vmap(DENSE, {"x": 0}, name="rows"))[0] == ["float32[rows, n, 4]", "float32[4, 3]"]
    assert refusal(DENSE, name="n") == "the model has a dim 'n'\n  fix: give the rows another name"


def test_inputs_with_default_values_are_shared():
    source = model("main (float[2] x, float[2] w = {1, 2}) => (float[2] y) { y = Mul(x, w) }")
    module = whorl.vmap(source)
    assert types(module)[0] == ["float32[batch, 2]", "float32[2]"]
    assert run(module, x=np.array([[1, 1], [3, 4]], np.float32))[0].tolist() == [[1, 2], [3, 8]]


def test_model_may_be_mapped_again():
    module = whorl.vmap(whorl.vmap(DENSE, {"x": 0}), {"x": 0, "w": 0}, name="more")
    assert types(module)[0] == ["float32[more, batch, n, 4]", "float32[more, 4, 3]"]


def test_source_remains_as_it_is():
    source = whorl.load(DENSE)
    whorl.vmap(source)
    assert types(source)[0] == ["float32[n, 4]", "float32[4, 3]"]


PICK = """main (bool c, float[2] x, int64 k) => (float[2] y) {{
    [pick] y = If (c) <then_branch = a () => (float[2] p) {{ {then} }},
                       else_branch = b () => (float[2] q) {{ q = Exp(x) }}>
}}"""


def test_branches_that_rows_take_differently_become_selections():
    source = model(PICK.format(then="p = Neg(x)"))
    module = whorl.vmap(source)
    assert "If" not in [node.op.name for node in module.nodes()]
    x = np.array([[0, 1], [2, 3], [4, 5]], np.float32)
    c, k = np.array([True, False, True]), np.zeros(3, np.int64)
    expected = [run(source, c=a, x=b, k=d)[0] for a, b, d in zip(c, x, k, strict=True)]
    np.testing.assert_array_equal(run(module, c=c, x=x, k=k)[0], np.stack(expected))


def test_branch_that_all_rows_take_remains_a_branch():
    module = whorl.vmap(model(PICK.format(then="z = Gather(x, k) p = Add(x, z)")), {"x": 0, "k": 0})
    assert "If" in [node.op.name for node in module.nodes()]


def test_index_that_a_branch_guards_is_clamped_in_the_rows_that_do_not_take_it():
    source = model(PICK.format(then="z = Gather(x, k) p = Add(x, z)"))
    module = whorl.vmap(source)
    x = np.array([[0, 1], [2, 3], [4, 5]], np.float32)
    c, k = np.array([True, False, True]), np.array([1, 7, -2])
    expected = [run(source, c=a, x=b, k=d)[0] for a, b, d in zip(c, x, k, strict=True)]
    np.testing.assert_array_equal(run(module, c=c, x=x, k=k)[0], np.stack(expected))


def test_branch_that_may_fail_is_named_with_the_reason():
    text = PICK.format(then="z = GatherElements(x, k) p = Add(x, z)").replace("int64 k", "int64[2] k")
    assert refusal(model(text)) == (
        "If 'pick' is taken by some rows: GatherElements 'z' may fail on values that it does not see now\n"
        "  fix: map fewer inputs (None in in_axes shares one), or change the node"
    )


LOOP = model("""main (int64 n, float[2] x) => (float[2] y, float[m, 2] seen) {
    [steps] y, seen = Loop (n, , x) <body = step (int64 i, bool g, float[2] s) => (bool h, float[2] t, float[2] u) {
        h = Identity(g)
        t = Sin(s)
        u = Identity(t)
    }>
}""")


@pytest.mark.parametrize("trips", [0, 1, 4])
def test_loop_that_rows_run_alike_remains_a_loop(trips):
    module = whorl.vmap(LOOP, {"x": 0})
    x = whole(3, 2)
    last, seen = run(module, n=np.int64(trips), x=x)
    alone = [run(LOOP, n=np.int64(trips), x=row) for row in x]
    np.testing.assert_array_equal(last, np.stack([each[0] for each in alone]))
    np.testing.assert_array_equal(seen, np.stack([each[1] for each in alone]))


ROOT = model("""main (float x, int64 most) => (float root) {
    yes = Constant<value = bool {1}> ()
    [newton] root = Loop (most, yes, x) <body = step (int64 i, bool g, float r) => (bool h, float next) {
        half = Constant<value = float {0.5}> ()
        small = Constant<value = float {0.001}> ()
        q = Div(x, r)
        sum = Add(r, q)
        next = Mul(sum, half)
        change = Sub(next, r)
        size = Abs(change)
        h = Greater(size, small)
    }>
}""")
"""A square root by steps that end when they are small."""


@pytest.mark.parametrize("in_axes", [0, {"x": 0}, {"most": 0}])
def test_loop_that_rows_leave_at_different_iterations_runs_to_the_last(in_axes):
    module = whorl.vmap(ROOT, in_axes)
    x, most = np.array([1, 1e6, 2, 50], np.float32), np.array([9, 40, 0, 3])
    has_rows = {name: in_axes == 0 or name in in_axes for name in ("x", "most")}
    rows = [{"x": x[k if has_rows["x"] else 1], "most": most[k if has_rows["most"] else 1]} for k in range(4)]
    (roots,) = run(module, x=x if has_rows["x"] else x[1], most=most if has_rows["most"] else most[1])
    np.testing.assert_array_equal(roots, np.stack([run(ROOT, **row)[0] for row in rows]))


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ([None], "no input has an axis for rows\n  fix: give one in in_axes"),
        ([{"z": 0}], "the model has no input 'z'\n  fix: choose from x, w"),
        ([3], "input 'x' cannot have rows along axis 3\n  fix: choose from -3 to 2"),
        ([0, {"z": 0}], "the model has no output 'z'\n  fix: choose from y, length"),
        ([0, -4], "output 'y' cannot have rows along axis -4\n  fix: choose from -3 to 2"),
        (
            [0, None],
            "output 'y' differs by row, and has no axis for them\n"
            "  fix: map fewer inputs (None in in_axes shares one), or change the node",
        ),
    ],
)
def test_axes_that_the_model_does_not_have_are_refused(arguments, text):
    in_axes, *out_axes = arguments
    assert refusal(DENSE, in_axes, **({"out_axes": out_axes[0]} if out_axes else {})) == text


def test_sequences_have_no_axis_for_rows():
    source = model("""main (seq(float[2]) s, float[2] x) => (float[2] y) {
        first = Constant<value = int64 {0}> ()
        a = SequenceAt(s, first)
        y = Add(a, x)
    }""")
    assert refusal(source) == "input 's' is no tensor, and has no axis for rows\n  fix: choose None for it"
    assert types(whorl.vmap(source, {"x": 0}))[0][1] == "float32[batch, 2]"


def assert_alike(got: np.ndarray, want: np.ndarray, case: str) -> None:
    """Equal types, shapes and elements, but that products of rows sum in another order."""
    assert (got.dtype, got.shape) == (want.dtype, want.shape), case
    if got.dtype.kind == "f":
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6, err_msg=case)
    else:
        np.testing.assert_array_equal(got, want, err_msg=case)


def turned(x: np.ndarray, k: int) -> np.ndarray:
    """Another value that may do in the stead of an input: its elements in another order, or another number."""
    return np.roll(x, k) if x.size != 1 else x + x.dtype.type(k) if x.dtype.kind in "fi" else x


def rows_of(alone: whorl.InferenceSession, inputs: dict, mapped: list[str]) -> list[dict]:
    """Rows of some of the inputs which differ where the model bears it, else copies."""
    rows = [{name: turned(x, k) if name in mapped else x for name, x in inputs.items()} for k in range(3)]
    try:
        shapes = {tuple(np.shape(y) for y in alone.run(None, row)) for row in rows}
    except whorl.RunError:
        return [inputs] * 2
    return rows if len(shapes) == 1 else [inputs] * 2


@pytest.mark.slow
def test_conformance_cases_of_many_rows_give_what_the_rows_give():
    """Every case of the suite that gives tensors, for rows of all inputs and of the first."""
    done = 0
    for case in load_cases():
        inputs = case.inputs
        if case.expected is None or case.may_refuse or not inputs:
            continue
        for mapped in {tuple(inputs), tuple(inputs)[:1]}:
            try:
                module = whorl.vmap(case.data, dict.fromkeys(mapped, 0))
            except whorl.VmapError:
                continue
            alone = whorl.InferenceSession(case.data, INTERPRETED)
            rows = rows_of(alone, inputs, list(mapped))
            expected = [alone.run(None, row) for row in rows]
            feeds = {name: np.stack([row[name] for row in rows]) if name in mapped else inputs[name] for name in inputs}
            for number, got in enumerate(run(module, **feeds)):
                assert_alike(got, np.stack([results[number] for results in expected]), case.name)
            done += 1
    assert done > 300


REFUSED = {
    "ort_crop_and_resize": "Slice 'Slice_b': rows are slices of different lengths",
    "ort_shadowing": "Loop 'b_loop' collects a different number of values for each row",
}
"""Models of the corpus that cannot be computed for rows that differ in every input, and why."""


@pytest.mark.slow
def test_corpus_of_many_rows_gives_what_the_rows_give(corpus_model):
    if corpus_model.stem in REFUSED:
        assert REFUSED[corpus_model.stem] in refusal(corpus_model)
        return
    alone = whorl.InferenceSession(corpus_model)
    feeds = feeds_for(corpus_model, alone.module)
    rows = [{name: np.roll(x, k) if x.dtype.kind == "f" else x for name, x in feeds.items()} for k in range(3)]
    expected = [alone.run(None, row) for row in rows]
    mapped = whorl.InferenceSession(whorl.vmap(corpus_model))
    for number, got in enumerate(mapped.run(None, {name: np.stack([row[name] for row in rows]) for name in feeds})):
        assert_alike(got, np.stack([results[number] for results in expected]), corpus_model.stem)
