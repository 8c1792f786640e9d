"""Models without loops and branches, for runtimes that have none."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any, Unpack

from whorl.api.deadlines import call_within
from whorl.api.models import Source, options_of
from whorl.api.optimizing import optimize
from whorl.errors import DeloopError
from whorl.formats.options import LoadKeywords, LoadOptions
from whorl.ir.graph import Module
from whorl.passes import pipeline
from whorl.passes.context import Context, PassOptions
from whorl.passes.unroll.control_flow import remedy_of, unroll_control_flow
from whorl.passes.unroll.fix_inputs import fix_inputs
from whorl.passes.unroll.remedy import Remedy
from whorl.passes.vectorize.control_flow import vectorize_control_flow
from whorl.runtime.feeds import check_value

MAX_ITERATIONS = 256
"""Copies of a body that are made unless the caller allows more."""


def deloop(
    source: Source,
    *,
    max_iterations: int = MAX_ITERATIONS,
    dims: Mapping[str, int] | None = None,
    inputs: Mapping[str, Any] | None = None,
    exact: bool = False,
    timeout: float | None = None,
    options: LoadOptions | None = None,
    **keywords: Unpack[LoadKeywords],
) -> Module:
    """A model that computes the same without Loop, Scan and If, from whatever `load` takes, which is left as it is.

    A loop becomes ops on all of its iterations at once where they are independent, or where what they carry has a
    closed form: sums, extremes, the last of some values, tensors that grow; its trip count and the lengths of named
    dims may then be known only at run time. Other loops are unrolled, up to `max_iterations` copies of a body; one that
    may end early becomes copies that then change nothing. An If computes both branches and selects.

    `dims` fixes named dims of the inputs, `inputs` the values of inputs, such as a trip count, and so the loops that
    these bound. What a loop or branch would not compute must not fail where it is computed now: an index that could be
    outside, or a divisor that could be 0, keeps it.

    Every bit stays, but for the order in which products of matrices sum, and but for squared distances of the rows of
    two matrices: they become a matrix product, whose error is at most d + 4 units of rounding of the squared lengths of
    the rows, for d columns. `exact` keeps the differences.
    `timeout`: seconds allowed. `options` and keywords as for `load`. Errors: LoadError; DeloopError names every loop
    and branch that remains, with the reason; RunError for an input of another type; TimeLimitError.
    """
    reading = options_of(options, keywords)
    return call_within(timeout, "delooping", _deloop, source, reading, max_iterations, dims or {}, inputs or {}, exact)


def _deloop(
    source: Source,
    options: LoadOptions,
    max_iterations: int,
    dims: Mapping[str, int],
    inputs: Mapping[str, Any],
    exact: bool,
) -> Module:
    chosen = PassOptions(distances=not exact)
    module = optimize(source, options=options)
    if dims or inputs:
        types = {value.name: value.type for value in module.main.arguments}
        values = {
            name: check_value(x, types[name], f"input {name!r}") if name in types else x for name, x in inputs.items()
        }
        module = fix_inputs(module, dims, values)
        pipeline.optimize(module)
    recurrent = vectorize_control_flow(module, Context(module, chosen))
    pipeline.optimize(module, chosen)
    remaining = unroll_control_flow(module, Context(module, PassOptions()), max_iterations)
    if remaining:
        reasons = "\n  ".join(_reason(where, str(why), recurrent.get(where)) for where, why in remaining.items())
        raise DeloopError(f"control flow remains:\n  {reasons}", fix=_fix(remedy_of(module, remaining)))
    pipeline.optimize(module, chosen)
    return module


def _reason(where: str, unrolled: str, vectorized: str | None) -> str:
    """Why control flow remains: why there are no copies of it, and why it has no form without iterations."""
    return f"{where}: {unrolled}" + (f"; not all iterations at once: {vectorized}" if vectorized else "")


def _fix(remedy: Remedy) -> str:
    """The options that may remove what remains, on the command line and here; the numbers are examples."""
    flags = [shlex.join(("--dim", f"{name}={length}")) for name, length in remedy.lengths.items()]
    flags += [shlex.join(("--input", f"{name}={value}")) for name, value in remedy.inputs.items()]
    arguments = [f"dims={remedy.lengths}"] if remedy.lengths else []
    arguments += [f"inputs={remedy.inputs}"] if remedy.inputs else []
    if remedy.iterations:
        flags.append(f"--max-iterations {remedy.iterations}")
        arguments.append(f"max_iterations={remedy.iterations}")
    if not flags:
        return "no option removes it: change the model, or choose a runtime with control flow"
    return f"try {' '.join(flags)}, in Python {', '.join(arguments)}"
