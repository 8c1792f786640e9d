"""Sequences as tensors of IR: joined by loops, carried as rows, or as so many tensors."""

from itertools import product

import pytest
from formats.openvino.onnx_models import agree, module_of, number, rows

import whorl
from whorl.errors import SaveError


@pytest.mark.parametrize(("axis", "new"), [(0, 0), (1, 0), (-1, 0), (0, 1), (1, 1), (2, 1)])
def test_elements_appended_by_a_loop_are_combined(axis, new, engine, tmp_path):
    text = f"""g (int64 n, float[K,2] a) => (float[?,?] p, int64 length) {{
      none = SequenceEmpty<dtype = 1>()
      s = Loop(n, "", none) <body = b (int64 i, bool c, seq(float[?,?]) x) => (bool c2, seq(float[?,?]) y) {{
        f = Cast<to = 1>(i) e = Add(a, f) y = SequenceInsert(x, e) c2 = Identity(c) }}>
      p = ConcatFromSequence<axis = {axis}, new_axis = {new}>(s) length = SequenceLength(s) }}"""
    text = text.replace("float[?,?] p", "float[?,?,?] p") if new else text
    runs = [{"n": number(k), "a": rows(size, 2)} for k, size in product((1, 2, 3), (1, 2, 3, 0))]
    agree(engine, text, tmp_path / "m.xml", runs)


def test_a_sequence_that_is_read_goes_round_as_rows(engine, tmp_path):
    text = """g (int64 n, float[2] a) => (float[?,?] p, int64 length, int64[?] lengths) {
      two = SequenceConstruct(a, a)
      s, lengths = Loop(n, "", two) <body = b (int64 i, bool c, seq(float[?]) x)
          => (bool c2, seq(float[?]) y, int64 l) {
        one = Constant<value_int = 1>() f = SequenceAt(x, one) e = Add(a, f) x1 = SequenceInsert(x, e, i)
        x2 = SequenceInsert(x1, f) last = Constant<value_int = -1>() y = SequenceErase(x2, last)
        l = SequenceLength(y) c2 = Identity(c) }>
      p = ConcatFromSequence<axis = 0, new_axis = 1>(s) length = SequenceLength(s) }"""
    agree(engine, text, tmp_path / "m.xml", [{"n": number(k), "a": rows(2)} for k in (0, 1, 2, 3, 0)])


def test_a_sequence_that_begins_empty_has_elements_of_what_is_put_in(engine, tmp_path):
    text = """g (int64 n, float[2] a) => (float[?,?] p, int64[?] lengths) {
      none = SequenceEmpty<dtype = 1>()
      s, lengths = Loop(n, "", none) <body = b (int64 i, bool c, seq(float[?]) x)
          => (bool c2, seq(float[?]) y, int64 l) {
        e = Add(a, a) y = SequenceInsert(x, e, i) l = SequenceLength(x) c2 = Identity(c) }>
      p = ConcatFromSequence<axis = 0, new_axis = 1>(s) }"""
    agree(engine, text, tmp_path / "m.xml", [{"n": number(k), "a": rows(2)} for k in (1, 2, 3)])


def test_branches_that_give_sequences_of_different_lengths(engine, tmp_path):
    text = """g (bool c, float[3,2] a) => (float[?,?] p, int64 length) {
      s0 = SplitToSequence<axis = 0, keepdims = 0>(a)
      s = If(c)<then_branch = t () => (seq(float[?]) x) {
                  k = Constant<value_floats = [7.0, 8.0]>() x = SequenceInsert(s0, k) },
                else_branch = e () => (seq(float[?]) y) { y = Identity(s0) }>
      p = ConcatFromSequence<axis = 0, new_axis = 1>(s) length = SequenceLength(s) }"""
    runs = [{"c": (number(k) > 0), "a": rows(3, 2)} for k in (0, 1)]
    agree(engine, text, tmp_path / "m.xml", runs)


def test_elements_of_different_shapes_are_refused(tmp_path):
    text = """g (int64 n, float[2] a, float[3] b) => (float[?] p) {
      two = SequenceConstruct(a, b)
      s = Loop(n, "", two) <body = b (int64 i, bool c, seq(float[?]) x) => (bool c2, seq(float[?]) y) {
        y = SequenceInsert(x, a, i) c2 = Identity(c) }>
      p = ConcatFromSequence<axis = 0>(s) }"""
    with pytest.raises(SaveError) as caught:
        whorl.save(module_of(text), tmp_path / "m.xml")
    assert str(caught.value) == (
        "Loop 's': a sequence holds float32[2] and float32[3]\n"
        "  fix: OpenVINO has only tensors: use elements of one fixed shape"
    )
