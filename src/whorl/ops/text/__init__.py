"""Strings, regular expressions and n-grams."""
