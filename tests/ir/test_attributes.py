"""Names and defaults of the fields of ops."""

from __future__ import annotations

from msgspec import NODEFAULT, Struct

import whorl.ops
from whorl.ir.attributes import defaults
from whorl.ir.dtypes import single
from whorl.ir.graph import REGISTRY

assert whorl.ops


class _Point(Struct, frozen=True):
    x: int
    y: float = 0.5


class _Labelled(_Point, frozen=True):
    label: str = ""


def test_fields_have_their_defaults_in_order_inherited_ones_first():
    assert list(defaults(_Labelled).items()) == [("x", NODEFAULT), ("y", 0.5), ("label", "")]


def test_float_defaults_of_ops_are_float32():
    floats = {
        (cls.__name__, name): value
        for cls in REGISTRY.values()
        for name, value in defaults(cls).items()
        if isinstance(value, float)
    }
    assert len(floats) > 20
    assert {key: single(value) for key, value in floats.items()} == floats
