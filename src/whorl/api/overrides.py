"""What session options change of a module: lengths of its inputs, and its weights."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from whorl.api.ort_values import OrtValue
from whorl.errors import LoadError
from whorl.ir.constants import Constant
from whorl.ir.graph import Module
from whorl.ir.infer import names_of
from whorl.ir.types import TensorType
from whorl.passes.unroll.fix_inputs import fix_inputs


def with_lengths(module: Module, lengths: Mapping[str, int]) -> Module:
    """The module with these named lengths of its inputs fixed; names that no input has are left alone."""
    known = names_of(module.main.arguments)
    own = {name: length for name, length in lengths.items() if name in known}
    return fix_inputs(module, own, {}) if own else module


def with_initializers(module: Module, values: Mapping[str, OrtValue]) -> Module:
    """The module with other weights, by their names. Errors: LoadError for names and types that it does not have."""
    left = set(values)
    for node in module.nodes():
        name = node.outputs[0].name if node.outputs else ""
        if not isinstance(node.op, Constant) or name not in values:
            continue
        array, old = np.asarray(values[name]), node.op.value
        if (array.dtype, array.shape) != (old.dtype, tuple(old.shape)):
            shown = TensorType(array.dtype, array.shape), TensorType(old.dtype, tuple(old.shape))
            raise LoadError(f"initializer {name!r} is {shown[1]}, not {shown[0]}", fix="give one of the same type")
        node.op = Constant(array)
        left.discard(name)
    if left:
        raise LoadError(f"the model has no initializer {min(left)!r}", fix="name weights that the model has")
    return module
