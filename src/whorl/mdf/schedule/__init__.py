"""When each node of a graph runs: conditions as predicates over integer counters."""
