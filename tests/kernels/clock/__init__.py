"""Tests of the kernel that reads the clock."""
