"""The processor's clock, read between the nodes of a program that is profiled."""
