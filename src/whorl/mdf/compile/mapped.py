"""Parameter sets at once where values of a set meet, as in matrix products: the program of one set, for many rows."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from whorl.errors import TypeRuleError
from whorl.ir import dims
from whorl.mdf.compile.program import SET, Program
from whorl.mdf.model import Datum
from whorl.passes import pipeline
from whorl.passes.context import Context
from whorl.passes.sparse_products import sparse_products
from whorl.passes.vectorize.batched import CannotVectorize
from whorl.passes.vectorize.modules import map_module, names_of_dims
from whorl.runtime.backends import choose_mode
from whorl.runtime.limits import Limits
from whorl.runtime.session import Session


class MappedProgram:
    """The program of one parameter set with an axis for sets, the first one, in these inputs and in all outputs."""

    def __init__(self, program: Program, inputs: frozenset[str], limits: Limits | None, backend: str | None) -> None:
        """Errors: CannotVectorize."""
        module = program.module
        rows = next(name for name in ("sets", *(f"sets{n}" for n in range(99))) if name not in names_of_dims(module))
        chosen = {value.name: 0 if value.name in inputs else None for value in module.main.arguments}
        try:
            mapped = map_module(module, chosen, dict.fromkeys(module.output_names, 0), dims.name(rows))
        except TypeRuleError as error:
            raise CannotVectorize(error.message) from None
        pipeline.optimize(mapped)
        sparse_products(mapped, Context(mapped))
        self.program = program
        self.session = Session(mapped, limits, choose_mode(backend, once=False))

    def run(self, feeds: Mapping[str, Datum]) -> list[np.ndarray]:
        """The outputs with the sets on their last axis, as other batches have them. Errors: RunError, LimitError."""
        return [np.moveaxis(output, 0, -1) for output in self.session.execute(None, feeds)]


def mapped_inputs(
    program: Program, sets: Mapping[Datum, np.ndarray], state: Mapping[Datum, np.ndarray], batch: int
) -> dict[str, np.ndarray]:
    """The inputs that differ by set, with the sets on their first axis."""
    rows = {program.overrides[cell]: array for cell, array in sets.items() if cell in program.overrides}
    for cell, name in program.start.items():
        array = state[cell]
        if array.shape[-1] > 1:
            rows[name] = np.moveaxis(array, -1, 0)
    if program.draws:
        rows[SET] = np.arange(batch)
    return {name: np.ascontiguousarray(array) for name, array in rows.items()}
