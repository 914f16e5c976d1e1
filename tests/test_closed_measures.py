"""Laws on R^d, and the closed-form measures made of them: kernels, masses and weights."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import quad
from scipy.stats import t as student

from krein.kernels import (
    Cauchy,
    Constant,
    CoshGaussian,
    DeltaGaussian,
    FromMeasure,
    Gaussian,
    GaussianCombination,
    Laplacian,
    Matern,
    ShiftGaussian,
    SinhGaussian,
)
from krein.measures import (
    Convolution,
    ExponentialMixture,
    Normal,
    ProductCauchy,
    Sphere,
    Student,
    TabulatedRadial,
    TiltedNormal,
)
from krein.testing import check_law, check_measure

# --- laws -----------------------------------------------------------------------------------------


def direction(dim):
    vector = np.arange(1.0, dim + 1)
    return vector / np.linalg.norm(vector)


def chi_table(dim):
    """The standard normal law, tabulated."""
    radii = np.linspace(0, np.sqrt(dim) + 9, 4001)
    return TabulatedRadial(dim, radii, radii ** (dim - 1) * np.exp(-(radii**2) / 2))


LAWS = {
    "normal": lambda d: Normal(d, 0.7),
    "student 1": lambda d: Student(d, 1.3, 1),
    "student 3": lambda d: Student(d, 1.3, 3),
    "student 5": lambda d: Student(d, 1.3, 5),
    "origin": lambda d: Sphere(d, 0.0),
    "sphere": lambda d: Sphere(d, 2.0),
    "product cauchy": lambda d: ProductCauchy(d, 0.8),
    "exponential mixture": lambda d: ExponentialMixture(d, 1.5),
    "tilted, smooth": lambda d: TiltedNormal(d, 0.7, direction(d), lambda s: 1 + np.sin(2 * s)),
    "tilted, with a gap": lambda d: TiltedNormal(
        d, 0.7, 2 * direction(d), lambda s: np.maximum(np.cos(s), 0)
    ),
    "tabulated": chi_table,
    "convolution": lambda d: Convolution(Normal(d, 0.7), ProductCauchy(d, 0.4)),
    "nested convolution": lambda d: Convolution(
        Convolution(Normal(d, 0.3), Sphere(d, 1.0)), Student(d, 1.0, 3)
    ),
}


@pytest.mark.parametrize("dim", [1, 3, 8])
@pytest.mark.parametrize("name", LAWS)
def test_points_of_a_law_have_its_characteristic_function(name, dim, rng):
    check_law(LAWS[name](dim), rng)


def test_the_check_of_laws_can_fail(rng):
    class Stretched(Normal):
        def transport(self, points):
            return 1.03 * super().transport(points)

    with pytest.raises(AssertionError):
        check_law(Stretched(3, 1.0), rng)


@pytest.mark.parametrize("dim", [1, 3, 8])
def test_a_tabulated_normal_law_is_the_normal_law(dim, rng):
    law, normal = chi_table(dim), Normal(dim, 1.0)
    points = rng.standard_normal((200, dim))
    assert_allclose(law.transport(points), points, atol=2e-3)
    differences = rng.standard_normal((20, dim))
    expected = normal.characteristic(differences)
    assert_allclose(law.characteristic(differences), expected, atol=1e-5)
    assert_allclose(law.log_density(points), normal.log_density(points), atol=1e-3)


@pytest.mark.parametrize("dim", [1, 3])
def test_a_tilted_density_integrates_to_one(dim):
    # Over the direction by quadrature; the other coordinates are those of a normal law.
    law = TiltedNormal(dim, 0.7, 2 * direction(dim), lambda s: np.maximum(np.cos(s), 0))
    across = -(dim - 1) * np.log(0.7 * np.sqrt(2 * np.pi))

    def density(t):
        point = t * direction(dim)[None]
        return float(np.exp(law.log_density(point)[0] - across))

    kinks = np.pi / 4 * np.arange(-9, 10, 2)
    total = quad(density, -7, 7, points=kinks, limit=200, epsabs=1e-10)[0]
    assert_allclose(total, 1.0, atol=1e-6)


def test_heavy_tails_keep_their_digits():
    # A canonical point eight deviations out, where 1 − p rounds to 0.
    point = np.array([[8.5]])
    assert np.isfinite(Student(1, 1.0, 1).transport(point)).all()
    assert_allclose(
        Student(1, 1.0, 1).transport(point), ProductCauchy(1, 1.0).transport(point), rtol=1e-6
    )


# --- closed forms ---------------------------------------------------------------------------------

SYMMETRIC = {
    "gaussian": Gaussian(1.3),
    "laplacian": Laplacian(1.5),
    "exponential": Matern(1.5, 0.5),
    "matern": Matern(1.2, 2.5),
    "cauchy": Cauchy(1.5),
    "delta": DeltaGaussian(1.0, 10.0),
    "combination": GaussianCombination((1.0, -2.0, 0.5), (0.5, 1.0, 3.0)),
    "constant": Constant(-0.7),
    "sum": Gaussian(1.3) + Laplacian(1.5),
    "difference": Gaussian(1.3) - 0.5 * Matern(1.2, 1.5) + 0.3,
    "product": Gaussian(2.0) * Laplacian(2.0),
    "product of differences": (Gaussian(1.0) - Gaussian(2.0)) * (Matern(1.2, 1.5) - 0.2),
}
DIRECTED = {"shift": ShiftGaussian, "sinh": SinhGaussian, "cosh": CoshGaussian}


def directed(name, dim):
    return DIRECTED[name](1.2, 0.8 * direction(dim))


@pytest.mark.parametrize("dim", [1, 3, 8])
@pytest.mark.parametrize("name", SYMMETRIC)
def test_closed_form_measure_is_its_kernel(name, dim, rng):
    kernel = SYMMETRIC[name]
    check_measure(kernel.measure(dim), kernel, rng.standard_normal((9, dim)))


@pytest.mark.parametrize("dim", [1, 3, 8])
@pytest.mark.parametrize("name", DIRECTED)
def test_closed_form_measure_of_a_directed_kernel_is_its_kernel(name, dim, rng):
    kernel, X = directed(name, dim), rng.standard_normal((9, dim))
    for variant in (
        kernel,
        kernel.T,
        kernel.symmetric_part,
        kernel.skew_part,
        2.0 * kernel - Gaussian(1.1),
        FromMeasure(kernel.measure(dim)),
    ):
        check_measure(variant.measure(dim), variant, X)


@pytest.mark.parametrize("name", DIRECTED)
def test_the_symmetric_part_of_a_kernel_has_a_real_measure(name):
    kernel = directed(name, 3)
    assert kernel.symmetric_part.is_symmetric
    assert kernel.symmetric_part.measure(3).is_real
    assert not np.iscomplexobj(kernel.symmetric_part.measure(3).atoms(8, rng=0).weights)


@pytest.mark.parametrize("name", DIRECTED)
def test_jordan_parts_add_up_to_the_kernel(name, rng):
    kernel, X = directed(name, 3), rng.standard_normal((6, 3))
    differences = (X[:, None] - X[None]).reshape(-1, 3)
    jordan = kernel.measure(3).jordan()
    slack = 1e-6 * jordan.total_mass  # parts lighter than this are left out
    assert np.abs(jordan.kernel(differences) - kernel(X).ravel()).max() < slack
    for part in jordan.parts:  # each part has a constant phase: +1, −1 or i
        assert part.ratio is None
        assert complex(part.mass).real == 0 or complex(part.mass).imag == 0


def test_positive_signed_and_complex_measures_say_what_they_are():
    kinds = [Gaussian(), DeltaGaussian(), ShiftGaussian()]
    measures = [kernel.measure(2) for kernel in kinds]
    assert [m.is_positive for m in measures] == [True, False, False]
    assert [m.is_real for m in measures] == [True, True, False]
    for measure, word in zip(measures, ["positive", "signed", "complex"], strict=True):
        assert f"<{word} measure on R^2" in repr(measure)


# --- masses of the asymmetric kernels -------------------------------------------------------------

PAPER_DIMS = [1, 2, 3, 8, 16, 22, 57]


def paper_kernel(name, dim):
    vector = 2 / dim if name == "shift" else 0.5 * np.pi / dim
    return DIRECTED[name](2.0, np.full(dim, vector))


def paper_phase(name, dim):
    """(τ, h): the standard deviation of the phase and the density ratio, from the papers."""
    if name == "shift":
        return (2 / np.sqrt(dim)) / 2.0, lambda s: np.exp(1j * s)
    beta = 0.5 * np.pi / np.sqrt(dim)
    size = np.exp(2.0 * beta**2)
    if name == "cosh":
        return 2.0 * beta, lambda s: size * np.exp(-1j * s)
    return 2.0 * beta, lambda s: 1 - 1j * size * np.sin(s)


def mean(g, tau):
    """``E g(s)``, s ~ N(0, τ²), by adaptive quadrature with the kinks as break points."""
    reach = 12 * tau
    kinks = np.pi / 2 * np.arange(-np.floor(2 * reach / np.pi), np.floor(2 * reach / np.pi) + 1)

    def integrand(s):
        return float(g(s) * np.exp(-((s / tau) ** 2) / 2) / (tau * np.sqrt(2 * np.pi)))

    edges = np.unique(np.concatenate([[-reach], kinks, [reach]]))
    return sum(
        quad(integrand, a, b, epsabs=1e-14, epsrel=1e-12, limit=200)[0] for a, b in pairwise(edges)
    )


@pytest.mark.parametrize("dim", PAPER_DIMS)
@pytest.mark.parametrize("name", DIRECTED)
def test_total_mass_is_that_of_adaptive_quadrature(name, dim):
    tau, h = paper_phase(name, dim)
    expected = mean(lambda s: abs(h(s)), tau)
    assert_allclose(paper_kernel(name, dim).measure(dim).total_mass, expected, rtol=1e-10)


@pytest.mark.parametrize("dim", PAPER_DIMS)
@pytest.mark.parametrize("name", DIRECTED)
def test_jordan_masses_are_those_of_adaptive_quadrature(name, dim):
    tau, h = paper_phase(name, dim)
    expected = {
        "real +": mean(lambda s: max(h(s).real, 0), tau),
        "real −": mean(lambda s: max(-h(s).real, 0), tau),
        "imaginary": 2 * mean(lambda s: max(h(s).imag, 0), tau),
    }
    measure = paper_kernel(name, dim).measure(dim)
    found = {}
    for part in measure.jordan().parts:
        mass = complex(part.mass)
        found["imaginary" if mass.imag else "real +" if mass.real > 0 else "real −"] = abs(mass)
    for part, mass in expected.items():
        if mass > 1.001e-6 * measure.total_mass:
            assert_allclose(found[part], mass, rtol=1e-10)
        else:  # a null part is left out
            assert part not in found
    # Eq. (6): the real masses differ by k(0), up to a null part.
    at_zero = float(paper_kernel(name, dim).diag(np.zeros((1, dim)))[0])
    assert_allclose(expected["real +"] - expected["real −"], at_zero, rtol=1e-9)
    real = found["real +"] - found.get("real −", 0.0)
    assert abs(real - at_zero) <= 1e-6 * measure.total_mass


@pytest.mark.parametrize("dim", PAPER_DIMS)
def test_jordan_masses_are_those_of_the_fourier_series(dim):
    # E|sin s| = 2/π − (4/π) Σ e^(−2k²τ²)/(4k² − 1), likewise |cos| with alternating signs.
    k = np.arange(1, 200)
    for name in DIRECTED:
        tau, _ = paper_phase(name, dim)
        damped = np.exp(-2 * (k * tau) ** 2) / (4 * k**2 - 1)
        sine = 2 / np.pi - 4 / np.pi * damped.sum()
        cosine = 2 / np.pi - 4 / np.pi * ((-1.0) ** k * damped).sum()
        size = 1.0 if name == "shift" else np.exp(tau**2 / 2)
        parts = paper_kernel(name, dim).measure(dim).jordan().parts
        imaginary = sum(abs(part.mass) for part in parts if complex(part.mass).imag)
        assert_allclose(imaginary, size * sine, rtol=1e-10)
        real = [part.mass.real for part in parts if not complex(part.mass).imag]
        if name == "sinh":
            assert_allclose(real, [1.0], rtol=1e-12)
        else:
            assert_allclose(max(real), size * (cosine + np.exp(-(tau**2) / 2)) / 2, rtol=1e-10)


@pytest.mark.parametrize("dim", PAPER_DIMS)
def test_total_mass_of_the_sinh_gaussian_is_that_of_its_fourier_series(dim):
    # Σ_k ĥ_k e^(−k²τ²/2) with the coefficients of |h| by FFT.
    tau, h = paper_phase("sinh", dim)
    n = 2**15
    coefficients = np.fft.rfft(np.abs(h(2 * np.pi * np.arange(n) / n))).real / n
    damping = np.exp(-((np.arange(n // 2 + 1) * tau) ** 2) / 2)
    expected = coefficients[0] + 2 * (coefficients[1:] * damping[1:]).sum()
    assert_allclose(paper_kernel("sinh", dim).measure(dim).total_mass, expected, rtol=1e-10)


@pytest.mark.parametrize("dim", PAPER_DIMS)
def test_null_parts_are_skipped(dim):
    parts = {name: paper_kernel(name, dim).measure(dim).jordan().parts for name in DIRECTED}
    assert len(parts["sinh"]) == 2  # its real part is never negative
    assert len(parts["shift"]) == (2 if dim >= 8 else 3)  # 6e-7 of the mass at d = 8


@pytest.mark.parametrize("dim", [2, 8, 57])
def test_polar_mass_is_below_jordan_mass(dim):
    for name in DIRECTED:
        measure = paper_kernel(name, dim).measure(dim)
        assert measure.total_mass < 0.99 * measure.jordan().total_mass
    # For the shift- and cosh-Gaussian |μ| is a Gaussian of known mass.
    assert_allclose(paper_kernel("shift", dim).measure(dim).total_mass, 1.0, rtol=1e-14)
    size = np.exp(0.5 * np.pi**2 / dim)
    assert_allclose(paper_kernel("cosh", dim).measure(dim).total_mass, size, rtol=1e-13)


# --- the sum of the weights -----------------------------------------------------------------------


@pytest.mark.parametrize("sampler", ["iid", "orthogonal", "qmc"])
@pytest.mark.parametrize("name", DIRECTED)
def test_the_sum_of_the_weights_is_unbiased_for_the_diagonal(name, sampler):
    kernel, dim, n_seeds = paper_kernel(name, 3), 3, 300
    measure, rng = kernel.measure(dim), np.random.default_rng(1)
    sums = np.array([measure.atoms(8, sampler, rng).weights.sum().real for _ in range(n_seeds)])
    at_zero = kernel.diag(np.zeros((1, dim)))[0]
    error = sums.std(ddof=1) / np.sqrt(n_seeds)
    assert abs(sums.mean() - at_zero) < student.isf(1e-5, n_seeds - 1) * error + 1e-12
    if name != "sinh":
        assert error > 1e-6  # the phase varies, so the sum does
    else:
        assert_allclose(sums, 1.0, rtol=1e-12)  # Re h = 1 for every frequency


@pytest.mark.parametrize("allocation", ["neyman", "equal"])
@pytest.mark.parametrize("sampler", ["iid", "orthogonal", "qmc"])
def test_the_sum_of_the_weights_is_exact_for_parts_of_constant_phase(sampler, allocation, rng):
    X = rng.standard_normal((10, 3))
    for kernel in SYMMETRIC.values():
        atoms = kernel.measure(3).atoms(12, sampler, 0, allocation=allocation, X=X)
        assert not np.iscomplexobj(atoms.weights)
        assert_allclose(atoms.weights.sum(), kernel.diag(X[:1])[0], rtol=1e-5, atol=1e-12)
    for name in DIRECTED:
        jordan = directed(name, 3).measure(3).jordan()
        atoms = jordan.atoms(12, sampler, 0, allocation=allocation)
        at_zero = directed(name, 3).diag(X[:1])[0]
        assert abs(atoms.weights.sum().real - at_zero) < 1e-6 * jordan.total_mass


def test_conjugation_transposes_and_is_its_own_inverse(rng):
    D = rng.standard_normal((20, 3))
    for name in DIRECTED:
        measure = directed(name, 3).measure(3)
        assert_allclose(measure.conj().kernel(D), measure.kernel(-D), atol=1e-14)
        assert_allclose(measure.conj().conj().kernel(D), measure.kernel(D), atol=1e-14)
        assert np.abs(measure.kernel(D) - measure.kernel(-D)).max() > 1e-2
