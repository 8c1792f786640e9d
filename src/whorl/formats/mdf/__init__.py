"""ModECI MDF: models of neuroscience and cognition as graphs that are evaluated over time."""
