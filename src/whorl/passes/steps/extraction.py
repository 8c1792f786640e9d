"""A loop as the step that it repeats: what it carries becomes inputs and outputs, what it scans one slice of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from msgspec.structs import replace

from whorl.errors import StepError
from whorl.ir.build import Builder
from whorl.ir.constants import Constant
from whorl.ir.dims import names_in
from whorl.ir.dtypes import INT64
from whorl.ir.graph import Module, Node, Region, State, Value, walk
from whorl.ir.infer import Inference, names_of
from whorl.ir.types import UNRANKED, AnyShape, TensorType, Type, tensor
from whorl.ops.control.flow import Loop, known_bool
from whorl.ops.elementwise.arithmetic import Add
from whorl.passes.inline import inline
from whorl.passes.steps.repetition import free_name
from whorl.passes.vectorize.modules import names_of_dims


def extract_step(module: Module) -> Module:
    """The module of one iteration of the only loop outside of others.

    Carried values are states: inputs of their initial values' names, and outputs of the names of the final ones. An
    input that is scanned becomes one slice of it, a collected output one element. A body that asks for the number of
    its iteration has it as a state that counts. Errors: StepError.
    """
    return _Extraction(module, _only_loop(module)).step()


def _only_loop(module: Module) -> Node:
    loops = [node for node in module.main.nodes if isinstance(node.op, Loop)]
    if not loops:
        raise StepError("the model has no loop outside of branches, so there is no step to take out of it")
    if len(loops) > 1:
        titles = ", ".join(node.title for node in loops)
        raise StepError(f"the model has {len(loops)} loops: {titles}", fix="take out the step of a model with one")
    return loops[0]


class _Extraction:
    """One loop on its way into a step."""

    def __init__(self, module: Module, node: Node) -> None:
        assert isinstance(node.op, Loop)
        self.module, self.node, self.op = module, node, node.op
        self.trip, self.condition, self.carried, self.scanned, self.captured = node.op.split(node.inputs)
        self.region = Region(module.main.name)
        inference = Inference(names_of_dims(module))
        inference.depth = 1
        self.build = Builder(self.region, inference)
        self.taken = {value.name for value in module.main.arguments}
        self.shared: dict[Value, Value] = {}
        self.states: list[State] = []
        self.defaults: dict[str, Any] = {}

    def step(self) -> Module:
        """The module of the step."""
        self._require_no_end()
        self._require_nothing_behind()
        body = self.node.regions[0]
        number, go_on = body.arguments[:2]
        _, _, states, slices, copies = self.op.split(body.arguments)
        arguments = self._add_inputs(states, slices)
        for copy, value in zip(copies, self.captured, strict=True):
            arguments[copy] = self._share([value])[0]
        if number in body.used_values():
            arguments[number] = self._count(number)
        if any(go_on in node.inputs for node in body.nodes) or go_on in body.results[1:]:
            arguments[go_on] = self.build.constant(np.full((1,) * (tensor(go_on).rank or 0), True), "go_on")
        unused = {value: value for value in body.arguments}
        results = inline(body, [(unused | arguments)[value] for value in body.arguments], self.build)
        return self._finish(results)

    def _require_no_end(self) -> None:
        """Refuse a loop that ends where a step cannot say it."""
        title, answer = self.node.title, self.node.regions[0].results[0]
        if self.condition is not None and not (known_bool(self.condition) and known_bool(answer)):
            raise StepError(
                f"{title} may end early, by the condition {answer.name!r}, and a step does not say when to stop",
                fix="collect the condition as an output, and let the loop run without it",
            )
        if self.trip is not None and self.scanned and not self.op.slices_suffice:
            length = self.op.scanned[0].length(tensor(self.scanned[0]))
            if self.op.length(self.node) != length:
                raise StepError(
                    f"{title} may end before its slices do, by the trip count {self.trip.name!r}",
                    fix="cut the scanned inputs outside, and leave out the trip count",
                )

    def _require_nothing_behind(self) -> None:
        """Refuse outputs that are not the loop's own."""
        for name, value in zip(self.module.output_names, self.module.main.results, strict=True):
            if value.owner is not self.node:
                title = value.owner.title if isinstance(value.owner, Node) else f"input {value.name!r}"
                raise StepError(
                    f"output {name!r} is {title}, not what {self.node.title} gives",
                    fix="save the model without what follows the loop",
                )

    # ---- inputs --------------------------------------------------------------------------------------------------

    def _add_inputs(self, states: Sequence[Value], slices: Sequence[Value]) -> dict[Value, Value]:
        """The inputs, in the order of the loop's; those of states that begin with something else follow."""
        origins: dict[Value, Value] = {}
        for argument, value in zip(slices, self.scanned, strict=True):
            self._require_scanned(value)
            origins[value] = argument
        read = {value for node in self.module.main.nodes if node is not self.node for value in node.inputs}
        for argument, value in zip(states, self.carried, strict=True):
            is_input = value.owner is self.module.main and value not in origins
            if is_input and value not in self.captured and value not in read:
                origins[value] = argument
        arguments: dict[Value, Value] = {}
        for value in self.module.main.arguments:
            if value is not self.trip or value in self.captured or value in read:
                source = origins.get(value, value)
                added = self._add_input(value.name, self._type_between(value, source), source.known)
                arguments[source] = added
                if value not in origins:
                    self.shared[value] = added
        for argument, value in zip(states, self.carried, strict=True):
            self._add_state(argument, value, arguments)
        return arguments

    def _type_between(self, value: Value, argument: Value) -> Type:
        """The type of an input: that of the body's argument, with the names that only this input gives to lengths."""
        shape, inner = (x.type.shape if isinstance(x.type, TensorType) else UNRANKED for x in (value, argument))
        if value in self.scanned or isinstance(shape, AnyShape) or isinstance(inner, AnyShape):
            return argument.type
        others = names_of(x for x in self.module.main.arguments if x is not value)
        if len(shape) != len(inner):
            return argument.type
        pairs = zip(shape, inner, strict=True)
        is_own = [not isinstance(a, int) and names_in(a).isdisjoint(others) for a in shape]
        lengths = tuple(a if own else b for own, (a, b) in zip(is_own, pairs, strict=True))
        return tensor(argument).with_shape(lengths)

    def _require_scanned(self, value: Value) -> None:
        """Refuse to scan what is no input, or what something else reads whole."""
        title = self.node.title
        if value.owner is not self.module.main:
            assert isinstance(value.owner, Node)
            raise StepError(
                f"{title} scans {value.name!r}, which {value.owner.title} computes from all of it",
                fix="save the model from there on, with what is scanned as its input",
            )
        readers = [node.title for node in self.module.main.nodes if node is not self.node and value in node.inputs]
        if self.scanned.count(value) > 1 or value in (*self.captured, *self.carried):
            readers.append(title)
        if readers:
            raise StepError(
                f"{title} scans input {value.name!r}, of which {readers[0]} reads more than a slice",
                fix="give the model an input for what is scanned, and one for the other",
            )

    def _add_input(self, name: str, type: Type, known: np.ndarray | None = None) -> Value:
        if name in self.module.defaults and name not in {value.name for value in self.scanned}:
            self.defaults[name] = self.module.defaults[name]
        return self.region.add_argument(name, type, known)

    def _add_state(self, argument: Value, value: Value, arguments: dict[Value, Value]) -> None:
        """A carried value as a state. What computes the first one is not in the step: a session runs it once."""
        if argument in arguments:
            self.states.append(State(arguments[argument].name, arguments[argument].name, ""))
            return
        name = free_name(argument.name, self.taken)
        self.taken.add(name)
        initial = Region(f"initial {name}")
        inputs = {v: initial.add_argument(v.name, v.type, v.known) for v in self.shared}
        (result,) = _copy_computation([value], self.module.main.nodes, inputs, Builder(initial, self.build.inference))
        if result is None:
            raise StepError(
                f"{self.node.title} carries {argument.name!r}, whose first value is computed from all that is scanned",
                fix="give the model an input for it",
            )
        initial.results = [result]
        constant = result.owner.op if isinstance(result.owner, Node) else None
        if isinstance(constant, Constant):
            self.defaults[name] = constant.run()
        arguments[argument] = self.region.add_argument(name, argument.type)
        self.states.append(State(name, name, "", initial))

    def _share(self, values: list[Value]) -> list[Value]:
        """What is the same for all iterations, computed by the step from inputs that are the same."""
        title = self.node.title
        for value in values:
            if _is_drawn(value):
                raise StepError(f"{title} captures {value.name!r}, which is drawn once for all iterations")
        copies = _copy_computation(values, self.module.main.nodes, self.shared, self.build)
        for value, copy in zip(values, copies, strict=True):
            if copy is None:
                raise StepError(
                    f"{title} captures {value.name!r}, which is computed from all that it scans, or from what it "
                    "carries at first",
                    fix="give the model an input for it",
                )
        return [copy for copy in copies if copy is not None]

    def _count(self, number: Value) -> Value:
        """The number of the iteration, as a state that counts from 0."""
        name = free_name(number.name or "iteration", self.taken)
        self.taken.add(name)
        shape = (1,) * (tensor(number).rank or 0)
        self.defaults[name] = np.zeros(shape, np.int64)
        self.states.append(State(name, name, ""))
        return self.region.add_argument(name, number.type)

    # ---- outputs -------------------------------------------------------------------------------------------------

    def _finish(self, results: Sequence[Value]) -> Module:
        module, op, declared = self.module, self.op, dict[str, Type]()
        outputs: dict[str, Value] = {}
        finals: dict[int, str] = {}
        for name, value in zip(module.output_names, module.main.results, strict=True):
            outputs[name] = results[1 + value.index]
            finals.setdefault(value.index, name)
            position = value.index - op.carried - op.last
            element = op.collected[position].declared if position >= 0 else module.declared.get(name)
            if element is not None:
                declared[name] = element
        states = [
            replace(state, output=self._state_output(k, state, results, finals, outputs))
            for k, state in enumerate(self.states)
        ]
        self.region.results = list(outputs.values())
        return replace(
            module,
            main=self.region,
            output_names=list(outputs),
            defaults=self.defaults,
            declared=declared,
            states=states,
        )

    def _state_output(
        self, k: int, state: State, results: Sequence[Value], finals: dict[int, str], outputs: dict[str, Value]
    ) -> str:
        """The name of the output that a state is afterwards; one is added where the loop's model has none."""
        if k < self.op.carried and k in finals:
            return finals[k]
        name = free_name(f"{state.name}.next", self.taken | outputs.keys())
        outputs[name] = results[1 + k] if k < self.op.carried else self._next_number(state)
        return name

    def _next_number(self, state: State) -> Value:
        argument = next(value for value in self.region.arguments if value.name == state.name)
        return self.build.add(Add(), argument, self.build.constant(np.array(1, INT64), "one"), name=argument.name)


def _is_drawn(value: Value) -> bool:
    """Whether random numbers go into a value."""
    pending, seen = [value], {value}
    while pending:
        owner = pending.pop().owner
        if isinstance(owner, Node):
            if not owner.op.pure or not all(inner.op.pure for region in owner.regions for inner in walk(region)):
                return True
            operands = [v for v in owner.inputs if v is not None and v not in seen]
            seen.update(operands)
            pending += operands
    return False


def _copy_computation(
    values: Iterable[Value], nodes: Sequence[Node], known: dict[Value, Value], build: Builder
) -> list[Value | None]:
    """Copies of values, computed from those that are known; None where they need others. Adds the copies to `known`."""
    targets = list(values)
    needed = {value for value in targets if value not in known}
    chosen: list[Node] = []
    for node in reversed(nodes):
        if not needed.isdisjoint(node.outputs):
            chosen.append(node)
            needed.difference_update(node.outputs)
            needed.update(v for v in node.inputs if v is not None and v not in known)
    if needed:
        return [known.get(value) for value in targets]
    part = Region()
    arguments = list(known)
    part.arguments, part.nodes = arguments, chosen[::-1]
    part.results = [value for node in part.nodes for value in node.outputs]
    copies = inline(part, [known[value] for value in arguments], build)
    known.update(zip(part.results, copies, strict=True))
    return [known[value] for value in targets]
