"""What expressions may name beside functions: modules, constants, types of elements, attributes of arrays, draws."""

from __future__ import annotations

import math

import numpy as np

from whorl.mdf.functions import arrays, numeric
from whorl.mdf.functions.table import FUNCTIONS, Function

assert arrays and numeric

MODULES = {"math": "math", "numpy": "numpy", "np": "numpy"}
TYPES = {
    "numpy.float64": np.float64, "numpy.float32": np.float32, "numpy.float16": np.float16, "numpy.int64": np.int64,
    "numpy.int32": np.int32, "numpy.int16": np.int16, "numpy.int8": np.int8, "numpy.uint8": np.uint8,
    "numpy.bool_": np.bool_, "numpy.double": np.float64, "numpy.float_": np.float64, "numpy.int_": np.int64,
}  # fmt: skip
CONSTANTS: dict[str, float | type | None] = {
    **{f"{module}.{name}": getattr(math, name) for module in ("math", "numpy") for name in ("pi", "e", "inf", "nan")},
    "math.tau": math.tau,
    "numpy.euler_gamma": np.euler_gamma,
    "numpy.newaxis": None,
    **TYPES,
}
TYPE_NAMES = {**{name.removeprefix("numpy."): type for name, type in TYPES.items()}, "float": float, "int": int,
    "bool": bool}  # fmt: skip
ATTRIBUTES = frozenset({"T", "shape", "size", "ndim"})

_DRAWS = """beta binomial chisquare exponential f gamma geometric gumbel integers laplace logistic lognormal
    multivariate_normal negative_binomial normal pareto poisson power rand randint randn random random_sample rayleigh
    standard_cauchy standard_exponential standard_gamma standard_normal standard_t triangular uniform vonmises wald
    weibull zipf choice permutation"""
RANDOM = frozenset(f"numpy.random.{name}" for name in _DRAWS.split())

_CASTS = {
    name: Function(name, type, 1, numeric.to_number if type is np.float64 else None) for name, type in TYPES.items()
}


def find_function(name: str | None) -> Function | None:
    """A function by its dotted name, types of elements among them; None for what may not be called."""
    return None if name is None else _CASTS.get(name) or FUNCTIONS.get(name)
