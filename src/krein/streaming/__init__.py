"""Data in blocks: containers, files, and statistics that accumulate over blocks.

A container yields blocks of rows. `checked` validates the blocks, `Data` adds the content hash of
each row, and `fold` updates a statistic with every block in one pass.
"""

from __future__ import annotations

from .checks import checked
from .containers import Block, Blocks, Container, InMemory, split
from .data import Data, Piece
from .files import as_container, open_stream
from .fold import Collected, Statistic, Together, fold
from .folds import Folds, GivenFolds
from .held_out import HeldOut, HeldRows
from .moments import Moments, MomentsSum
from .reservoir import Reservoir, sample
from .survey import Survey

__all__ = [
    "Block",
    "Blocks",
    "Collected",
    "Container",
    "Data",
    "Folds",
    "GivenFolds",
    "HeldOut",
    "HeldRows",
    "InMemory",
    "Moments",
    "MomentsSum",
    "Piece",
    "Reservoir",
    "Statistic",
    "Survey",
    "Together",
    "as_container",
    "checked",
    "fold",
    "open_stream",
    "sample",
    "split",
]
