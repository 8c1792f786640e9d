"""Random ops in native sessions and libraries: the interpreter's numbers, in loops, branches and from run to run."""

import numpy as np
import pytest
from compilers import needs_linker
from onnx_text import model
from runtime.native_sessions import ALONE, session

import whorl
from whorl.runtime.compiled.launch import Launch
from whorl.runtime.compiled.partition import CompiledSubgraph

LOOP = """
    main (float[n, m] x, int64 count) => (float[n, m] y, float[count, n, m] rows) {
        y, rows = Loop (count, "", x) <body = b (int64 i, bool go, float[n, m] h)
            => (bool on, float[n, m] next, float[n, m] row) {
            on = Identity(go)
            row = OP
            next = Add(h, row)
        }>
    }"""
BRANCHES = """
    main (float[n] x, int64 count) => (float[n] y) {
        two = Constant<value = int64 {2}> ()
        y = Loop (count, "", x) <body = b (int64 i, bool go, float[n] h) => (bool on, float[n] next) {
            on = Identity(go)
            rest = Mod(i, two)
            odd = Cast<to = 9>(rest)
            r = If (odd) <
                then_branch = t () => (float[n] a) { a = RandomNormalLike<seed = 1.0>(h) },
                else_branch = e () => (float[n] b) {
                    u = RandomUniformLike<seed = 2.0>(h)
                    b = Loop (two, "", u) <body = c (int64 j, bool go2, float[n] g) => (bool on2, float[n] g_out) {
                        on2 = Identity(go2)
                        v = RandomUniformLike<seed = 3.0>(g)
                        g_out = Add(g, v)
                    }>
                }>
            next = Add(h, r)
        }>
    }"""
OPS = {
    "normal": "RandomNormalLike<seed = 1.0, mean = 2.0>(h)",
    "uniform": "RandomUniformLike<seed = 1.0>(h)",
    "bernoulli": "Bernoulli<seed = 1.0>(h)",
    "no seed": "RandomNormalLike(h)",
}
SHAPES = [(3, 5), (2, 400), (1, 1), (0, 4), (4, 3)]


def feeds_of(shape, count):
    return {"x": np.full(shape, 0.25, np.float32), "count": np.array(count)}


def check(text, feeds, **options):
    """A native session gives the interpreter's numbers, run after run."""
    native, interpreter = session(model(text), **options), session(model(text), "interpreter")
    for each in feeds:
        results = []
        for one in (native, interpreter):
            whorl.set_seed(5)
            results.append(one.run(None, each))
        for actual, expected in zip(*results, strict=True):
            np.testing.assert_array_equal(actual, expected)
    return native


@pytest.mark.parametrize("op", OPS)
def test_loop_carries_the_stream_of_what_it_draws(op):
    native = check(LOOP.replace("OP", OPS[op]), [feeds_of(shape, count) for shape in SHAPES for count in (7, 0, 1)])
    parts = [part for part in native.plan.parts if isinstance(part, CompiledSubgraph)]
    assert len(parts) == 1 and len(native.plan.parts) == 1 + (op == "no seed")
    assert all(isinstance(program, Launch) for program in parts[0].cache.programs.values())


def test_loop_in_slices_goes_on_where_the_last_slice_ended():
    check(LOOP.replace("OP", OPS["normal"]), [feeds_of((3, 5), 2000)], **ALONE)


def test_branches_hand_on_the_streams_of_either():
    check(BRANCHES, [feeds_of((5,), count) for count in (6, 1, 0)])


def test_draws_outside_of_loops_are_one_program():
    text = """
        main (float[n, 4] x) => (int32[n, 3] y) {
            u = RandomUniformLike<seed = 1.0>(x)
            y = Multinomial<sample_size = 3, seed = 2.0>(u)
        }"""
    native = check(text, [{"x": np.zeros((n, 4), np.float32)} for n in (3, 1, 8)])
    assert len(native.plan.parts) == 1


def test_failure_names_the_op_and_its_iteration():
    text = """
        main (float[1, 2] x, int64 count) => (float[1, 2] y) {
            low = Constant<value = float {-3e38}> ()
            y = Loop (count, "", x) <body = b (int64 i, bool go, float[1, 2] h) => (bool on, float[1, 2] next) {
                on = Identity(go)
                [choose] k = Multinomial<seed = 1.0>(h)
                next = Add(h, low)
            }>
        }"""
    messages = []
    for backend in ("native", "interpreter"):
        with pytest.raises(whorl.RunError) as error:
            session(model(text), backend).run(None, feeds_of((1, 2), 9))
        messages.append(str(error.value))
    assert messages[0] == messages[1] and "Multinomial 'choose'" in messages[0]


@needs_linker
def test_library_draws_from_the_seeds_in_every_run(tmp_path):
    whorl.compile(model(LOOP.replace("OP", OPS["normal"])), tmp_path / "draws.so")
    library, interpreter = (
        whorl.load_compiled(tmp_path / "draws.so"),
        session(model(LOOP.replace("OP", OPS["normal"])), "interpreter"),
    )
    for feeds in (feeds_of((3, 5), 4), feeds_of((2, 2), 9)) * 2:
        for actual, expected in zip(library.run(None, feeds), interpreter.run(None, feeds), strict=True):
            np.testing.assert_array_equal(actual, expected)
