"""Slices of Loop and TensorIterator: the rows that the text names, and what is refused, with the whole message."""

import re

import numpy as np
import pytest
from formats.openvino.engine import Engine
from formats.openvino.slice_programs import WEIGHTS, Slicing, entry

import whorl
from whorl.errors import LoadError, RunError
from whorl.formats.openvino.files import load_ir
from whorl.formats.openvino.reading.context import IrOptions
from whorl.formats.openvino.saving import save_openvino
from whorl.runtime.session import Session

WHOLE = entry()
REVERSED = entry(-1, 0, -1)
CUTS = {
    "from the second row": (entry(1), [1, 2, 3, 4, 5]),
    "to the last but one": (entry(0, -2), [0, 1, 2, 3, 4]),
    "both ends": (entry(2, -3), [2, 3]),
    "one row": (entry(3, -3), [3]),
    "parts of two": (entry(1, -2, 2, 2), [1, 2, 3, 4]),
    "backwards from the last but one": (entry(-2, 0, -1), [4, 3, 2, 1, 0]),
    "backwards to the third": (entry(-1, 2, -1), [5, 4, 3, 2]),
    "backwards by two": (entry(-2, 1, -2, 2), [3, 4, 1, 2]),
}
"""What a port map says, and the rows of six in the order of their parts."""


@pytest.fixture(scope="module")
def engine():
    actual = Engine(threads=2)
    yield actual
    actual.close()


def read(slicing, profile=""):
    return load_ir(slicing.xml(), IrOptions(profile), WEIGHTS)


def run(slicing, profile="", backend="interpreter"):
    module = read(slicing, profile)
    names = [value.name for value in module.main.arguments]
    session = Session(module, backend=backend)
    return [session.execute(None, dict(zip(names, feeds, strict=True))) for feeds in slicing.runs()]


def refusal(slicing, profile=""):
    with pytest.raises(LoadError) as caught:
        read(slicing, profile)
    return re.sub(r"\(line \d+\)", "(line)", str(caught.value))


def refused_run(slicing, profile=""):
    with pytest.raises(RunError) as caught:
        run(slicing, profile)
    return str(caught.value)


def rows_of(slicing, rows):
    """The state, the parts joined and the last part, where parts are those rows."""
    part, x = slicing.part, slicing.runs()[0][-1]
    parts = [np.take(x, rows[k : k + part], slicing.axis) for k in range(0, len(rows), part)]
    return [sum(parts), np.concatenate(parts, slicing.axis), parts[-1]]


def cut(what, kind="TensorIterator", axis=0, is_open=False, **others):
    sliced, rows = CUTS[what]
    part = sliced["part_size"]
    combined = entry(0, -1, part, part)
    return Slicing(kind, axis, sliced, combined, is_open, trip=len(rows) // part, **others), rows


def same(actual, expected):
    for f, e in zip(actual, expected, strict=True):
        np.testing.assert_array_equal(f, e)


@pytest.mark.parametrize("backend", ["interpreter", "native"])
@pytest.mark.parametrize("is_open", [False, True])
@pytest.mark.parametrize("kind", ["Loop", "TensorIterator"])
@pytest.mark.parametrize("what", CUTS)
def test_slice_takes_the_rows_that_the_text_names(what, kind, is_open, backend):
    for axis in (0, 1):
        slicing, rows = cut(what, kind, axis, is_open)
        same(run(slicing, backend=backend)[0], rows_of(slicing, rows))


@pytest.mark.parametrize("is_open", [False, True])
@pytest.mark.parametrize("what", CUTS)
def test_slice_is_written_so_that_onnxruntime_and_openvino_take_its_rows(engine, what, is_open, tmp_path):
    ort = pytest.importorskip("onnxruntime", reason="onnxruntime has no wheel for this platform")
    slicing, rows = cut(what, "Loop", is_open=is_open)
    module, (feeds,) = read(slicing), slicing.runs()
    whorl.save(module, tmp_path / "m.onnx")
    theirs = ort.InferenceSession(str(tmp_path / "m.onnx"), providers=["CPUExecutionProvider"])
    named = dict(zip([value.name for value in module.main.arguments], feeds, strict=True))
    same(theirs.run(None, named), rows_of(slicing, rows))
    save_openvino(module, tmp_path / "m.xml")
    (actual,) = engine.run((tmp_path / "m.xml").read_bytes(), (tmp_path / "m.bin").read_bytes(), [feeds])
    same(actual, rows_of(slicing, rows))


def test_slice_that_leaves_out_rows_is_noted():
    warnings = read(cut("both ends")[0]).metadata["openvino"]["warnings"]
    assert [(code, message) for code, message, _ in warnings] == [
        (
            "OV311",
            '"start" = 2, "stride" = 1, "end" = -3, "part_size" = 1 of input 1 leaves out rows, by the text; '
            "OpenVINO's CPU plugin counts as many and begins at the first",
        )
    ]


PLUGIN = (
    "compat 'openvino-cpu' takes the number of iterations from such values and the parts as if they were not there, "
    "as OpenVINO's CPU plugin does"
)
TWO_READINGS = {
    "an end that is not negative": entry(0, 3),
    "a start that is negative": entry(-3, -1),
    "backwards from a start that is not negative": entry(4, 0, -1),
    "backwards to an end that is negative": entry(-1, -4, -1),
    "backwards by the ends of forwards": entry(0, -1, -1),
}


@pytest.mark.parametrize("kind", ["Loop", "TensorIterator"])
@pytest.mark.parametrize("what", TWO_READINGS)
def test_slice_of_two_readings_is_refused(what, kind):
    sliced = TWO_READINGS[what]
    signs = ("negative", "not negative") if sliced["stride"] < 0 else ("not negative", "negative")
    assert refusal(Slicing(kind, 0, sliced, WHOLE, True)) == (
        f'{kind} \'l\' (line): OV311: Invalid "start","stride","end" values in an iteration component: '
        f'"start" = {sliced["start"]}, "stride" = {sliced["stride"]}, "end" = {sliced["end"]}, "part_size" = 1 '
        f"of input {3 if kind == 'Loop' else 1}\n"
        f"  fix: write a start that is {signs[0]} and an end that is {signs[1]}, which OpenVINO reads in one way only; "
        f"{PLUGIN}"
    )


def test_slice_outside_the_axis_is_refused():
    assert refusal(Slicing("TensorIterator", 0, entry(6), WHOLE, False)) == (
        'TensorIterator \'l\' (line): OV311: "start" = 6, "stride" = 1, "end" = -1, "part_size" = 1 of input 1 '
        "lies outside the axis, whose length is 6\n  fix: name rows that the value has"
    )


@pytest.mark.parametrize("sliced", [entry(6), entry(2, -6), entry(0, -9), entry(-8, 0, -1)])
def test_slice_outside_an_axis_that_a_run_knows_fails(sliced):
    assert "index 6 is outside [-6, 6) of axis 0" in refused_run(Slicing("TensorIterator", 0, sliced, WHOLE, True))


@pytest.mark.parametrize("sliced", [entry(6), entry(2, -6), entry(0, -9), entry(-8, 0, -1)])
def test_loop_needs_rows_only_where_it_iterates(sliced):
    state, parts = run(Slicing("Loop", 0, sliced, WHOLE, True, trip=0, gives_last=False))[0]
    assert not state.any()
    assert parts.shape == (0, 3)
    message = "iteration 0 takes a slice of scanned input 0, which has 0"
    assert message in refused_run(Slicing("Loop", 0, sliced, WHOLE, True, trip=1))


def test_parts_that_do_not_fill_the_rows_fail():
    slicing = Slicing("TensorIterator", 0, entry(1, -1, 2, 2), entry(0, -1, 2, 2), False)
    assert "length (5) of axis 0 of scanned input 0 is not divisible by step (2)" in refused_run(slicing)


@pytest.mark.parametrize("is_open", [False, True])
@pytest.mark.parametrize("kind", ["Loop", "TensorIterator"])
@pytest.mark.parametrize("axis", [-1, -2])
def test_negative_axis_of_an_input_counts_from_the_end(axis, kind, is_open):
    slicing = Slicing(kind, axis, WHOLE, WHOLE, is_open, trip=6)
    positive = Slicing(kind, axis + 2, WHOLE, WHOLE, is_open, trip=6)
    assert slicing.xml() != positive.xml()
    feeds = positive.runs()
    module = load_ir(
        positive.xml().replace(f'axis="{axis + 2}"'.encode(), f'axis="{axis}"'.encode()), IrOptions(), WEIGHTS
    )
    names = [value.name for value in module.main.arguments]
    actual = Session(module, backend="interpreter").execute(None, dict(zip(names, feeds[0], strict=True)))
    same(actual, run(positive)[0])


def test_axis_outside_the_rank_is_refused():
    text = refusal(Slicing("Loop", -3, WHOLE, WHOLE, False))
    assert text == (
        "Loop 'l' (line): OV312: Invalid \"axis\" value in an iteration component: -3, dimensions number = 2 "
        "(out of range)\n  fix: choose one of its axes"
    )


def test_negative_axis_is_refused_under_the_profile_as_the_plugin_does():
    assert refusal(Slicing("Loop", -1, WHOLE, WHOLE, False), "openvino-cpu") == (
        "Loop 'l' (line): OV312: the axis of a sliced input is -1\n  fix: count it from the first"
    )
    assert refusal(Slicing("TensorIterator", -1, None, entry(0, 2), False), "openvino-cpu") == (
        "TensorIterator 'l' (line): OV312: the axis of a concatenated output is -1\n  fix: count it from the first"
    )


@pytest.mark.parametrize("combined", [REVERSED, entry(0, -1, -1)])
@pytest.mark.parametrize("kind", ["Loop", "TensorIterator"])
def test_negative_stride_of_an_output_joins_in_reverse_whatever_its_ends_default_to(kind, combined):
    slicing = Slicing(kind, 0, WHOLE, combined, False, trip=6)
    np.testing.assert_array_equal(run(slicing)[0][1], slicing.runs()[0][-1][::-1])


def test_ends_of_an_output_are_refused():
    assert refusal(Slicing("TensorIterator", 0, WHOLE, entry(1), False)) == (
        'TensorIterator \'l\' (line): OV311: Invalid "start","stride","end" values in an iteration component: '
        '"start" = 1, "stride" = 1, "end" = -1, "part_size" = 1 of output 3\n'
        f"  fix: leave out start and end: the results of all iterations are joined; {PLUGIN}"
    )


@pytest.mark.parametrize("combined", [entry(0, -3), entry(-3, 0, -1), entry(1, 4), entry(0, 0), entry(0, 3, 2, 2)])
def test_number_of_iterations_that_an_output_does_not_say_is_refused(combined):
    assert refusal(Slicing("TensorIterator", 0, None, combined, False)).endswith(
        " of output 3\n  fix: count from 0 in whole parts"
    )


# ---- as OpenVINO's CPU plugin has it -------------------------------------------------------------------------------


def test_plugin_begins_at_the_first_row_whatever_the_ends_are():
    slicing, _ = cut("both ends", is_open=True)
    same(run(slicing, "openvino-cpu")[0], rows_of(slicing, [0, 1]))
    slicing, _ = cut("both ends", "Loop")
    same(run(slicing, "openvino-cpu")[0], rows_of(slicing, [0, 1]))


PLUGIN_REFUSES = {
    "two counts": (
        entry(0, 3),
        "OV313: There are at least two different iterations numbers: 3 and 4\n"
        "  fix: slice and join as many parts, over the whole of each axis",
    ),
    "the other direction": (
        entry(0, -1, -1),
        'OV311: Invalid "start","stride","end" values in an iteration component: "start" = 0, "stride" = -1, '
        '"end" = -1, "part_size" = 1 of input 1\n'
        "  fix: name rows that an axis of length 6 has, in the direction of stride",
    ),
    "an end outside": (
        entry(0, 7),
        'OV311: Invalid "start","stride","end" values in an iteration component: "start" = 0, "stride" = 1, '
        '"end" = 7, "part_size" = 1 of input 1\n'
        "  fix: name rows that an axis of length 6 has, in the direction of stride",
    ),
    "parts that do not fill the rows": (
        entry(1, -1, 2, 2),
        "OV311: Each iteration must be the same size: length (5) is not divisible by step (2)\n"
        "  fix: choose ends that whole parts lie between",
    ),
    "parts that overlap": (
        entry(0, -1, 1, 2),
        'OV311: "start" = 0, "stride" = 1, "end" = -1, "part_size" = 2 of input 1 takes parts that overlap or leave '
        "gaps\n  fix: let part_size be the absolute value of stride",
    ),
}


@pytest.mark.parametrize("what", PLUGIN_REFUSES)
def test_plugin_profile_refuses(what):
    sliced, message = PLUGIN_REFUSES[what]
    part = sliced["part_size"]
    slicing = Slicing("TensorIterator", 0, sliced, entry(0, -1, part, part), False)
    assert refusal(slicing, "openvino-cpu") == f"TensorIterator 'l' (line): {message}"


@pytest.mark.parametrize("sliced", [entry(0, -1, -1), entry(0, 7), entry(-8, -1), entry(1, -1, 2, 2), entry(3, 3)])
def test_plugin_profile_fails_where_a_run_knows_the_length(sliced):
    part = sliced["part_size"]
    slicing = Slicing("TensorIterator", 0, sliced, entry(0, -1, part, part), True)
    assert "'l: iterations by start, end and stride'" in refused_run(slicing, "openvino-cpu")
