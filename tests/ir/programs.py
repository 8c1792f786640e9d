"""Programs in the text form that show every feature of it, and the error of a text that is none."""

from __future__ import annotations

import pytest

import whorl.ops
from whorl.errors import LoadError
from whorl.ir.parse import parse_module

assert whorl.ops

PROGRAMS = {
    "empty": """
() {
  return
}
""",
    "names": """
"main graph"(%x: float32[N], %12: float32[N], %/b/x.0': float32[N], %"input:0": float32[N], %"": float32[N]) {
  %"a \\"b\\" \\\\ c\\n": float32[N] = Add "add: 1" (%x, %"input:0")
  %x~1: float32[N] = Add(%x, %12)
  %x~2: float32[N] = Add(%x~1, %"")
  %"x~1": float32[N] = Add(%x~2, %/b/x.0')
  return "output:0" = %x~1, y = %x~2, z = %"x~1", z.1 = %"a \\"b\\" \\\\ c\\n"
}
""",
    "types": """
main(%a: float32[], %b: bfloat16[*], %c: int4[0, 3], %d: seq(string[?, 2])) {
  return a: float32[*] = %a, b: optional(bfloat16[?]) = %b, c = %c, d = %d
}
""",
    "types in types": """
main(%e: optional(seq(int64[*])), %f: map(int64, float32[]), %g: map(string, seq(map(int64, float8e4m3fn[2])))) {
  return e = %e, f = %f, g = %g
}
""",
    "dims": """
main(%x: float32[N, "N+1", "batch size", N+1, 2*N-3, M-N, 4]) {
  return x: float32[floor(N, 2), mod(N+1, M), min(M, N), max(0, N-2), 3*mul(M, N+1)+1, ?] = %x
}
""",
    "loop": """
main(%x: float32[N, 4], %n: int64[]) {
  %one: float32[] = Constant() {value = float32[] <1.0>}
  %y: float32[N, 4], %ys: float32[n, N, 4] = Loop "sum" (%n, _, %x, %one) {carried = 1, collected = (Collected(),)}
  body(%i: int64[], %go_on: bool[] {True}, %h: float32[N, 4], %step: float32[] {1.0}) {
    %h~1: float32[N, 4] = Add(%h, %step)
    return %go_on, %h~1, %h~1
  }
  return y = %y, ys: float32[T, N, 4] = %ys
}
""",
    "loop without outputs": """
main(%n: int64[]) {
  _ = Loop(%n, _)
  (%i: int64[], %go_on: bool[]) {
    return %go_on
  }
  return
}
""",
    "scan": """
main(%x: float32[N, 4]) {
  %y: float32[4, N] = Loop(_, _, %x) {scanned = (Scanned(axis = 1),), collected = (Collected(declared = float32[?]),)}
  body(%i: int64[], %go_on: bool[] {True}, %part: float32[N]) {
    return %go_on, %part
  }
  return y = %y
}
""",
    "slices that keep their axis, concatenation and last values": """
main(%x: float32[N, 4], %n: int64[]) {
  %last: float32[2, 4], %all: float32[A, 4] = Loop(%n, _, %x) \
{scanned = (Scanned(reverse = True, keep_axis = True, part = 2),), \
collected = (Collected(reverse = True, stack = False, part = 2),), last = 1, slices_suffice = True}
  body(%i: int64[], %go_on: bool[] {True}, %rows: float32[2, 4]) {
    return %go_on, %rows, %rows
  }
  return last = %last, all = %all
}
""",
    "nested": """
main(%n: int64[], %c: bool[]) {
  %s: int64[] = Loop "outer" (%n, %c, %n, %n) {carried = 1}
  body(%i: int64[], %go_on: bool[], %a: int64[], %n: int64[]) {
    %b: int64[] = If "choice" (%go_on, %a, %n)
    then_branch(%a: int64[], %n: int64[]) {
      %d: int64[] = Loop "inner" (%n, _, %a) {carried = 1}
      body(%i: int64[], %go_on: bool[], %a: int64[]) {
        %a~1: int64[] = Add(%a, %i)
        return %go_on, %a~1
      }
      return %d
    }
    else_branch(%a: int64[], %n: int64[]) {
      return %n
    }
    return %go_on, %b
  }
  return s = %s
}
""",
    "fields": """
main(%x: float32[1, 1, N, N], %w: float32[1, 1, 2, 2], %s: string[N]) {
  %a: float32[1, 1, N+1, N+1] = Conv(%x, %w) {pads = (1, 1, 1, 1), strides = (1, 1)}
  %b: float32[1, 1, N, N] = LeakyRelu(%x) {alpha = -inf}
  %c: float32[1, 1, N, N] = LeakyRelu(%x) {alpha = nan}
  %d: float32[1, 1, N, N] = LeakyRelu(%x) {alpha = 1e-30}
  %e: float16[1, 1, N, N] = Cast(%x) {to = float16}
  %f: string[N] = StringNormalizer(%s) {case_change_action = "LOWER", stopwords = ("the", "ä \\"q\\"")}
  %g: optional(seq(float32[?, 2])) = Optional() {type = seq(float32[?, 2])}
  %h: float32[1, 1, N, N] = Transpose(%x) {perm = ()}
  return a = %a, b = %b, c = %c, d = %d, e = %e, f = %f, g = %g, h = %h
}
""",
    "omitted inputs": """
main(%x: float32[N]) {
  %low: float32[] = Constant() {value = float32[] <-0.0>}
  %y: float32[N] = Clip(%x, _, %low)
  return y = %y
}
""",
    "tensors": """
main() {
  %a: float32[2, 2] = Constant() {value = float32[2, 2] <0.1 1e+20 nan -inf>}
  %b: string[3] = Constant() {value = string[3] <"" "a b" "\\"<>\\" \\\\ \\x00 \\ud800 ü">}
  %c: complex64[2] = Constant() {value = complex64[2] <0.1-0.0j nan+infj>}
  %d: bfloat16[2] = Constant() {value = bfloat16[2] <0.100098 3.38953e+38>}
  %e: int4[3] = Constant() {value = int4[3] <-8 0 7>}
  %f: uint64[1] = Constant() {value = uint64[1] <18446744073709551615>}
  %g: bool[2] = Constant() {value = bool[2] <True False>}
  %h: float64[0, 3] = Constant() {value = float64[0, 3] <>}
  %i: int64[] = Constant() {value = int64[] <-9223372036854775808>}
  return a = %a, b = %b, c = %c, d = %d, e = %e, f = %f, g = %g, h = %h, i = %i
}
""",
    "known elements": """
main(%x: float32[N, 2*M], %n: int64[] {3}, %f: float32[3] {0.5, nan, -inf}, %u: int64[*] {[2] N, ?}, %z: int64[0] {}) {
  %s: int64[2] {N, 2*M} = Shape(%x)
  %t: int64[2, 1] {N, 2*M} = Unsqueeze(%s, %n)
  return s = %s, t = %t
}
""",
    "sections": """
main(%x: float32[2], %"w:0": int64[2]) {
  return x = %x
}
defaults {"w:0" = int64[2] <1 2>, x = float32[2] <0.5 1.5>}
metadata {opsets = {"" = 17, ai.onnx.ml = 3}, description = "a \\"b\\"", properties = {"a key" = "v"}, ir_version = 8}
""",
}


def message_of(text: str, **options: int) -> str:
    """The message of the LoadError that the text ends in."""
    with pytest.raises(LoadError) as caught:
        parse_module(text, **options)
    return str(caught.value)
