"""Functions of expressions (`table`, rows in `numeric` and `arrays`) and of nodes (`standard`, `actr`, `named`)."""
