"""Random numbers by seed, node, part and evaluation: the same however and wherever a model runs."""
