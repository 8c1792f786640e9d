"""Results that are inputs, constants or twice the same become values of their own, so that one program gives them all.

A run copies such results anyhow, since they belong to the caller. Where one is of no program, each call takes the long
way.
"""

from __future__ import annotations

from whorl.ir.build import Builder
from whorl.ir.constants import Constant
from whorl.ir.dtypes import STRING
from whorl.ir.graph import Module, Region, Value
from whorl.ir.types import TensorType
from whorl.ops.elementwise.arithmetic import Identity
from whorl.passes.context import Context


def own_results(module: Module, context: Context) -> None:
    """Copy such results of the main region, where anything is computed beside them."""
    region = module.main
    if all(isinstance(node.op, Constant | Identity) for node in region.nodes):
        return
    build, results = Builder(region, context.inference), list[Value]()
    for value in region.results:
        if (value in results or _is_copied(value)) and _is_copyable(value) and context.may_edit("own_results"):
            value = build.add(Identity(), value, name=value.name)
        results.append(value)
    region.results = results


def _is_copied(value: Value) -> bool:
    return isinstance(value.owner, Region) or isinstance(value.owner.op, Constant)


def _is_copyable(value: Value) -> bool:
    return isinstance(value.type, TensorType) and value.type.dtype != STRING
