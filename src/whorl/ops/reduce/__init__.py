"""One value for a group of elements: sums, extremes, norms, normalization, losses, running totals."""
