"""Copies that a program does not need: results computed where they are wanted, carried values changed in place.

A scratch buffer that is only copied is written where the copy goes: the next carried value, a collected row, an output.
A carried value whose elements are read for the last time just before they are written needs no second buffer.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct, field

from whorl.ir.native.expressions import Buffer, Const, Expr, Load, Var
from whorl.kernel.program import Assign, Call, For, Program, Statement, Store, Swap
from whorl.kernel.verify import parts_in_order
from whorl.kernel.walk import Block, Replacement, all_statements, assigned, blocks, loads, position, used_by, written

Index = tuple[Expr, ...]


def remove_copies(program: Program) -> None:
    """Compute scratch buffers that are only copied where they are copied to, and change carried buffers in place."""
    uses = Uses.of(program)
    scratch = {b for b in program.scratch if not b.grows}
    for block in _all_blocks(program.body):
        for number, statement in enumerate(block):
            for copy in list(_copies(statement, number)):
                if copy.source in scratch and _may_forward(uses, block, copy):
                    _forward(uses, block, copy)
                    scratch.discard(copy.source)
        for swap in [s for s in block if isinstance(s, Swap)]:
            _update_carried(uses, block, swap)
    for block in _all_blocks(program.body):
        _drop_idle(block)
    program.scratch[:] = [b for b in program.scratch if uses.members[b]]


class Uses(Struct):
    """The statements, by their identity, that themselves use a buffer; kept right while statements change."""

    members: defaultdict[Buffer, set[int]]
    inner: dict[int, tuple[Statement, frozenset[int]]] = field(
        default_factory=dict[int, tuple[Statement, frozenset[int]]]
    )

    @classmethod
    def of(cls, program: Program) -> Uses:
        members: defaultdict[Buffer, set[int]] = defaultdict(set)
        for statement in all_statements(program.body):
            for buffer in used_by(statement):
                members[buffer].add(id(statement))
        return cls(members)

    def inside(self, statement: Statement) -> frozenset[int]:
        """The statement and all inside it."""
        if id(statement) not in self.inner:
            self.inner[id(statement)] = statement, frozenset(id(s) for s in all_statements([statement]))
        return self.inner[id(statement)][1]

    def has(self, statement: Statement, buffer: Buffer) -> bool:
        return not self.members[buffer].isdisjoint(self.inside(statement))

    def are_in(self, block: Iterable[Statement], buffer: Buffer) -> bool:
        """Whether a buffer is used nowhere but in a block."""
        return self.members[buffer] <= frozenset().union(*map(self.inside, block))

    def rename(self, block: Block, source: Buffer, target: Buffer, target_index: Sequence[Expr | int]) -> None:
        """Let all uses of a buffer in a block mean another one; numbers in `target_index` are axes of the old one."""

        def at(index: Index) -> Index:
            return tuple(index[p] if isinstance(p, int) else p for p in target_index)

        def part(expr: Expr) -> Expr | None:
            is_source = isinstance(expr, Load) and expr.buffer is source
            return Load(expr.dtype, target, at(expr.index)) if is_source else None  # type: ignore[union-attr]

        there, replacement = self.members.pop(source, set()), Replacement(part)
        for statement in all_statements(block):
            if id(statement) not in there:
                continue
            replacement.statement(statement)
            match statement:
                case Store() if statement.buffer is source:
                    statement.buffer, statement.index = target, at(statement.index)
                case Call():
                    statement.addresses = [(target, at(i)) if b is source else (b, i) for b, i in statement.addresses]
                case _:
                    pass
        self.members[target] |= there

    def drop(self, block: Block, store: Store) -> None:
        """Take a store out of a block or of one inside it."""
        for buffer in used_by(store):
            self.members[buffer].discard(id(store))
        for body in _all_blocks(block):
            body[:] = [s for s in body if s is not store]


def _all_blocks(block: Block) -> Iterator[Block]:
    """A block and those inside it, inner ones first."""
    for statement in block:
        for inner in blocks(statement):
            yield from _all_blocks(inner)
    yield block


def same_index(a: Sequence[Expr], b: Sequence[Expr]) -> bool:
    """Whether two indices of variables and numbers are the same."""
    return len(a) == len(b) and all(
        x is y or (isinstance(x, Const) and isinstance(y, Const) and x.value == y.value)
        for x, y in zip(a, b, strict=True)
    )


# ---- copies into a result ------------------------------------------------------------------------------------


class _Copy(Struct, frozen=True):
    """A store of every element of a buffer into another one, where the element's index has its numbers in `index`."""

    source: Buffer
    target: Buffer
    index: tuple[Expr | int, ...]
    store: Store
    number: int
    """That of the nest among the statements of its block."""


def _copies(statement: Statement, number: int) -> Iterator[_Copy]:
    """The whole buffers that a nest of loops, one in the other, copies."""
    if not isinstance(statement, For):
        return
    nest, body = _nest(statement)
    values = {s.var: s.value for s in body if isinstance(s, Assign)}
    for store in body:
        value = store.value if isinstance(store, Store) else None
        load = values.get(value, value) if isinstance(value, Var) else value
        if isinstance(store, Store) and isinstance(load, Load) and _is_whole(load, nest):
            axes = {i: axis for axis, i in enumerate(load.index) if isinstance(i, Var)}
            index = tuple(axes.get(i, i) if isinstance(i, Var) else i for i in store.index)
            if [i for i in index if isinstance(i, int)] == sorted(axes.values()):
                yield _Copy(load.buffer, store.buffer, index, store, number)


def _nest(loop: For) -> tuple[list[For], Block]:
    """Loops that hold nothing but the next one, and the body of the last."""
    result = [loop]
    while len(result[-1].body) == 1 and isinstance(result[-1].body[0], For):
        result.append(result[-1].body[0])
    return result, result[-1].body


def _is_whole(load: Load, nest: Sequence[For]) -> bool:
    """Whether the loops go over all elements of what is loaded, in order."""
    left = list(nest)
    for i, length in zip(load.index, load.buffer.shape, strict=True):
        if length == 1 and isinstance(i, Const):
            continue
        if not left or left[0].var is not i or not _is_length(left[0].extent, length):
            return False
        left.pop(0)
    return not left


def _is_length(extent: Expr, length: int | Expr | None) -> bool:
    """Whether a loop goes over all of an axis; a length that only the run knows is the same expression in both."""
    return extent.value == length if isinstance(extent, Const) else extent is length


def _may_forward(uses: Uses, block: Block, copy: _Copy) -> bool:
    """Whether the source can be the target from the start: all that is done with it is near, and all else is not."""
    source, target = copy.source, copy.target
    if source.dtype != target.dtype or target.grows or source is target or not uses.are_in(block, source):
        return False
    around = {part for i in copy.index if isinstance(i, Expr) for part in parts_in_order(i)}
    if not all(isinstance(part, Const | Var) for part in around):
        return False
    over = False
    for number, statement in enumerate(block):
        if over and uses.has(statement, source):
            return False
        if around and around & {v for s in all_statements([statement]) for v in assigned(s)}:
            if number <= copy.number:
                return False
            over = True
        if isinstance(statement, Swap) and target in (statement.a, statement.b):
            over = True
        elif uses.has(statement, target):
            there = uses.inside(statement) & uses.members[target]
            if number != copy.number or set(there) != {id(copy.store)}:
                return False
    return not any(_needs(s, copy) for s in all_statements(block) if id(s) in uses.members[source])


def _needs(statement: Statement, copy: _Copy) -> bool:
    """Whether a statement uses more of a copied buffer than its elements one by one."""
    if isinstance(statement, Assign | Store | For):
        return False
    rank = len(copy.source.shape)
    follows = copy.index[-rank:] == tuple(range(rank)) and copy.target.shape[-rank:] == copy.source.shape
    return not isinstance(statement, Call) or not follows


def _forward(uses: Uses, block: Block, copy: _Copy) -> None:
    uses.drop([block[copy.number]], copy.store)
    uses.rename(block, copy.source, copy.target, copy.index)


# ---- carried values ------------------------------------------------------------------------------------------


def _update_carried(uses: Uses, block: Block, swap: Swap) -> None:
    """Write a carried value over the old one, where each element is read for the last time just before.

    That is so where one nest writes the new elements, each at the index of the nest, and from there on the old value is
    read at that index only, before the store.
    """
    now, after = swap.a, swap.b
    if now.grows or not uses.are_in(block, after):
        return
    users = [s for s in block if uses.has(s, after)]
    if len(users) < 2 or users[-1] is not swap or any(isinstance(s, Swap) for s in users[:-1]):
        return
    nest, first = users[0], position(block, users[0])
    if not isinstance(nest, For) or not _reads_before_it_writes(nest, now, after):
        return
    for statement in block[first + 1 : position(block, swap)]:
        changes = any(after in written(s) for s in all_statements([statement]) if id(s) in uses.members[after])
        if uses.has(statement, now) or changes:
            return
    del block[position(block, swap)]
    uses.members[now].discard(id(swap))
    uses.members[after].discard(id(swap))
    uses.rename(block, after, now, tuple(range(len(now.shape))))
    for store in _self_copies(nest, now):
        uses.drop([nest], store)


def _reads_before_it_writes(loop: For, now: Buffer, after: Buffer) -> bool:
    nest, body = _nest(loop)
    stores = [n for n, s in enumerate(body) if isinstance(s, Store) and s.buffer is after]
    writes = [s for s in all_statements(body) if after in written(s) or now in written(s)]
    if len(stores) != 1 or len(writes) != 1 or not all(f.parallel for f in nest):
        return False
    store = body[stores[0]]
    assert isinstance(store, Store)
    named = [i for i in store.index if not isinstance(i, Const)]
    if set(named) != {f.var for f in nest} or len(named) != len(nest):
        return False
    if any(load.buffer is now for load in loads(body[stores[0] + 1 :])):
        return False
    return all(same_index(load.index, store.index) for load in loads(body) if load.buffer in (now, after))


def _self_copies(nest: Statement, buffer: Buffer) -> list[Store]:
    """The stores of a nest that leave the elements of a buffer, which it stores once, as they are."""
    values = {s.var: s.value for s in all_statements([nest]) if isinstance(s, Assign) and s.var.once}
    stores = [s for s in all_statements([nest]) if isinstance(s, Store) and s.buffer is buffer]
    result: list[Store] = []
    for store in stores if len(stores) == 1 else ():
        value = values.get(store.value, store.value) if isinstance(store.value, Var) else store.value
        if isinstance(value, Load) and value.buffer is buffer and same_index(value.index, store.index):
            result.append(store)
    return result


def _drop_idle(block: Block) -> None:
    """Take out nests that change nothing."""
    block[:] = [s for s in block if not isinstance(s, For) or _acts(s)]


def _acts(nest: For) -> bool:
    return not all(isinstance(s, For) or (isinstance(s, Assign) and s.var.once) for s in all_statements(nest.body))
