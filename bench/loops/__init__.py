"""The workloads of the loop benchmarks, and what runs them besides whorl: other engines, C, jax."""
