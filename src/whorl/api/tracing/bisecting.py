"""The first difference between two engines, or two models: in which iteration of which loops, at which node."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from whorl.api.extracting import Extracted, record_values
from whorl.api.tracing.differing import Difference, Tolerances, measure
from whorl.api.tracing.first import First, Operand, describe_counts, first_output, which_iteration
from whorl.api.tracing.recording import Run, copy_module
from whorl.api.tracing.reordering import Reordering, reordering
from whorl.errors import RunError, WhorlError
from whorl.ir.dtypes import BOOL
from whorl.ir.graph import Module, Node, Region, Value
from whorl.ir.types import TensorType
from whorl.ops.control.flow import If, Loop
from whorl.passes.expose.adding import retype
from whorl.passes.expose.exposure import expose
from whorl.passes.expose.isolating import isolate_node
from whorl.passes.expose.limiting import keep_first_nodes, limit_iterations
from whorl.passes.expose.reading import Records, read_records
from whorl.passes.expose.scopes import NamedValue, Scope, is_recordable, name_of_node, scopes_of, values_in
from whorl.passes.expose.windows import only


class Side(Struct, frozen=True):
    """A model and what runs it, which raises a WhorlError where it fails."""

    module: Module
    run: Run


Choice = Callable[[Scope], list[NamedValue]]
MOST_ALONE = 64
"""Values of a region that are made outputs one by one."""
VANISHES = "values differ only where they are not outputs, as where an engine merges nodes"


def bisect(
    ours: Side,
    theirs: Side,
    inputs: Mapping[str, Any],
    tolerances: Tolerances,
    progress: Callable[[str], None] | None = None,
) -> First | None:
    """The first difference between two sides; None where all values agree. Their values are found by their paths.

    `progress` is told where the search is.

    Errors: those of our run. Where theirs fails, that is the difference: the node and the iteration that it dies in.
    """
    search = _Search(ours, theirs, inputs, tolerances, progress or _say_nothing)
    try:
        return search.descend()
    except SideFailed as failed:
        return search.find_without_values(failed)


class SideFailed(Exception):
    """The other side gave no values."""


class _Different(Struct, frozen=True):
    """A value that differs, and what it is on both sides."""

    named: NamedValue
    difference: Difference
    ours: Any
    theirs: Any


def _reordering(node: Node, operands: Sequence[Operand], different: _Different) -> Reordering | None:
    """What the order of sums may make of a difference, where the node's operands are known."""
    ours, theirs = ({each.name: getattr(each, side) for each in operands} for side in ("ours", "theirs"))
    names = [None if value is None else value.name for value in node.inputs]
    if any(name is not None and (ours[name] is None or theirs[name] is None) for name in names):
        return None
    pairs = [[None if name is None else side[name] for name in names] for side in (ours, theirs)]
    return reordering(node, pairs[0], pairs[1], (different.ours, different.theirs))


class _Search:
    """One search, from the main graph inwards."""

    def __init__(
        self,
        ours: Side,
        theirs: Side,
        inputs: Mapping[str, Any],
        tolerances: Tolerances,
        progress: Callable[[str], None],
    ) -> None:
        self.ours, self.theirs, self.inputs, self.tolerances, self.progress = ours, theirs, inputs, tolerances, progress
        self.entered: First | None = None

    def descend(self) -> First | None:
        path, at, output = "", dict[str, int](), ""
        while True:
            scope = _scope_at(self.ours.module, path)
            self.progress(_where(path, at))
            different = self._first_value(path, at) or self._first_alone(path, at)
            if different is None:
                return self.entered
            named, difference = different.named, different.difference
            output = output or named.value.name
            node = named.value.owner
            if not isinstance(node, Node):
                around = scope.node.title if scope.node else ""
                note = "what the iteration is passed differs"
                return First(output, list(at.items()), around, named.path, difference, note=note)
            inner = _inner_path(scope, node)
            match node.op:
                case Loop():
                    self.progress(f"searching the iterations of {inner}")
                    iteration, reason = self._first_iteration(inner, at)
                    if reason:
                        number = which_iteration(named.value, difference)
                        number = iteration if number is None else number
                        loops = [*at.items(), *([(inner, number)] if number is not None else [])]
                        return First(output, loops, node.title, named.path, difference, note=reason)
                    assert iteration is not None
                    path, at = inner, {**at, inner: iteration}
                    self.entered = First(output, list(at.items()), node.title, named.path, difference, note=VANISHES)
                case If():
                    taken = self._branch(path, node, at)
                    if taken is None:
                        note = "the branches taken differ"
                        return First(output, list(at.items()), node.title, named.path, difference, note=note)
                    path, note = f"{inner}/{taken}", f"what {taken} computes is equal"
                    self.entered = First(output, list(at.items()), node.title, named.path, difference, note=note)
                case _:
                    operands = self._operands(path, named, at)
                    order = _reordering(node, operands, different)
                    return First(
                        output, list(at.items()), node.title, named.path, difference, operands, reordering=order
                    )

    def _common(self, path: str) -> list[NamedValue]:
        """The values of a region that both sides have."""
        mine, other = (_nameable(_scope_at(side.module, path)) for side in (self.ours, self.theirs))
        known = {each.path for each in other}
        return [each for each in mine if each.path in known]

    def _first_alone(self, path: str, at: Mapping[str, int]) -> _Different | None:
        """The first value that differs where it is the only one that is an output: an engine may have merged nodes.

        For regions in which something has to differ, and not for long ones.
        """
        chosen = self._common(path) if self.entered is not None else []
        for named in chosen if len(chosen) <= MOST_ALONE else []:
            if (different := self._first_of([named], path, at)) is not None:
                return different
        return None

    def _first_value(self, path: str, at: Mapping[str, int]) -> _Different | None:
        """The first value of a region that differs in an iteration."""
        return self._first_of(self._common(path), path, at)

    def _first_of(self, chosen: Sequence[NamedValue], path: str, at: Mapping[str, int]) -> _Different | None:
        paths = [each.path for each in chosen]
        ours, theirs = self._records(path, lambda scope: _by_path(scope, paths), at)
        for each, a, b in zip(chosen, ours, theirs, strict=True):
            difference = measure(a.first, b.first, self.tolerances)
            if difference is not None:
                return _Different(each, difference, a.first, b.first)
        return None

    def _first_iteration(self, path: str, at: Mapping[str, int]) -> tuple[int | None, str]:
        """The first iteration of a loop in which something that the body answers, or is passed, differs.

        Else the one that only one side makes, and what differs. What the body is passed is an output only where that is
        needed: engines that confuse memory may not do so then.
        """
        reason = "its body has nothing that could be an output"
        for choice in (_answers, _passed_and_answered):
            ours, theirs = self._records(path, choice, at)
            if not ours or not theirs:
                continue
            first: int | None = None
            counts = ours[0].count, theirs[0].count
            for a, b in zip(ours, theirs, strict=False):
                for k in range(min(counts) if first is None else first):
                    if measure(a.at_row(k), b.at_row(k), self.tolerances) is not None:
                        first = k
                        break
            if first is not None:
                return first, ""
            if counts[0] != counts[1]:
                return min(counts), f"{describe_counts(*counts)}, and all that both make are equal"
            last = f" to {counts[0] - 1}, the last one," if counts[0] > 1 else ""
            reason = f"all iterations{last} are equal: what the loop makes of them differs"
        return None, reason

    def _branch(self, path: str, node: Node, at: Mapping[str, int]) -> str | None:
        """The branch that an If took on both sides; None where they took different ones."""
        position = _scope_at(self.ours.module, path).region.nodes.index(node)
        name = node.outputs[0].name

        def condition(scope: Scope) -> list[NamedValue]:
            nodes = [each for each in scope.region.nodes if each.outputs and each.outputs[0].name == name]
            chosen = nodes[0] if nodes else scope.region.nodes[position]
            value = chosen.inputs[0]
            return [NamedValue(value, scope, "condition")] if value is not None else []

        ours, theirs = self._records(path, condition, at)
        a, b = (bool(each[0].first.reshape(-1)[0]) for each in (ours, theirs))
        return node.regions[0 if a else 1].name if a == b else None

    def _operands(self, path: str, named: NamedValue, at: Mapping[str, int]) -> list[Operand]:
        node = named.value.owner
        assert isinstance(node, Node)
        names = list(dict.fromkeys(value.name for value in node.inputs if value is not None))

        def choose(scope: Scope) -> list[NamedValue]:
            values = {value.name: value for each in scope.region.nodes for value in each.outputs}
            values |= {value.name: value for value in scope.region.arguments}
            chosen = [values[name] for name in names if name in values and is_recordable(values[name])]
            return [NamedValue(value, scope, value.name) for value in chosen]

        ours, theirs = ({each.path: each.first for each in side} for side in self._records(path, choose, at))
        return [Operand(name, ours.get(name), theirs.get(name)) for name in names]

    def _records(self, path: str, choose: Choice, at: Mapping[str, int]) -> tuple[list[Records], list[Records]]:
        ours = _expose(self.ours, path, choose, at, self.inputs)
        try:
            return ours, _expose(self.theirs, path, choose, at, self.inputs)
        except WhorlError as error:
            failure = str(error)
        try:
            # Not every engine appends to tensors in bodies, as a window of iterations does.
            return ours, _expose(self.theirs, path, choose, at, self.inputs, has_window=False)
        except WhorlError:
            raise SideFailed(failure) from None

    def find_without_values(self, failed: SideFailed) -> First | None:
        """The first difference where the other side fails once values are outputs, or fails as it is."""
        if self.entered is not None:
            return replace(self.entered, note=f"what is inside cannot be outputs there: {failed}")
        try:
            theirs = self.theirs.run(copy_module(self.theirs.module), self.inputs)
        except WhorlError:
            return self.find_failure(failed)
        ours = self.ours.run(copy_module(self.ours.module), self.inputs)
        first = first_output(self.ours.module, ours, theirs, self.tolerances)
        return first and replace(first, note=f"{first.note}values inside cannot be outputs there: {failed}")

    def find_failure(self, failed: SideFailed) -> First:
        """The node of the main graph that the other side fails at, and the iteration where that is a loop."""
        self.progress("searching where the other side fails")
        nodes = self.theirs.module.main.nodes
        low, high = -1, len(nodes) - 1
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self._fails(middle) else (middle, high)
        node = nodes[high]
        output = node.outputs[0].name if node.outputs else ""
        note = f"the other side fails: {failed}"
        if not isinstance(node.op, Loop):
            return First(output, [], node.title, output, note=note)
        path = _inner_path(_scope_at(self.theirs.module, ""), node)
        ours = _expose(self.ours, path, _answers, {}, self.inputs)
        low, most = -1, max((each.count for each in ours), default=0)
        if self._fails(high, most) is False:
            return First(output, [], node.title, output, note=note)
        while most - low > 1:
            middle = (low + most) // 2
            low, most = (low, middle) if self._fails(high, middle) else (middle, most)
        loops = [(path, most - 1)] if most else []
        note = note if most else f"{note}; it does before the first iteration"
        return First(output, loops, node.title, output, note=note)

    def _fails(self, position: int, iterations: int | None = None) -> bool:
        """Whether the other side fails on the nodes up to a position, the last of them a loop of so many iterations."""
        copy = keep_first_nodes(copy_module(self.theirs.module), position + 1)
        if iterations is not None:
            limit_iterations(copy.main, copy.main.nodes[-1], iterations)
        retype(copy)
        try:
            self.theirs.run(copy, self.inputs)
        except WhorlError:
            return True
        return False


def _say_nothing(_: str) -> None:
    return


def _where(path: str, at: Mapping[str, int]) -> str:
    iterations = ", ".join(f"iteration {number}" for number in at.values())
    return f"searching {path or 'the main graph'}{iterations and ', '}{iterations}"


def _scope_at(module: Module, path: str) -> Scope:
    scopes = {scope.path: scope for scope in scopes_of(module)}
    if path not in scopes:
        raise RunError(f"the other model has no loop or branch {path!r}", fix="compare models of one structure")
    return scopes[path]


def _nameable(scope: Scope) -> list[NamedValue]:
    """The values of a region that can be exposed; the inputs of the model are the same on both sides."""
    own = [each for each in values_in(scope) if _may_differ(each.value)]
    return own if scope.chain else [each for each in own if not isinstance(each.value.owner, Region)]


def _by_path(scope: Scope, paths: Sequence[str]) -> list[NamedValue]:
    values = {each.path: each for each in _nameable(scope)}
    return [values[path] for path in paths]


def _answers(scope: Scope) -> list[NamedValue]:
    """What a body answers."""
    return [NamedValue(v, scope, str(k)) for k, v in enumerate(scope.region.results) if _may_differ(v)]


def _passed_and_answered(scope: Scope) -> list[NamedValue]:
    """What a body is passed and answers."""
    passed = [each for each in values_in(scope) if isinstance(each.value.owner, Region) and _may_differ(each.value)]
    return passed + _answers(scope)


def _may_differ(value: Value) -> bool:
    """Whether a value is worth an output; OpenVINO cannot read loops that collect the condition of a body as it is."""
    is_flag = isinstance(value.type, TensorType) and value.type.dtype == BOOL
    return is_recordable(value) and not (is_flag and value.known is not None)


def _inner_path(scope: Scope, node: Node) -> str:
    name = name_of_node(node)
    before = [each for each in scope.region.nodes[: scope.region.nodes.index(node)] if each.regions]
    number = 1 + sum(name_of_node(each) == name for each in before)
    name = f"{name}#{number}" if number > 1 else name
    return f"{scope.path}/{name}" if scope.path else name


def _expose(
    side: Side,
    path: str,
    choose: Choice,
    at: Mapping[str, int],
    inputs: Mapping[str, Any],
    has_window: bool = True,
) -> list[Records]:
    """Run a side with values of one region as outputs: their records in some iterations."""
    copy = copy_module(side.module)
    exposed = expose(copy, choose(_scope_at(copy, path)), only(at) if has_window else None)
    retype(copy)
    outputs = dict(zip(copy.output_names, side.run(copy, inputs), strict=True))
    return [read_records(each, outputs).within(at) for each in exposed]


def isolate_first(side: Side, first: First, inputs: Mapping[str, Any]) -> Extracted | None:
    """The node that differs as a model, with what it read and gave on a side; None where there is no such node."""
    copy = copy_module(side.module)
    values = [each for scope in scopes_of(copy) for each in values_in(scope)]
    named = next((each for each in values if each.path == first.value), None)
    if named is None or not isinstance(named.value.owner, Node):
        return None
    piece = isolate_node(named.scope, named.value.owner)
    recorded = [*piece.inputs, *piece.outputs]
    values = record_values(copy, named.scope, recorded, dict(first.loops), inputs, side.run)
    if values is None:
        return None
    names = [*(value.name for value in piece.module.main.arguments), *piece.module.output_names]
    pairs = list(zip(names, values, strict=True))
    return Extracted(piece.module, dict(pairs[: len(piece.inputs)]), dict(pairs[len(piece.inputs) :]))
