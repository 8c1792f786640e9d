"""The interpreter of graphs, evaluation by evaluation: the meaning of MDF."""
