"""Streams of random ops as values: loops carry them, branches hand them on."""

from __future__ import annotations

from whorl.ir.graph import Module
from whorl.ir.parse import parse_module
from whorl.ir.text import print_module
from whorl.ir.verify import verify
from whorl.passes.open_streams import open_streams


def opened(text: str) -> str:
    """The program with streams, without the elements of constants; the module itself stays as it is."""
    module = parse_module(text)
    result = Module(open_streams(module), module.output_names)
    verify(result)
    assert print_module(module).strip() == text.strip()
    return print_module(result, elide=4)


def test_loop_carries_the_stream_that_begins_at_a_seed() -> None:
    assert opened("""
main(%x: float32[n], %count: int64[]) {
  %y: float32[n] = Loop(%count, _, %x) {carried = 1}
  body(%i: int64[], %go: bool[] {True}, %h: float32[n]) {
    %r: bool[n] = Bernoulli "noise" (%h) {seed = 1.0, dtype = bool}
    %s: float32[n] = Where(%r, %h, %h)
    return %go, %s
  }
  return y = %y
}
""") == (
        """\
main(%x: float32[n], %count: int64[]) {
  %stream: uint32[628] = Constant "stream" () {value = uint32[628] <...>}
  %y: float32[n], %stream~1: uint32[628] = Loop(%count, _, %x, %stream) {carried = 2}
  body(%i: int64[], %go: bool[] {True}, %h: float32[n], %stream: uint32[628]) {
    %Shape: int64[1] {n} = Shape "noise" (%h)
    %numbers: float64[n], %stream~1: uint32[628] = DrawUniform "noise" (%stream, %Shape)
    %Cast: float64[n] = Cast "noise" (%h) {to = float64}
    %r: bool[n] = Less "noise" (%numbers, %Cast)
    %s: float32[n] = Where(%r, %h, %h)
    return %go, %s, %stream~1
  }
  return y = %y
}
"""
    )


def test_branch_that_draws_nothing_hands_the_stream_on() -> None:
    assert opened("""
main(%x: float32[2, n], %odd: bool[]) {
  %y: int32[2, 3] = If(%odd, %x)
  then(%a: float32[2, n]) {
    %b: int32[2, 3] = Multinomial "choose" (%a) {sample_size = 3}
    return %b
  }
  else(%a: float32[2, n]) {
    %c: int32[2, 3] = Constant() {value = int32[2, 3] <1 2 3 4 5 6>}
    return %c
  }
  return y = %y
}
""") == (
        """\
main(%x: float32[2, n], %odd: bool[]) {
  %stream: uint32[628] = NewStream "stream" ()
  %y: int32[2, 3], %stream~1: uint32[628] = If(%odd, %x, %stream)
  then(%a: float32[2, n], %stream: uint32[628]) {
    %b: int32[2, 3], %stream~1: uint32[628] = Multinomial "choose" (%stream, %a) {dtype = int32, count = 3}
    return %b, %stream~1
  }
  else(%a: float32[2, n], %stream: uint32[628]) {
    %c: int32[2, 3] = Constant() {value = int32[2, 3] <...>}
    return %c, %stream
  }
  return y = %y
}
"""
    )


def test_draw_that_numpy_refuses_remains() -> None:
    text = """
main() {
  %y: float32[2] = RandomNormal() {seed = 1.0, scale = -1.0, shape = (2,)}
  return y = %y
}
"""
    assert opened(text).strip() == text.strip()
