"""Opening of data, in particular of files, as containers.

Every pass over the data opens the file again, holds at most two blocks in memory, and closes it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from ..rows import is_table
from .arrays import NpyFile, NpzFile
from .columns import Layout
from .containers import ROWS, Blocks, Container, InMemory, check_rows, is_block, is_path
from .libsvm import LibsvmFile
from .parquet import ParquetFile
from .raw import check_exists
from .text import TextFile

COMPRESSED = (".gz", ".bz2")
TEXT = {".csv": ",", ".tsv": "\t"}
LIBSVM = (".svm", ".libsvm", ".svmlight")
SUFFIXES = (".npy", ".npz", ".parquet", *TEXT, *LIBSVM)


def as_container(
    X: Any, y: Any = None, sample_weight: Any = None, *, header: Any = "auto"
) -> Container:
    """Return a container of the user's data.

    Parameters
    ----------
    X : Container, path, array, memory map, DataFrame, sparse matrix, sequence or re-iterable
        The data. `open_stream` opens a path. A list is a list of blocks if one of its items is
        ``(X, y)`` or ``(X, y, weight)`` with a matrix X of ``len(y)`` rows. Any other list is a
        list of objects.
    y : array-like of length n, default=None
        The targets. For a path, the argument `target` of `open_stream`.
    sample_weight : array-like of length n, default=None
        The weights of the rows. For a path, the argument `weight` of `open_stream`.
    header : {"auto", True, False}, default="auto"
        For a .csv or .tsv file: True if the first line contains the names of the columns, False if
        it is a row, "auto" to decide by its content.

    Returns
    -------
    Container

    Examples
    --------
    >>> import numpy as np
    >>> from krein.streaming import as_container
    >>> as_container(np.ones((3, 2)), np.arange(3)).n_rows
    3
    >>> as_container([(np.ones((3, 2)), np.arange(3)), (np.ones((1, 2)), np.arange(1))]).n_rows
    4
    """
    if is_path(X):
        return open_stream(X, target=y, weight=sample_weight, header=header)
    if isinstance(X, tuple) and is_block(X):
        raise ValueError(
            "X is a tuple (X, y): pass X and y as two arguments, or a list [(X, y)] of blocks."
        )
    iterable = callable(X) or isinstance(X, Iterable)
    if not iterable or isinstance(X, bytes | set | frozenset | dict):
        raise ValueError(
            "X must be an array, a sparse matrix, a list of objects, a path, or a re-iterable of "
            f"(X, y) blocks, got {type(X).__name__}."
        )
    if is_table(X) or (isinstance(X, Sequence) and not any(map(is_block, X))):
        return InMemory(X, y, sample_weight)
    if y is not None or sample_weight is not None:
        name = "y" if y is not None else "sample_weight"
        raise ValueError(
            f"{name} is given together with blocks ({type(X).__name__}): put {name} into the "
            "blocks, as (X, y, weight)."
        )
    return X if isinstance(X, Container) else Blocks(X)


def open_stream(
    path: str | os.PathLike,
    *,
    target: Any = None,
    weight: Any = None,
    rows: int = ROWS,
    n_features: int | None = None,
    data: str = "X",
    zero_based: bool | None = None,
    header: bool | str = "auto",
) -> Container:
    """Open a file as a container of blocks, by its suffix.

    ================================== ========================================================
    .npy                               a matrix, memory-mapped
    .npz                               the members ``X``, ``y`` and ``sample_weight``
    .csv, .tsv (.gz, .bz2)             columns of numbers, with or without a header
    .parquet                           columns of numbers
    .svm, .libsvm, .svmlight (.gz, …)  ``label index:value index:value …``; CSR blocks
    ================================== ========================================================

    Parameters
    ----------
    path : str or Path
        The file to open.
    target : str, int, array, path, None or False, default=None
        The targets y. False reads no y.

        - .npy: an array or the path of another .npy file. None reads no y.
        - .npz: the name of a member. None takes the member ``y`` if it exists.
        - .csv, .tsv and .parquet: the name or the index of a column. None takes the last column.
        - libsvm files contain their own labels: only None is allowed.
    weight : str, int, array, path or None, default=None
        The weights of the rows, given in the same way as `target`. None takes the member
        ``sample_weight`` of a .npz file if it exists, and reads no weights from other files.
    rows : int, default=6144
        The number of rows per block.
    n_features : int, default=None
        The number of columns of a libsvm file. None counts the columns in an additional pass.
    data : str, default="X"
        The name of the member of a .npz file that contains X.
    zero_based : bool, default=None
        True if the first column of a libsvm file has the index 0, False if it has the index 1.
        None searches the file for an index 0 in an additional pass.
    header : {"auto", True, False}, default="auto"
        For a .csv or .tsv file: True if the first line contains the names of the columns, False if
        it is a row. "auto" decides by the content. The first line contains names if no feature in
        it is a number, or if `target` or `weight` is a name. It is a row if all features in it are
        numbers and its target is a number or the label of a later row. An ambiguous line raises a
        ValueError.

    Returns
    -------
    Container

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from krein.streaming import open_stream
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "data.csv"
    ...     _ = path.write_text("a,b,price\\n1,2,10\\n3,4,20\\n")
    ...     stream = open_stream(path, target="price")
    ...     block = next(iter(stream))
    >>> stream.feature_names, block.y.tolist()
    (['a', 'b'], [10.0, 20.0])
    """
    path = Path(path)
    kind = _kind(path)
    check_rows(rows)
    if not (isinstance(header, bool) or (isinstance(header, str) and header == "auto")):
        raise ValueError(f'header must be "auto", True or False, got {header!r}.')
    if kind in TEXT:
        return TextFile(path, TEXT[kind], target, weight, rows, header)
    if header != "auto":
        raise ValueError(f"{path}: header={header} is for .csv and .tsv files, not for {kind}.")
    if kind in LIBSVM:
        if target is not None or weight is not None:
            raise ValueError(
                f"{path} contains its own labels: libsvm files take no target and no weight."
            )
        return LibsvmFile(path, rows, n_features, zero_based)
    if kind == ".npy":
        return NpyFile(path, target, weight, rows)
    if kind == ".npz":
        return NpzFile(path, target, weight, rows, data)
    return ParquetFile(path, target, weight, rows)


def open_like(path: str | os.PathLike, layout: Layout) -> Container:
    """Open a file to predict for its rows, with the features of an earlier fit.

    Columns with names are matched by name, and the file may contain any other columns. Columns
    without names are matched by position.

    Parameters
    ----------
    path : str or Path
        The file to open.
    layout : Layout
        The columns that the fit used.

    Returns
    -------
    Container
    """
    path = Path(path)
    kind = _kind(path)
    if kind in TEXT:
        return TextFile(path, TEXT[kind], layout=layout)
    if kind in LIBSVM:
        return LibsvmFile(path).rows_for(layout)
    if kind == ".parquet":
        return ParquetFile(path, layout=layout)
    return open_stream(path, target=False)


def _kind(path: Path) -> str:
    """Return the suffix that decides how to read a file; raise an error if there is no file."""
    check_exists(path)
    suffixes = [suffix.lower() for suffix in path.suffixes]
    packed = bool(suffixes) and suffixes[-1] in COMPRESSED
    kind = suffixes[-2 if packed else -1] if len(suffixes) > packed else ""
    if kind not in SUFFIXES or (packed and kind not in (*TEXT, *LIBSVM)):
        raise ValueError(
            f"{path} has no known suffix: the file must end with {', '.join(SUFFIXES)}; text files "
            "may be compressed (.gz, .bz2)."
        )
    return kind
