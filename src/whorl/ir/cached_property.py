"""Attributes that are computed when they are first read.

Python 3.11's `functools.cached_property` computes under one lock for all objects of a class: a fork beside a thread
that computes leaves that lock closed in the child for good, and two threads that read two properties of each other's
objects wait for ever. Python 3.12 removed the lock; here every Python does without.
"""

from __future__ import annotations

import functools
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING or sys.version_info >= (3, 12):
    from functools import cached_property as cached_property  # noqa: TID251
else:

    class cached_property(functools.cached_property):  # noqa: N801, TID251
        def __get__(self, instance, owner=None):
            if instance is None:
                return self
            # Two threads may both compute; both get the first one's result.
            return instance.__dict__.setdefault(self.attrname, self.func(instance))
