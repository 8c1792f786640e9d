"""What expressions may name: functions of math and numpy, constants, attributes of arrays, random draws."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

MAX_ELEMENTS = 2**28
"""The largest array that a shape or an expression may ask for."""
MODULES = {"math": "math", "numpy": "numpy", "np": "numpy"}

_UFUNCS = """
    abs absolute add arccos arccosh arcsin arcsinh arctan arctan2 arctanh bitwise_and bitwise_or bitwise_xor
    bitwise_not cbrt ceil conjugate copysign cos cosh deg2rad degrees divide equal exp exp2 expm1 fabs float_power
    floor floor_divide fmax fmin fmod gcd greater greater_equal heaviside hypot invert isfinite isinf isnan lcm less
    less_equal log log10 log1p log2 logaddexp logaddexp2 logical_and logical_not logical_or logical_xor matmul
    maximum minimum mod multiply negative nextafter not_equal positive power rad2deg radians reciprocal remainder
    rint sign signbit sin sinh spacing sqrt square subtract tan tanh true_divide trunc
"""

_OTHERS = {
    0: "identity",
    1: """all any array asarray atleast_1d atleast_2d atleast_3d average concatenate copy corrcoef cov cumprod cumsum
        diff empty_like fix hstack mean median nan_to_num nonzero ones ones_like prod ravel real imag sinc sort argsort
        shape size ndim squeeze stack std sum transpose var vstack zeros zeros_like max min amax amin argmax argmin
        ptp round around linalg.norm linalg.det linalg.inv count_nonzero diag diagonal trace tril triu flip fliplr
        flipud ediff1d unique eye""",
    2: """allclose array_equal column_stack cross dot expand_dims full full_like inner isclose kron moveaxis outer
        reshape repeat roll rot90 split append swapaxes take tensordot tile vdot broadcast_to percentile quantile
        searchsorted linalg.solve linalg.matrix_power convolve polyval digitize isin""",
    3: "arange clip interp linspace logspace where select piecewise put_along_axis take_along_axis insert",
}
_TRAILING_AXIS = """all any cumprod cumsum mean median prod squeeze stack std sum var max min amax amin argmax argmin
    concatenate sort argsort average flip count_nonzero ptp"""
"""Functions of one array that may have the axis as a second argument by position."""
_BY_POSITION = {"round": 2, "around": 2, "transpose": 2, "diff": 3, "eye": 2, "append": 3, "roll": 3, "repeat": 3,
    "take": 3, "swapaxes": 3, "moveaxis": 3, "linalg.norm": 3, "diag": 2, "tril": 2, "triu": 2, "trace": 2,
    "percentile": 3, "quantile": 3, "tensordot": 3, "cross": 2, "interp": 3, "nan_to_num": 1}  # fmt: skip
_LEFT_OUT = {"put_along_axis", "piecewise", "empty_like", "insert", "unique", "split"}


def _numpy_functions() -> dict[str, tuple[Callable[..., Any], int]]:
    found: dict[str, tuple[Callable[..., Any], int]] = {
        f"numpy.{name}": (getattr(np, name), getattr(np, name).nin) for name in _UFUNCS.split()
    }
    for count, names in _OTHERS.items():
        for name in set(names.split()) - _LEFT_OUT:
            function: Any = np
            for part in name.split("."):
                function = getattr(function, part)
            limit = 2 if name in _TRAILING_AXIS.split() else count
            found[f"numpy.{name}"] = (function, _BY_POSITION.get(name, max(limit, 1)))
    return found


_MATH = """acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh degrees dist erf erfc exp exp2 expm1 fabs
    floor fmod fsum gamma gcd hypot isclose isfinite isinf isnan lgamma log log10 log1p log2 pow prod radians remainder
    sin sinh sqrt tan tanh trunc sumprod"""

FUNCTIONS: dict[str, tuple[Callable[..., Any], int]] = {
    **_numpy_functions(),
    **{f"math.{name}": (getattr(math, name), 8) for name in _MATH.split() if hasattr(math, name)},
}
"""Every function that may be called, by its dotted name, with the number of arguments that may go by position."""

BUILTINS: dict[str, Callable[..., Any]] = {
    "abs": abs, "min": min, "max": max, "sum": sum, "len": len, "round": round, "int": int, "float": float,
    "bool": bool, "pow": pow,
}  # fmt: skip

TYPES = {
    "numpy.float64": np.float64, "numpy.float32": np.float32, "numpy.float16": np.float16, "numpy.int64": np.int64,
    "numpy.int32": np.int32, "numpy.int16": np.int16, "numpy.int8": np.int8, "numpy.uint8": np.uint8,
    "numpy.bool_": np.bool_, "numpy.double": np.float64, "numpy.float_": np.float64, "numpy.int_": np.int64,
}  # fmt: skip
CONSTANTS: dict[str, Any] = {
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


def find_function(name: str) -> tuple[Callable[..., Any], int] | None:
    """A function and the number of arguments that it takes by position; None for what may not be called."""
    if name in TYPES:
        return TYPES[name], 1
    return FUNCTIONS.get(name)
