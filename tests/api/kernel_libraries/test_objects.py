"""Handles, and the texts of tensors."""

import numpy as np
import pytest

from whorl.api.kernel_libraries.objects import Call, Tensor, TensorFact, empty, hold, release, resolve
from whorl.errors import RunError


def test_handle_is_of_one_kind_until_it_is_released():
    fact = TensorFact(1, [2])
    handle = hold(fact)
    assert resolve(handle, TensorFact) is fact
    with pytest.raises(RunError, match=f"{handle} is no handle of a Tensor"):
        resolve(handle, Tensor)
    release(handle)
    release(None)
    with pytest.raises(RunError, match="is no handle of a TensorFact"):
        resolve(handle, TensorFact)


def test_texts_go_through_bytes():
    texts = np.array([["a", "bé"], ["", "\udcff"]], object)
    tensor = Tensor(texts)
    assert tensor.all_texts() == [b"a", "bé".encode(), b"", b"\xff"]
    assert tensor.value().tolist() == texts.tolist()


def test_tensor_of_no_elements_and_of_no_axes():
    assert empty(8, [0]).value().shape == (0,)
    assert empty(8, []).value().item() == ""
    assert empty(1, [2, 0]).value().shape == (2, 0)
    with pytest.raises(RunError, match=r"a tensor has no lengths \(-1,\)"):
        empty(1, [-1])
    with pytest.raises(RunError, match="element type 99 is none of ONNX's"):
        empty(99, [1])


def test_handles_of_a_call_end_with_it():
    call = Call([np.ones(2, np.float32), None], [1])
    handle = call.handle(call.inputs[0])
    assert call.inputs[1] is None
    call.close()
    with pytest.raises(RunError):
        resolve(handle, Tensor)
