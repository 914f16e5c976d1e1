"""The measure of a radial kernel that is set to zero beyond its support."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..measures import InfiniteMassError, Measure, Part, TabulatedRadial
from ..measures.laws import sphere_wave
from ..measures.radial import Profile


def zero_extension(profile: Profile, dim: int, support: float, jacobian: bool) -> Measure:
    """The papers' measure: the kernel set to 0 beyond `support`. A labelled baseline.

    Parameters
    ----------
    profile : callable
        The kernel as a function of z, used on [0, support].
    dim : int
        Dimension of the data.
    support : float
        Where the kernel is cut (2 on the unit sphere).
    jacobian : bool
        True: the correct radial density ``μ(r) r^(d−1)``, refused where its mass is infinite.
        False: radii drawn from |μ(r)| on [0, 10] as in the signed-measure paper, rescaled so
        that ``‖μ₊‖ − ‖μ₋‖ = k(0)``; it converges to another kernel.
    """
    nodes, weights = np.polynomial.legendre.leggauss(400)
    z = support * (nodes + 1) / 2
    # Eq. 4.1's transform up to the factor that the checks below restore: ∫ k(z) z^(d−1) Ω(rz) dz.
    moment = profile(z) * (z / support) ** (dim - 1) * weights * support / 2

    def transform(r: NDArray) -> NDArray[np.floating]:
        return sphere_wave(dim, np.outer(r, z)) @ moment

    at_zero = float(np.asarray(profile(np.zeros(1)))[0])
    if not jacobian:
        r = np.linspace(0, 10.0, 2001)
        density = transform(r)
        factor = at_zero / float(np.trapezoid(density, r))
        return _signed_parts(dim, r, density * factor, support)
    # 400 nodes resolve waves up to 400 cycles over the support; the mass must settle before.
    r = np.linspace(0, 600 / support, 12_001)
    density = transform(r) * (r / r[-1]) ** (dim - 1)
    cumulated = np.cumsum(np.abs(density))
    late = (cumulated[-1] - cumulated[len(r) // 2]) / cumulated[-1]
    if late > 0.02:
        raise InfiniteMassError(
            f"Extended by zero beyond {support:.4g} the kernel's measure has infinite mass in "
            f"dimension {dim}: its density does not decay faster than the sphere grows (for the "
            "spherical polynomial it is finite only for a = 2 and degree > (dim − 1)/2). Use "
            "extension='domain', or jacobian=False to reproduce the paper's figures."
        )
    return _signed_parts(dim, r, density * at_zero / float(np.trapezoid(density, r)), support)


def _signed_parts(dim: int, r: NDArray, density: NDArray, diameter: float) -> Measure:
    """Positive and negative part of a signed radial density."""
    parts = []
    for sign in (1.0, -1.0):
        side = np.maximum(sign * density, 0)
        if side.any():
            law = TabulatedRadial(dim, r, side)
            parts.append(Part(law, sign * law.mass))
    return Measure(parts, diameter)
