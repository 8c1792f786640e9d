"""Ways to damage a model file: its bytes, its protobuf fields, XML elements, values of a document, tokens of a text."""

from __future__ import annotations

import copy
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any

import numpy as np
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import DecodeError, Message
from onnx import ModelProto, TensorProto

BYTES = (b"\x00", b"\xff", b"\x80", b"\x7f", b"\n", b"<", b'"', b"[" * 40, b"\xff" * 9 + b"\x01", b"\xed\xa0\x80")
WHOLE = (0, 1, -1, 2, 3, 7, 100, 1 << 31, -(1 << 31), 1 << 40, (1 << 63) - 1, -(1 << 63))
REAL = (0.0, -0.0, 1.0, -1.0, 0.5, 1e-30, 1e30, float("inf"), float("-inf"), float("nan"))
TEXTS = ("", "x", "nowhere", "Loop", "If", "Scan", "Identity", "Reshape", "Cast", "SAME_UPPER", "é\n", "a" * 3000, "..")
FRAGMENTS = (
    *("tensor<", "*x", "f32", "?", "dense<", "[", "]", "<", ">", "{", "}", "(", ")", "%0", "#1", "loc(", "none", "-"),
    *("0x", "1e9", "9" * 30, "04", '"', "onnx.If", "-> ", "^bb0", ":", "=", ",", "!onnx.Seq<", "i1", "complex<f32>"),
    *("V11", "sparse<", "\\", "\x00", "é", "// -----", "{-#", "tensor<9999999999999xi8>", "ui4", "%arg0", "none"),
)
WORDS = """
-1 0 1 2 3 4 7 -2 99 2147483648 9223372036854775807 9223372036854775808 -999999999999999999 ? ... 1..3 3..1 2,3 1,-1,1
0,9223372036854775807 x 1.5 nan inf true TRUE f32 f16 i64 i32 u4 boolean string u1 dynamic FP32 I64 opset1 opset5
opset99 Add Loop TensorIterator If Const Parameter Result ReadValue Assign Gather Concat Reshape Broadcast Range Split
current_iteration execution_condition extension é,\\,
"""
XML_TEXTS = ("", "9" * 5000, *WORDS.split())
DOCUMENT_VALUES: Sequence[Any] = (
    *(None, True, 0, -1, 3, 10**30, 1e300, float("inf"), float("nan"), "", "x", "__import__('os')", "1 / 0", "[1", "A"),
    *("numpy.zeros(10 ** 12)", "9 ** 9 ** 9", "linear", "onnx::Loop", "onnx::Nope", "onnx::Range", "(1,)", "(-1,)"),
    *("x" * 9000, [], {}, [1, 2], [[1], [1, 2]], ["a"], [None], {"a": 1}, {"nodes": {}}, {"type": "Always"}),
    *({"id": "A"}, {"linear": {"slope": 1}}, {"npz": "W"}, "(" * 500, "-" * 500 + "1"),
)
_TOKEN = re.compile(r'\s+|[%@#!^]?[\w.$]+|"(?:[^"\\]|\\.)*"|->|.', re.DOTALL)


def damage_bytes(data: bytes, random: Random) -> bytes:
    """One to six changes of bytes: other values, bits, pieces that are cut, dropped, doubled or moved."""
    actual = bytearray(data)
    for _ in range(random.choice((1, 1, 2, 3, 6))):
        at, length = random.randrange(len(actual) + 1), random.choice((1, 1, 2, 4, 16, 64))
        match random.randrange(7):
            case 0 if at < len(actual):
                actual[at] = random.randrange(256)
            case 1 if at < len(actual):
                actual[at] ^= 1 << random.randrange(8)
            case 2:
                del actual[at:]
            case 3:
                del actual[at : at + length]
            case 4:
                actual[at:at] = random.choice(BYTES)
            case 5:
                source = random.randrange(len(actual) + 1)
                actual[at:at] = actual[source : source + length]
            case 6:
                source = random.randrange(len(actual) + 1)
                actual[at : at + length] = actual[source : source + length]
    return bytes(actual)


# ---- protobuf ----------------------------------------------------------------------------------------------------


def damage_proto(data: bytes, random: Random) -> bytes:
    """A model of which some fields, at any depth, say something else; what is no protobuf is damaged by bytes."""
    model = ModelProto()
    try:
        model.ParseFromString(data)
    except DecodeError:
        return damage_bytes(data, random)
    for _ in range(random.choice((1, 1, 2, 3, 5))):
        messages = list(_messages(model))
        _damage_message(random.choice(messages), messages, random)
    return model.SerializeToString()


def _messages(message: Message) -> Iterator[Message]:
    yield message
    for field, value in message.ListFields():
        if field.type == FieldDescriptor.TYPE_MESSAGE:
            for inner in value if field.is_repeated else (value,):
                yield from _messages(inner)


def _damage_message(message: Message, messages: Sequence[Message], random: Random) -> None:
    passed = [field for field, _ in message.ListFields()]
    field = random.choice(passed if passed and random.random() < 0.85 else list(message.DESCRIPTOR.fields))
    if random.random() < 0.1:
        message.ClearField(field.name)
    elif field.is_repeated:
        _damage_list(getattr(message, field.name), field, messages, random)
    elif field.type == FieldDescriptor.TYPE_MESSAGE:
        getattr(message, field.name).CopyFrom(_another(field, messages, random))
    elif field.name == "raw_data" and random.random() < 0.7:
        message.raw_data = _elements(message, random)  # type: ignore[attr-defined]
    else:
        setattr(message, field.name, _scalar(field, messages, random))


def _elements(tensor: Any, random: Random) -> bytes:
    """As many bytes as a tensor has, as elements of which some are extreme."""
    width = 8 if tensor.data_type == TensorProto.INT64 else 4
    numbers = (random.choice(WHOLE) % (1 << 8 * width) for _ in range(len(tensor.raw_data) // width))
    return b"".join(number.to_bytes(width, "little") for number in numbers)


def damage_feed(feed: Any, random: Random) -> Any:
    """An integer tensor of which some elements are extreme; anything else as it is."""
    if not isinstance(feed, np.ndarray) or feed.dtype.kind not in "iu" or not feed.size:
        return feed
    actual = feed.copy()
    for _ in range(random.randint(1, 3)):
        actual.reshape(-1)[random.randrange(feed.size)] = np.array(random.choice(WHOLE)).astype(feed.dtype)
    return actual


def _another(field: FieldDescriptor, messages: Sequence[Message], random: Random) -> Message:
    """A message of a field's type from anywhere in the model, or an empty one; copied, since it may hold the field."""
    kinds = [message for message in messages if message.DESCRIPTOR is field.message_type]
    return copy.deepcopy(random.choice(kinds)) if kinds else field.message_type._concrete_class()


def _damage_list(entries: Any, field: FieldDescriptor, messages: Sequence[Message], random: Random) -> None:
    how = random.randrange(5)
    if how == 0 and len(entries):
        del entries[random.randrange(len(entries))]
    elif how == 1 and len(entries) > 1:
        remaining = list(entries)
        random.shuffle(remaining)
        del entries[:]
        entries.extend(remaining)
    elif how == 2 and len(entries):
        entries.append(entries[random.randrange(len(entries))])
    elif field.type == FieldDescriptor.TYPE_MESSAGE:
        entries.append(_another(field, messages, random))
    elif len(entries) and how == 3:
        entries[random.randrange(len(entries))] = _scalar(field, messages, random)
    else:
        entries.append(_scalar(field, messages, random))


def _scalar(field: FieldDescriptor, messages: Sequence[Message], random: Random) -> Any:
    match field.cpp_type:
        case FieldDescriptor.CPPTYPE_STRING:
            actual = _texts(messages)
            text = random.choice(actual if actual and random.random() < 0.7 else TEXTS)
            return text.encode() if field.type == FieldDescriptor.TYPE_BYTES else text
        case FieldDescriptor.CPPTYPE_FLOAT | FieldDescriptor.CPPTYPE_DOUBLE:
            return random.choice(REAL)
        case FieldDescriptor.CPPTYPE_INT64:
            return random.choice(WHOLE)
        case FieldDescriptor.CPPTYPE_UINT64:
            return abs(random.choice(WHOLE))
        case FieldDescriptor.CPPTYPE_ENUM:
            return random.choice([value.number for value in field.enum_type.values])
    return random.choice([number for number in WHOLE if -(1 << 31) <= number < 1 << 31] + list(range(4, 30)))


def _texts(messages: Sequence[Message]) -> list[str]:
    """Names that the model uses."""
    fields = ("name", "op_type", "domain", "dim_param", "input", "output")
    passed = [getattr(message, field) for message in messages for field in fields if hasattr(message, field)]
    texts = [entry for value in passed if not isinstance(value, Message) for entry in _entries(value)]
    return [entry for entry in texts if isinstance(entry, str)]


def _entries(value: Any) -> Sequence[Any]:
    return [value] if isinstance(value, str) else list(value) if hasattr(value, "__iter__") else []


# ---- XML, documents, tokens --------------------------------------------------------------------------------------


def damage_xml(data: bytes, random: Random) -> bytes:
    """A tree with other attributes and texts, or elements left out, doubled, moved, or inside each other."""
    root = ElementTree.fromstring(data)
    for _ in range(random.randint(1, 3)):
        elements = list(root.iter())
        parent = random.choice([element for element in elements if len(element)] or [root])
        child = random.choice(list(parent) or [parent])
        match random.randrange(7):
            case 0 | 1 | 2 if child.attrib:
                values = [value for element in elements for value in element.attrib.values()]
                child.set(random.choice(sorted(child.attrib)), random.choice((*XML_TEXTS, *random.sample(values, 3))))
            case 3 if child is not parent:
                parent.remove(child)
            case 4 if sum(1 for _ in child.iter()) < 400:
                parent.append(copy.deepcopy(child))
            case 5:
                other = random.choice(elements)
                if sum(1 for _ in other.iter()) < 400:
                    parent.insert(random.randrange(len(parent) + 1), copy.deepcopy(other))
            case 6:
                child.text = random.choice(XML_TEXTS)
    return ElementTree.tostring(root, "utf-8")


def damage_document(document: Any, random: Random) -> Any:
    """A copy of which some values at any depth are others, are missing, are under other keys, or are doubled."""
    actual = copy.deepcopy(document)
    for _ in range(random.choice((1, 1, 2, 3))):
        holders = [holder for holder in _holders(actual) if holder]
        if not holders:
            return actual
        holder = random.choice(holders)
        key = random.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
        other = random.choice(holders)
        match random.randrange(5):
            case 0:
                del holder[key]
            case 1 if isinstance(holder, dict):
                name = random.choice([name for each in holders if isinstance(each, dict) for name in each])
                holder[name] = holder.pop(key)
            case 2:
                holder[key] = copy.deepcopy(random.choice(list(other.values() if isinstance(other, dict) else other)))
            case _:
                holder[key] = copy.deepcopy(random.choice(DOCUMENT_VALUES))
    return actual


def _holders(value: Any) -> Iterator[Any]:
    if isinstance(value, dict | list):
        yield value
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _holders(inner)


def damage_tokens(text: str, random: Random) -> str:
    """A text of which some tokens are missing, doubled, exchanged, taken from elsewhere in it, or strange."""
    tokens = _TOKEN.findall(text)
    for _ in range(random.choice((1, 1, 2, 3, 4))):
        if not tokens:
            break
        at, length = random.randrange(len(tokens)), random.choice((1, 1, 1, 2, 5, 20))
        other = random.randrange(len(tokens))
        match random.randrange(5):
            case 0:
                del tokens[at : at + length]
            case 1:
                tokens[at:at] = tokens[at : at + length]
            case 2:
                tokens[at], tokens[other] = tokens[other], tokens[at]
            case 3:
                tokens[at : at + length] = tokens[other : other + length]
            case 4:
                tokens[at] = random.choice(FRAGMENTS)
    return "".join(tokens)


Damage = Callable[[Any, Random], Any]
