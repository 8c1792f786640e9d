"""Random numbers of a model, by seed, place and evaluation: the same however and wherever a model runs."""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from whorl.errors import RunError, UnsupportedError
from whorl.ir.graph import Value
from whorl.ir.types import tensor
from whorl.mdf.compile.scope import Scope, Traced, element_shape
from whorl.mdf.expressions.arrays import Draw, evaluate
from whorl.mdf.expressions.nodes import emit
from whorl.mdf.functions.table import MAX_ELEMENTS
from whorl.mdf.model import Datum, Graph
from whorl.mdf.random.distributions import draw_of
from whorl.mdf.random.philox import UINT64, WORD, InHub, OnArrays, philox, uniforms
from whorl.ops.elementwise.casting import Cast
from whorl.ops.movement.indexing import Gather

DRAWING = "numpy.random.", "np.random.", "drift_diffusion_integrator"
"""What an expression or a function's name has in it that draws."""
Replay = Mapping[str, np.ndarray]
"""Numbers by place ("node.part", from the second draw of a part on "node.part.1") with a row for each evaluation."""


def name_draw(node: str, part: str, number: int) -> str:
    """What a draw is called."""
    return f"{node}.{part}" if number == 0 else f"{node}.{part}.{number}"


def site_of(draw_name: str, repeat: int) -> int:
    """A word of 32 bits for a draw, of the n-th expression of the part that draws in an evaluation."""
    return zlib.crc32(f"{draw_name}#{repeat}".encode())


def key_of(seed: int) -> tuple[int, int]:
    return seed & WORD, (seed >> 32) & WORD


def draws_numbers(graph: Graph) -> bool:
    """Whether an expression of a graph draws."""
    return any(word in text for text in _texts(graph) for word in DRAWING)


def _texts(graph: Graph) -> list[str]:
    texts: list[Datum] = []
    for node in graph.nodes.values():
        for function in node.functions.values():
            texts += [function.function, function.value, *function.args.values()]
        for p in node.parameters.values():
            texts += [p.value, p.function, p.time_derivative, p.default_initial_value, *p.args.values()]
            texts += [text for condition in p.conditions for text in (condition.test, condition.value)]
        texts += [port.value for port in node.output_ports.values()]
    return [text for text in texts if isinstance(text, str)]


class Drawing:
    """Draws for the interpreter: `call` is the number of the evaluation, `set` that of the parameter set."""

    def __init__(self, seed: int, replay: Replay, set: int = 0) -> None:
        self.seed, self.replay, self.set, self.call = seed, replay, set, 0
        self._repeats: dict[tuple[str, str], int] = {}

    def start(self, call: int) -> None:
        """A new evaluation begins."""
        self.call, self._repeats = call, {}

    def draws(self, node: str, part: str) -> Draw:
        """What draws for a part of a node."""

        def draw(name: str, number: int, arguments: Sequence[Datum], keywords: Mapping[str, Datum]) -> Datum:
            draw_name = name_draw(node, part, number)
            if draw_name in self.replay:
                return self._replayed(draw_name)
            if number == 0:
                self._repeats[node, part] = self._repeats.get((node, part), -1) + 1
            repeat = self._repeats.get((node, part), 0)
            distribution = draw_of(name, arguments, keywords)
            shape = distribution.size
            if shape is None:
                shape = np.broadcast_shapes(*(np.shape(x) for x in distribution.parameters.values()))
            numbers = self._uniforms(shape, site_of(draw_name, repeat))
            value = evaluate(distribution.formula, {**distribution.parameters, **numbers})
            return value if distribution.size is not None or np.ndim(value) else float(value)

        return draw

    def _replayed(self, draw_name: str) -> Datum:
        rows = self.replay[draw_name]
        if self.call >= len(rows):
            raise RunError(f"there are {len(rows)} numbers for {draw_name!r}, evaluation {self.call} needs one more")
        return rows[self.call]

    def _uniforms(self, shape: tuple[int, ...], site: int) -> dict[str, np.ndarray]:
        k = OnArrays()
        elements = _numbered(shape)
        counter = elements, k.number(self.set), k.number(self.call & WORD), k.number(site)
        u, w = uniforms(k, philox(k, counter, [k.number(word) for word in key_of(self.seed)]))
        return {"u": u, "w": w}


class TracedDrawing:
    """Draws inside a program: seed, number of the evaluation and of the parameter set, or of all sets, are values."""

    def __init__(self, seed: Traced, number: Traced, replay: Mapping[str, Traced], batched: bool) -> None:
        self.seed, self.number, self.replay, self.batched = seed, number, replay, batched

    def drawer(
        self, scope: Scope, call: Datum, node: str, part: str, repeat: int
    ) -> Callable[[str, int, Sequence[Datum], Mapping[str, Datum]], Value]:
        """What adds the nodes of a draw."""

        def draw(name: str, number: int, arguments: Sequence[Datum], keywords: Mapping[str, Datum]) -> Value:
            draw_name = name_draw(node, part, number)
            where = scope.value(call, whole=True) if isinstance(call, Traced) else scope.constant(np.array(call))
            if draw_name in self.replay:
                return scope.build.add(Gather(), scope.value(self.replay[draw_name]), where)
            distribution = draw_of(name, arguments, keywords)
            shape = distribution.size
            if shape is None:
                values = [x for x in distribution.parameters.values() if isinstance(x, Value)]
                shape = np.broadcast_shapes(*(element_shape(tensor(x), self.batched) for x in values))
            numbers = self._uniforms(scope, shape, where, site_of(draw_name, repeat))
            parameters = {id: _value(scope, x) for id, x in distribution.parameters.items()}
            return emit(distribution.formula, {**parameters, **numbers}, scope.build)

        return draw

    def _uniforms(self, scope: Scope, shape: tuple[int, ...], call: Value, site: int) -> dict[str, Value]:
        k = InHub(scope.build)
        elements = _numbered(shape)
        counter = (
            k.build.constant(elements[..., np.newaxis] if self.batched else elements),
            k.build.add(Cast(to=UINT64), scope.value(self.number)),
            k.both(k.build.add(Cast(to=UINT64), call), k.number(WORD)),
            k.number(site),
        )
        seed = k.build.add(Cast(to=UINT64), scope.value(self.seed))
        key = k.both(seed, k.number(WORD)), k.right(seed, 32)
        u, w = uniforms(k, philox(k, counter, key))
        return {"u": u, "w": w}


def _numbered(shape: tuple[int, ...]) -> np.ndarray:
    """The elements of a draw by their numbers."""
    if math.prod(length or 1 for length in shape) > MAX_ELEMENTS:
        raise RunError(f"a draw would have more than {MAX_ELEMENTS} elements")
    return np.arange(math.prod(shape), dtype=UINT64).reshape(shape)


def _value(scope: Scope, datum: Datum) -> Value:
    if isinstance(datum, Value):
        return datum
    if isinstance(datum, list | tuple):
        raise UnsupportedError("a parameter of a distribution is a list")
    return scope.build.constant(np.asarray(datum, float))
