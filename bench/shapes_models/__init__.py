"""Families of models whose inputs come in many shapes, for `bench/shapes.py`: a file each, and what measures them."""
