"""Routines of kernels are written once for all programs, and again where writing them was broken off."""

from __future__ import annotations

import pytest

from whorl.codegen.routines import Routines, define_routine
from whorl.ir.dtypes import FLOAT32
from whorl.ir.native.expressions import Buffer, index_const
from whorl.kernel.program import Call
from whorl.kernels.convolution import tile
from whorl.llvm.module import Machine, Module

MACHINE = Machine(32, True)
X = Buffer("x", FLOAT32, (1 << 20,))
PRODUCT = Call("packed_matmul", [(X, (index_const(0),))] * 3, (100, 8, 32, 32))


def test_programs_share_the_text_of_a_routine() -> None:
    routines, first, second, own = Routines(MACHINE), Module(MACHINE), Module(MACHINE), Module(MACHINE)
    name = routines.add_to(first, PRODUCT)
    assert name == routines.add_to(second, PRODUCT) == routines.add_to(second, PRODUCT)
    (one, texts), (_, others) = first.split(), second.split()
    assert f"declare i64 {name}(" in one.text and "define" not in one.text
    assert all(texts[key] is others[key] for key in (*texts, *others))
    assert define_routine(PRODUCT, own) == name
    assert own.split()[1] == texts, "the text is the one that the program would have of its own"


def test_routine_that_was_half_written_is_written_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    routines, module = Routines(MACHINE), Module(MACHINE)
    call = Call("convolution", [(X, (index_const(0),))] * 6, (8, 9, 0, 64, 100, 1, 8, 8, 8, 8))
    with monkeypatch.context() as patch:
        patch.setattr(tile, "_finish_tile", interrupt)
        with pytest.raises(KeyboardInterrupt):
            routines.add_to(module, call)
    routines.add_to(module, call)
    own = Module(MACHINE)
    define_routine(call, own)
    assert module.split()[1] == own.split()[1]
