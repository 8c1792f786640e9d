"""Structs as bytes and back: equal, one object where they were one, and nothing else than known classes."""

import msgspec
import numpy as np
import pytest

from whorl.ir import dims
from whorl.ir.dims import UNKNOWN, Linear
from whorl.ir.dtypes import BY_NAME, FLOAT32, INT64
from whorl.ir.native.expressions import Apply, Buffer, Const, Var
from whorl.ir.types import UNRANKED, TensorType
from whorl.runtime.compiled.encoding import Decoder, Encoder

CLASSES = (Linear, dims.Call, TensorType, Buffer, Const, Var, Apply)


def again(value: object) -> object:
    return Decoder(CLASSES).decode(Encoder(CLASSES).encode(value))


@pytest.mark.parametrize(
    "value",
    [
        *(None, True, False, 0, -1, 2**63 - 1, 1.5, float("inf"), -0.0, "", "naïve", b"", b"\0\xff"),
        *((), [], {}, (1, (2, [3, {}])), {"a": (1,), 2: None, (3, 4): "tuple"}),
        *BY_NAME.values(),
        *(dims.name("n") * 2 + 1, dims.call("floor", dims.name("n"), 3), TensorType(FLOAT32, (2, dims.name("m")))),
    ],
    ids=repr,
)
def test_value_is_what_it_was(value: object) -> None:
    result = again(value)
    assert result == value and type(result) is type(value) and repr(result) == repr(value)


def test_unknown_dims_and_shapes_are_the_only_ones() -> None:
    dim, shape = again((UNKNOWN, UNRANKED))  # type: ignore[misc]
    assert dim is UNKNOWN
    assert shape is UNRANKED


def test_true_is_no_number_and_a_number_no_truth() -> None:
    assert [type(x) for x in again([True, 1, 1.0])] == [bool, int, float]  # type: ignore[attr-defined]


def test_object_that_is_referred_to_twice_is_one_object() -> None:
    i = Var(INT64, "i")
    total = Apply(INT64, "add", (i, i))
    first, (second, third) = again((i, (total, total)))  # type: ignore[misc]
    assert second is third and second.args == (first, first)


def test_equal_objects_stay_two() -> None:
    first, second = again((Const(INT64, 1), Const(INT64, 1)))  # type: ignore[misc]
    assert first is not second


def test_key_of_a_dictionary_is_the_object_elsewhere() -> None:
    buffer = Buffer("x", FLOAT32, (2,))
    (key,), table = again(([buffer], {buffer: (1, 2)}))  # type: ignore[misc]
    assert table[key] == (1, 2)


def _class_name(value: object) -> str:
    return type(value).__name__


class Foreign(msgspec.Struct):
    """A class that the encoder does not know."""


@pytest.mark.parametrize(
    "value", [object(), {1, 2}, np.zeros(2), Foreign(), np.dtype("datetime64[s]")], ids=_class_name
)
def test_value_of_no_known_class_is_refused(value: object) -> None:
    with pytest.raises(TypeError, match="cannot be written"):
        Encoder(CLASSES).encode((1, value))


def test_bytes_that_no_encoder_wrote_are_no_value() -> None:
    whole = Encoder(CLASSES).encode((dims.name("n"), TensorType(FLOAT32, (2,)), {"a": [1, 2]}))
    for data in (b"", b"\xc1", whole[:-1], msgspec.msgpack.encode([9]), msgspec.msgpack.encode([99])):
        with pytest.raises(ValueError, match="the bytes are no value"):
            Decoder(CLASSES).decode(data)


def test_items_that_make_no_sense_are_no_value() -> None:
    for items in ([], [2, -1], [2, "x"], [5, "float99"], [6, 0], ["x"], [None], [4, 1, 3, 0, 0]):
        with pytest.raises(ValueError, match="the bytes are no value"):
            Decoder(CLASSES).decode(msgspec.msgpack.encode(items))
