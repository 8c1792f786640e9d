"""Preparation of features."""
