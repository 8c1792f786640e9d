"""`loop`, `scan` and `if_` over plain arrays: the body is a model in any format, a region, or a Python function."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeGuard

import numpy as np

from whorl.api.models import HasModule, load_module
from whorl.formats.onnx.bodies import load_body
from whorl.formats.registry import MDF, ONNX, format_of
from whorl.ir.graph import Module, Region
from whorl.runtime.functional import ScanLayout, run_branch, run_loop, run_scan, with_captured
from whorl.runtime.limits import Limits

Body = object
"""A graph in any format, as `load` takes it; a graph, model or plain data of MDF; a region or module; or a Python
function over arrays."""
States = np.ndarray | np.generic | float | list[Any] | tuple[Any, ...]
NO_VALUES: Mapping[str, Any] = MappingProxyType({})


def loop(
    M: Any = None,
    cond: Any = None,
    *states: Any,
    body: Body,
    v_initial: States = (),
    captured: Mapping[str, Any] = NO_VALUES,
    max_iterations: int | None = None,
    timeout: float | None = None,
) -> list[Any]:
    """ONNX Loop on arrays: final states, then what the body collected, stacked on a new first axis.

    `M`, `cond`: trip count and condition, each one element, or None or "" where omitted. States come by position or
    as `v_initial`, one or a list. `body` takes (iteration int64, condition bool, *states) and gives (condition,
    *states, *elements); a graph, or a Python function over arrays (and lists, for sequences), which gets copies and
    collects nothing where it is never called. `captured` are values that the graph reads from around it, by name.
    Errors: RunError, LimitError. Source: ONNX Loop-25.
    """
    limits = Limits(max_iterations, timeout)
    states = (*states, *(v_initial if isinstance(v_initial, list | tuple) else (v_initial,)))
    if _is_mdf(body):
        bounds = {"max_iterations": max_iterations, "timeout": timeout}
        return _as_list(MDF.part("functions").loop(M, cond, *states, body=body, **bounds, **captured))
    return run_loop(M, cond, states, _resolve(body, captured), limits)


def scan(
    *state_and_scan_inputs: Any,
    body: Body,
    num_scan_inputs: int,
    scan_input_axes: Sequence[int] | None = None,
    scan_input_directions: Sequence[int] | None = None,
    scan_output_axes: Sequence[int] | None = None,
    scan_output_directions: Sequence[int] | None = None,
    captured: Mapping[str, Any] = NO_VALUES,
    max_iterations: int | None = None,
    timeout: float | None = None,
) -> list[Any]:
    """ONNX Scan on arrays: final states, then the scan outputs.

    The last `num_scan_inputs` arrays are sliced along `scan_input_axes` (default 0), direction 1 is backwards. `body`
    takes (*states, *slices) and gives (*states, *elements); a graph, or a Python function over arrays, which gets
    copies and collects nothing where it is never called. Errors: RunError, LimitError. Source: ONNX Scan-25.
    """
    limits = Limits(max_iterations, timeout)
    layout = ScanLayout(scan_input_axes, scan_input_directions, scan_output_axes, scan_output_directions)
    if _is_mdf(body):
        results = MDF.part("functions").scan(
            *state_and_scan_inputs,
            body=body,
            num_scan_inputs=num_scan_inputs,
            scan_input_axes=scan_input_axes,
            scan_input_directions=scan_input_directions,
            scan_output_axes=scan_output_axes,
            scan_output_directions=scan_output_directions,
            max_iterations=max_iterations,
            timeout=timeout,
            **captured,
        )
        return _as_list(results)
    return run_scan(state_and_scan_inputs, num_scan_inputs, layout, _resolve(body, captured), limits)


def if_(
    cond: Any,
    *,
    then_branch: Body,
    else_branch: Body,
    captured: Mapping[str, Any] = NO_VALUES,
    timeout: float | None = None,
) -> list[Any]:
    """ONNX If on arrays: the results of the branch that `cond`, one truth value, chooses.

    Branches take no inputs: graphs read `captured` values by name, Python functions what they close over.
    Errors: RunError, LimitError. Source: ONNX If-25.
    """
    limits = Limits(timeout=timeout)
    if _is_mdf(then_branch) or _is_mdf(else_branch):
        branches = {"then_branch": then_branch, "else_branch": else_branch}
        return _as_list(MDF.part("functions").if_(cond, **branches, timeout=timeout, **captured))
    return run_branch(cond, _resolve(then_branch, captured), _resolve(else_branch, captured), limits)


def _resolve(body: Body, captured: Mapping[str, Any]) -> Callable[..., Any] | Module:
    """A function as it is, anything else as a module."""
    if isinstance(body, Region):
        return with_captured(Module(body, [value.name for value in body.results]), captured)
    if isinstance(body, Module | HasModule) or (_is_file(body) and format_of(body) is not ONNX):
        return with_captured(load_module(body), captured)
    return body if callable(body) else with_captured(load_body(body, captured), captured)


def _is_file(body: Body) -> TypeGuard[str | os.PathLike[str] | bytes]:
    return isinstance(body, str | os.PathLike | bytes | bytearray | memoryview)


def _is_mdf(body: Body) -> bool:
    """Whether a body is a graph or model of MDF, plain data of one, or the path of its file."""
    if _is_file(body):
        return format_of(body) is MDF
    return isinstance(body, dict) or any(hasattr(body, name) for name in ("document", "graphs", "edges"))


def _as_list(results: list[Any] | np.ndarray) -> list[Any]:
    """Several results come as a plain list; one that is a sequence is a list of its own class."""
    return results if type(results) is list else [results]
