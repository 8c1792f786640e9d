"""The guards answer as `isinstance` does, for values of every class that runs produce."""

import numpy as np
import pytest

from whorl.ir import guards

VALUES = {
    "is_array": np.zeros(2),
    "is_scalar": np.float32(1),
    "is_list": [np.zeros(2)],
    "is_tuple": (1, 2),
    "is_dict": {"a": 1.0},
    "is_dtype": np.dtype("int8"),
}


@pytest.mark.parametrize("guard", VALUES)
def test_a_guard_takes_its_own_class_alone(guard: str) -> None:
    taken = [name for name, value in VALUES.items() if getattr(guards, guard)(value)]
    assert taken == [guard]


@pytest.mark.parametrize("guard", VALUES)
def test_no_guard_takes_none_or_a_class(guard: str) -> None:
    assert not getattr(guards, guard)(None)
    assert not getattr(guards, guard)(np.ndarray)
