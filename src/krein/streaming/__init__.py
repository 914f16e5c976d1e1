"""Data in blocks: containers, files, and statistics that are folded over them."""

from __future__ import annotations

from .checks import checked
from .containers import Block, Blocks, Container, InMemory, as_container, split
from .files import open_stream
from .folds import Folds, GivenFolds
from .moments import Moments, MomentsSum
from .reservoir import Reservoir, sample

__all__ = [
    "Block",
    "Blocks",
    "Container",
    "Folds",
    "GivenFolds",
    "InMemory",
    "Moments",
    "MomentsSum",
    "Reservoir",
    "as_container",
    "checked",
    "open_stream",
    "sample",
    "split",
]
