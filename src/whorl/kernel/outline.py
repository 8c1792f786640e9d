"""Which loop nests of a program become functions of their own, so that equal ones are compiled once.

They are those that run once a run of the program, or once for each of its blocks that are alike. What is inside a loop
over time stays there, where a call would cost; so do the nests of a program that has few: they are compiled with it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence

from whorl.ir.dtypes import is_float
from whorl.ir.native.expressions import FUNCTIONS, Apply, Expr, Var
from whorl.kernel.canonical import Nest, NestDescription
from whorl.kernel.program import Assign, Call, For, Poll, Program, RunOp, Spread, Statement, Take, When, While
from whorl.kernel.verify import parts_in_order
from whorl.kernel.walk import all_statements, assigned, blocks, expressions

FEW = 4
"""Nests from which a program has functions for them."""
_LEFT_OPEN = frozenset(("sum", "minimum", "maximum"))
"""Operations on floats of which the optimiser may choose among results."""
SHORT = 8
"""Operations for each nest that a program may have besides its nests and be glue."""


def outline(program: Program) -> dict[int, Nest]:
    """The nests of a program that become functions, by the identity of their statements."""
    chosen = list(_candidates(program.body))
    if len(chosen) < FEW:
        chosen = spreads_of(program.body)
    described = {id(statement): NestDescription(statement) for statement in chosen}
    seen = Counter(_shared(program, described))
    for description in described.values():
        seen.update(description.variables.keys())
    return {key: d.nest(var for var in d.variables if seen[var] > 1) for key, d in described.items()}


def spreads_of(block: Sequence[Statement]) -> list[Spread]:
    """The statements whose ranges several cores run, each a function of its own wherever it stands."""
    return [s for s in all_statements(block) if isinstance(s, Spread)]


def is_glue(program: Program, nests: Mapping[int, Nest]) -> bool:
    """Whether a program besides its nests has no loops, but for blocks that are alike, and hardly computes."""
    count = 0
    for statement in _outside(program.body, nests):
        if isinstance(statement, For) or (isinstance(statement, While) and not statement.of_blocks):
            return False
        if isinstance(statement, Spread):
            continue
        for expr in expressions(statement):
            ops = [part.op for part in parts_in_order(expr) if isinstance(part, Apply)]
            count += len(ops)
            if not FUNCTIONS.isdisjoint(ops):
                return False
    return count <= SHORT * len(nests)


def may_stay_unoptimised(statement: Statement) -> bool:
    """Whether code that no optimiser has seen gives the same bits, and does no more than the model's elements ask for.

    It does not where there is a loop over time, or something whose order or sign of zero is left to the optimiser.
    """
    for each in all_statements([statement]):
        if isinstance(each, While) and not each.of_op:
            return False
        for expr in expressions(each):
            ops = [part for part in parts_in_order(expr) if isinstance(part, Apply)]
            if any(op.op in _LEFT_OPEN and is_float(op.dtype) for op in ops):
                return False
    return True


def only_calls_kernels(statement: Statement) -> bool:
    """Whether a nest does nothing but say what kernels run on: then no optimiser makes it faster."""
    return all(isinstance(each, Spread | Call | Assign | Poll) for each in all_statements([statement]))


def has_functions(statement: Statement) -> bool:
    """Whether a statement itself computes functions such as exp, for which vectors take 30 times less."""
    parts = (part for expr in expressions(statement) for part in parts_in_order(expr))
    return any(isinstance(part, Apply) and part.op in FUNCTIONS for part in parts)


def _candidates(block: Sequence[Statement]) -> Iterator[For | Spread | While]:
    """Loops that run at most once, and do without the runtime but for polls and memory."""
    for statement in block:
        match statement:
            case While(body=body, of_blocks=True):
                yield from _candidates(body)
            case For() | Spread() | While() if not any(
                isinstance(s, RunOp | Take) for s in all_statements([statement])
            ):
                yield statement
            case When(then=then, other=other):
                yield from _candidates(then)
                yield from _candidates(other)
            case _:
                for inner in blocks(statement):
                    yield from spreads_of(inner)


def _shared(program: Program, nests: Container[int]) -> set[Var]:
    """The variables that are more than a nest's own: those of statements outside, and lengths of memory."""
    exprs = [n for b in (*program.buffers, *program.scratch) for n in b.shape if isinstance(n, Expr)]
    result = set(program.scalars)
    for statement in _outside(program.body, nests):
        result.update(assigned(statement))
        exprs += expressions(statement)
    for expr in exprs:
        result.update(part for part in parts_in_order(expr) if isinstance(part, Var))
    return result


def _outside(block: Sequence[Statement], nests: Container[int]) -> Iterator[Statement]:
    """The statements that are in no nest."""
    for statement in block:
        if id(statement) not in nests:
            yield statement
            for inner in blocks(statement):
                yield from _outside(inner, nests)
