"""Programs of cells: each op with its operands in its position, its result used in some way, other readers around."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from onnx import ModelProto, helper

from fuzz.cells import NEIGHBOURS, USES, Cell, all_forms
from fuzz.forms import ANY, MOVE, OPSET, STASHED, STEADY, SUM, Dims, Form, Operand, Slack, letters
from fuzz.scopes import LOCAL, Body, Branch, Function, Scope, Var, Writer, declare
from whorl.ir.dtypes import BY_NAME, is_float

RUNS = 3
SINGLE = 2.0**29
"""Units in the last place of a float64 in one of a float32."""
LENGTHS = {"NMKL": (0, 1, 2, 3, 4, 5, 8, 17), "PQR": (1, 2, 3, 5, 8), "HW": (4, 5, 6, 9), "T": (0, 1, 2, 3)}
BOUNDED = ("Sin", "Cos", "Tanh", "Sigmoid", "Erf", "Softsign", "HardSigmoid", "Softmax", "Atan")
Feeds = dict[str, np.ndarray]


@dataclass
class Program:
    """A model, its feeds run by run, and how far each output may lie from the oracle's."""

    model: ModelProto
    runs: list[Feeds]
    slack: dict[str, Slack] = field(default_factory=dict)
    cells: Sequence[Cell] = ()
    seed: int = 0

    @property
    def data(self) -> bytes:
        return self.model.SerializeToString()


def write(cells: Sequence[Cell], seed: int, hostile: bool = False) -> Program:
    """The program of some cells; a hostile one has a feed that the ops may have to refuse."""
    return Author(np.random.default_rng(seed)).program(cells, seed, hostile)


class Author:
    """Writes one program."""

    def __init__(self, rng: np.random.Generator) -> None:
        specials = float(rng.choice([0.0, 0.1, 0.3]))
        self.writer = Writer(rng, draw_lengths(rng), specials)
        self.main = Scope(self.writer)
        self.masks: dict[str, Var] = {}
        """By length, of the cell that is being written."""

    def program(self, cells: Sequence[Cell], seed: int, hostile: bool) -> Program:
        left = list(cells)
        while left:
            first = left.pop(0)
            together = [first]
            while left and left[0].position == first.position and self.writer.chance(60):
                together.append(left.pop(0))
            self.arrange(together, first.position, self.main)
        model, outputs = self.model()
        runs = [self.feeds(n) for n in range(RUNS)]
        if hostile:
            spoil(self.writer.rng, runs)
        return Program(model, runs, {v.name: v.slack for v in outputs}, cells, seed)

    # ---- positions ---------------------------------------------------------------------------------------------

    def arrange(self, cells: list[Cell], position: str, host: Scope) -> None:
        """Write cells where they belong, sometimes with one more graph around."""
        w = self.writer
        if host is self.main and position != "main" and w.chance(15):
            host = self.inner(w.choose(("loop", "taken", "function")), host)
            self.arrange(cells, position, host)
            self.finish(host)
            return
        scope = host if position == "main" else self.inner(position, host)
        for cell in cells:
            self.write_cell(scope, cell)
        if scope is not host:
            self.finish(scope)

    def inner(self, kind: str, host: Scope) -> Scope:
        w = self.writer
        if kind == "loop":
            return Body(w, "scan" if w.chance(25) else "loop", host)
        if kind == "function":
            return Function(w, "function", host)
        flips = w.chance(30)
        return Branch(w, "branch", host, condition="either" if flips else "yes" if kind == "taken" else "no")

    def finish(self, scope: Scope) -> None:
        """Close an inner graph; what it gives is given on."""
        if isinstance(scope, Branch | Function) and not scope.results:
            self.give(scope, scope.unary("Identity", scope.operand(Operand(("N",), "float32", "tame"))))
        if isinstance(scope, Body) and not (scope.states or scope.collected):
            scope.collected.append(scope.unary("Identity", scope.operand(Operand(("N",), "float32", "tame"))))
        assert isinstance(scope, Body | Branch | Function) and scope.host is not None
        for var in scope.close():
            self.give(scope.host, var)

    def give(self, scope: Scope, var: Var) -> None:
        """Make a value a result of its graph."""
        if not isinstance(scope, Body):
            scope.results.append(var)
        elif var.sequence or (self.writer.chance(50) and self.carry(scope, var)):
            return
        else:
            scope.collected.append(var)

    def carry(self, body: Body, var: Var) -> bool:
        """Hand a value from iteration to iteration, where it has a shape to start with."""
        if var.sequence or var.dims is None or (body.kind == "scan" and var.is_open):
            return False
        same = body.kind == "scan" or (not var.is_open and self.writer.chance(70))
        assert body.host is not None
        if same:
            start = body.host.operand(Operand(var.dims, var.dtype, "tame"))
        else:
            start = body.host.operand(Operand(("1",) * len(var.dims), var.dtype, "tame"))
        body.carry(var, start)
        return True

    # ---- cells -------------------------------------------------------------------------------------------------

    def write_cell(self, scope: Scope, cell: Cell) -> None:
        form, w = all_forms()[cell.form], self.writer
        self.masks.clear()
        neighbour = w.choose(NEIGHBOURS)
        operands = self.operands(scope, form, cell.dtype)
        main = next((v for v in operands if v is not None), None)
        if main is not None and neighbour in ("read before", "read around"):
            self.use(scope, self.reader(scope, main), "output")
        results = self.apply(scope, form, cell.dtype, operands)
        if main is not None and neighbour in ("read after", "read around"):
            self.use(scope, self.reader(scope, main), "output")
        if main is not None and neighbour == "two writers":
            again = [main if v is main else v for v in self.operands(scope, form, cell.dtype)]
            again[operands.index(main)] = main
            self.use(scope, self.apply(scope, form, cell.dtype, again)[0], "output")
        for k, var in enumerate(results):
            if k == 0 or w.chance(60):
                self.use(scope, var, w.choose(USES))

    def reader(self, scope: Scope, var: Var) -> Var:
        """A node that reads a value."""
        w = self.writer
        if var.dims and not var.sequence and w.chance(25):
            wide = None if var.is_open else (f"2*({var.dims[0]})", *var.dims[1:])
            combined = replace(var, name=w.name("u"), dims=wide or ("?",) * len(var.dims), source="")
            return scope.add("Concat", [var, var], [combined], axis=0)[0]
        if var.dtype in ("float32", "float64", "int32", "int64") and not var.sequence and w.chance(40):
            return scope.unary("Neg", var)
        return scope.unary("Identity", var)

    def operands(self, scope: Scope, form: Form, dtype: str) -> list[Var | None]:
        open_value = self.open_value(scope, form, dtype)
        if open_value is not None:
            return [open_value]
        actual: list[Var | None] = []
        for operand in form.operands:
            if operand is None:
                actual.append(None)
                continue
            typed = replace(operand, dtype=operand.dtype or dtype)
            actual.append(self.sequence(scope, typed) if operand.sequence else self.operand(scope, form, typed))
        return actual

    def open_value(self, scope: Scope, form: Form, dtype: str) -> Var | None:
        """For a form of one operand, a value of lengths that only the run knows, where there is one."""
        if len(form.operands) != 1 or form.operands[0] is None or form.operands[0].draw or form.operands[0].sequence:
            return None
        dims = form.operands[0].dims
        if any(dim not in ANY for dim in dims) or len(set(dims)) < len(dims) or form.operands[0].dtype:
            return None
        like = [
            v for v in scope.visible() if v.dtype == dtype and v.dims and len(v.dims) == len(dims) and "?" in v.dims
        ]
        like = [v for v in like if v.slack == Slack() and not v.sequence]
        return self.writer.choose(like) if like and self.writer.chance(70) else None

    def operand(self, scope: Scope, form: Form, operand: Operand) -> Var:
        """A value for an operand: inexact ones where the form bears them, lengths out of shapes, constants."""
        w = self.writer
        kind, _, rest = operand.draw.partition(" ")
        if kind == "lengths" and len(operand.dims) == 1 and rest and w.chance(30):
            return self.measured(scope, rest.split())
        if kind in ("places", "spots", "masked"):
            return self.of_mask(scope, operand)
        if kind == "is" and w.chance(40):
            return scope.constant(w.array(operand, w.lengths[0]), operand.dtype)
        inexact = self.inexact(scope, form, operand)
        if inexact and w.chance(70):
            return w.choose(inexact)
        is_plain = len(operand.dims) > 1 and kind in ("", "tame", "finite")
        return self.turned(scope, operand) if is_plain and w.chance(15) else scope.operand(operand)

    def turned(self, scope: Scope, operand: Operand) -> Var:
        """A tensor whose elements lie in another order than that of its axes."""
        order = self.writer.rng.permutation(len(operand.dims)).tolist()
        source = scope.operand(replace(operand, dims=tuple(operand.dims[axis] for axis in order)))
        result = replace(source, name=self.writer.name("turned"), dims=operand.dims, source="")
        return scope.add("Transpose", [source], [result], perm=np.argsort(order).tolist())[0]

    def inexact(self, scope: Scope, form: Form, operand: Operand) -> list[Var]:
        """Values with slack that the form may read."""
        if operand.draw not in ("", "tame") or form.kind not in (MOVE, STEADY, SUM):
            return []
        like = [v for v in scope.visible() if (v.dtype, v.dims, v.sequence) == (operand.dtype, operand.dims, False)]
        return [v for v in like if v.slack != Slack() and (v.tame or form.kind == MOVE)]

    def of_mask(self, scope: Scope, operand: Operand) -> Var:
        """Places where a mask is true, or elements there."""
        w, (kind, length) = self.writer, operand.draw.split()
        if length not in self.masks:
            self.masks[length] = scope.operand(Operand((length,), "bool", ""))
        mask, result = self.masks[length], Var(w.name("m"), operand.dtype, operand.dims)
        if kind == "masked":
            return scope.add(
                "Compress", [scope.operand(Operand((length,), operand.dtype, "")), mask], [result], axis=0
            )[0]
        (actual,) = scope.add("NonZero", [mask], [Var(w.name("m"), "int64", ("1", "?"))])
        if kind == "places":
            return scope.add("Transpose", [actual], [result])[0]
        return scope.add("Squeeze", [actual, scope.constant(np.array([0]), "int64")], [result])[0]

    def measured(self, scope: Scope, dims: list[str]) -> Var:
        """Lengths that the program reads off a tensor."""
        w = self.writer
        base = scope.operand(Operand(tuple(dims), w.choose(("float32", "int32", "bool")), ""))
        return scope.add("Shape", [base], [Var(w.name("n"), "int64", (str(len(dims)),))])[0]

    def sequence(self, scope: Scope, operand: Operand) -> Var:
        """A sequence of two tensors, carried by a body sometimes."""
        w = self.writer
        there = [v for v in scope.visible() if v.sequence and (v.dtype, v.dims) == (operand.dtype, operand.dims)]
        if there and w.chance(60):
            return there[-1]
        carried = isinstance(scope, Body) and scope.kind == "loop" and w.chance(60)
        host = scope.host if carried and scope.host is not None else scope
        element = replace(operand, sequence=False)
        pair = [host.operand(element), host.operand(element)]
        var = Var(w.name("q"), operand.dtype, operand.dims, tame=all(v.tame for v in pair), sequence=True)
        host.add("SequenceConstruct", list(pair), [var])
        return scope.state(var) if carried and isinstance(scope, Body) else var

    def apply(self, scope: Scope, form: Form, dtype: str, operands: list[Var | None]) -> list[Var]:
        w = self.writer
        slack, tame = self.slack_of(form, operands)
        if form.op in STASHED and dtype == "float64":
            slack = Slack(slack.ulps * SINGLE, slack.units * SINGLE)
        dtypes = form.result_dtypes(dtype)
        outs = [
            Var(w.name("v"), name, dims, slack if is_float(BY_NAME[name]) else Slack(), tame, form.sequence)
            for name, dims in zip(dtypes, self.result_dims(form, operands), strict=True)
        ]
        return scope.add(form.op, list(operands), outs, **form.attributes(dtype))

    def result_dims(self, form: Form, operands: list[Var | None]) -> list[Dims | None]:
        """The dims of the results; those of a value of open lengths go where its letters do."""
        first, own = operands[0], form.operands[0]
        if len(operands) != 1 or first is None or own is None or not first.dims or "?" not in first.dims:
            return list(form.results)
        there = dict(zip(own.dims, first.dims, strict=True))
        return [
            None if dims is None else tuple(there.get(d, d if not letters((d,)) else "?") for d in dims)
            for dims in form.results
        ]

    def slack_of(self, form: Form, operands: list[Var | None]) -> tuple[Slack, bool]:
        there = [v for v in operands if v is not None]
        passed = sum((v.slack for v in there), Slack())
        tame = (form.kind == MOVE and all(v.tame for v in there if v.dtype != "int64")) or form.op in BOUNDED
        if form.kind == STEADY and passed != Slack():
            return Slack(2, 4 * passed.ulps + passed.units + 4) + form.slack, False
        if form.kind == SUM and passed != Slack():
            return form.slack + Slack(0, 64 * (4 * passed.ulps + passed.units)), tame
        return passed + form.slack, tame

    # ---- uses --------------------------------------------------------------------------------------------------

    def use(self, scope: Scope, var: Var, how: str) -> None:
        if how == "dead":
            return
        if isinstance(scope, Body) and how == "carried" and self.carry(scope, var):
            return
        if isinstance(scope, Body) and how == "collected" and not var.sequence:
            scope.collected.append(var)
            return
        host_is_deep = scope.host is not None and scope.host.host is not None
        if how in ("output", "carried", "collected") and (
            how == "output" or host_is_deep or var.sequence or var.is_open
        ):
            self.give(scope, var)
        elif how == "captured" or isinstance(scope, Body):
            self.capture(scope, var)
        else:
            self.loop_over(scope, var, how)

    def capture(self, scope: Scope, var: Var) -> None:
        """Read a value from a branch of its own."""
        w = self.writer
        branch = Branch(w, "branch", scope, condition="either")
        branch.results.append(self.reader(branch, var))
        self.finish(branch)

    def loop_over(self, scope: Scope, var: Var, how: str) -> None:
        """Carry a value through a Loop of its own, or collect it there."""
        body = Body(self.writer, "loop", scope)
        if how == "carried":
            body.state(var)
        else:
            body.collected.append(self.reader(body, var))
        self.finish(body)

    # ---- the model ---------------------------------------------------------------------------------------------

    def model(self) -> tuple[ModelProto, list[Var]]:
        w, main = self.writer, self.main
        passed, outputs = {f.var.name for f in w.feeds} | {t.name for t in w.initializers}, []
        for var in dict.fromkeys(main.results):
            outputs.append(main.unary("Identity", var) if var.name in passed else var)
        if not outputs:
            outputs.append(main.unary("Identity", main.operand(Operand((), "float32", ""))))
        inputs = [w.info(f.var) for f in w.feeds]
        infos = [declare(v, None) for v in outputs]
        graph = helper.make_graph(main.nodes, "main", inputs, infos, w.initializers)
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(LOCAL, 1)]
        return helper.make_model(graph, opset_imports=opsets, functions=w.functions, ir_version=13), outputs

    def feeds(self, run: int) -> Feeds:
        w = self.writer
        return {f.var.name: w.array(Operand(f.var.dims or (), f.var.dtype, f.how), w.lengths[run]) for f in w.feeds}


def draw_lengths(rng: np.random.Generator) -> list[dict[str, int]]:
    """The letters' numbers, run by run; some letters, or all, stay the same."""
    share = 1.0 if rng.random() < 0.25 else 0.35
    still = {c for c in "NMKLPQRHWT" if rng.random() < share}
    runs: list[dict[str, int]] = []
    for _ in range(RUNS):
        drawn = {c: int(rng.choice(pool)) for group, pool in LENGTHS.items() for c in group}
        runs.append(drawn if not runs else {c: runs[0][c] if c in still else n for c, n in drawn.items()})
    return runs


def spoil(rng: np.random.Generator, runs: list[Feeds]) -> None:
    """Change one feed of one run: a length, or the elements of an integer one."""
    feeds = runs[int(rng.integers(len(runs)))]
    names = [name for name, array in feeds.items() if array.ndim or array.dtype.kind == "i"]
    if not names:
        return
    name = names[int(rng.integers(len(names)))]
    array = feeds[name]
    if array.dtype.kind == "i" and rng.random() < 0.6:
        change = rng.choice([-7, -1, 0, 1, 7], array.shape)
        feeds[name] = (array + change).astype(array.dtype) if rng.random() < 0.6 else np.full_like(array, change.sum())
    elif array.ndim:
        axis = int(rng.integers(array.ndim))
        length = int(rng.choice([0, 1, 2, 3, array.shape[axis] + 1]))
        feeds[name] = np.take(array, np.arange(length) % max(array.shape[axis], 1), axis) if array.size else np.zeros(
            (*array.shape[:axis], length, *array.shape[axis + 1 :]), array.dtype
        )  # fmt: skip
