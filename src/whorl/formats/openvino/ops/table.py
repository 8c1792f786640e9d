"""The layers that map 1:1 to hub ops, in both directions; all others are written out in the rooms of this package."""

from __future__ import annotations

from typing import Any

from whorl.formats.openvino.ops.elementwise.arithmetic import (
    read_binary,
    read_bits,
    read_comparison,
    read_division,
    read_power,
    write_chain,
    write_in_int32,
    write_mod,
    write_power,
    write_shift,
)
from whorl.formats.openvino.ops.elementwise.functions import (
    read_bitwise_not,
    read_function,
    read_round,
    read_rounding,
    write_abs,
)
from whorl.formats.openvino.ops.elementwise.nonlinear import read_relu
from whorl.formats.openvino.ops.movement.blocks import (
    read_depth_to_space,
    read_reverse_sequence,
    read_space_to_depth,
)
from whorl.formats.openvino.ops.movement.gather import read_gather_elements, read_gather_nd
from whorl.formats.openvino.ops.movement.shapes import read_reshape
from whorl.formats.openvino.ops.reduce.cumulative import read_cum_sum, write_cum_sum
from whorl.formats.openvino.ops.reduce.reductions import read_reduction, write_reduction
from whorl.formats.openvino.ops.rows import Row, choice, flag, integer, number, register
from whorl.formats.openvino.ops.sequence.sequences import write_identity
from whorl.ops.elementwise.arithmetic import (
    Abs,
    Add,
    Ceil,
    Div,
    Floor,
    Identity,
    Max,
    Min,
    Mod,
    Mul,
    Neg,
    Round,
    Sign,
    Sub,
)
from whorl.ops.elementwise.comparison import Equal, Greater, GreaterOrEqual, IsInf, IsNaN, Less, LessOrEqual
from whorl.ops.elementwise.functions import (
    Acos,
    Acosh,
    Asin,
    Asinh,
    Atan,
    Atanh,
    Cos,
    Cosh,
    Erf,
    Exp,
    Log,
    Sin,
    Sinh,
    Sqrt,
    Tan,
    Tanh,
)
from whorl.ops.elementwise.logic import And, BitShift, BitwiseAnd, BitwiseNot, BitwiseOr, BitwiseXor, Not, Or, Xor
from whorl.ops.elementwise.nonlinear import Elu, Gelu, HardSwish, Mish, Relu, Sigmoid, Softplus, Softsign
from whorl.ops.elementwise.powers import Pow
from whorl.ops.movement.axes import Concat, ReverseSequence
from whorl.ops.movement.blocks import DepthToSpace, SpaceToDepth
from whorl.ops.movement.indexing import GatherElements, GatherND
from whorl.ops.movement.shapes import Reshape
from whorl.ops.reduce.cumulative import CumSum
from whorl.ops.reduce.normalization import GroupNormalization
from whorl.ops.reduce.reductions import ReduceL1, ReduceL2, ReduceMax, ReduceMean, ReduceMin, ReduceProd, ReduceSum
from whorl.ops.reduce.softmax import LogSoftmax, Softmax

NUMPY = {"auto_broadcast": "numpy"}
AXIS = (integer("axis"),)
KEEP = (flag("keepdims", "keep_dims"),)
BLOCKS = (
    integer("blocksize", "block_size", 1),
    choice("mode", {"blocks_first": "DCR", "depth_first": "CRD"}),
)
BATCH = (integer("batch_dims", default=0),)
GELU = (choice("approximate", {"ERF": "none", "TANH": "tanh"}, "approximation_mode", "erf"),)
BATCH_AND_TIME = (integer("batch_axis", default=0), integer("time_axis", "seq_axis", 1))

ROWS: tuple[Row[Any], ...] = (
    # arithmetic
    Row("Add", 1, Add, reads=read_binary, writes=write_in_int32, constants=NUMPY),
    Row("Subtract", 1, Sub, reads=read_binary, writes=write_in_int32, constants=NUMPY),
    Row("Multiply", 1, Mul, reads=read_binary, writes=write_in_int32, constants=NUMPY),
    Row("Divide", 1, Div, reads=read_division, writes=write_in_int32, constants=NUMPY | {"m_pythondiv": False}),
    Row("FloorMod", 1, Mod, reads=read_binary, writes=write_mod, only={"fmod": 0}, constants=NUMPY),
    Row("Mod", 1, Mod, reads=read_binary, writes=write_mod, only={"fmod": 1}, constants=NUMPY),
    Row("Power", 1, Pow, reads=read_power, writes=write_power, constants=NUMPY),
    Row("Maximum", 1, Max, reads=read_binary, writes=write_chain),
    Row("Minimum", 1, Min, reads=read_binary, writes=write_chain),
    # comparison, logic and bits
    Row("Less", 1, Less, reads=read_comparison, constants=NUMPY),
    Row("LessEqual", 1, LessOrEqual, reads=read_comparison, constants=NUMPY),
    Row("Greater", 1, Greater, reads=read_comparison, constants=NUMPY),
    Row("GreaterEqual", 1, GreaterOrEqual, reads=read_comparison, constants=NUMPY),
    Row("Equal", 1, Equal, reads=read_binary, constants=NUMPY),
    Row("LogicalAnd", 1, And, reads=read_binary, constants=NUMPY),
    Row("LogicalOr", 1, Or, reads=read_binary, constants=NUMPY),
    Row("LogicalXor", 1, Xor, reads=read_binary, written=2, constants=NUMPY),
    Row("Xor", 1, Xor, reads=read_binary, written=0),
    Row("LogicalNot", 1, Not),
    Row("BitwiseAnd", 13, BitwiseAnd, reads=read_bits, constants=NUMPY),
    Row("BitwiseOr", 13, BitwiseOr, reads=read_bits, constants=NUMPY),
    Row("BitwiseXor", 13, BitwiseXor, reads=read_bits, constants=NUMPY),
    Row("BitwiseNot", 13, BitwiseNot, reads=read_bitwise_not),
    Row("BitwiseLeftShift", 15, BitShift, (), read_binary, write_shift, only={"direction": "LEFT"}, constants=NUMPY),
    Row("BitwiseRightShift", 15, BitShift, (), read_binary, write_shift, only={"direction": "RIGHT"}, constants=NUMPY),
    # functions of one number
    Row("Abs", 1, Abs, writes=write_abs),
    Row("Acos", 1, Acos, reads=read_function),
    Row("Acosh", 3, Acosh, reads=read_function, written=4),
    Row("Asin", 1, Asin, reads=read_function),
    Row("Asinh", 3, Asinh, reads=read_function, written=4),
    Row("Atan", 1, Atan, reads=read_function),
    Row("Atanh", 3, Atanh, reads=read_function, written=4),
    Row("Ceiling", 1, Ceil, reads=read_rounding),
    Row("Cos", 1, Cos, reads=read_function),
    Row("Cosh", 1, Cosh, reads=read_function),
    Row("Erf", 1, Erf, reads=read_function),
    Row("Exp", 1, Exp, reads=read_function),
    Row("Floor", 1, Floor, reads=read_rounding),
    Row("Identity", 16, Identity, writes=write_identity),
    Row("IsInf", 10, IsInf, (flag("detect_negative", default=True), flag("detect_positive", default=True))),
    Row("IsNaN", 10, IsNaN),
    Row("Log", 1, Log, reads=read_function),
    Row("Negative", 1, Neg, writes=write_in_int32),
    Row("Round", 5, Round, reads=read_round, constants={"mode": "half_to_even"}),
    Row("Sign", 1, Sign),
    Row("Sin", 1, Sin, reads=read_function),
    Row("Sinh", 1, Sinh, reads=read_function),
    Row("Sqrt", 1, Sqrt, reads=read_function),
    Row("Tan", 1, Tan, reads=read_function),
    Row("Tanh", 1, Tanh, reads=read_function),
    # activations
    Row("Elu", 1, Elu, (number("alpha"),), read_function),
    Row("Gelu", 7, Gelu, GELU, read_function),
    Row("Gelu", 2, Gelu, reads=read_function, written=0),
    Row("HSwish", 4, HardSwish, reads=read_function),
    Row("LogSoftmax", 5, LogSoftmax, (integer("axis", default=1),)),
    Row("Mish", 4, Mish, reads=read_function),
    Row("ReLU", 1, Relu, reads=read_relu),
    Row("Sigmoid", 1, Sigmoid, reads=read_function),
    Row("SoftMax", (1, 8), Softmax, (integer("axis", default=1),)),
    Row("SoftPlus", 4, Softplus, reads=read_function),
    Row("SoftSign", 9, Softsign, reads=read_function),
    # along axes
    Row("CumSum", 3, CumSum, (flag("exclusive"), flag("reverse")), read_cum_sum, write_cum_sum),
    Row("GroupNormalization", 12, GroupNormalization, (integer("num_groups"), number("epsilon")), inputs=3),
    Row("ReduceL1", 4, ReduceL1, KEEP, read_reduction, write_reduction),
    Row("ReduceL2", 4, ReduceL2, KEEP, read_reduction, write_reduction),
    Row("ReduceMax", 1, ReduceMax, KEEP, read_reduction, write_reduction),
    Row("ReduceMean", 1, ReduceMean, KEEP, read_reduction, write_reduction),
    Row("ReduceMin", 1, ReduceMin, KEEP, read_reduction, write_reduction),
    Row("ReduceProd", 1, ReduceProd, KEEP, read_reduction, write_reduction),
    Row("ReduceSum", 1, ReduceSum, KEEP, read_reduction, write_reduction),
    Row("ReduceLogicalAnd", 1, ReduceMin, KEEP, read_reduction, written=0),
    Row("ReduceLogicalOr", 1, ReduceMax, KEEP, read_reduction, written=0),
    # moving elements
    Row("Concat", 1, Concat, AXIS, inputs=None),
    Row("DepthToSpace", 1, DepthToSpace, BLOCKS, read_depth_to_space),
    Row("GatherElements", 6, GatherElements, AXIS, read_gather_elements),
    Row("GatherND", 8, GatherND, BATCH, read_gather_nd),
    Row("Reshape", 1, Reshape, (flag("allowzero", "special_zero", opposite=True),), read_reshape),
    Row("ReverseSequence", 1, ReverseSequence, BATCH_AND_TIME, read_reverse_sequence),
    Row("SpaceToDepth", 1, SpaceToDepth, BLOCKS, read_space_to_depth),
)

register(ROWS)
