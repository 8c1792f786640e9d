"""Operators of one's own: `register_op`."""

from __future__ import annotations

from typing import overload

from whorl.errors import RunError, UnsupportedError
from whorl.formats.onnx.signatures import signature_of
from whorl.ir.definitions import DEFINITIONS, Compute, Definition, Infer, Lower
from whorl.ir.forking import import_whole

NEWEST_VERSION = 1 << 30


@overload
def register_op(
    domain: str, name: str, *, run: Compute, infer: Infer | None = None, lower: Lower | None = None, pure: bool = True
) -> None: ...
@overload
def register_op(domain: type, *, infer: Infer | None = None, lower: Lower | None = None, pure: bool = True) -> None: ...
def register_op(
    domain: str | type,
    name: str = "",
    *,
    run: Compute | None = None,
    infer: Infer | None = None,
    lower: Lower | None = None,
    pure: bool = True,
) -> None:
    """Make an operator known to everything that reads, checks, optimises, runs or writes models in this process.

    `run(*arrays, **attributes)` is its meaning in NumPy; omitted inputs are None, several outputs a tuple.
    `infer(*types, **attributes)` gives a `TensorType` for each output; without it they are of the element type of the
    first input and of any shape. `lower` is a native form (`whorl.ir.definitions.Lower`). What is not `pure` is never
    folded, merged or dropped. A class with `_run`, `op_domain` and perhaps `infer`, as
    `onnx.reference.ReferenceEvaluator(new_ops=...)` takes it, says all of that itself. A second definition replaces the
    first, also for models that are loaded. Errors: RunError where whorl has the operator itself.
    """
    if isinstance(domain, type):
        kind = domain
        domain, name = str(getattr(kind, "op_domain", "")), kind.__name__
        infer = infer or getattr(kind, "infer", None)
        run = _run_of(kind, domain, name)
    if run is None:
        raise RunError(f"{name} has no run", fix="pass a function of arrays as run")
    if _is_known(domain, name):
        raise RunError(f"{name} is an operator of {domain or 'ai.onnx'} already", fix="choose a domain of your own")
    DEFINITIONS[domain, name] = Definition(domain, name, infer, run, lower, pure)


def _run_of(kind: type, domain: str, name: str) -> Compute:
    if not callable(getattr(kind, "_run", None)):
        raise RunError(f"class {name} has no _run", fix="define _run(self, *arrays, **attributes)")
    return import_whole("whorl.formats.onnx.versions.custom").run_of_class(kind, domain, name)


def _is_known(domain: str, name: str) -> bool:
    try:
        return bool(signature_of(name, domain, NEWEST_VERSION))
    except UnsupportedError:
        return False
