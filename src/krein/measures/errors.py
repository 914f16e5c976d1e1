"""Errors of measures."""

from __future__ import annotations


class InfiniteMassError(ValueError):
    """No measure of finite mass represents the kernel on the range of the data.

    Examples
    --------
    >>> from krein.kernels import ArcCosine
    >>> from krein.measures import InfiniteMassError
    >>> try:
    ...     ArcCosine(order=0).measure(5)
    ... except InfiniteMassError:
    ...     print("use krein.Nystrom")
    use krein.Nystrom
    """
