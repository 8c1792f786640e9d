"""Training steps: the optimizers Adagrad, Adam and Momentum, and Gradient, which only has types here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from msgspec.structs import asdict

from whorl.errors import RunError, TypeRuleError
from whorl.ir.dtypes import BY_NAME, FLOAT32, FLOAT64, INT64, is_float, single
from whorl.ir.graph import Op
from whorl.ir.types import Fact, TensorType, tensor
from whorl.ops.core.base import one_element, require_dtype

Arrays = tuple[np.ndarray, ...]


class Optimizer(Op, frozen=True):
    """One update of several tensors. Inputs: rate R, update count T, then the tensors, their gradients, their states.

    Outputs: the new tensors, then the new states. All arithmetic is in the type of the tensor. Attributes are float32.
    """

    abstract: ClassVar[bool] = True

    domain: ClassVar[str] = "ai.onnx.preview.training"
    states: ClassVar[int]
    """How many state tensors belong to one optimized tensor."""

    def infer(self, rate: Fact, count: Fact, *inputs: Fact) -> tuple[TensorType, ...]:
        for operand, accepted in ((rate, (FLOAT32, FLOAT64)), (count, (INT64,))):
            require_dtype(tensor(operand).dtype, frozenset(accepted))
        groups = self._grouped(inputs)
        for tensors in zip(*groups, strict=True):
            types = [tensor(x) for x in tensors]
            require_dtype(types[0].dtype, frozenset((FLOAT32, FLOAT64)))
            if any(t.dtype != types[0].dtype for t in types):
                raise TypeRuleError(f"a tensor, its gradient and states have types {', '.join(map(str, types))}")
        return tuple(tensor(x) for group in (groups[0], *groups[2:]) for x in group)

    def _grouped(self, inputs: Sequence[Any]) -> list[Sequence[Any]]:
        """The inputs as tensors, gradients and each kind of state."""
        kinds = 2 + self.states
        if not inputs or len(inputs) % kinds:
            raise TypeRuleError(f"has {len(inputs)} tensors, expected a multiple of {kinds}")
        count = len(inputs) // kinds
        return [inputs[k * count : (k + 1) * count] for k in range(kinds)]

    def run(self, rate: np.ndarray, count: np.ndarray, *inputs: np.ndarray) -> Arrays:
        updates = int(one_element(count, "the update count"))
        results = []
        for x, gradient, *states in zip(*self._grouped(inputs), strict=True):
            step = x.dtype.type(one_element(rate, "the learning rate"))
            results.append(self.update(step, updates, x, gradient, *states))
        return tuple(array for group in zip(*results, strict=True) for array in group)

    def update(self, rate: Any, count: int, x: np.ndarray, gradient: np.ndarray, *states: np.ndarray) -> Arrays:
        """The new tensor and its new states."""
        raise NotImplementedError

    def scalars(self, dtype: np.dtype) -> dict[str, Any]:
        """The float attributes in an element type."""
        values = asdict(self)
        return {name: dtype.type(value) for name, value in values.items() if isinstance(value, float)}


class Adagrad(Optimizer, frozen=True):
    """x - R / (1 + T decay_factor) g / (sqrt(h') + epsilon), where g = gradient + norm_coefficient x, h' = h + g^2.

    Source: ONNX Adagrad-1 (preview.training).
    """

    states: ClassVar[int] = 1
    decay_factor: float = 0.0
    epsilon: float = single(1e-6)
    norm_coefficient: float = 0.0

    def update(self, rate: Any, count: int, x: np.ndarray, gradient: np.ndarray, *states: np.ndarray) -> Arrays:
        value = self.scalars(x.dtype)
        rate = rate / (1 + x.dtype.type(count) * value["decay_factor"])
        regular = value["norm_coefficient"] * x + gradient
        squares = states[0] + regular * regular
        return x - rate * regular / (np.sqrt(squares) + value["epsilon"]), squares


class Adam(Optimizer, frozen=True):
    """(1 - norm_coefficient_post) (x - r v' / (sqrt(h') + epsilon)), with running means v' of g and h' of g^2.

    g = gradient + norm_coefficient x; v' = alpha v + (1 - alpha) g; h' = beta h + (1 - beta) g^2;
    r = R sqrt(1 - beta^T) / (1 - alpha^T) where T > 0, else R. Source: ONNX Adam-1 (preview.training).
    """

    states: ClassVar[int] = 2
    alpha: float = single(0.9)
    beta: float = single(0.999)
    epsilon: float = single(1e-6)
    norm_coefficient: float = 0.0
    norm_coefficient_post: float = 0.0

    def update(self, rate: Any, count: int, x: np.ndarray, gradient: np.ndarray, *states: np.ndarray) -> Arrays:
        value = self.scalars(x.dtype)
        alpha, beta = value["alpha"], value["beta"]
        regular = value["norm_coefficient"] * x + gradient
        mean = alpha * states[0] + (1 - alpha) * regular
        squares = beta * states[1] + (1 - beta) * (regular * regular)
        if count > 0:
            rate = rate * np.sqrt(1 - beta**count) / (1 - alpha**count)
        moved = x - rate * mean / (np.sqrt(squares) + value["epsilon"])
        return (1 - value["norm_coefficient_post"]) * moved, mean, squares


class Momentum(Optimizer, frozen=True):
    """x - R v' (standard) or x - R (g + alpha v') (nesterov), where v' = alpha v + (beta if T > 0 else 1) g.

    g = gradient + norm_coefficient x. Source: ONNX Momentum-1 (preview.training).
    """

    states: ClassVar[int] = 1
    alpha: float
    beta: float
    mode: str
    norm_coefficient: float

    def infer(self, rate: Fact, count: Fact, *inputs: Fact) -> tuple[TensorType, ...]:
        if self.mode not in ("standard", "nesterov"):
            raise TypeRuleError(f"mode {self.mode!r} is neither standard nor nesterov")
        return super().infer(rate, count, *inputs)

    def update(self, rate: Any, count: int, x: np.ndarray, gradient: np.ndarray, *states: np.ndarray) -> Arrays:
        value = self.scalars(x.dtype)
        regular = value["norm_coefficient"] * x + gradient
        speed = value["alpha"] * states[0] + (value["beta"] if count > 0 else x.dtype.type(1)) * regular
        direction = regular + value["alpha"] * speed if self.mode == "nesterov" else speed
        return x - rate * direction, speed


class Gradient(Op, frozen=True):
    """The derivatives of the tensor named `y` by each tensor named in `xs`; it has types but does not run.

    It speaks of the graph around it by names, and an op here sees nothing but its inputs. Source: ONNX Gradient-1
    (preview.training).
    """

    domain: ClassVar[str] = "ai.onnx.preview.training"
    xs: tuple[str, ...]
    y: str
    zs: tuple[str, ...] = ()

    def infer(self, *inputs: Fact) -> tuple[TensorType, ...]:
        if len(inputs) != len(self.xs) + len(self.zs):
            raise TypeRuleError(f"has {len(inputs)} inputs for {len(self.xs)} xs and {len(self.zs)} zs")
        types = tuple(tensor(x) for x in inputs[: len(self.xs)])
        for operand in types:
            if not is_float(operand.dtype) or operand.dtype == BY_NAME["bfloat16"]:
                raise TypeRuleError(f"cannot derive by {operand}")
        return types

    def run(self, *inputs: np.ndarray) -> Any:
        raise RunError(
            f"the gradient of {self.y!r} needs the graph that computes it, which is not among its inputs",
            fix="compute the gradient in the framework that trains, and save it as ordinary nodes",
        )
