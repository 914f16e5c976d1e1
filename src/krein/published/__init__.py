"""The papers' methods as they are printed: labelled baselines, kept for comparison.

The rooms of the library show the methods that we recommend. This room holds the methods that the
papers' figures show and that we improved on:

=================  ====================================  ============================
module             argument that reaches it              called by
=================  ====================================  ============================
`rejection`        ``sampler="rejection"``               `krein.samplers`
`jordan`           ``decomposition="jordan"``            `krein.measures`
`acceptance`       ``decomposition="jordan"`` (own       `krein.measures`
                   density)
`allocation`       ``allocation="equal"``                `krein.measures`
`extension`        ``extension="zero"``                  `krein.kernels`
`masses`           ``masses="subset"``                   `krein.features`
`cores`            ``core="squared"``, ``"inverse"``     `krein.features`
`concatenated`     `ConcatenatedFourier`                 nothing
`projection`       ``projection="alternating"``          `krein.spectral`
=================  ====================================  ============================

Each module stands directly below the room that calls it, so imports still go one way. A module may
import what that room may import, never the room itself: it receives functions, arrays and objects
as arguments. This file imports its modules when a name is first used, because they stand in
different layers.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__all__ = ["ConcatenatedFourier", "alternating_projection"]

_HOMES = {"ConcatenatedFourier": "concatenated", "alternating_projection": "projection"}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f".{_HOMES[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
