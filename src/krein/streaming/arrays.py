"""Containers that read blocks of rows from .npy and .npz files."""

from __future__ import annotations

import math
import warnings
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from .containers import ROWS, Block, Container, InMemory, check_rows, is_path
from .raw import FileError, check_exists, damage, reason

# The deflate method compresses data by at most this factor.
MOST_SHRUNK = 1032


class NpyFile(Container):
    """Container of a memory-mapped matrix in a .npy file.

    Parameters
    ----------
    path : Path
        The .npy file of X.
    target : array, path of a .npy file, None or False, default=None
        The targets y. None and False both mean that there are no targets.
    weight : array, path of a .npy file or None, default=None
        The weights of the rows.
    rows : int, default=6144
        The number of rows per block.
    """

    def __init__(self, path: Path, target: Any = None, weight: Any = None, rows: int = ROWS):
        self.path, self.rows = path, rows
        self.target = None if target is False else target
        self.weight = weight
        if self.target is not None and _same(self.target, weight):
            raise FileError(
                f"{path}: target and weight are the same array: pass two different arrays."
            )
        self.n_rows = self._arrays().n_rows

    def _arrays(self) -> InMemory:
        X = _map(self.path)
        _check_matrix(f"{self.path} holds an array", X.shape)
        try:
            return InMemory(X, _map(self.target), _map(self.weight), self.rows)
        except ValueError as error:
            raise FileError(f"{self.path}: {error}") from None

    def __iter__(self) -> Iterator[Block]:
        yield from self._arrays()


def _same(target: Any, weight: Any) -> bool:
    both = is_path(target) and is_path(weight)
    return Path(target) == Path(weight) if both else target is weight


def _check_matrix(what: str, shape: tuple[int, ...]) -> None:
    if len(shape) != 2 or not shape[1]:
        raise FileError(f"{what} of shape {shape}, not a matrix with columns.")


def _map(source: Any) -> Any:
    """Return the memory-mapped array of a .npy file; return any object but a path as it is."""
    if not is_path(source):
        return source
    path = Path(source)
    check_exists(path)
    with open(path, "rb") as stream:
        shape, fortran, dtype = _header(str(path), stream)
        start, stored = stream.tell(), path.stat().st_size - stream.tell()
    _check_size(str(path), shape, dtype, stored, fortran)
    if not math.prod(shape):
        return np.empty(shape, dtype)
    order: Any = "F" if fortran else "C"
    array = np.memmap(path, dtype, mode="r", offset=start, shape=shape, order=order)
    _check_text(str(path), array)
    return array


def _check_size(
    owner: str, shape: tuple[int, ...], dtype: np.dtype, stored: int, fortran: bool = False
) -> None:
    n_bytes = math.prod(shape) * dtype.itemsize
    if stored == n_bytes:
        return
    row = "" if fortran or stored > n_bytes else f" in row {stored * shape[0] // n_bytes}"
    what = f"is cut off{row}" if stored < n_bytes else "is longer than its header says"
    raise FileError(
        f"{owner} {what}: its header says shape {shape}, {n_bytes} bytes, but it has {stored}."
    )


def _check_text(owner: str, array: NDArray, start: int = 0) -> None:
    """Raise a ValueError if text contains a number that is not a Unicode code point."""
    if array.dtype.kind != "U" or not array.size:
        return
    codes = np.ascontiguousarray(array).view(f"{array.dtype.byteorder}u4".replace("=", ""))
    if codes.max() > 0x10FFFF:
        row = int(np.argmax(codes.reshape(len(array), -1).max(axis=1) > 0x10FFFF))
        raise FileError(f"{owner} is damaged in row {start + row}: its text is not Unicode.")


def _header(owner: str, stream: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype]:
    """Return the shape, the Fortran order and the dtype of an array in the .npy format.

    The stream then stands at the first byte of the values.
    """
    try:
        # The header is Python source, so reading a damaged header raises and warns like a parser.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            version = npy.read_magic(stream)
            read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
            shape, fortran, dtype = read(stream)
    except (OSError, EOFError):
        raise
    except Exception as error:
        raise FileError(
            f"{owner}: the header cannot be read: the file is cut off or not a .npy array "
            f"({reason(error)})."
        ) from error
    if not all(type(n) is int and 0 <= n < 2**62 for n in shape):
        raise FileError(f"{owner}: the header says shape {str(shape)[:60]}: the file is damaged.")
    if dtype.hasobject or not shape:
        what = "objects" if dtype.hasobject else "a single value"
        raise FileError(f"{owner} holds {what}: save an array of numbers.")
    if dtype.kind not in "biufUS" or not dtype.itemsize:
        raise FileError(f"{owner} holds elements of type {dtype}: save an array of numbers.")
    return shape, bool(fortran), dtype


class NpzFile(Container):
    """Container of the arrays in a .npz archive, decompressed block by block.

    Parameters
    ----------
    path : Path
        The .npz file.
    target : str, None or False, default=None
        The name of the member with y. None takes the member ``y`` if it exists, False reads no y.
    weight : str or None, default=None
        The name of the member with the weights. None takes ``sample_weight`` if it exists.
    rows : int, default=6144
        The number of rows per block.
    data : str, default="X"
        The name of the member with X.
    """

    def __init__(
        self, path: Path, target: Any = None, weight: Any = None, rows: int = ROWS, data: str = "X"
    ):
        self.path, self.rows = path, check_rows(rows)
        place = ["at its end, where the list of members is"]
        with damage(path, place, Exception), zipfile.ZipFile(path) as archive:
            names = archive.namelist()
        members = [name.removesuffix(".npy") for name in names if name.endswith(".npy")]
        if target is None and "y" in members:
            target = "y"
        if weight is None and "sample_weight" in members:
            weight = "sample_weight"
        wanted = {"X": data, "y": None if target is False else target, "weight": weight}
        self.members = {part: name for part, name in wanted.items() if name is not None}
        for part, name in self.members.items():
            if not isinstance(name, str) or name not in members:
                raise FileError(
                    f"{path} has no member {name!r} for {part}: it holds "
                    f"{', '.join(members) or 'no array'}; the members are named NAME.npy."
                )
        if "y" in self.members and self.members["y"] == self.members.get("weight"):
            raise FileError(
                f"{path}: member {self.members['y']!r} cannot be both the target and the weight."
            )
        with ExitStack() as stack:
            shapes = {part: member.shape for part, member in self._opened(stack).items()}
        self.n_rows = shapes["X"][0]
        _check_matrix(f"{path}: member {data!r} for X is an array", shapes["X"])
        for part, shape in shapes.items():
            if shape[0] != self.n_rows:
                raise FileError(
                    f"{path}: member {self.members[part]!r} for {part} has shape {shape}, but all "
                    f"members must have the {self.n_rows} rows of X."
                )

    def _opened(self, stack: ExitStack) -> dict[str, _Member]:
        stack.enter_context(damage(self.path, ["at the start of a member"], Exception))
        archive = stack.enter_context(zipfile.ZipFile(self.path))
        members = self.members.items()
        return {part: _Member(self.path, name, archive, stack) for part, name in members}

    def __iter__(self) -> Iterator[Block]:
        with ExitStack() as stack:
            parts = self._opened(stack)
            for start in range(0, self.n_rows, self.rows):
                n = min(self.rows, self.n_rows - start)
                yield Block(**{part: member.read(start, n) for part, member in parts.items()})


class _Member:
    """One array of a .npz archive, read from its decompressed stream."""

    def __init__(self, path: Path, name: str, archive: zipfile.ZipFile, stack: ExitStack):
        self.path, self.name = path, name
        self.owner = f"{path}: member {name!r}"
        size = archive.getinfo(name + ".npy").file_size
        self.stream = stack.enter_context(archive.open(name + ".npy"))
        with damage(path, [f"in member {name!r}"], Exception):
            self.shape, fortran, self.dtype = _header(self.owner, self.stream)
            _check_size(self.owner, self.shape, self.dtype, size - self.stream.tell())
        if fortran:
            raise FileError(
                f"{self.owner} is in Fortran order and cannot be read row by row: save "
                "numpy.ascontiguousarray(array) instead."
            )
        if size > MOST_SHRUNK * path.stat().st_size:
            raise FileError(
                f"{self.owner} has {size} bytes according to the list of members, but the file is "
                "too small for them: it is damaged."
            )

    def read(self, start: int, n: int) -> NDArray:
        out = np.empty((n, *self.shape[1:]), dtype=self.dtype)
        n_bytes, done = out.nbytes, 0
        flat = out.reshape(-1).view(np.uint8)
        # The zip reader reads ahead, so the damaged row is known only approximately.
        place = [f"near row {start + n} of member {self.name!r} or before it"]
        with damage(self.path, place, Exception):
            while done < n_bytes:
                piece = self.stream.read(min(n_bytes - done, 2**20))
                if not piece:
                    raise EOFError(f"its header says {self.shape[0]} rows")
                flat[done : done + len(piece)] = np.frombuffer(piece, np.uint8)
                done += len(piece)
        _check_text(self.owner, out, start)
        return out
