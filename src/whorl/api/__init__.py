"""What users call: load, save, run, sessions, optimisation, compilation, and loops over plain arrays."""
