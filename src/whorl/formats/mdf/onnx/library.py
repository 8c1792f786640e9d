"""The operators of ONNX among the functions of MDF."""

from __future__ import annotations

from collections.abc import Mapping

from whorl.formats.mdf.onnx import control
from whorl.formats.mdf.onnx.calls import apply_named, call_named, join_results
from whorl.formats.mdf.onnx.operators import find_schema, is_onnx, spread_arguments
from whorl.ir.build import Builder
from whorl.mdf.functions.operators import Precision, register_operators
from whorl.mdf.model import Datum
from whorl.runtime.limits import Limits

assert control


class OnnxOperators:
    """`onnx::Add` and the like."""

    def has(self, name: str) -> bool:
        return is_onnx(name)

    def spread_arguments(self, name: str, args: Mapping[str, Datum]) -> Mapping[str, Datum]:
        return spread_arguments(name, args)

    def call(
        self,
        name: str,
        names: Mapping[str, Datum],
        args: Mapping[str, Datum],
        precision: Precision,
        limits: Limits | None,
    ) -> Datum:
        return call_named(name, names, args, precision, limits)

    def emit(
        self, name: str, names: Mapping[str, Datum], args: Mapping[str, Datum], build: Builder, precision: Precision
    ) -> Datum:
        results = apply_named(name, names, args, build, precision)
        schema = find_schema(name)
        return results[0] if schema is None else join_results(schema, results)


register_operators(OnnxOperators())
