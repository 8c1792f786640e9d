"""A module with all that it takes to run it in any way: its plan, its compiler, its states."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from msgspec.structs import replace

from whorl.errors import FeedError, RunError
from whorl.ir.cached_property import cached_property
from whorl.ir.constants import as_value
from whorl.ir.forking import import_whole
from whorl.ir.graph import Module, Region
from whorl.ir.suggestions import choose
from whorl.ir.types import OptionalType, SequenceType, TensorType
from whorl.ops.random.distributions import Random
from whorl.phases import Phase, phase
from whorl.runtime.backends import Mode
from whorl.runtime.feeds import check_value, is_feeds
from whorl.runtime.interface import Interface
from whorl.runtime.interpreter.plan import Plan
from whorl.runtime.interpreter.step import Run
from whorl.runtime.limits import Budget
from whorl.runtime.module_interface import interface_of
from whorl.runtime.states import States

if TYPE_CHECKING:
    from whorl.runtime.compiled.compiler import Compiler


def load_compiler(mode: Mode) -> Compiler | None:
    """The compiler of a mode, loaded when one is first needed; None where everything is interpreted."""
    if not mode.compiles:
        return None
    compiler: type[Compiler] = import_whole("whorl.runtime.compiled.compiler").Compiler
    return compiler(mode)


def _opened(module: Module) -> Region:
    """The main region, in which random ops draw from streams that are values, as machine code can."""
    if not any(isinstance(node.op, Random) for node in module.nodes()):
        return module.main
    open_streams: Callable[[Module], Region] = import_whole("whorl.passes.open_streams").open_streams
    return open_streams(module)


class Whole:
    """A module, planned for a mode."""

    def __init__(self, module: Module, mode: Mode) -> None:
        self.module = module
        self.compiler = load_compiler(mode)
        with phase(Phase.PLAN):
            self.plan = Plan(module.main if self.compiler is None else _opened(module), self.compiler)
        self.inputs = {value.name: value for value in module.main.arguments}
        self.states = States(module, load_compiler(replace(mode, subgraphs=False)))

    @cached_property
    def interface(self) -> Interface:
        """What a session shows of the module."""
        return interface_of(self.module)

    def start(self, budget: Budget) -> Run:
        """A run of the plan that has not begun."""
        return Run(budget)

    def typed_inputs(self) -> list[tuple[str, np.dtype | None]]:
        """The names of the inputs with their element types; None for those that are no tensors."""
        types = [(name, value.type) for name, value in self.inputs.items()]
        return [(name, type.dtype if isinstance(type, TensorType) else None) for name, type in types]

    def sequence_inputs(self) -> dict[str, TensorType]:
        """The types of the tensors of inputs that are sequences of such, by name."""
        types = [
            (name, value.type.element) for name, value in self.inputs.items() if isinstance(value.type, SequenceType)
        ]
        return {name: type for name, type in types if isinstance(type, TensorType)}

    def arguments(self, feeds: object) -> list[object]:
        """The arguments of a run, checked. Errors: RunError."""
        inputs, defaults = self.inputs, self.module.defaults
        if not is_feeds(feeds):
            raise RunError(f"the feeds are {type(feeds).__name__}, expected a dictionary", fix="write {name: array}")
        for name in feeds:
            if name not in inputs:
                raise RunError(f"the model has no input {name!r}", fix=choose(name, inputs))
        missing = [
            f"{name!r} ({value.type})"
            for name, value in inputs.items()
            if name not in feeds and name not in defaults and not isinstance(value.type, OptionalType)
        ]
        if missing:
            raise FeedError(f"missing inputs: {', '.join(missing)}", fix="feed every input that has no default")
        return [
            check_value(feeds[name], value.type, f"input {name!r}")
            if name in feeds
            else as_value(defaults[name])
            if name in defaults
            else None
            for name, value in inputs.items()
        ]
