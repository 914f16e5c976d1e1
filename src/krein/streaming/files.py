"""Files as blocks: every pass opens the file anew, holds a block or two of it, and closes it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from .arrays import NpyFile, NpzFile
from .columns import Layout
from .containers import ROWS, Container, check_rows
from .libsvm import LibsvmFile
from .paths import check_exists
from .text import TextFile

COMPRESSED = (".gz", ".bz2")
TEXT = {".csv": ",", ".tsv": "\t"}
LIBSVM = (".svm", ".libsvm", ".svmlight")
SUFFIXES = (".npy", ".npz", ".parquet", *TEXT, *LIBSVM)


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
    target : default=None
        Where y is. For .npy an array or the path of another .npy, None for none; for .npz the name
        of a member, None for ``y`` if there is one; for .csv, .tsv and .parquet the name or index
        of a column, None for the last one. False means no y.
    weight : default=None
        Where the weights are, in the same way; None for ``sample_weight`` in .npz, else for none.
    rows : int, default=4096
        Rows per block.
    n_features : int, default=None
        Columns of a libsvm file; None counts them in a pass of its own.
    data : str, default="X"
        The member of X in .npz.
    zero_based : bool, default=None
        Whether the first index in a libsvm file is 0; None looks for an index 0 in that pass.
    header : "auto", True or False, default="auto"
        Whether the first line of a .csv or .tsv file holds the names of the columns. "auto" takes
        it for names if no feature in it is a number or if `target` or `weight` is a name, and for a
        row if all are numbers and so is the target, or a later row has the same label; it refuses
        what may be either.

    Returns
    -------
    Container
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
                f"{path} holds its labels itself: libsvm text takes no target or weight."
            )
        return LibsvmFile(path, rows, n_features, zero_based)
    if kind == ".npy":
        return NpyFile(path, target, weight, rows)
    if kind == ".npz":
        return NpzFile(path, target, weight, rows, data)
    from .parquet import ParquetFile

    return ParquetFile(path, target, weight, rows)


def open_like(path: str | os.PathLike, layout: Layout) -> Container:
    """Open a file for the rows alone, with the features of an earlier fit.

    Columns with names are matched by name; a target, weights and other columns may be there or
    not. Columns without names are matched by place.

    Parameters
    ----------
    path : str or Path
    layout : Layout
    """
    path = Path(path)
    kind = _kind(path)
    if kind in TEXT:
        return TextFile(path, TEXT[kind], layout=layout)
    if kind in LIBSVM:
        return LibsvmFile(path).rows_for(layout)
    if kind == ".parquet":
        from .parquet import ParquetFile

        return ParquetFile(path, layout=layout)
    return open_stream(path, target=False)


def _kind(path: Path) -> str:
    """The suffix that says how to read a file that exists."""
    check_exists(path)
    suffixes = [suffix.lower() for suffix in path.suffixes]
    packed = bool(suffixes) and suffixes[-1] in COMPRESSED
    kind = suffixes[-2 if packed else -1] if len(suffixes) > packed else ""
    if kind not in SUFFIXES or (packed and kind not in (*TEXT, *LIBSVM)):
        raise ValueError(
            f"{path} has no known suffix: {', '.join(SUFFIXES)} can be read, the text formats also "
            "with .gz or .bz2."
        )
    return kind
