"""Training steps: the optimizers Adagrad, Adam and Momentum, and Gradient, which only has types here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from msgspec.structs import asdict

from whorl.errors import RunError, TypeRuleError
from whorl.ir.dims import UNKNOWN
from whorl.ir.dtypes import BY_NAME, FLOAT32, FLOAT64, INT64, is_float, single
from whorl.ir.graph import NodeBuilder, Op, Value
from whorl.ir.types import Fact, TensorType, tensor
from whorl.ops.core.base import one_element, require_dtype
from whorl.ops.core.writer import Writer
from whorl.ops.elementwise.arithmetic import Div
from whorl.ops.elementwise.comparison import Greater, Where
from whorl.ops.elementwise.functions import Sqrt
from whorl.ops.elementwise.powers import Pow

Arrays = tuple[np.ndarray, ...]


class Steps(Writer):
    """Adds the nodes of training steps."""

    def div(self, x: Value, y: Value) -> Value:
        return self.node(Div(), x, y)

    def mix(self, part: Any, old: Value, new: Value) -> Value:
        """part old + (1 - part) new."""
        dtype = tensor(old).dtype
        return self.add(self.mul(self.number(part, dtype), old), self.mul(self.number(1 - part, dtype), new))

    def where_updated(self, count: Value, then: Value, other: Value) -> Value:
        """One number where there were updates, else another."""
        return self.node(Where(), self.node(Greater(), count, self.number(0, INT64)), then, other)


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

    def decompose(self, inputs: Sequence[Value | None], build: NodeBuilder) -> list[Value] | None:
        rate, count, *rest = inputs
        groups = self._grouped(rest)
        for tensors in zip(*groups, strict=True):
            shape = tensor(tensors[0]).shape
            if not isinstance(shape, tuple) or UNKNOWN in shape or any(tensor(x).shape != shape for x in tensors):
                return None
        if rate is None or count is None or any(tensor(x).shape not in ((), (1,)) for x in (rate, count)):
            return None
        write, results = Steps(build), list[tuple[Value, ...]]()
        number, updates = write.squeeze(rate), write.squeeze(count)
        for x, gradient, *states in zip(*groups, strict=True):
            step = write.cast(number, tensor(x).dtype)
            results.append(self.write_update(write, step, updates, x, gradient, *states))
        return [value for group in zip(*results, strict=True) for value in group]

    def write_update(
        self, write: Steps, rate: Value, count: Value, x: Value, gradient: Value, *states: Value
    ) -> tuple[Value, ...]:
        """`update` as simpler nodes."""
        raise NotImplementedError

    def regular(self, write: Steps, norm: float, x: Value, gradient: Value) -> Value:
        """norm x + gradient."""
        return write.add(write.mul(write.number(norm, tensor(x).dtype), x), gradient)

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

    def write_update(
        self, write: Steps, rate: Value, count: Value, x: Value, gradient: Value, *states: Value
    ) -> tuple[Value, ...]:
        dtype = tensor(x).dtype
        decay = write.mul(write.cast(count, dtype), write.number(self.decay_factor, dtype))
        rate = write.div(rate, write.add(write.number(1, dtype), decay))
        regular = self.regular(write, self.norm_coefficient, x, gradient)
        squares = write.add(states[0], write.mul(regular, regular))
        root = write.add(write.node(Sqrt(), squares), write.number(self.epsilon, dtype))
        return write.sub(x, write.div(write.mul(rate, regular), root)), squares


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

    def write_update(
        self, write: Steps, rate: Value, count: Value, x: Value, gradient: Value, *states: Value
    ) -> tuple[Value, ...]:
        dtype = tensor(x).dtype
        value, one, updates = self.scalars(dtype), write.number(1, dtype), write.cast(count, dtype)
        alpha, beta, post = (value[name] for name in ("alpha", "beta", "norm_coefficient_post"))
        regular = self.regular(write, self.norm_coefficient, x, gradient)
        mean = write.mix(alpha, states[0], regular)
        squares = write.mix(beta, states[1], write.mul(regular, regular))
        left = [write.sub(one, write.node(Pow(), write.number(base, dtype), updates)) for base in (alpha, beta)]
        corrected = write.div(write.mul(rate, write.node(Sqrt(), left[1])), left[0])
        rate = write.where_updated(count, corrected, rate)
        root = write.add(write.node(Sqrt(), squares), write.number(self.epsilon, dtype))
        moved = write.sub(x, write.div(write.mul(rate, mean), root))
        return write.mul(write.number(1 - post, dtype), moved), mean, squares


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

    def write_update(
        self, write: Steps, rate: Value, count: Value, x: Value, gradient: Value, *states: Value
    ) -> tuple[Value, ...]:
        dtype = tensor(x).dtype
        regular, alpha = self.regular(write, self.norm_coefficient, x, gradient), write.number(self.alpha, dtype)
        part = write.where_updated(count, write.number(self.beta, dtype), write.number(1, dtype))
        speed = write.add(write.mul(alpha, states[0]), write.mul(part, regular))
        direction = write.add(regular, write.mul(alpha, speed)) if self.mode == "nesterov" else speed
        return write.sub(x, write.mul(rate, direction)), speed


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
