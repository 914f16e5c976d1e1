"""All methods that can approximate a kernel, measured on the same rows."""

from .compare import compare
from .measurement import Measurement
from .methods import METHODS, Method
from .result import Comparison

__all__ = ["METHODS", "Comparison", "Measurement", "Method", "compare"]
