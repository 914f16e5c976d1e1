"""The concatenated one-sided map Φ of the asymmetric paper."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._validation import store
from ..features import FeatureMap, RandomFourier
from ..forms import Signature
from ..kernels import Kernel
from ..samplers import Sampler


class ConcatenatedFourier(RandomFourier):
    """The map Φ that the asymmetric paper passes to a linear classifier, a labelled baseline.

    ``Φ(x) = [√ξ₁ φ(ω, x), √ξ₂ φ(ζ, x), √(2ξ₃) φ(ν, x), √(2ξ₃) ψ(ν, x)]`` with frequencies ω, ζ and
    ν of the Jordan parts μ_R⁺, μ_R⁻ and μ_I⁺, their masses ξ, and the maps φ and ψ of eq. 8. The
    columns of ψ are those of φ in another order and with other signs. The paper's factor i of the
    second block is kept in `form_` as the sign −1.

    The map does *not* approximate its kernel: ``Φ(x)ᵀ M Φ(y)`` is the symmetric kernel
    ``ξ₁ E cos ω·Δ − ξ₂ E cos ζ·Δ + 4ξ₃ E cos ν·Δ``. A linear model on Φ sees nothing of the
    direction of k. It sees more distinct columns than features of a symmetric kernel with as many
    frequencies per part. `RandomFourier` approximates k with as many distinct columns.

    Parameters
    ----------
    kernel : krein.kernels.Kernel, default=None
        The kernel; None means ``Gaussian()``.
    n_components : int, default=256
        Number of *distinct* columns, two per frequency, as in `RandomFourier`. The paper draws M
        frequencies for each of three parts, which is ``n_components=6*M``. The frequencies of μ_I⁺
        have two more columns each, which repeat the first two.
    sampler : str or Sampler, default="iid"
        How frequencies are drawn, as in `RandomFourier`.
    masses : {"exact", "subset"}, default="subset"
        Masses of the Jordan parts, as in `RandomFourier`.
    n_mass_rows : int, default=50
        Number of rows N_s on which ``masses="subset"`` fits the masses.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the random draws.

    Attributes
    ----------
    form_ : krein.forms.Signature
        The signs of the columns: −1 for the frequencies of μ_R⁻, else +1.
    kernel_ : krein.kernels.Kernel
        The kernel whose Jordan parts were drawn. The map does not approximate it.
    frequencies_ : ndarray of shape (n_components / 2, n_features_in_)
        The frequencies ω, ζ and ν.
    weights_ : ndarray of shape (n_components / 2,)
        The weights of the frequencies. They are complex if the kernel is not symmetric.
    measure_ : krein.measures.Measure
        The measure from which the frequencies were drawn.
    total_mass_ : float
        Total mass of the measure.
    masses_ : ndarray of shape (3,)
        The masses ξ₁, ξ₂ and ξ₃ of μ_R⁺, μ_R⁻ and μ_I⁺.
    acceptance_rates_ : ndarray of shape (n_parts,)
        Share of accepted proposals of each part of the measure.
    n_features_in_ : int
        Number of columns of the training data.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns of the training data; absent if they are not all strings.

    See Also
    --------
    krein.RandomFourier : The two-sided map, which approximates the kernel.

    References
    ----------
    M. He, F. He, F. Liu, X. Huang. Random Fourier Features for Asymmetric Kernels. 2022. §5.3.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.kernels import ShiftGaussian
    >>> from krein.published import ConcatenatedFourier
    >>> X = np.random.default_rng(0).random((50, 4))
    >>> features = ConcatenatedFourier(ShiftGaussian(), 24, random_state=0).fit(X)
    >>> features.transform(X).shape
    (50, 36)
    """

    _parameter_constraints = {
        name: RandomFourier._parameter_constraints[name]
        for name in ("kernel", "n_components", "sampler", "masses", "n_mass_rows", "random_state")
    }

    # Parameters of `RandomFourier` that the paper fixes.
    decomposition, allocation, weights = "jordan", "equal", "measure"
    measure, diameter, extension, jacobian = None, "auto", "domain", True

    def __init__(
        self,
        kernel: Kernel | None = None,
        n_components: int = 256,
        *,
        sampler: str | Sampler = "iid",
        masses: str = "subset",
        n_mass_rows: int = 50,
        random_state: Any = None,
    ):
        store(self, locals())

    def _draw(self, X: Any, rng: np.random.Generator) -> None:
        super()._draw(X, rng)
        self._twice = np.flatnonzero(self.weights_.imag)
        signs = np.tile(np.where(self.weights_.real < 0, -1.0, 1.0), 2)[: self.n_components]
        self.form_ = Signature(np.append(signs, np.ones(2 * len(self._twice))))

    def _check_mass(self, X: Any, rng: np.random.Generator) -> None:
        """Do nothing: the map does not approximate the kernel, so no error can be measured."""

    def _map(self, X: Any) -> NDArray:
        Z = super()._map(X)
        cosines, sines = self._twice, self._twice + len(self.weights_)
        return np.concatenate([Z, -Z[:, sines], Z[:, cosines]], axis=1)

    def _map_dual(self, X: Any) -> NDArray:
        return FeatureMap._map_dual(self, X)
