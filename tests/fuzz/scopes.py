"""Graphs of a program being written: what is visible in them, and how they close into nodes of the graph around."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from onnx import FunctionProto, NodeProto, TensorProto, ValueInfoProto, helper, numpy_helper

from fuzz.elements import draw
from fuzz.forms import EXACTLY, OPSET, Dims, Operand, Slack, letters, onnx_type, shape
from whorl.ir.dtypes import BY_NAME

LOCAL = "local"


@dataclass(frozen=True)
class Var:
    """A value of the program. `dims` with "?" where only the run knows a length, None where not even the rank is known.

    tame: every element lies between -4 and 4. `source`: how its elements were drawn, if they were.
    """

    name: str
    dtype: str
    dims: Dims | None
    slack: Slack = EXACTLY
    tame: bool = False
    sequence: bool = False
    source: str = ""

    @property
    def is_open(self) -> bool:
        return self.dims is None or "?" in self.dims


@dataclass(frozen=True)
class Feed:
    """An input of the model."""

    var: Var
    how: str
    shared: bool


@dataclass
class Writer:
    """What all graphs of a program share."""

    rng: np.random.Generator
    lengths: list[dict[str, int]]
    specials: float
    feeds: list[Feed] = field(default_factory=list)
    initializers: list[TensorProto] = field(default_factory=list)
    functions: list[FunctionProto] = field(default_factory=list)
    count: int = 0

    @property
    def fixed(self) -> set[str]:
        """Letters that are the same in all runs."""
        return {c for c in self.lengths[0] if len({lengths[c] for lengths in self.lengths}) == 1}

    def name(self, stem: str) -> str:
        self.count += 1
        return f"{stem}{self.count}"

    def chance(self, percent: float) -> bool:
        return self.rng.random() * 100 < percent

    def choose(self, items: Any) -> Any:
        return items[int(self.rng.integers(len(items)))]

    def passed(self, operand: Operand) -> Var:
        """A new input of the model, or a constant where all runs agree on its shape."""
        how = operand.draw
        tame = how in ("tame", "unit", "factor") or operand.dtype == "bool"
        used = letters(operand.dims) | set(filter(str.isupper, how))
        var = Var(self.name("x"), operand.dtype, operand.dims, tame=tame, source=how)
        if used <= self.fixed and self.chance(75 if how.startswith("is") else 25):
            array = self.array(operand, self.lengths[0])
            self.initializers.append(tensor(array, var.name, var.dtype))
        else:
            self.feeds.append(Feed(var, how, how.startswith("is")))
        return var

    def array(self, operand: Operand, lengths: dict[str, int]) -> np.ndarray:
        drawn = draw(self.rng, operand.dtype, shape(operand.dims, lengths), operand.draw, lengths, self.specials)
        return np.asarray(drawn)

    def info(self, var: Var) -> ValueInfoProto:
        """The declaration of a value: fixed letters as numbers, some dims without a name, some without even a rank."""
        if var.dims is None or self.chance(4):
            return declare(var, None)
        message: list[Any] = []
        for dim in var.dims:
            if letters((dim,)) <= self.fixed and dim != "?":
                message.append(shape((dim,), self.lengths[0])[0])
            else:
                message.append(dim if dim.isalpha() and not self.chance(10) else None)
        return declare(var, message)


def declare(var: Var, dims: list[Any] | None) -> ValueInfoProto:
    if var.sequence:
        element = helper.make_tensor_type_proto(onnx_type(var.dtype), None)
        return helper.make_value_info(var.name, helper.make_sequence_type_proto(element))
    return helper.make_tensor_value_info(var.name, onnx_type(var.dtype), dims)


def tensor(array: np.ndarray, name: str, dtype: str) -> TensorProto:
    if dtype == "string":
        array = array.astype(str)
    return numpy_helper.from_array(np.ascontiguousarray(array.astype(BY_NAME[dtype])).reshape(array.shape), name)


@dataclass
class Scope:
    """One graph: main, a body, a branch or a function."""

    writer: Writer
    kind: str = "main"
    host: Scope | None = None
    nodes: list[NodeProto] = field(default_factory=list)
    own: list[Var] = field(default_factory=list)
    results: list[Var] = field(default_factory=list)
    """Of a branch or function, and of main: what it gives."""

    def visible(self) -> list[Var]:
        if self.host is None or self.kind == "function":
            return list(self.own)
        return self.host.visible() + self.own

    def add(
        self, op: str, inputs: list[Var | None], outputs: list[Var], domain: str = "", **attributes: Any
    ) -> list[Var]:
        names = ["" if v is None else v.name for v in inputs]
        node = helper.make_node(op, names, [v.name for v in outputs], domain=domain, **attributes)
        self.nodes.append(node)
        self.own += outputs
        return outputs

    def unary(self, op: str, var: Var, **changes: Any) -> Var:
        """One more node over one value; the result is like it, apart from the changes."""
        result = replace(var, name=self.writer.name("u"), source="", **changes)
        return self.add(op, [var], [result])[0]

    def constant(self, array: np.ndarray, dtype: str) -> Var:
        dims = tuple(map(str, array.shape))
        var = Var(self.writer.name("c"), dtype, dims, tame=True, source="constant")
        self.nodes.append(helper.make_node("Constant", [], [var.name], value=tensor(array, "", dtype)))
        return var

    def operand(self, operand: Operand) -> Var:
        """A value for an operand: one that is there, or a new one of a kind that suits the graph."""
        actual = self.existing(operand)
        if actual and self.writer.chance(50):
            return self.writer.choose(actual[-4:])
        return self.fresh(operand)

    def existing(self, operand: Operand) -> list[Var]:
        if operand.draw not in ("", "tame"):
            return []
        like = [v for v in self.visible() if (v.dtype, v.dims, v.sequence) == (operand.dtype, operand.dims, False)]
        return [v for v in like if v.slack == Slack() and (v.tame or not operand.draw)]

    def fresh(self, operand: Operand) -> Var:
        var = self.writer.passed(operand) if self.host is None else self.host.operand(operand)
        if self.host is None:
            self.own.append(var)
        return var

    def graph(self, arguments: list[Var], results: list[Var], name: str):
        inputs = [self.writer.info(v) for v in arguments]
        outputs = [declare(v, None) for v in results]
        return helper.make_graph(self.nodes, name, inputs, outputs)


@dataclass
class State:
    """A carried value: where it starts, its name in the body, what it becomes; `free` if any tensor may follow."""

    start: Var
    inside: Var
    after: Var | None = None


@dataclass
class Body(Scope):
    """The body of a Loop or Scan. Its trip count is the letter T."""

    states: list[State] = field(default_factory=list)
    slices: list[tuple[Var, Var]] = field(default_factory=list)
    collected: list[Var] = field(default_factory=list)
    counter: Var | None = None

    def __post_init__(self) -> None:
        if self.kind == "loop":
            self.counter = Var(self.writer.name("i"), "int64", (), source="counter")

    def fresh(self, operand: Operand) -> Var:
        assert self.host is not None
        if operand.draw in ("", "tame") and self.writer.chance(40):
            return self.state(self.host.operand(operand))
        if not operand.draw.startswith("is") and self.writer.chance(70 if self.kind == "scan" else 40):
            return self.slice(operand)
        return self.host.operand(operand)

    def state(self, start: Var) -> Var:
        inside = replace(start, name=self.writer.name("s"), source="state")
        self.states.append(State(start, inside))
        self.own.append(inside)
        return inside

    def slice(self, operand: Operand) -> Var:
        """A row of a tensor that is different in each iteration."""
        assert self.host is not None
        rows = self.host.operand(replace(operand, dims=("T", *operand.dims)))
        row = replace(rows, name=self.writer.name("r"), dims=operand.dims, source="slice")
        if self.kind == "scan":
            self.slices.append((rows, row))
            self.own.append(row)
        else:
            self.add("Gather", [rows, self.counter], [row])
        return row

    def carry(self, value: Var, start: Var) -> None:
        """A value handed from iteration to iteration, from a start of the same rank."""
        inside = replace(value, name=self.writer.name("s"), dims=start.dims, source="state")
        self.states.append(State(start, inside, value))

    def close(self) -> list[Var]:
        """Write the node into the graph around; what it gives there."""
        assert self.host is not None
        for state in self.states:
            state.after = state.after or self.next_of(state)
        after = [s.after for s in self.states if s.after is not None]
        results = self.distinct([*after, *self.collected])
        passed = [replace(s.after, name=self.writer.name("y"), source="", tame=s.after.tame and s.start.tame,
                         dims=s.after.dims if s.after.dims == s.start.dims else _any(s.after.dims))
                 for s in self.states if s.after is not None]  # fmt: skip
        passed += [replace(v, name=self.writer.name("ys"), source="", dims=None if v.dims is None else ("T", *v.dims))
                  for v in self.collected]  # fmt: skip
        return (self._scan if self.kind == "scan" else self._loop)(results, passed)

    def distinct(self, results: list[Var]) -> list[Var]:
        """The results, each with a name of its own that the body makes."""
        seen = {s.inside.name for s in self.states} | {row.name for _, row in self.slices}
        made = {name for node in self.nodes for name in node.output}
        actual = []
        for v in results:
            if v.name in seen or v.name not in made:
                v = self.unary("Identity", v)
            seen.add(v.name)
            actual.append(v)
        return actual

    def next_of(self, state: State) -> Var:
        """What a state becomes: the newest value of its type, itself changed, or as it is."""
        inside, w = state.inside, self.writer
        if inside.sequence:
            alike = [v for v in self.own if v.sequence and (v.dtype, v.dims) == (inside.dtype, inside.dims)]
            return alike[-1]
        alike = [v for v in self.own if (v.dtype, v.dims, v.sequence) == (inside.dtype, inside.dims, False)]
        alike = [v for v in alike if v.slack == Slack() and v is not inside and (v.tame or not inside.tame)]
        if alike and w.chance(75):
            return w.choose(alike[-2:])
        if w.chance(50) and inside.dtype.startswith(("float32", "float64", "float16", "bfloat16", "int")):
            wide = inside.dtype not in ("int4", "int2")
            return self.unary("Neg", inside) if wide else inside
        return inside

    def _loop(self, results: list[Var], passed: list[Var]) -> list[Var]:
        w, host = self.writer, self.host
        assert host is not None and self.counter is not None
        go_on = Var(w.name("k"), "bool", ())
        again = Var(w.name("k"), "bool", ())
        if w.chance(20):
            limit = host.operand(Operand((), "int64", "offset"))
            self.add("Less", [self.counter, limit], [again])
            passed = [replace(v, dims=("?", *v.dims[1:])) if v.dims and v.dims[0] == "T" else v for v in passed]
        else:
            self.add("Identity", [go_on], [again])
        arguments = [self.counter, go_on, *(s.inside for s in self.states)]
        body = self.graph(arguments, [again, *results], "body")
        trip = host.operand(Operand((), "int64", "lengths T"))
        condition = host.operand(Operand((), "bool", "yes")) if w.chance(40) else None
        return host.add("Loop", [trip, condition, *(s.start for s in self.states)], passed, body=body)

    def _scan(self, results: list[Var], passed: list[Var]) -> list[Var]:
        host = self.host
        assert host is not None
        if not self.slices:
            self.slice(Operand(("N",), "float32", ""))
        arguments = [*(s.inside for s in self.states), *(row for _, row in self.slices)]
        body = self.graph(arguments, results, "body")
        inputs = [*(s.start for s in self.states), *(rows for rows, _ in self.slices)]
        return host.add("Scan", list(inputs), passed, body=body, num_scan_inputs=len(self.slices))


def _any(dims: Dims | None) -> Dims | None:
    return None if dims is None else ("?",) * len(dims)


@dataclass
class Branch(Scope):
    """A branch of an If. `condition`: "yes", "no" or "either" of the runs take it."""

    condition: str = "yes"

    def close(self) -> list[Var]:
        assert self.host is not None
        w, host = self.writer, self.host
        results = [self.unary("Identity", v) for v in self.results]
        other = Scope(w, "branch", host)
        others = [self.substitute(other, v) for v in results]
        flag = self.flag()
        own, against = self.graph([], results, "taken"), other.graph([], others, "other")
        then_first = w.chance(50)
        if not then_first:
            flag = host.unary("Not", flag)
        fed = [replace(v, name=w.name("y"), dims=v.dims if v.dims == o.dims else _any(v.dims) if o.dims and v.dims and
                         len(v.dims) == len(o.dims) else None, tame=v.tame and o.tame, source="")
                 for v, o in zip(results, others, strict=True)]  # fmt: skip
        pair = (own, against) if then_first else (against, own)
        made = host.add("If", [flag], fed, then_branch=pair[0], else_branch=pair[1])
        return [self.flattened(v) if v.dims is None and not v.sequence and w.chance(60) else v for v in made]

    def flag(self) -> Var:
        """The condition: a truth value of its own, or, where either answer will do, what a length is compared with."""
        w, host = self.writer, self.host
        assert host is not None
        if self.condition != "either" or not w.chance(40):
            return host.operand(Operand((), "bool", self.condition))
        base = host.operand(Operand((w.choose("NMKP"), w.choose("NMKP")), "float32", ""))
        (length,) = host.add("Shape", [base], [Var(w.name("n"), "int64", ("1",))], start=0, end=1)
        limit = host.constant(np.array([int(w.choose((1, 2, 3, 5)))]), "int64")
        return host.add(w.choose(("Equal", "Less", "Greater")), [length, limit], [Var(w.name("k"), "bool", ("1",))])[0]

    def flattened(self, var: Var) -> Var:
        """A value of any rank as one axis."""
        assert self.host is not None
        flat = self.host.constant(np.array([-1]), "int64")
        return self.host.add("Reshape", [var, flat], [replace(var, name=self.writer.name("f"), dims=("?",))])[0]

    def substitute(self, other: Scope, var: Var) -> Var:
        """What the other branch gives in the place of a value: of its type, or of another shape."""
        w = self.writer
        if var.sequence:
            result = replace(var, name=w.name("o"))
            return other.add("SequenceEmpty", [], [result], dtype=onnx_type(var.dtype))[0]
        if not var.is_open and w.chance(60):
            return other.unary("Identity", other.operand(Operand(var.dims or (), var.dtype, "tame")))
        rank = 1 if var.dims is None else len(var.dims)
        if w.chance(40):
            rank = rank + 1 if not rank or w.chance(50) else rank - 1
        return other.constant(np.ones((1,) * rank), var.dtype)


@dataclass
class Function(Scope):
    """A function of the model: it sees nothing but its inputs."""

    inputs: list[tuple[Var, Var]] = field(default_factory=list)

    def fresh(self, operand: Operand) -> Var:
        assert self.host is not None
        outer = self.host.operand(operand)
        inner = replace(outer, name=self.writer.name("p"))
        self.inputs.append((outer, inner))
        self.own.append(inner)
        return inner

    def close(self) -> list[Var]:
        assert self.host is not None
        w, name = self.writer, self.writer.name("F")
        results = [self.unary("Identity", v) for v in self.results]
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(LOCAL, 1)]
        w.functions.append(
            helper.make_function(
                LOCAL, name, [v.name for _, v in self.inputs], [v.name for v in results], self.nodes, opsets
            )
        )
        passed = [replace(v, name=w.name("y"), source="") for v in results]
        return self.host.add(name, [v for v, _ in self.inputs], passed, domain=LOCAL)


Fill = Callable[[Scope], None]
