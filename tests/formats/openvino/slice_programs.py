"""IR files of one Loop or TensorIterator whose input is sliced by any start, end, stride, part_size and axis."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

import numpy as np
from formats.openvino.control_text import TRUE, WEIGHTS, looped
from formats.openvino.ir_text import layer, parameter, result

Entry = dict[str, int]


@dataclass(frozen=True)
class Slicing:
    """What a port map says of a sliced input and of the concatenation of its parts; `lengths` are those of the runs.

    `is_open`: the file leaves the length open. `sliced` is None where the input goes in whole.
    """

    kind: str
    axis: int
    sliced: Entry | None
    combined: Entry
    is_open: bool
    lengths: tuple[int, ...] = (6,)
    trip: int = 2
    gives_last: bool = True

    @property
    def part(self) -> int:
        """The rows of a part."""
        return 1 if self.sliced is None else self.sliced["part_size"]

    def xml(self) -> bytes:
        """A program with a state (a sum of parts), the parts joined, and the last part, if wanted."""
        first = 2 if self.kind == "Loop" else 0
        part = self._shape(self.part)
        layers = [parameter(0, part), parameter(1, part), layer(2, "Add", 2), result(3), result(4), result(6)]
        edges = "0:0-2:0 1:0-2:1 2:2-3:0 1:0-4:0 1:0-6:0"
        state = {"external_port_id": first, "internal_layer_id": 0}
        rows = {"external_port_id": first + 1, "internal_layer_id": 1}
        outputs = [
            {"external_port_id": first + 2, "internal_layer_id": 3},
            {"external_port_id": first + 3, "internal_layer_id": 4, "axis": self.axis} | self.combined,
            {"external_port_id": first + 4, "internal_layer_id": 6},
        ]
        outputs = outputs[: 2 + self.gives_last]
        if self.kind == "Loop":
            layers, edges = [*layers, TRUE, result(5)], f"{edges} 20:0-5:0"
            outputs.append({"external_port_id": -1, "internal_layer_id": 5, "purpose": "execution_condition"})
        whole = part if self.sliced is None else self._shape("?" if self.is_open else self.lengths[0])
        return looped(
            inputs=(state, rows if self.sliced is None else rows | {"axis": self.axis} | self.sliced),
            outputs=outputs,
            body=(layers, edges),
            kind=self.kind,
            shapes=(part, whole),
            ports=("FP32",) * (2 + self.gives_last),
        )

    def runs(self) -> list[list[np.ndarray]]:
        """The inputs of each run, by position."""
        first = [np.array(self.trip, np.int64), np.array(True)] if self.kind == "Loop" else []
        return [[*first, self._array(self.part, 0), self._array(length, 1)] for length in self._rows()]

    def _rows(self) -> tuple[int, ...]:
        return (self.part,) if self.sliced is None else self.lengths

    def _shape(self, rows: int | str) -> str:
        return f"{rows},3" if self.axis == 0 else f"3,{rows}"

    def _array(self, rows: int, factor: int) -> np.ndarray:
        x = factor * np.arange(1, 3 * rows + 1, dtype=np.float32).reshape(rows, 3)
        return x if self.axis == 0 else np.ascontiguousarray(x.T)


def entry(start: int = 0, end: int = -1, stride: int = 1, part: int = 1) -> Entry:
    return {"start": start, "end": end, "stride": stride, "part_size": part}


STARTS = (-7, -6, -4, -2, -1, 0, 1, 2, 3, 5, 6, 7)
ENDS = (-8, -7, -5, -3, -2, -1, 0, 1, 2, 4, 6, 7)
STRIDES = ((1, 1), (-1, 1), (2, 2), (-2, 2), (3, 3), (-3, 3), (2, 1), (1, 2), (-1, 2), (0, 1))
"""Strides with part sizes."""


def slicings(kind: str, count: int, seed: int) -> list[Slicing]:
    """Draws, half of them of an open length; every other one has ends that may be right."""
    rng, actual = Random(seed), list[Slicing]()
    for k in range(count):
        stride, part = rng.choice(STRIDES[:6] if k % 4 else STRIDES)
        start, end = rng.choice(STARTS), rng.choice(ENDS)
        if k % 2 and stride > 0:
            start, end = rng.choice((-7, 0, 0, 1, 2, 3)), rng.choice((-1, -1, -2, -3, 6, 4))
        elif k % 2:
            start, end = rng.choice((-1, -1, -2, -3, 6, 4)), rng.choice((0, 0, -7, 1, 2, 3))
        sliced = entry(start, end, stride, part)
        whole = entry(0, -1, part, part), entry(-1, 0, -part, part), sliced
        axis = rng.choice((0, 0, 0, 1, 1, 1, -1))
        is_open = k % 4 > 1
        lengths = (6, 5) if is_open else (6,)
        actual.append(Slicing(kind, axis, sliced, rng.choice(whole), is_open, lengths, rng.choice((0, 1, 2, 3, 6))))
    return actual


__all__ = ["WEIGHTS", "Slicing", "entry", "slicings"]
