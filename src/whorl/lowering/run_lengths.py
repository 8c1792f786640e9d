"""Lengths that follow from those of a run's inputs, computed before the run, so that memory for them has its place.

A program that serves every shape has them as its first scalars: the named lengths of its inputs, then the forms over
these that it reads, such as `n+1` or `2*n*m`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from whorl.ir import dims
from whorl.ir.dims import Dim, Linear
from whorl.ir.dtypes import INT64
from whorl.ir.native.expressions import Buffer, Expr, Var
from whorl.ir.native.view import View
from whorl.lowering.statements import LENGTHS, Statements
from whorl.ops.movement.lengths import bounds


class RunLengths(Statements):
    """Knows which lengths follow from the inputs of a run; none do until `take_names` says so."""

    def __init__(self) -> None:
        super().__init__()
        self.shapes: dict[Buffer, tuple[Dim, ...]] = {}
        """Buffers that have their place before the run, with lengths over the names of the run."""
        self.forms: dict[Dim, Var] = {}
        """The forms that the program reads, each with the scalar that holds it."""
        self.agreeing: list[tuple[Dim, Dim]] = []
        """Lengths of the run that must be the same: the program fails where one is 1 and would broadcast."""
        self.positive: list[Dim] = []
        """Lengths of the run that are taken for at least 1."""
        self._names: set[str] = set()
        self._equal: dict[str, Dim] = {}

    def take_names(self, names: dict[str, Var]) -> None:
        """These names are lengths of the run's inputs."""
        self._names.update(names)
        self.dims.update(names)

    def in_run(self, dim: Dim) -> Dim | None:
        """A length over the names of the run alone; None where it does not follow from them."""
        if isinstance(dim, int):
            return dim
        form = dims.substitute(dim, self._equal) if self._equal else dim
        if form is dims.UNKNOWN or not dims.names_in(form) <= self._names:
            return None
        return form

    def shape_in_run(self, shape: Sequence[Dim]) -> tuple[Dim, ...] | None:
        """A shape over the names of the run alone; None where a length does not follow from them."""
        forms = tuple([self.in_run(dim) for dim in shape])
        return None if None in forms else forms  # type: ignore[return-value]

    def is_positive(self, dim: Dim) -> bool:
        """Whether a length is not 0 where all names of the run are at least 2; the program is for such runs then."""
        form = self.in_run(dim)
        if form is None or bounds(dims.substitute(form, {n: dims.name(n) + 2 for n in self._names}))[0] <= 0:
            return False
        self.positive.append(form)
        return True

    def require_agreement(self, dim: Dim, other: Dim) -> None:
        """End the program with a failure unless two lengths are the same; for those of the run it is known before."""
        a, b = self.in_run(dim), self.in_run(other)
        if a is not None and b is not None:
            self.agreeing.append((a, b))
        self.fail_unless(self.compare("eq", self.length(dim), self.length(other)), LENGTHS)

    def narrow(self, views: Sequence[View]) -> list[View]:
        """Views that broadcast along axes of which all that is known is that they have one element at most.

        They have one there, or none where the others have none; else the program fails.
        """
        result = list(views)
        for axis in range(-max((len(view.shape) for view in views), default=0), 0):
            lengths = [view.shape[axis] if len(view.shape) >= -axis else 1 for view in views]
            wide = next((n for n in lengths if bounds(n)[1] > 1), None)
            if wide is None:
                continue
            for number, n in enumerate(lengths):
                if not isinstance(n, int) and bounds(n)[1] <= 1:
                    length = self.length(n)
                    agrees = self.compare("eq", length, self.length(wide))  # type: ignore[arg-type]
                    self.fail_unless(self.apply("or", self.compare("eq", length, self.const(1)), agrees), LENGTHS)
                    result[number] = _with_one(result[number], axis)
        return result

    def equate(self, dim: Dim, length: Dim) -> None:
        """Remember that a new name is a length which follows from the run's inputs."""
        form = self.in_run(length)
        if form is not None and isinstance(dim, Linear) and dim == dims.name(str(dim)):
            self._equal.setdefault(str(dim), form)

    def length(self, dim: Dim) -> Expr:
        """A dim at run time; a form over the names of the run is a scalar of the program."""
        form = self.in_run(dim) if isinstance(dim, Linear) and self._names else None
        if form is None or (isinstance(form, Linear) and str(form) in self._names):
            return super().length(dim if form is None else form)
        if isinstance(form, int):
            return self.const(form)
        if form not in self.forms:
            self.forms[form] = self.variable(INT64, "n", once=False)
        return self.forms[form]

    def memory(self, name: str, dtype: np.dtype, shape: tuple[Dim, ...]) -> Buffer:
        """A buffer of a shape that follows from the run's inputs."""
        lengths = tuple(n if isinstance(n, int) else self.length(n) for n in shape)
        buffer = Buffer(name, dtype, lengths)
        self.shapes[buffer] = shape
        return buffer


def _with_one(view: View, axis: int) -> View:
    """A view that has one element along an axis."""
    shape = list(view.shape)
    shape[axis] = 1
    return View(view.dtype, tuple(shape), view.at, view.cost)
