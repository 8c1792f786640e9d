"""How often the body of a Loop or TensorIterator runs."""

import numpy as np
import pytest
from formats.openvino.control_text import FINAL, PART, PARTS, STATE, X, looped, refusal, run

from whorl.errors import RunError

PARTS_OF_IT = PARTS | {"external_port_id": 3}
OUTPUTS = (FINAL | {"external_port_id": 2}, PARTS_OF_IT)


NUMBERS = {"i32": np.int32, "i64": np.int64}


@pytest.mark.parametrize("n", [0, 1, 3])
@pytest.mark.parametrize("shape", ["", "1"])
@pytest.mark.parametrize("type", NUMBERS)
def test_loop_runs_so_often(type: str, shape: str, n: int) -> None:
    number = np.array(n, NUMBERS[type]).reshape([1] * bool(shape))
    _, parts = run(looped(trip=(shape, type)), n=number, go=np.array(True))
    assert len(parts) == n


@pytest.mark.parametrize("n", [-1, -7])
@pytest.mark.parametrize("type", NUMBERS)
def test_loop_of_a_negative_number_has_no_end(type: str, n: int) -> None:
    """So it reaches for a slice behind the last of four."""
    with pytest.raises(RunError, match="iteration 4 takes a slice of scanned input 0, which has 4"):
        run(looped(trip=("", type)), n=np.array(n, NUMBERS[type]), go=np.array(True))


@pytest.mark.parametrize(
    ("trip", "message"),
    [
        (("", "f32"), "Unsupported element type for trip_count input. Expected int32 or int64. It is float32[]"),
        (("1,1", "i64"), "Rank of TripCount input must be equal to 0 or 1, it is 2"),
        (("2", "i64"), "The number of values in the TripCount is not 1: it is int64[2]"),
    ],
)
def test_number_that_is_none_is_refused(trip: tuple[str, str], message: str) -> None:
    assert refusal(looped(trip=trip)).startswith(f"Loop 'l' (line): OV318: {message}")


@pytest.mark.parametrize("size", [1, 2])
def test_iterator_runs_once_for_each_slice(size: int) -> None:
    part = PART | {"external_port_id": 1, "part_size": size, "stride": size}
    xml = looped(
        (STATE | {"external_port_id": 0}, part),
        (FINAL | {"external_port_id": 2},),
        kind="TensorIterator",
        ports=("FP32",),
    )
    (final,) = run(xml)
    assert final.tolist() == np.broadcast_to(X.reshape(-1, size, 3).sum(0), (2, 3)).tolist()


def test_iterators_of_several_lengths_are_refused() -> None:
    state = STATE | {"external_port_id": 0, "axis": 0}
    xml = looped(
        (state, PART | {"external_port_id": 1}), OUTPUTS, kind="TensorIterator", back=(), shapes=("2,3", "4,3")
    )
    assert refusal(xml).startswith(
        "TensorIterator 'l' (line): OV313: There are at least two different iterations numbers: 2 and 4"
    )


def test_condition_that_is_false_from_the_start_runs_nothing() -> None:
    assert len(run(looped(), n=np.array(2), go=np.array(False))[1]) == 0
