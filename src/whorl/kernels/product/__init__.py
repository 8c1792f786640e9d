"""Products of matrices: one row by a matrix, and rows by a matrix in packed weights."""
