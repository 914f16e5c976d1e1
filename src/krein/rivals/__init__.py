"""The feature maps that the papers compare against, behind the contract of `FeatureMap`.

=========================  =======================================================  ========
map                        kernels                                                  unbiased
=========================  =======================================================  ========
`SphericalRandomFeatures`  functions of ‖x − y‖ with k(0) > 0                       no
`RandomMaclaurin`          functions of ⟨x, y⟩ with a known series                  yes
`TensorSketch`             polynomials (γ⟨x, y⟩ + c)^p with γ > 0 and c ≥ 0         yes
`TensorizedProjection`     polynomials (γ⟨x, y⟩ + c)^p with γ > 0 and c ≥ 0         yes
`ConcomitantRankOrder`     `krein.kernels.OrthantProbability`                       in the limit
=========================  =======================================================  ========

Each class follows the paper of its authors. If a class does more, its documentation says so.
"""

from .maclaurin import RandomMaclaurin
from .rank_order import ConcomitantRankOrder
from .sketches import TensorizedProjection, TensorSketch
from .spherical import SphericalRandomFeatures

__all__ = [
    "ConcomitantRankOrder",
    "RandomMaclaurin",
    "SphericalRandomFeatures",
    "TensorSketch",
    "TensorizedProjection",
]
