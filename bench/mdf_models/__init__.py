"""Models of neurons for `bench/mdf.py`."""
