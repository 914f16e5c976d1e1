"""The papers' methods as they are printed: labelled baselines, kept for comparison.

The rooms of the library show the methods that we recommend. This room holds the methods that the
papers' figures show and that we improved on:

=================  ==================================  ============================
module             argument that reaches it            called by
=================  ==================================  ============================
`rejection`        ``sampler="rejection"``             `krein.samplers`
`jordan`           ``decomposition="jordan"``          `krein.measures`
`allocation`       ``allocation="equal"``              `krein.measures`
`extension`        ``extension="zero"``                `krein.kernels`
`cores`            ``core="squared"``, ``"inverse"``   `krein.features`
=================  ==================================  ============================

Each module stands directly below the room that calls it, so imports still go one way. A module may
import what that room may import, never the room itself: it receives functions, arrays and objects
as arguments. This file imports nothing, because the modules stand in different layers.
"""
