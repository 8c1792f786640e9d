"""Nodes whose inputs are constants of the file, computed while it is read: they never become part of the program."""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Any

import numpy as np

from whorl.errors import WhorlError
from whorl.formats.onnx.attributes import attribute_value
from whorl.formats.onnx.context import ReadContext
from whorl.formats.onnx.node_cache import ATTRIBUTES, op_of
from whorl.formats.onnx.ordering import free_names
from whorl.formats.onnx.protos import NodeProto
from whorl.formats.onnx.scope import Scope
from whorl.formats.onnx.versions.constants import FORMS
from whorl.ir.graph import Op, Value
from whorl.ops.core.base import Elementwise
from whorl.passes.context import Context
from whorl.passes.fold_constants import FAILURES, computed, elements_known, operand_sizes, result_bytes

LARGE = 1 << 20
"""Bytes from which a result is released after its last reader."""


class Folding:
    """Folds the nodes of one file, and remembers which types their ops accept.

    `outputs` are names of outputs of graphs and functions, whose values are needed to the end.
    """

    def __init__(self, pass_context: Context, outputs: Set[str]) -> None:
        self.pass_context = pass_context
        self.sizes: dict[Any, tuple[int, tuple[int, int]] | None] = {}
        self.outputs = outputs
        self.fresh: list[str] = []
        self.last: dict[tuple[int, str], int] = {}

    def note(self, name: str, value: Value, scope: Scope) -> bool:
        """Make a value a constant whose elements inference knows, and drop its node; whether that was possible."""
        if scope.is_repeated:
            return False
        nodes = scope.region.nodes
        if value.known is None or not nodes or nodes[-1] is not value.owner or len(nodes[-1].outputs) > 1:
            return False
        elements = elements_known(value) if nodes[-1].op.pure else None
        if elements is None or not self.pass_context.may_edit("fold_constants"):
            return False
        self.pass_context.report.fold(nodes.pop().op, 0, 0)
        scope.add_constant(name, elements)
        return True

    def fold(self, proto: NodeProto, scope: Scope, context: ReadContext) -> bool:
        """Compute a node of constants and give its results to the scope; whether that was possible."""
        constants = scope.constants
        names = proto.input[:]
        if not names and proto.op_type == "Constant":
            return self._add_constant(proto, scope, context)
        try:
            inputs = [constants[name] for name in names]
        except KeyError:
            return False
        if not inputs:
            return False
        outputs = proto.output[:]
        for name in outputs:
            if not name or name in scope.values or name in constants:
                return False
        op = op_of(proto, names, outputs, context)
        sizes = None if op is None else self._sizes(op, inputs)
        if op is None or sizes is None:
            return False
        try:
            results = computed(op, inputs, sizes[0], self.pass_context)
        except FAILURES as error:
            self.pass_context.report.fails(op, error)
            return False
        if results is None or len(results) < len(outputs) or not self.pass_context.may_edit("fold_constants"):
            return False
        self.pass_context.report.fold(op, *sizes[1])
        for name, result in zip(outputs, results, strict=False):
            scope.add_constant(name, result)
            if type(result) is np.ndarray and result.nbytes >= LARGE:
                self.fresh.append(name)
        return True

    def forget(self, nodes: Sequence[NodeProto], position: int, scope: Scope) -> None:
        """Release large results whose last reader is `nodes[position]` or an earlier node."""
        for name in self.fresh:
            readers = [k for k in range(position + 1, len(nodes)) if name in free_names(nodes[k])]
            if readers and name not in self.outputs:
                self.last[id(scope), name] = readers[-1]
        self.fresh.clear()
        for owner, name in [key for key, last in self.last.items() if key[0] == id(scope) and last <= position]:
            del scope.constants[name], scope.initializers[name], self.last[owner, name]

    def _sizes(self, op: Op, inputs: Sequence[Any]) -> tuple[int, tuple[int, int]] | None:
        """The bytes of the result and the sizes of the operands; None where the op's type rules refuse them."""
        if isinstance(op, Elementwise):
            key = id(op), *[(x.dtype, x.shape) for x in inputs]
        else:
            key = id(op), *[(x.dtype, x.shape, _contents(x)) for x in inputs]
        if key not in self.sizes:
            try:
                self.sizes[key] = result_bytes(op, inputs), operand_sizes(inputs)
            except FAILURES:
                self.sizes[key] = None
        return self.sizes[key]

    def _add_constant(self, proto: NodeProto, scope: Scope, context: ReadContext) -> bool:
        (name,) = proto.output if len(proto.output) == 1 else ("",)
        attribute = proto.attribute[0] if len(proto.attribute) == 1 else None
        if attribute is None or not name or name in scope.values or name in scope.constants or proto.domain:
            return False
        if attribute.name not in FORMS or attribute.ref_attr_name or attribute.type not in ATTRIBUTES:
            return False
        try:
            value = FORMS[attribute.name](attribute_value(attribute, context.folder))
        except WhorlError:
            return False
        scope.add_constant(name, value)
        return True


def _contents(value: Any) -> bytes | None:
    """The elements of a small integer tensor, which may say the shape of a result."""
    return value.tobytes() if type(value) is np.ndarray and value.size <= 64 and value.dtype.kind in "iu" else None
