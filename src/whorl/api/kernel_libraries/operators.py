"""Ops of libraries: which of those of a name fits a node, the types of its outputs, and its kernels."""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Mapping, Sequence
from ctypes import c_void_p
from typing import Any

import numpy as np

from whorl.api.kernel_libraries.failures import check_status
from whorl.api.kernel_libraries.interface import SINCE, Table
from whorl.api.kernel_libraries.objects import Call, Description, Inference, TensorFact, hold, release
from whorl.api.kernel_libraries.table import api
from whorl.errors import TypeRuleError
from whorl.formats.onnx.dtypes import FROM_ONNX, TO_ONNX
from whorl.ir.constants import as_array
from whorl.ir.dims import UNKNOWN, Dim
from whorl.ir.dtypes import STRING, name_of
from whorl.ir.guards import is_list, is_tuple
from whorl.ir.types import UNRANKED, TensorType, lengths_of

ANY = 0
"""The element type of what may be of any; the type of an output then follows from the inputs."""
REQUIRED, OPTIONAL, VARIADIC = range(3)
_REMEMBERED = 256
"""Types of outputs that an op remembers."""
CPU = b"CPUExecutionProvider"
Types = Sequence[TensorType | None]


class Operator:
    """An op of a library, by its table, which the library keeps."""

    def __init__(self, address: int) -> None:
        self.address = address
        self.table = Table.from_address(address)
        self.name = self.table.name(address).decode()
        self.inputs = self._elements("input")
        self.outputs = self._elements("output")
        self._kernels: dict[Any, int] = {}
        self._types: dict[Any, list[TensorType]] = {}

    def _elements(self, side: str) -> list[tuple[int, int]]:
        """The element type and kind of each input or output."""
        count = self._call(f"{side}_count", 0)
        kinds = [self._call(f"{side}_kind", REQUIRED, index) for index in range(count)]
        return [(self._call(f"{side}_type", ANY, index), kind) for index, kind in enumerate(kinds)]

    def has(self, member: str) -> bool:
        """Whether the table has a function; null is none."""
        return self.table.version >= SINCE.get(member, 0) and bool(getattr(self.table, member))

    def _call(self, member: str, default: int, *arguments: int) -> int:
        return getattr(self.table, member)(self.address, *arguments) if self.has(member) else default

    @property
    def is_for_cpu(self) -> bool:
        """Whether it is an op of the CPU's provider, which is also the one of no name."""
        return not self.has("provider") or (self.table.provider(self.address) or CPU) == CPU

    # ---- types ---------------------------------------------------------------------------------------------------

    def fits(self, elements: Sequence[int | None]) -> bool:
        """Whether it takes inputs of these element types; None is an omitted one."""
        expected = self._spread(self.inputs, len(elements))
        if len(elements) > len(expected) or any(kind == REQUIRED for _, kind in expected[len(elements) :]):
            return False
        pairs = zip(elements, expected, strict=False)
        return all(e in (ANY, element) if element is not None else kind == OPTIONAL for element, (e, kind) in pairs)

    def _spread(self, entries: Sequence[tuple[int, int]], count: int) -> list[tuple[int, int]]:
        """The entries, of which a variadic one, which is the last, stands for all that are left."""
        if not entries or entries[-1][1] != VARIADIC:
            return list(entries)
        return [*entries[:-1], *[(entries[-1][0], VARIADIC)] * (count - len(entries) + 1)]

    def infer(self, types: Types, attributes: Mapping[str, Any], count: int) -> list[TensorType]:
        """The types of the outputs, as far as the library says."""
        key = tuple(types), key_of(attributes), count
        if key not in self._types:
            if len(self._types) >= _REMEMBERED:
                self._types.clear()
            self._types[key] = self._infer(types, attributes, count)
        return self._types[key]

    def _infer(self, types: Types, attributes: Mapping[str, Any], count: int) -> list[TensorType]:
        own = [element for element, _ in self._spread(self.outputs, count)]
        facts = self._inferred(types, attributes, max(count, len(own)))
        own += [ANY] * (len(facts) - len(own))
        first = next((type.dtype for type in types if type is not None), STRING)
        ranked = [type for type in types if type is not None and type.rank is not None]
        known = {str(n): n for type in ranked for n in lengths_of(type) if not isinstance(n, int)}
        results = list[TensorType]()
        for element, fact in zip(own, facts, strict=True):
            number = element or (fact.element if fact is not None else ANY)
            results.append(
                TensorType(FROM_ONNX.get(number, first), UNRANKED if fact is None else _shape_of(fact, known))
            )
        return results

    def _inferred(self, types: Types, attributes: Mapping[str, Any], count: int) -> list[TensorFact | None]:
        if not self.has("infer") or any(type is not None and type.rank is None for type in types):
            return [None] * count
        query = Inference([_fact_of(type) for type in types], attributes, count)
        handle = hold(query)
        try:
            check_status(self.table.infer(self.address, handle), f"types of {self.name}")
        finally:
            for each in (handle, *query.handles):
                release(each)
        return query.outputs

    # ---- kernels -------------------------------------------------------------------------------------------------

    def run(self, arrays: Sequence[np.ndarray | None], attributes: Mapping[str, Any], count: int) -> list[np.ndarray]:
        """The outputs that a kernel gives, up to the first that it leaves out. Errors: RunError with its text."""
        arrays = [None if x is None else np.ascontiguousarray(x).reshape(x.shape) for x in arrays]
        types = [None if x is None else TensorType(x.dtype, x.shape) for x in arrays]
        elements = tuple(element for element, _ in self._spread(self.outputs, count))
        if ANY in elements or len(elements) < count:
            elements = tuple(TO_ONNX[result.dtype] for result in self.infer(types, attributes, count))
        kernel = self._kernel(types, elements, attributes)
        call = Call(arrays, elements)
        context = call.handle(call)
        try:
            if self.has("compute_with_status"):
                check_status(self.table.compute_with_status(kernel, context), self.name)
            else:
                self.table.compute(kernel, context)
        finally:
            call.close()
        made = [output for output in itertools.takewhile(lambda each: each is not None, call.outputs) if output]
        return [output.value() for output in made]

    def _kernel(self, types: Types, elements: tuple[int, ...], attributes: Mapping[str, Any]) -> int:
        """The kernel of nodes with these attributes, made once."""
        key = tuple(type and type.dtype for type in types), elements, key_of(attributes)
        if key not in self._kernels:
            inputs = [_fact_of(type) for type in types]
            node = hold(Description(self.name, attributes, inputs, [TensorFact(element) for element in elements]))
            functions = ctypes.addressof(api())
            if self.has("create_with_status"):
                made = c_void_p()
                status = self.table.create_with_status(self.address, functions, node, ctypes.addressof(made))
                check_status(status, self.name)
                self._kernels[key] = made.value or 0
            else:
                self._kernels[key] = self.table.create(self.address, functions, node) or 0
        return self._kernels[key]


def choose(operators: Sequence[Operator], types: Types) -> Operator:
    """The op of a name that takes inputs of these types. Errors: TypeRuleError where none does."""
    elements = [None if type is None else TO_ONNX[type.dtype] for type in types]
    for operator in operators:
        if operator.fits(elements):
            return operator
    shown = ", ".join("none" if e is None else name_of(FROM_ONNX[e]) for e in elements)
    known = " or ".join(_listed(operator) for operator in operators)
    raise TypeRuleError(f"{operators[0].name} takes {known}, and the inputs are ({shown})")


def _listed(operator: Operator) -> str:
    texts = [name_of(FROM_ONNX[element]) if element in FROM_ONNX else "any" for element, _ in operator.inputs]
    marks = {REQUIRED: "", OPTIONAL: "?", VARIADIC: "..."}
    return f"({', '.join(t + marks[kind] for t, (_, kind) in zip(texts, operator.inputs, strict=True))})"


def _fact_of(type: TensorType | None) -> TensorFact:
    if type is None or type.rank is None:
        return TensorFact(ANY if type is None else TO_ONNX[type.dtype])
    lengths = lengths_of(type)
    names = ["" if isinstance(n, int) else str(n) for n in lengths]
    return TensorFact(TO_ONNX[type.dtype], [n if isinstance(n, int) else -1 for n in lengths], names)


def _shape_of(fact: TensorFact, known: Mapping[str, Dim]) -> tuple[Dim, ...]:
    """Lengths that a library gives; of its names those that inputs have, since other ones may mean anything."""
    names = [*fact.names, *[""] * (len(fact.lengths) - len(fact.names))]
    pairs = zip(fact.lengths, names, strict=True)
    return tuple(length if length >= 0 else known.get(text, UNKNOWN) for length, text in pairs)


def key_of(attributes: Mapping[str, Any]) -> tuple[Any, ...]:
    """Attributes as what a dict can find."""
    return tuple((key, _frozen(value)) for key, value in sorted(attributes.items()))


def _frozen(value: Any) -> Any:
    if hasattr(value, "dtype"):
        array: np.ndarray = as_array(value)
        return str(array.dtype), array.shape, array.tobytes() if array.dtype != STRING else tuple(array.reshape(-1))
    return tuple(map(_frozen, value)) if is_list(value) or is_tuple(value) else (type(value), value)
