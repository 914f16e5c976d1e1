"""Files as blocks: every pass opens the file anew, holds a block or two of it, and closes it."""

from __future__ import annotations

import difflib
import math
import os
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from .containers import ROWS, Block, Container, InMemory, check_rows
from .text import LibsvmFile, TextFile, damage

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

    Returns
    -------
    Container
    """
    path = Path(path)
    _check_exists(path)
    check_rows(rows)
    suffixes = [suffix.lower() for suffix in path.suffixes]
    packed = bool(suffixes) and suffixes[-1] in COMPRESSED
    kind = suffixes[-2 if packed else -1] if len(suffixes) > packed else ""
    if kind in TEXT:
        return TextFile(path, TEXT[kind], target, weight, rows)
    if kind in LIBSVM:
        if target is not None or weight is not None:
            raise ValueError(
                f"{path} holds its labels itself: libsvm text takes no target or weight."
            )
        return LibsvmFile(path, rows, n_features, zero_based)
    if kind == ".npy" and not packed:
        return NpyFile(path, target, weight, rows)
    if kind == ".npz" and not packed:
        return NpzFile(path, target, weight, rows, data)
    if kind == ".parquet" and not packed:
        from .parquet import ParquetFile

        return ParquetFile(path, target, weight, rows)
    raise ValueError(
        f"{path} has no known suffix: {', '.join(SUFFIXES)} can be read, the text formats also "
        "with .gz or .bz2."
    )


def _check_exists(path: Path) -> None:
    if path.is_file():
        return
    if path.is_dir():
        raise ValueError(f"{path} is a folder: pass the path of one file.")
    names = sorted(p.name for p in path.parent.iterdir()) if path.parent.is_dir() else []
    near = difflib.get_close_matches(path.name, names, n=1)
    raise FileNotFoundError(f"There is no file {path}." + (f" Is it {near[0]}?" if near else ""))


# --- .npy and .npz -------------------------------------------------------------------------------


class NpyFile(Container):
    """A memory-mapped matrix; y and weights are arrays or .npy files of their own."""

    def __init__(self, path: Path, target: Any = None, weight: Any = None, rows: int = ROWS):
        self.path, self.rows = path, rows
        self.target = None if target is False else target
        self.weight = weight
        self._n_rows = self._arrays().n_rows

    def _arrays(self) -> InMemory:
        X = _map(self.path)
        if X.ndim != 2:
            raise ValueError(f"{self.path} holds an array of shape {X.shape}, not a matrix.")
        try:
            return InMemory(X, _map(self.target), _map(self.weight), self.rows)
        except ValueError as error:
            raise ValueError(f"{self.path}: {error}") from None

    @property
    def n_rows(self) -> int:
        return self._n_rows

    def __iter__(self) -> Iterator[Block]:
        yield from self._arrays()


def _map(source: Any) -> Any:
    """The array of a .npy file, memory-mapped; what is no path stays."""
    if not isinstance(source, str | os.PathLike):
        return source
    path = Path(source)
    _check_exists(path)
    with open(path, "rb") as stream:
        shape, fortran, dtype = _header(str(path), stream)
        n_bytes, stored = math.prod(shape) * dtype.itemsize, path.stat().st_size - stream.tell()
    if stored < n_bytes:
        row = stored * shape[0] // n_bytes
        where = "" if fortran else f" in row {row}"
        raise ValueError(
            f"{path} is cut off{where}: its header says shape {shape}, {n_bytes} bytes, and "
            f"{stored} are there."
        )
    return np.load(path, mmap_mode="r", allow_pickle=False)


def _header(owner: str, stream: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype]:
    """Shape, Fortran order and element type of an array of numbers; moves to its first byte."""
    try:
        version = npy.read_magic(stream)
        read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        shape, fortran, dtype = read(stream)
    except ValueError as error:
        raise ValueError(
            f"{owner}: the header cannot be read, so it is cut off or no .npy array "
            f"({str(error).rstrip('.')})."
        ) from error
    if dtype.hasobject or not shape:
        what = "objects" if dtype.hasobject else "a single value"
        raise ValueError(f"{owner} holds {what}: save an array of numbers.")
    return shape, fortran, dtype


class NpzFile(Container):
    """Members of a zip archive, decompressed row by row; never a whole one."""

    def __init__(
        self, path: Path, target: Any = None, weight: Any = None, rows: int = ROWS, data: str = "X"
    ):
        self.path, self.rows = path, rows
        place = ["at its end, where the list of members is"]
        with damage(path, place), zipfile.ZipFile(path) as archive:
            members = [name.removesuffix(".npy") for name in archive.namelist()]
        wanted = {"X": data, "y": target, "weight": weight}
        for part, default in (("y", "y"), ("weight", "sample_weight")):
            if wanted[part] is None and default in members:
                wanted[part] = default
        self.members = {
            part: name for part, name in wanted.items() if name is not None and name is not False
        }
        for part, name in self.members.items():
            if not isinstance(name, str) or name not in members:
                raise ValueError(
                    f"{path} has no member {name!r} for {part}: it holds {', '.join(members)}."
                )
        with ExitStack() as stack:
            shapes = {part: member.shape for part, member in self._opened(stack).items()}
        self._n_rows = shapes["X"][0]
        for part, shape in shapes.items():
            if (part == "X" and len(shape) != 2) or shape[0] != self._n_rows:
                raise ValueError(
                    f"{path}: member {self.members[part]!r} for {part} has shape {shape}, but X "
                    "must be a matrix and all members as long as X."
                )

    @property
    def n_rows(self) -> int:
        return self._n_rows

    def _opened(self, stack: ExitStack) -> dict[str, _Member]:
        stack.enter_context(damage(self.path, ["at the start of a member"]))
        archive = stack.enter_context(zipfile.ZipFile(self.path))
        return {
            part: _Member(self.path, name, stack.enter_context(archive.open(name + ".npy")))
            for part, name in self.members.items()
        }

    def __iter__(self) -> Iterator[Block]:
        with ExitStack() as stack:
            parts = self._opened(stack)
            for start in range(0, self.n_rows, self.rows):
                n = min(self.rows, self.n_rows - start)
                yield Block(**{part: member.read(start, n) for part, member in parts.items()})


class _Member:
    """One array of an archive, read from its stream."""

    def __init__(self, path: Path, name: str, stream: IO[bytes]):
        self.path, self.name, self.stream = path, name, stream
        with damage(path, [f"in member {name!r}"]):
            self.shape, fortran, self.dtype = _header(f"{path}: member {name!r}", stream)
        if fortran:
            raise ValueError(
                f"{path}: member {name!r} is in Fortran order and cannot be read by rows: save "
                "numpy.ascontiguousarray of it."
            )

    def read(self, start: int, n: int) -> NDArray:
        out = np.empty((n, *self.shape[1:]), dtype=self.dtype)
        n_bytes, done = out.nbytes, 0
        flat = out.reshape(-1).view(np.uint8)
        # The archive reads ahead, so the row is not exact.
        with damage(self.path, [f"near row {start + n} of member {self.name!r} or before it"]):
            while done < n_bytes:
                piece = self.stream.read(min(n_bytes - done, 2**20))
                if not piece:
                    raise EOFError(f"its header says {self.shape[0]} rows")
                flat[done : done + len(piece)] = np.frombuffer(piece, np.uint8)
                done += len(piece)
        return out
