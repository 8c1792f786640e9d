"""A loop as ops on all of its iterations at once.

Nodes of the body whose operands do not depend on what is carried are computed for all iterations. A carried value with
a closed form in such terms is a term itself from then on, so that what depends on it follows; where all are solved,
nothing of the loop remains.
"""

from __future__ import annotations

from whorl.ir import dims
from whorl.ir.build import Builder
from whorl.ir.graph import Node, Value
from whorl.ir.types import AnyShape
from whorl.ir.walk import clone_region
from whorl.ops.control.flow import Collected, Loop, known_bool
from whorl.passes.unroll.legality import fails_without_rows
from whorl.passes.vectorize.batched import Batched, CannotVectorize, give_all_rows, lengths_of
from whorl.passes.vectorize.branches import open_branches
from whorl.passes.vectorize.exits import loop_of_conditions, loop_of_trips, trips_of
from whorl.passes.vectorize.forms import Recurrence
from whorl.passes.vectorize.joint import Carried
from whorl.passes.vectorize.recurrences import Chain, recurrence_of
from whorl.passes.vectorize.regions import batch_node
from whorl.passes.vectorize.speculation import require_total
from whorl.passes.vectorize.stacks import Stacks


def vectorize_loop(node: Node, build: Builder, regroups: bool = False, linear: bool = False) -> tuple[list[Value], str]:
    """The outputs of a loop without the loop, and what it becomes, in words. `regroups`: sums of floats may be.
    `linear`: linear recurrences of floats may become an LSTM.

    Errors: CannotVectorize.
    """
    assert isinstance(node.op, Loop)
    what = "all iterations at once"
    if node.inputs[1] is not None and known_bool(node.regions[0].results[0]) is not True:
        node = loop_of_trips(node, _trips(node, build, regroups, linear), build)
        what = "all iterations up to its end at once"
    vectorized = _Vectorized(node, build, regroups, linear)
    return vectorized.outputs(), what + "".join(f", {text}" for text in vectorized.forms)


def _trips(node: Node, build: Builder, regroups: bool, linear: bool) -> Value:
    """The number of iterations that a loop runs until its body ends it. Errors: CannotVectorize."""
    try:
        conditions = _Vectorized(loop_of_conditions(node, build), build, regroups, linear).outputs()[-1]
    except CannotVectorize as reason:
        raise CannotVectorize(f"its body may end it: {reason}") from None
    return trips_of(conditions, build)


class _Vectorized:
    """A body for all iterations; `values` are what is known of its values, `pending` its other nodes."""

    def __init__(self, node: Node, build: Builder, regroups: bool, linear: bool) -> None:
        assert isinstance(node.op, Loop)
        self.node, self.op, self.build, self.regroups, self.linear = node, node.op, build, regroups, linear
        self.body = clone_region(node.regions[0])
        open_branches(self.body, build.inference, self.op.split(self.body.arguments)[4])
        self.stacks = stacks = Stacks(node, build)
        number, go_on, self.states, slices, copies = self.op.split(self.body.arguments)
        _, _, self.firsts, scanned, captured = self.op.split(node.inputs)
        self.values: dict[Value, Batched] = {number: stacks.numbers(number), go_on: stacks.goes_on(go_on)}
        self.values |= {copy: Batched(value, is_mapped=False) for copy, value in zip(copies, captured, strict=True)}
        for piece, value, how in zip(slices, scanned, self.op.scanned, strict=True):
            self.values[piece] = stacks.slices(value, how)
        self.pending = list(self.body.nodes)
        self.final: dict[int, Value] = {}
        self.forms: list[str] = []
        """What each carried value is, in words."""
        self.refused = ""
        """Why the closed form of a carried value is not used."""
        self._solve()

    # ---- what is known ---------------------------------------------------------------------------------------

    def _solve(self) -> None:
        """Compute what can be, until all that the loop gives is known. Errors: CannotVectorize."""
        reason = ""
        while True:
            reason = self._compute() or reason
            left = [k for k in range(self.op.carried) if k not in self.final]
            if not left:
                break
            if not any([self._close(k) for k in left]) and not self._close_jointly(left):
                state = self.states[left[0]]
                raise CannotVectorize(reason or f"carried value {state.name!r} has no closed form{self.refused}")
        if reason and self.pending and any(v not in self.values for v in self._collected()):
            raise CannotVectorize(reason)

    def _collected(self) -> list[Value]:
        return self.body.results[1 + self.op.carried :]

    def _compute(self) -> str:
        """Compute the nodes whose operands are known; why one of them could not be, or nothing."""
        waiting: list[Node] = []
        reason = ""
        for node in self.pending:
            if any(value is not None and value not in self.values for value in node.inputs):
                waiting.append(node)
                continue
            before = len(self.build.region.nodes)
            try:
                self._require_harmless(node)
                batch_node(node, self.values, self.build)
            except CannotVectorize as why:
                del self.build.region.nodes[before:]
                reason = str(why)
                waiting.append(node)
        self.pending = waiting
        return reason

    def _require_harmless(self, node: Node) -> None:
        """Refuse to compute what may fail, where there may be no iteration: what is the same in all of them, and what
        fails for no rows, too."""
        if self.stacks.is_some:
            return
        shared = {value for value in node.inputs if value is not None and not self.values[value].is_mapped}
        if not any(v is not None and v not in shared for v in node.inputs) or fails_without_rows(node, shared):
            require_total(node, "it may never run")

    # ---- carried values --------------------------------------------------------------------------------------

    def _close(self, k: int) -> bool:
        """Find the closed form of a carried value, and from it what the loop gives and what the body reads of it."""
        state, result, first = self.states[k], self.body.results[1 + k], self.firsts[k]
        before = len(self.build.region.nodes)
        others = dict(zip(self.states, zip(self.body.results[1:], self.firsts, strict=False), strict=True))
        chain = Chain(state, self.values, self.build, self.regroups, others, self.linear)
        form = recurrence_of(chain, result, first)
        if form is None:
            return False
        read = self._read(k, form)
        known: dict[Value, Batched] = {}
        try:
            if result in read:
                known[result] = Batched(form.after(self.stacks, first))
                self.final[k] = self.stacks.last(first, known[result].value)
            else:
                self.final[k] = form.final(self.stacks, first)
            if read - {result}:
                known[state] = Batched(form.before(self.stacks, first))
        except CannotVectorize as why:
            del self.build.region.nodes[before:]
            self.final.pop(k, None)
            self.refused = f": {why}"
            return False
        self.values |= known
        self.forms.append(f"{state.name!r} as {form.title}")
        if state not in known:
            self.pending = [node for node in self.pending if node not in form.nodes]
        return True

    def _close_jointly(self, left: list[int]) -> bool:
        """Find the closed form that some carried values have together."""
        carried = Carried(self.body, self.states, self.firsts, self.values, self.pending, self.stacks)
        try:
            closed = carried.close(left)
        except CannotVectorize as why:
            self.refused = f": {why}"
            return False
        if closed is None:
            return False
        self.values |= closed.known
        self.final |= closed.final
        self.forms.append(f"{' and '.join(repr(self.states[k].name) for k in closed.final)} as {closed.title}")
        self.pending = [node for node in self.pending if node not in closed.nodes]
        return True

    def _read(self, k: int, form: Recurrence) -> set[Value | None]:
        """The carried value, and those on the way to its update, that the body reads for something else, or gives."""
        own: set[Value | None] = {form.state, *(value for node in form.nodes for value in node.outputs)}
        read = {value for node in self.pending if node not in form.nodes for value in node.inputs}
        read.update(value for n, value in enumerate(self.body.results) if n != 1 + k)
        return (own & read) - self.values.keys()

    # ---- what the loop gives ---------------------------------------------------------------------------------

    def outputs(self) -> list[Value]:
        """The outputs of the loop. Errors: CannotVectorize."""
        op, names = self.op, [value.name for value in self.node.outputs]
        extra = [self.values[value] for value in self._collected()]
        if op.last and not self.stacks.is_some:
            raise CannotVectorize("it may never run, and then there is no last value")
        last = [self.stacks.at(give_all_rows(x, self.stacks.count, self.build), -1) for x in extra[: op.last]]
        pairs = zip(extra[op.last :], op.collected, names[op.carried + op.last :], strict=True)
        collected = [self.stacks.collected(x, how, name) for x, how, name in pairs]
        for old, new, how in zip(self.node.outputs[op.carried + op.last :], collected, op.collected, strict=True):
            self._require_lengths(old, new, how)
        return [*(self.final[k] for k in range(op.carried)), *last, *collected]

    def _require_lengths(self, old: Value, new: Value, how: Collected) -> None:
        """Refuse what has no rows in lengths that nothing proves: the loop then has its own, as what it says it is."""
        if self.stacks.is_some:
            return
        lengths = lengths_of(new)
        proved = [dims.equal(a, b) for a, b in zip(lengths_of(old), lengths, strict=True)]
        del proved[how.axis]
        rest = [length for axis, length in enumerate(lengths) if axis != how.axis % len(lengths)]
        if how.stacks(len(rest)) and how.declared is not None and not isinstance(how.declared.shape, AnyShape):
            known = zip(proved, how.declared.shape, rest, strict=True)
            proved = [is_equal or (isinstance(a, int) and a == b) for is_equal, a, b in known]
        if not all(proved):
            raise CannotVectorize(f"it may never run, and {old.name!r} then has lengths that nothing proves")
