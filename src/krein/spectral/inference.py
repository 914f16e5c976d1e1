"""From the values of a kernel to atoms: the phases of the variational inference, in order."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..atoms import Atoms
from ..published.taylor import draw, printed_updates
from ..samplers import IID, Orthogonal
from .axes import Columns
from .branch import (
    WIDTHS,
    Branch,
    draw_frequencies,
    sample_covariance,
    signed_width_mixture,
    start_branch,
    width_mixture,
)
from .dirichlet import MixturePrior, SpectralMixture, default_degrees
from .phases import Phase
from .sketch import Sketch

NAMES = {1.0: "positive", -1.0: "negative"}


@dataclass(frozen=True)
class Spectrum:
    """What an inference has found.

    Parameters
    ----------
    atoms : Atoms
        Frequencies with signed weights.
    mixtures : dict of str to SpectralMixture
        The mixture of each branch.
    objective : dict of str to ndarray
        The objective after each round of each phase.
    """

    atoms: Atoms
    mixtures: dict[str, SpectralMixture] = field(default_factory=dict)
    objective: dict[str, NDArray[np.floating]] = field(default_factory=dict)


@dataclass(frozen=True)
class Inference:
    """The inference with the settings of `krein.MixtureFourier`, which documents them.

    The priors are in units of the data: `mean` and `covariance` of frequencies, None for defaults.
    The rows of the sketch are in the coordinates of `axes`.
    """

    method: str
    axes: Columns
    n_mixture: int
    noise: float
    joint: bool
    max_iter: int
    tol: float
    concentration: float = 1.0
    mean: NDArray[np.floating] | None = None
    degrees: float | None = None
    covariance: NDArray[np.floating] | None = None

    def fit(self, sketch: Sketch, counts: dict[float, int], rng: np.random.Generator) -> Spectrum:
        """Learn atoms.

        Parameters
        ----------
        sketch : Sketch
            The values.
        counts : dict of float to int
            Number of frequencies of each sign.
        rng : Generator
            Source of randomness.
        """
        method = self._printed if self.method == "taylor" else self._corrected
        try:
            return method(sketch, counts, rng)
        except np.linalg.LinAlgError as error:
            raise ValueError(
                "The precisions of the frequencies cannot be inverted. Frequencies are about "
                f"{1 / sketch.unit:.2g}, the reciprocal of the median distance of rows: choose a "
                "mean_prior of this size and a covariance_prior of its square, or leave them out."
            ) from error

    def _corrected(
        self, sketch: Sketch, counts: dict[float, int], rng: np.random.Generator
    ) -> Spectrum:
        """Maximise the evidence lower bound."""
        branches, objective = [], {}
        for sign, m in counts.items():
            part = sketch.parts[sign]
            masses = width_mixture(sketch.pairs.of(part), sketch.zeros[sign])
            branch = self._branch(sketch, sign, masses, m, rng)
            phase = Phase(sketch.pairs.of(sign * part), [branch], self.noise)
            objective[NAMES[sign]] = phase.run(self.max_iter, self.tol)
            branches.append(branch)
        phase = Phase(sketch.pairs, branches, self.noise)
        if self.joint and len(branches) == 2:
            phase, objective["joint"] = self._together(sketch, phase, rng)
        phase.settle()
        return self._spectrum(sketch, phase, objective)

    def _together(
        self, sketch: Sketch, fitted: Phase, rng: np.random.Generator
    ) -> tuple[Phase, NDArray[np.floating]]:
        """Refine both branches on the kernel itself, from two starts; keep the better result.

        The two halves of a kernel matrix are not functions of x − y by themselves. If the kernel is
        strongly indefinite, frequencies that were fitted to the halves are a worse start than
        frequencies drawn from a signed mixture of Gaussian spectra that fits the kernel.
        """
        masses = signed_width_mixture(sketch.pairs, sketch.at_zero)
        m = sum(len(branch) for branch in fitted.branches)
        share = masses[1].sum() / masses.sum() if masses.any() else 0.5
        branches = [
            self._branch(sketch, sign, masses[side], count, rng)
            for side, (sign, count) in enumerate(allocated(m, share).items())
        ]
        fresh = Phase(sketch.pairs, branches, self.noise)
        paths = [
            (fitted, fitted.run(self.max_iter, self.tol, equal_rounds=0)),
            (fresh, fresh.run(self.max_iter, self.tol)),
        ]
        return max(paths, key=lambda pair: pair[1][-1])

    def _branch(
        self, sketch: Sketch, sign: float, masses: NDArray, m: int, rng: np.random.Generator
    ) -> Branch:
        frequencies = draw_frequencies(masses, m, sketch.dim, Orthogonal(), rng)
        # Nothing is known about columns that do not vary.
        frequencies[:, ~sketch.pairs.differences.any(axis=0)] = 0
        prior = self._prior(sketch, frequencies)
        return start_branch(sign, frequencies, float(masses.sum()), prior, self.n_mixture)

    def _prior(self, sketch: Sketch, frequencies: NDArray) -> MixturePrior:
        axes, algebra = self.axes, self.axes.covariances
        mean = np.zeros(sketch.dim) if self.mean is None else axes.coordinates(self.mean)
        if self.covariance is None:
            covariance = sample_covariance(frequencies)
        else:
            covariance = axes.coordinates(axes.coordinates(self.covariance).T)
            covariance = covariance * sketch.unit * sketch.unit
        degrees = default_degrees(algebra) if self.degrees is None else self.degrees
        precision = algebra.inverse(algebra.of(covariance))
        return MixturePrior(algebra, self.concentration, mean * sketch.unit, precision, degrees)

    def _printed(
        self, sketch: Sketch, counts: dict[float, int], rng: np.random.Generator
    ) -> Spectrum:
        """Run the updates of the paper as printed, and fit one mass per sign."""
        branches, objective = [], {}
        for sign, m in counts.items():
            frequencies = sketch.unit * IID().points(m, sketch.dim, rng)
            prior = self._prior(sketch, frequencies)
            branch = start_branch(sign, frequencies, 1.0, prior, self.n_mixture)
            pairs = sketch.pairs.of(sketch.parts[sign])
            path = printed_updates(branch.mixture, pairs, self.noise, self.max_iter, self.tol)
            found = branch.mixture.fitted
            branch.frequencies = draw(found.weights, found.means, found.precisions, m, rng)
            objective[NAMES[sign]] = path
            branches.append(branch)
        phase = Phase(sketch.pairs, branches, self.noise)
        phase.fit_weights(equal=True)
        return self._spectrum(sketch, phase, objective)

    def _spectrum(self, sketch: Sketch, phase: Phase, objective: dict[str, NDArray]) -> Spectrum:
        """Return everything in the columns and units of the data."""
        still = ~sketch.pairs.differences.any(axis=0)
        frequencies = np.where(still, 0.0, phase.frequencies) / sketch.unit
        axes = self.axes
        weights = phase.likelihood.signs * phase.weights * sketch.scale
        mixtures = {}
        for branch in phase.branches:
            fitted = branch.mixture.fitted
            means = axes.embedded(fitted.means) / sketch.unit
            with np.errstate(over="ignore"):  # squares of huge distances
                precisions = fitted.precisions * sketch.unit * sketch.unit
            mixture = SpectralMixture(fitted.weights, means, precisions, axes.directions)
            mixtures[NAMES[branch.sign]] = mixture
        return Spectrum(Atoms(axes.embedded(frequencies), weights), mixtures, objective)


def allocated(m: int, share: float) -> dict[float, int]:
    """Divide m ≥ 2 frequencies between the two signs, at least one each."""
    minus = min(max(1, round(m * share)), m - 1)
    return {1.0: m - minus, -1.0: minus}


def white(sketch: Sketch, axes: Columns, m: int, rng: np.random.Generator) -> Spectrum:
    """Return the widest spectrum for a kernel that is zero for all pairs of distinct rows."""
    masses = np.eye(len(WIDTHS))[-1]
    frequencies = draw_frequencies(masses, m, sketch.dim, Orthogonal(), rng) / sketch.unit
    frequencies = axes.embedded(frequencies)
    return Spectrum(Atoms(frequencies, np.full(m, sketch.at_zero * sketch.scale / m)))
