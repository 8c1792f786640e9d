"""Layers of two operands, and the choice between two."""

import numpy as np
import pytest
from formats.openvino.one_layer import Fixed, check_layer, check_node

from whorl.ops.elementwise.arithmetic import Add, Clip, Div, Max, Mean, Min, Mod, Mul, Sub, Sum
from whorl.ops.elementwise.comparison import Equal, Greater, GreaterOrEqual, Less, LessOrEqual, Where
from whorl.ops.elementwise.logic import And, BitShift, BitwiseAnd, BitwiseNot, BitwiseOr, BitwiseXor, Not, Or, Xor
from whorl.ops.elementwise.powers import Pow

ARITHMETIC = "Add", "Subtract", "Multiply", "Divide", "FloorMod", "Mod", "Power", "Maximum", "Minimum"
COMPARISONS = "Equal", "NotEqual", "Less", "LessEqual", "Greater", "GreaterEqual"
X = np.array([[7, -7, 7], [-7, 2, 9]])
Y = np.array([[2, 2, -2], [-2, -3, 3]])
TRUE_FALSE = np.array([True, True, False, False]), np.array([True, False, True, False])


@pytest.mark.parametrize("type", [*ARITHMETIC, *COMPARISONS, "SquaredDifference"])
@pytest.mark.parametrize("dtype", [np.float32, np.int32])
def test_numbers(type: str, dtype: type) -> None:
    check_layer(type, 1, [X.astype(dtype), (np.abs(Y) if type == "Power" else Y[0]).astype(dtype)])


@pytest.mark.parametrize("dtype", [np.float16, np.float64, np.int64, np.uint8])
def test_other_element_types(dtype: type) -> None:
    check_layer("Add", 1, [np.abs(X).astype(dtype), np.abs(Y).astype(dtype)])


@pytest.mark.parametrize("type", [*ARITHMETIC, *COMPARISONS, "SquaredDifference"])
def test_scalars_and_empty_tensors(type: str) -> None:
    check_layer(type, 1, [np.array(3, np.float32), np.array([1, 2, 4], np.float32)])
    check_layer(type, 1, [np.zeros((0, 3), np.float32), np.array([1, 2, 4], np.float32)])


def test_powers_of_bytes() -> None:
    check_layer("Power", 1, [np.array([1, 2, 3], np.uint8), np.array([2, 3, 4], np.uint8)])


def test_quotients_of_integers_are_truncated() -> None:
    x, y = np.array([-7, 7, -7], np.int32), np.array([2, -2, -2], np.int32)
    for floors in (True, False):
        check_layer("Divide", 1, [x, y], {"m_pythondiv": floors}, expected=[np.array([-3, -3, 3], np.int32)])


@pytest.mark.parametrize("type", ["Less", "GreaterEqual", "Equal", "LogicalAnd", "LogicalOr", "LogicalXor"])
def test_truth_values(type: str) -> None:
    check_layer(type, 1, TRUE_FALSE)


@pytest.mark.parametrize("type", ["BitwiseAnd", "BitwiseOr", "BitwiseXor"])
def test_bits(type: str) -> None:
    check_layer(type, 13, TRUE_FALSE)
    check_layer(type, 13, [X.astype(np.int32), Y.astype(np.int32)])


def test_shifts() -> None:
    x, y = np.array([1, -1, 5], np.int32), np.array([1, 3, 30], np.int32)
    check_layer("BitwiseLeftShift", 15, [x, y])
    check_layer("BitwiseRightShift", 15, [x, y])


@pytest.mark.parametrize(("shape", "axis"), [((2,), 0), ((2, 3), 0), ((2, 1), 0), ((2, 3, 4), 0), ((1,), 0)])
def test_right_operand_under_an_axis_of_the_left_one(shape: tuple[int, ...], axis: int) -> None:
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    y = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    check_layer("Add", 1, [x, y], {"auto_broadcast": "pdpd", "auto_broadcast.auto_broadcast_axis": axis})


def test_choice_broadcasts() -> None:
    condition = np.array([[True], [False]])
    check_layer("Select", 1, [condition, np.array([1, 2], np.float32), np.array(3, np.float32)])


OPS = [Add(), Sub(), Mul(), Div(), Mod(), Mod(1), Max(), Min(), Less(), LessOrEqual(), Greater(), GreaterOrEqual()]


@pytest.mark.parametrize("op", OPS, ids=repr)
@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.int8])
def test_ops_of_numbers_written(op: Add, dtype: type) -> None:
    check_node(op, [X.astype(dtype), Y[:, :1].astype(dtype)])


def test_constant_operand_written() -> None:
    check_node(Sub(), [X.astype(np.float32), Y[:, :1].astype(np.float32)], constants=[1])


def test_remainders_by_infinities_written() -> None:
    x = np.array([-3, 3, -1, 1, 0, np.inf, 5, np.nan], np.float32)
    y = np.array([np.inf, np.inf, -np.inf, -np.inf, np.inf, np.inf, -3, np.inf], np.float32)
    check_node(Mod(), [x, y])
    check_node(Mod(1), [x, y])


@pytest.mark.parametrize("op", [Add(), Sub(), Mul()], ids=repr)
@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
def test_short_integers_written_keep_the_low_bits(op: Add, dtype: type) -> None:
    check_node(op, [np.array([100, 3, 0]).astype(dtype), np.array([100, 5, 1]).astype(dtype)])


@pytest.mark.parametrize("op", [And(), Or(), Xor(), Equal()], ids=repr)
def test_ops_of_truth_values_written(op: And) -> None:
    check_node(op, list(TRUE_FALSE))


@pytest.mark.parametrize("op", [BitwiseAnd(), BitwiseOr(), BitwiseXor()], ids=repr)
def test_ops_of_bits_written(op: BitwiseAnd) -> None:
    check_node(op, [X.astype(np.int32), Y.astype(np.int32)])
    check_node(op, [np.abs(X).astype(np.uint8), np.abs(Y).astype(np.uint8)])


def test_negations_written() -> None:
    check_node(Not(), [TRUE_FALSE[0]])
    check_node(BitwiseNot(), [X.astype(np.int32)])
    check_node(BitwiseNot(), [np.abs(X).astype(np.uint8)])


@pytest.mark.parametrize("direction", ["LEFT", "RIGHT"])
@pytest.mark.parametrize("dtype", [np.int32, np.uint8])
def test_shifts_written_leave_nothing_beyond_the_width(direction: str, dtype: type) -> None:
    x, distance = np.array([1, 100, 9, 7]).astype(dtype), np.array([1, 2, 64, 0]).astype(dtype)
    check_node(BitShift(direction), [x, distance])
    check_node(BitShift(direction), [x, distance], constants=[1])


def test_negative_numbers_shifted_to_the_right() -> None:
    check_node(BitShift("RIGHT"), [np.array([-8, -8, -8], np.int32), np.array([1, 40, -1], np.int32)])


def test_powers_written_in_the_type_of_the_base() -> None:
    base = np.array([1, 2, 3])
    for dtype in (np.float32, np.int32):
        for other in (np.float32, np.int64):
            check_node(Pow(), [base.astype(dtype), np.array([2, 3, 1]).astype(other)])


@pytest.mark.parametrize("op", [Max(), Min(), Sum(), Mean()], ids=repr)
@pytest.mark.parametrize("count", [1, 3])
def test_any_number_of_operands_written(op: Sum, count: int) -> None:
    rows = [np.array([[k, -k, 2.0 * k]], np.float32) for k in range(count)]
    check_node(op, rows)


def test_choice_written() -> None:
    check_node(Where(), [np.array([[True], [False]]), np.array([1, 2], np.float32), np.array(3, np.float32)])


BOUNDS = [
    (np.float32(-1), np.float32(2)),
    (np.float32(-1), None),
    (None, np.float32(2)),
    (np.float32(3), np.float32(1)),
    (None, None),
]


@pytest.mark.parametrize("bounds", BOUNDS, ids=repr)
@pytest.mark.parametrize("constants", [(), (1, 2)])
@pytest.mark.parametrize("dtype", [np.float32, np.int8])
def test_bounds_written(bounds: tuple, constants: tuple[int, ...], dtype: type) -> None:
    low, high = (None if bound is None else np.asarray(bound).astype(dtype) for bound in bounds)
    check_node(Clip(), [X.astype(dtype), low, high], constants)


def test_constants_are_operands_too() -> None:
    check_layer("Add", 1, [X.astype(np.float32), Fixed(Y.astype(np.float32))])
