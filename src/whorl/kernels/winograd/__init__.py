"""Convolutions by 3 x 3 taps that take 16 products for every 4 results instead of 36."""
