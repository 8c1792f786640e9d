"""An interpreter that records: it runs a module node by node and notes every value of every body and branch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from whorl.ir.constants import Constant, as_array
from whorl.ir.constants import as_value as default_of
from whorl.ir.graph import Module, Region, as_values
from whorl.ir.types import tensor
from whorl.ops.control.flow import If, Loop
from whorl.ops.control.iteration import Iteration, empty_collected
from whorl.ops.core.base import one_element
from whorl.passes.expose.scopes import is_recordable, scopes_of, values_in

Entry = tuple[tuple[int, ...], Any]


class Recorder:
    """One run. `entries`: for each path, the iterations and the value of each record, in order."""

    def __init__(self, module: Module) -> None:
        self.scopes = {scope.region: scope for scope in scopes_of(module)}
        self.module = module
        self.entries: dict[str, list[Entry]] = {}
        self.trip_counts: dict[str, list[Entry]] = {}
        self.branches: dict[str, list[Entry]] = {}
        for scope in self.scopes.values():
            if scope.chain:
                self.entries |= {each.path: [] for each in values_in(scope) if is_recordable(each.value)}

    def run(self, feeds: Mapping[str, Any]) -> None:
        """Run the module; `entries` then has what it did."""
        main = self.module.main
        defaults = self.module.defaults
        with np.errstate(all="ignore"):
            values = {name: default_of(value) for name, value in defaults.items()} | dict(feeds)
            self.region(main, [values[value.name] for value in main.arguments], ())

    def region(self, region: Region, arguments: Sequence[Any], iterations: tuple[int, ...]) -> list[Any]:
        env: dict[Any, Any] = {None: None, **dict(zip(region.arguments, arguments, strict=True))}
        for node in region.nodes:
            inputs = [env[value] for value in node.inputs]
            match node.op:
                case Constant(value=value):
                    outputs = [as_array(value)]
                case If():
                    index = 0 if one_element(inputs[0], "") else 1
                    path = self.scopes[node.regions[0]].path.rpartition("/")[0]
                    self.branches.setdefault(path, []).append((iterations, not index))
                    outputs = self.region(node.regions[index], inputs[1:], iterations)
                case Loop():
                    outputs = self.loop(node, inputs, iterations)
                case op:
                    outputs = as_values(op.run(*inputs))
            env |= dict(zip(node.outputs, outputs, strict=False))
        scope = self.scopes[region]
        if scope.chain:
            for each in values_in(scope):
                if is_recordable(each.value):
                    self.entries[each.path].append((iterations, env[each.value]))
        return [env[value] for value in region.results]

    def loop(self, node: Any, inputs: Sequence[Any], iterations: tuple[int, ...]) -> list[Any]:
        (body,) = node.regions
        ranks = tensor(body.arguments[0]).rank or 0, tensor(body.arguments[1]).rank or 0
        iteration = Iteration(node.op, inputs, ranks)
        while (arguments := iteration.next()) is not None:
            iteration.take(self.region(body, arguments, (*iterations, iteration.index)))
        self.trip_counts.setdefault(self.scopes[body].path, []).append((iterations, iteration.index))
        if iteration.index:
            return [*iteration.state, *iteration.last, *iteration.collected()]
        types = [value.type for value in node.outputs[node.op.carried :]]
        return [*iteration.state, *(empty_collected(t, how) for t, how in zip(types, node.op.collected, strict=True))]
