"""Functions: of math and numpy in expressions, the standard ones of MDF, those of ACT-R, and registered operators."""
