"""The drift diffusion model: many trials of a noisy walk to one of two thresholds, as one loop inside an evaluation."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from whorl.errors import LoadError, UnsupportedError
from whorl.ir.dims import Dim
from whorl.ir.dtypes import BOOL, INT64
from whorl.ir.graph import Value
from whorl.mdf.compile.carried import repeat
from whorl.mdf.compile.scope import Traced, lengths
from whorl.mdf.compile.tracer import SPECIAL, Tracer
from whorl.mdf.expressions.nodes import emit
from whorl.mdf.expressions.syntax import parse
from whorl.mdf.model import Datum
from whorl.mdf.random.distributions import FORMULAS
from whorl.mdf.random.draws import name_draw, site_of
from whorl.mdf.random.philox import UINT64, WORD, InHub, philox, uniforms
from whorl.mdf.variables import COUNTER, Cell
from whorl.ops.core.base import broadcast_shapes
from whorl.ops.elementwise.arithmetic import Add
from whorl.ops.elementwise.casting import Cast
from whorl.ops.reduce.reductions import ReduceMax

NAME = "drift_diffusion_integrator"
DEFAULTS = {"noise": 1.0, "dt": 0.01}
ARGUMENTS = ("starting_point", "non_decision_time", "drift_rate", "threshold", *DEFAULTS)
LONGEST = 1 << 20
"""Steps of a trial after which it ends undecided."""
NEXT = parse("particle + (numpy.absolute(particle) < threshold) * (drift_rate*dt + noise*numpy.sqrt(dt) * z)")
DURATION = parse("taken + (numpy.absolute(particle) < threshold)")
OPEN = parse("numpy.absolute(particle) < threshold")
RESULT = parse("non_decision_time + taken*dt if particle > 0 else -non_decision_time - taken*dt")


def traced_diffusion(tracer: Tracer, names: Mapping[str, Datum]) -> Traced:
    """The response times, negative where the lower threshold was met; a trial for each element of the arguments."""
    if tracer.drawing is None:
        raise UnsupportedError("random numbers have no generator here")
    arguments = {name: names[name] if name in names else DEFAULTS.get(name) for name in ARGUMENTS}
    missing = [name for name, value in arguments.items() if value is None]
    if missing:
        raise LoadError(f"{NAME} has no {', '.join(missing)}", fix=f"its arguments are {', '.join(ARGUMENTS)}")
    scope = tracer.scope
    values = {name: scope.floats(value) for name, value in arguments.items()}
    shape = broadcast_shapes(*(lengths(scope.traced(value)) for value in values.values()))
    assert isinstance(shape, tuple)
    node, part = tracer.part
    walk = _Walk(Cell(node, part, "particle"), Cell(node, part, "taken"), Cell(node, COUNTER, f"{part} step"), shape)
    start, zero = values["starting_point"], scope.constant(np.zeros((1,) * len(shape)))
    tracer.state[walk.particle] = scope.traced(scope.repeated(start, shape) if shape else start)
    tracer.state[walk.duration] = scope.traced(scope.repeated(zero, shape) if shape else zero)
    tracer.state[walk.step] = 0
    fixed = {name: scope.traced(value) for name, value in values.items()}
    site = site_of(name_draw(node, part, 0), 0)
    repeat(tracer, lambda inside: walk.is_open(inside, fixed), lambda inside: walk.go(inside, fixed, site), LONGEST)
    outcome = walk.names(tracer, fixed)
    return scope.traced(emit(RESULT, outcome, scope.build))


class _Walk:
    """The cells of all trials while they go on."""

    def __init__(self, particle: Cell, duration: Cell, step: Cell, shape: tuple[Dim, ...]) -> None:
        self.particle, self.duration, self.step, self.shape = particle, duration, step, shape

    def names(self, tracer: Tracer, fixed: Mapping[str, Traced]) -> dict[str, Value]:
        names = {name: tracer.scope.value(value) for name, value in fixed.items()}
        names["particle"] = tracer.scope.value(tracer.state[self.particle])
        names["taken"] = tracer.scope.value(tracer.state[self.duration])
        return names

    def is_open(self, tracer: Tracer, fixed: Mapping[str, Traced]) -> Traced:
        """Whether a trial goes on."""
        build = tracer.scope.build
        undecided = emit(OPEN, self.names(tracer, fixed), build)
        if self.shape:
            whole = build.add(ReduceMax(keepdims=0), build.add(Cast(to=INT64), undecided))
            undecided = build.add(Cast(to=BOOL), whole)
        return tracer.scope.traced(undecided)

    def go(self, tracer: Tracer, fixed: Mapping[str, Traced], site: int) -> None:
        """One step of all trials that go on."""
        scope, step = tracer.scope, tracer.state[self.step]
        names = self.names(tracer, fixed)
        names["z"] = self._normal(tracer, scope.value(step, whole=True), site)
        tracer.state[self.particle] = scope.traced(emit(NEXT, names, scope.build))
        tracer.state[self.duration] = scope.traced(emit(DURATION, names, scope.build))
        one = scope.constant(np.array(1, np.int64))
        tracer.state[self.step] = scope.traced(scope.build.add(Add(), scope.value(step, whole=True), one))

    def _normal(self, tracer: Tracer, step: Value, site: int) -> Value:
        """A number for each trial: the step stands where other draws have their place, the place is in the key."""
        scope, drawing = tracer.scope, tracer.drawing
        assert drawing is not None
        k = InHub(scope.build)
        trials = [length for length in self.shape if isinstance(length, int)]
        if drawing.batched:
            trials = [*trials[: len(self.shape) - 1], 1]
        elements = np.arange(math.prod(trials), dtype=UINT64).reshape(trials)
        call: Datum = tracer.call
        if isinstance(call, Traced):
            number = k.build.add(Cast(to=UINT64), scope.value(call, whole=True))
        else:
            number = k.number(call)
        counter = (
            k.build.constant(elements),
            k.build.add(Cast(to=UINT64), scope.value(drawing.number)),
            k.both(number, k.number(WORD)),
            k.build.add(Cast(to=UINT64), step),
        )
        seed = k.build.add(Cast(to=UINT64), scope.value(drawing.seed))
        key = k.both(seed, k.number(WORD)), k.either(k.right(seed, 32), k.number(site))
        u, w = uniforms(k, philox(k, counter, key))
        zero, one = (scope.constant(np.array(x)) for x in (0.0, 1.0))
        return emit(FORMULAS["normal"], {"u": u, "w": w, "loc": zero, "scale": one}, scope.build)


SPECIAL[NAME] = traced_diffusion
