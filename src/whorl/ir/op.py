"""What every operation must answer, and the registry that defining a class fills."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from whorl.ir.dtypes import single
from whorl.ir.types import Fact, Type

if TYPE_CHECKING:
    from whorl.ir.build import Builder
    from whorl.ir.graph import Node, Value
    from whorl.ir.infer import Inference

REGISTRY: dict[str, type[Op]] = {}
"""Every concrete op class by name."""


class Op:
    """One operation: a frozen dataclass whose fields are the attributes.

    `infer` gives the output types and is the only place that checks ranks, dims and dtypes; `run` computes on NumPy
    arrays and is the meaning of the op. A single result may be returned bare, several as a tuple.
    """

    domain: ClassVar[str] = ""
    """The ONNX domain that names the op."""
    pure: ClassVar[bool] = True
    """Equal inputs give equal outputs and nothing else happens: the op may be folded, merged and dropped."""
    symbolic: ClassVar[bool] = False
    """`run` also works on object arrays of dims, so that inference can follow shape arithmetic through it."""
    any_length: ClassVar[bool] = False
    """`lower` also takes tensors with lengths that only the run knows: dims in the place of numbers."""
    overwrites: ClassVar[bool] = False
    """The native form may write its result over the first input, where that is not read later."""

    def __init_subclass__(cls, abstract: bool = False) -> None:
        if abstract:
            return
        if cls.__name__ in REGISTRY:
            raise TypeError(f"op {cls.__name__} is defined twice")
        for name, default in [entry for entry in vars(cls).items() if isinstance(entry[1], float)]:
            setattr(cls, name, single(default))
        REGISTRY[cls.__name__] = cls

    @property
    def name(self) -> str:
        return type(self).__name__

    def infer(self, *inputs: Any) -> Type | tuple[Type, ...]:
        """Output types from input facts (None for an omitted input); raises TypeRuleError."""
        raise TypeError(f"{self.name} does not say its types")

    def run(self, *inputs: Any) -> Any:
        """Output arrays from input arrays (None for an omitted input); raises RunError."""
        raise TypeError(f"{self.name} does not run")

    def lazily(self, *inputs: Any) -> tuple[Any, ...] | None:
        """The outputs of large constants as `ir.elements`, computed as they are read; None where `run` must see all."""
        return None

    def lower(self, k: Any, inputs: Sequence[Any], outputs: Sequence[Type]) -> Sequence[Any] | None:
        """Native form: a view of each output, its elements expressions of `k` over the inputs' views.

        Every length is a number unless the op takes `any_length`. None where there is no such form; `run` then serves.
        """
        return None

    def decompose(self, inputs: Sequence[Value | None], build: Builder) -> Sequence[Value] | None:
        """The outputs as values of simpler nodes that `build` adds; None where the op stays as it is."""
        return None

    def infer_known(self, *inputs: Fact | None) -> tuple[np.ndarray | None, ...]:
        """The elements of each output, where they follow from the elements of the inputs."""
        if not self.symbolic or any(x is not None and x.known is None for x in inputs):
            return ()
        try:
            result = self.run(*(None if x is None else x.known for x in inputs))
        except (TypeError, ValueError, IndexError, ArithmeticError):
            return ()
        results = result if isinstance(result, tuple) else (result,)
        return tuple(np.asarray(r, dtype=object) for r in results)

    def infer_regions(self, node: Node, inference: Inference) -> tuple[Type, ...]:
        """Output types of an op with regions; types the regions on the way."""
        raise TypeError(f"{self.name} has no regions")


def as_types(result: Type | tuple[Type, ...]) -> tuple[Type, ...]:
    """`infer`'s answer as a tuple."""
    return result if isinstance(result, tuple) else (result,)


def as_values(result: Any) -> tuple[Any, ...]:
    """`run`'s answer as a tuple in which every tensor is an array, zero-dimensional ones included."""
    results = result if isinstance(result, tuple) else (result,)
    return tuple(np.asarray(r) if isinstance(r, np.generic) else r for r in results)
