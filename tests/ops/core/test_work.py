"""The bound of the work of an op decides on which thread it runs."""

import threading

import numpy as np

from whorl.ir.types import TensorType
from whorl.ops.core import work
from whorl.ops.core.work import SMALL, Effort
from whorl.ops.elementwise.arithmetic import Neg
from whorl.ops.movement.filling import Range

F32 = np.dtype(np.float32)


def nothing() -> None:
    pass


def threads_of(effort, inputs):
    """Whether a function of these inputs runs in this thread."""
    return effort.run(lambda *_: threading.get_ident(), inputs, nothing) == threading.get_ident()


def test_op_on_small_tensors_runs_where_it_is():
    assert threads_of(Effort(Neg(), [TensorType(F32, (4,))]), [np.zeros(4, F32)])


def test_op_on_a_large_tensor_runs_aside_until_it_was_quick(monkeypatch):
    monkeypatch.setattr(work, "QUICK", 60.0)
    effort, x = Effort(Neg(), [TensorType(F32, ("n",))]), np.zeros(1 << SMALL, F32)
    assert not threads_of(effort, [x])
    assert threads_of(effort, [x])
    assert not threads_of(effort, [np.zeros(1 << SMALL + 1, F32)])


def test_numbers_that_say_how_long_a_result_is_count():
    effort = Effort(Range(), [TensorType(F32, ("n",))])
    few, many, dense = ([np.float32(x) for x in case] for case in ((0, 9, 1), (0, 1e9, 1), (0, 1, 1e-30)))
    assert effort.is_quick([np.asarray(x) for x in few])
    assert not effort.is_quick([np.asarray(x) for x in many])
    assert not effort.is_quick([np.asarray(x) for x in dense])
