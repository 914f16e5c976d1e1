"""The measure of a radial kernel that is set to zero beyond its support."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..measures import InfiniteMassError, Measure, Part, TabulatedRadial
from ..measures.radial import Profile
from ..measures.special import sphere_wave


def zero_extension(profile: Profile, dim: int, support: float, jacobian: bool) -> Measure:
    """Return the measure of a radial kernel that is set to 0 beyond `support`, as in the papers.

    Parameters
    ----------
    profile : callable
        The kernel as a function of z = ‖x − y‖, evaluated on [0, support].
    dim : int
        Dimension of the data.
    support : float
        Distance beyond which the kernel is 0; 2 on the unit sphere.
    jacobian : bool
        True: the radial density is ``μ(r) r^(d−1)``, which is correct; an infinite mass, and a mass
        that the tabulated radii do not reach, are refused.
        False: the radial density is μ(r) on [0, 10], as in the signed-measure paper, scaled so that
        ``‖μ₊‖ − ‖μ₋‖ = k(0)``. The features then converge to another kernel.

    Returns
    -------
    Measure

    Raises
    ------
    InfiniteMassError
        If ``jacobian=True`` and the mass is infinite or converges too slowly.
    """
    nodes, weights = np.polynomial.legendre.leggauss(400)
    z = support * (nodes + 1) / 2
    # The transform ∫ k(z) z^(d−1) Ω(rz) dz of eq. 4.1, up to a factor that k(0) fixes below.
    moment = profile(z) * (z / support) ** (dim - 1) * weights * support / 2

    def transform(r: NDArray) -> NDArray[np.floating]:
        return sphere_wave(dim, np.outer(r, z)) @ moment

    at_zero = float(np.asarray(profile(np.zeros(1)))[0])
    if not jacobian:
        r = np.linspace(0, 10.0, 2001)
        density = transform(r)
        factor = at_zero / float(np.trapezoid(density, r))
        return _signed_parts(dim, r, density * factor, support)
    # 400 nodes resolve waves of up to 400 cycles over the support; the grid of radii ends before.
    r = np.linspace(0, 600 / support, 12_001)
    density = transform(r) * (r / r[-1]) ** (dim - 1)
    cumulated = np.cumsum(np.abs(density))
    late = (cumulated[-1] - cumulated[len(r) // 2]) / cumulated[-1]
    if late > 0.02:
        raise InfiniteMassError(
            f"The measure of the kernel, extended by zero beyond {support:.4g}, has a slowly "
            f"converging or infinite mass in dimension {dim}: its density decays hardly faster "
            "than the sphere grows, or more slowly (the mass of the spherical polynomial is finite "
            "only for a = 2 and degree > (dim − 1)/2, and is computed for degree > dim/2). Use "
            "extension='domain', or jacobian=False to reproduce the paper's figures."
        )
    return _signed_parts(dim, r, density * at_zero / float(np.trapezoid(density, r)), support)


def _signed_parts(dim: int, r: NDArray, density: NDArray, diameter: float) -> Measure:
    """Return a measure of two parts: the positive and the negative part of a radial density."""
    parts = []
    for sign in (1.0, -1.0):
        side = np.maximum(sign * density, 0)
        if side.any():
            law = TabulatedRadial(dim, r, side)
            parts.append(Part(law, sign * law.mass))
    return Measure(parts, diameter)
