"""The integrators of a simulation."""

from __future__ import annotations

from typing import Literal

Integrator = Literal["euler", "rk4", "exponential", "adaptive"]
"""How parameters with a time derivative go over a time step.

"euler": one after the other in the order of the file, as MDF has it. "rk4": all of a node together by the classical
Runge-Kutta method. "exponential": each as if the others stood still, exactly, where its derivative is linear in it.
"adaptive": all of a node together to ten digits by scipy, as an oracle.
"""
