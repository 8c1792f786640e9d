"""FakeQuantize read."""

from __future__ import annotations

from whorl.formats.openvino.importing import IrNode, importer
from whorl.formats.openvino.ops.common import emit, like
from whorl.ir.build import Builder
from whorl.ir.graph import Value
from whorl.ops.elementwise.arithmetic import Add, Div, Max, Min, Mul, Round, Sub
from whorl.ops.elementwise.comparison import Greater, LessOrEqual, Where


@importer("FakeQuantize", 1)
def fake_quantize_1(node: IrNode, build: Builder) -> list[Value]:
    """x held inside the input range, as the nearest of `levels` numbers across the output range."""
    x, low, high, out_low, out_high = (node.required(n) for n in range(5))
    steps = like(build, x, node.integer("levels") - 1)
    span = build.add(Div(), build.add(Sub(), x, low), build.add(Sub(), high, low))
    level = build.add(Div(), build.add(Round(), build.add(Mul(), span, steps)), steps)
    inside = build.add(Add(), build.add(Mul(), level, build.add(Sub(), out_high, out_low)), out_low)
    least, most = (build.add_many(op, [low, high], ["bound"])[0] for op in (Min(), Max()))
    held = build.add(Where(), build.add(Greater(), x, most), out_high, inside)
    return emit(node, build, Where(), build.add(LessOrEqual(), x, least), out_low, held)
