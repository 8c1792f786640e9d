"""Lengths of axes: integers, or linear forms over names that are equal only when proved.

A form has its terms sorted, so that equal forms are equal objects and proof is comparison. Two names may still be the
same number at run time: `equal` and `differ` both answer False then, and whoever must know checks in the run.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping

from msgspec import Struct

from whorl.ir.cached_property import cached_property


class Call(Struct, frozen=True, dict=True):
    """An atom that is not a name: `floor`, `mod`, `min`, `max` or `mul` of dims; `less` and `equal` are 1 or 0."""

    kind: str
    args: tuple[Dim, ...]

    @cached_property
    def size(self) -> int:
        """How many atoms it is made of, itself one of them."""
        return 1 + sum(arg.size for arg in self.args if isinstance(arg, Linear))

    def __str__(self) -> str:
        return f"{self.kind}({', '.join(map(str, self.args))})"


Atom = str | Call


class Linear(Struct, frozen=True):
    """`sum(coefficient * atom) + constant`, its terms sorted, so that equal forms are equal objects."""

    terms: tuple[tuple[Atom, int], ...]
    constant: int = 0

    @property
    def size(self) -> int:
        """How many atoms it is made of."""
        return sum(1 if isinstance(atom, str) else atom.size for atom, _ in self.terms)

    def __str__(self) -> str:
        parts = [str(atom) if k == 1 else f"-{atom}" if k == -1 else f"{k}*{atom}" for atom, k in self.terms]
        if self.constant:
            parts.append(str(self.constant))
        return "+".join(parts).replace("+-", "-")

    __repr__ = __str__

    def __add__(self, other: Dim) -> Dim:
        if isinstance(other, Unknown):
            return UNKNOWN
        terms = dict(self.terms)
        more, constant = (other.terms, other.constant) if isinstance(other, Linear) else ((), int(other))
        for atom, k in more:
            terms[atom] = terms.get(atom, 0) + k
        return linear(terms, self.constant + constant)

    def __mul__(self, other: Dim) -> Dim:
        if isinstance(other, Unknown):
            return UNKNOWN
        if isinstance(other, Linear):
            return call("mul", self, other)
        if other == 1:
            return self
        return linear({atom: k * int(other) for atom, k in self.terms}, self.constant * int(other))

    def __neg__(self) -> Dim:
        return self * -1

    def __sub__(self, other: Dim) -> Dim:
        return self + other * -1

    def __rsub__(self, other: Dim) -> Dim:
        return self * -1 + other

    def __floordiv__(self, other: Dim) -> Dim:
        return call("floor", self, other)

    def __rfloordiv__(self, other: Dim) -> Dim:
        return call("floor", other, self)

    def __mod__(self, other: Dim) -> Dim:
        return call("mod", self, other)

    def __rmod__(self, other: Dim) -> Dim:
        return call("mod", other, self)

    __radd__, __rmul__ = __add__, __mul__


class Unknown:
    """A length nobody knows yet. Inference replaces it by a fresh name; it equals nothing, itself included."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "?"

    def __eq__(self, other: object) -> bool:
        return False

    def __hash__(self) -> int:
        return 0

    def __reduce__(self) -> str:
        return "UNKNOWN"

    def _absorb(self, other: object = None) -> Unknown:
        return self

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __neg__ = _absorb
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = _absorb


UNKNOWN = Unknown()
LARGEST = 128
"""The atoms a form may be made of."""
Dim = int | Linear | Unknown


def _key(atom: Atom) -> str:
    return str(atom)


def linear(terms: dict[Atom, int], constant: int) -> Dim:
    """The normal form; an `int` where no name is left."""
    nonzero = [(a, k) for a, k in terms.items() if k]
    if len(nonzero) > 1:
        nonzero.sort(key=lambda term: _key(term[0]))
    return _bounded(Linear(tuple(nonzero), constant)) if nonzero else constant


def _bounded(form: Linear) -> Dim:
    """The form, or UNKNOWN where it is so large that following it costs more than it tells."""
    is_plain = len(form.terms) == 1 and isinstance(form.terms[0][0], str)
    return form if is_plain or form.size <= LARGEST else UNKNOWN


def name(text: str) -> Linear:
    """The dim that is called `text`."""
    return Linear(((text, 1),))


def call(kind: str, *args: Dim) -> Dim:
    """`floor(a/b)`, `mod(a, b)`, `min(...)`, `max(...)`, `mul(a, b)`, or whether `less(a, b)` or `equal(a, b)`.

    Evaluated as far as it is known.
    """
    if any(arg is UNKNOWN for arg in args):
        return UNKNOWN
    numbers = tuple(arg for arg in args if isinstance(arg, int))
    if len(numbers) == len(args):
        return _evaluate(kind, numbers)
    match kind, args:
        case ("floor", (a, 1)) | ("mul", (a, 1)) | ("mul", (1, a)):
            return a
        case ("mod", (_, 1)) | ("mul", (_, 0)) | ("mul", (0, _)):
            return 0
        case ("floor", (Linear() as a, int(b))) if b > 0 and all(k % b == 0 for _, k in a.terms):
            return linear({atom: k // b for atom, k in a.terms}, a.constant // b)
        case ("floor", (Linear() as a, Linear() as b)) if (ratio := 1 if a == b else _multiple(a, b)) is not None:
            return ratio  # a dim that divides is positive
        case ("mod", (Linear() as a, int(b))) if b > 0 and all(k % b == 0 for _, k in a.terms):
            return a.constant % b
        case (("min" | "max"), _):
            return _extreme(kind, args)
        case ("mul", _):
            return _product(args)
        case (("less" | "equal"), (a, b)) if isinstance(gap := a - b, int):
            return _evaluate(kind, (gap, 0))
        case _:
            pass
    return _bounded(Linear(((Call(kind, args), 1),)))


def _evaluate(kind: str, args: tuple[int, ...]) -> Dim:
    match kind:
        case "floor":
            return args[0] // args[1] if args[1] else UNKNOWN
        case "mod":
            return args[0] % args[1] if args[1] else UNKNOWN
        case "mul":
            return product(args)
        case "min":
            return min(args)
        case "less":
            return int(args[0] < args[1])
        case "equal":
            return int(args[0] == args[1])
        case _:
            return max(args)


def _multiple(a: Linear, b: Linear) -> Dim | None:
    """`a / b` where `a` is a whole multiple of `b`, or a product in which `b` is a factor."""
    if len(a.terms) == len(b.terms) == 1 and not a.constant and not b.constant:
        (atom, k), (other, m) = a.terms[0], b.terms[0]
        if atom == other and k % m == 0:
            return k // m
        if isinstance(atom, Call) and atom.kind == "mul" and m == 1 and b in atom.args:
            rest = list(atom.args)
            rest.remove(b)
            return product(rest) * k
    return None


def _extreme(kind: str, args: tuple[Dim, ...]) -> Dim:
    distinct = list(dict.fromkeys(args))
    for a in list(distinct):
        for b in list(distinct):
            if a is not b and a in distinct and b in distinct and isinstance(gap := a - b, int):
                distinct.remove(b if (gap >= 0) == (kind == "max") else a)
    if len(distinct) == 1:
        return distinct[0]
    return _bounded(Linear(((Call(kind, tuple(sorted(distinct, key=str))), 1),)))


def _product(args: Iterable[Dim]) -> Dim:
    """A product of linear forms as one atom with its factors sorted and its integer factor outside."""
    factor = 1
    rest: list[Dim] = []
    for arg in args:
        if isinstance(arg, int):
            factor *= arg
        elif isinstance(arg, Linear) and len(arg.terms) == 1 and not arg.constant:
            atom, k = arg.terms[0]
            factor *= k
            rest.extend(atom.args if isinstance(atom, Call) and atom.kind == "mul" else (Linear(((atom, 1),)),))
        else:
            rest.append(arg)
    if not rest or not factor:
        return factor
    atom = Call("mul", tuple(sorted(rest, key=str))) if len(rest) > 1 else None
    return _bounded(Linear(((atom, factor),))) if atom else rest[0] * factor


def product(dims: Iterable[Dim]) -> Dim:
    """The number of elements of a shape."""
    shape = tuple(dims)
    return UNKNOWN if any(dim is UNKNOWN for dim in shape) else _size(shape)


@functools.lru_cache(maxsize=1 << 12)
def _size(dims: tuple[int | Linear, ...]) -> Dim:
    number, total = 1, None
    for dim in dims:
        if isinstance(dim, int) and total is None:
            number *= dim
        else:
            total = dim * number if total is None else total * dim
    return number if total is None else total


def equal(a: Dim, b: Dim) -> bool:
    """True only when the two are proved to be the same number."""
    return a is not UNKNOWN and b is not UNKNOWN and a == b


def differ(a: Dim, b: Dim) -> bool:
    """True only when the two are proved to be different numbers."""
    gap = a - b
    return isinstance(gap, int) and gap != 0


def names_in(dim: Dim) -> set[str]:
    """Every name a dim mentions."""
    if not isinstance(dim, Linear):
        return set()
    names: set[str] = set()
    for atom, _ in dim.terms:
        names |= {atom} if isinstance(atom, str) else set().union(*(names_in(a) for a in atom.args))
    return names


def evaluate(dim: Dim, lengths: Mapping[str, int]) -> int:
    """The number that a dim is where its names are these lengths. Errors: KeyError, ValueError where it is none."""
    if isinstance(dim, int):
        return dim
    if isinstance(dim, Unknown):
        raise ValueError("a length is not known")
    total = dim.constant
    for atom, k in dim.terms:
        if isinstance(atom, str):
            total += k * lengths[atom]
            continue
        value = _evaluate(atom.kind, tuple([evaluate(arg, lengths) for arg in atom.args]))
        total += k * evaluate(value, lengths)
    return total


def substitute(dim: Dim, binding: dict[str, Dim]) -> Dim:
    """The dim with names replaced; names that are not bound stay."""
    if not isinstance(dim, Linear):
        return dim
    total: Dim = dim.constant
    for atom, k in dim.terms:
        if isinstance(atom, str):
            value = binding.get(atom, name(atom))
        else:
            value = call(atom.kind, *(substitute(arg, binding) for arg in atom.args))
        total = total + value * k
    return total
