"""Files as blocks: every pass opens the file anew, holds a block or two of it, and closes it."""

from __future__ import annotations

import csv
import difflib
import io
import itertools
import math
import os
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from .containers import ROWS, Block, Container, InMemory, check_rows

COMPRESSED = (".gz", ".bz2")
TEXT = {".csv": ",", ".tsv": "\t"}
LIBSVM = (".svm", ".libsvm", ".svmlight")
SUFFIXES = (".npy", ".npz", ".parquet", *TEXT, *LIBSVM)
DAMAGE = (EOFError, zlib.error, zipfile.BadZipFile, OSError, NotImplementedError)


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


@contextmanager
def _damage(path: Path, place: list[str]) -> Iterator[None]:
    """Turn what the readers raise about a damaged file into a sentence; `place` ends with where."""
    try:
        yield
    except FileNotFoundError:  # an OSError too, but says all there is to say
        raise
    except DAMAGE as error:
        raise ValueError(
            f"{path} is cut off or damaged {place[-1]} ({str(error).rstrip('.')})."
        ) from error


def choose_columns(
    path: Path, names: list[str], target: Any, weight: Any
) -> tuple[list[int], int | None, int | None]:
    """Indices of the features, of y and of the weights."""

    def index(role: str, column: Any) -> int:
        if isinstance(column, str) and column in names:
            return names.index(column)
        whole = isinstance(column, int | np.integer) and not isinstance(column, bool)
        if whole and -len(names) <= column < len(names):
            return int(column) % len(names)
        listed = ", ".join(map(repr, names[:20])) + (", …" if len(names) > 20 else "")
        raise ValueError(f"{path} has no column {column!r} for {role}: its columns are {listed}.")

    y = None if target is False else index("target", len(names) - 1 if target is None else target)
    w = None if weight is None else index("weight", weight)
    features = [j for j in range(len(names)) if j not in (y, w)]
    if not features:
        raise ValueError(f"{path} has no column left for X: y and weights take all of them.")
    return features, y, w


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
        with _damage(path, place), zipfile.ZipFile(path) as archive:
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
        stack.enter_context(_damage(self.path, ["at the start of a member"]))
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
        with _damage(path, [f"in member {name!r}"]):
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
        with _damage(self.path, [f"near row {start + n} of member {self.name!r} or before it"]):
            while done < n_bytes:
                piece = self.stream.read(min(n_bytes - done, 2**20))
                if not piece:
                    raise EOFError(f"its header says {self.shape[0]} rows")
                flat[done : done + len(piece)] = np.frombuffer(piece, np.uint8)
                done += len(piece)
        return out


# --- text ----------------------------------------------------------------------------------------


def _lines(path: Path, rows: int) -> Iterator[tuple[int, list[str]]]:
    """Pieces of at most `rows` lines of a text file, each with the number of its first line."""
    number, place = 1, ["at its start"]
    with ExitStack() as stack:
        stack.enter_context(_damage(path, place))
        text = stack.enter_context(_opened_text(path))
        while True:
            lines: list[str] = []
            try:
                # One by one: where the file breaks, the lines before it count.
                for line in itertools.islice(text, rows):
                    lines.append(line)
            except UnicodeDecodeError as error:
                raise ValueError(
                    f"{path} is no UTF-8 text after line {number + len(lines) - 1} ({error})."
                ) from error
            finally:
                place.append(f"after line {number + len(lines) - 1}")
            if not lines:
                return
            following = number + len(lines)  # the list is the consumer's from here on
            yield number, lines
            number = following


def _opened_text(path: Path) -> IO[str]:
    if path.suffix.lower() == ".gz":
        import gzip

        return gzip.open(path, "rt", encoding="utf-8-sig")
    if path.suffix.lower() == ".bz2":
        import bz2

        return bz2.open(path, "rt", encoding="utf-8-sig")
    return open(path, encoding="utf-8-sig")


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


class TextFile(Container):
    """Lines of numbers between delimiters."""

    def __init__(
        self, path: Path, delimiter: str, target: Any = None, weight: Any = None, rows: int = ROWS
    ):
        self.path, self.delimiter, self.rows = path, delimiter, rows
        head = itertools.chain.from_iterable(lines for _, lines in _lines(path, 1))
        cells = list(itertools.islice((row for row in self._reader(head) if row), 2))
        if not cells:
            raise ValueError(f"{path} is empty: it has no line with columns.")
        named = isinstance(target, str) or isinstance(weight, str)
        indices = [str(j) for j in range(len(cells[0]))]
        features = choose_columns(
            path, indices, *(None if isinstance(role, str) else role for role in (target, weight))
        )[0]
        written = [cells[0][j] for j in features if cells[0][j].strip()]
        # One number in the line makes it data: a bad number there must not pass as a header.
        self.has_header = named or not any(map(_is_number, written))
        names = [cell.strip() for cell in cells[0]] if self.has_header else indices
        self.names = names
        self.columns, self.target, self.weight = choose_columns(path, names, target, weight)
        first = cells[-1] if self.has_header else cells[0]
        labels = first[self.target] if self.target is not None and len(first) == len(names) else "0"
        self.has_labels = not _is_number(labels)

    def _reader(self, lines: Iterable[str]) -> Iterator[list[str]]:
        return csv.reader(lines, delimiter=self.delimiter)

    def __iter__(self) -> Iterator[Block]:
        skip = self.has_header
        for number, lines in _lines(self.path, self.rows):
            while skip and lines:
                skip = not lines.pop(0).strip()
                number += 1
            if any(line.strip() for line in lines):
                yield self._block(lines, number)

    def _block(self, lines: list[str], number: int) -> Block:
        y: NDArray | None = None
        values = None if self.has_labels else self._fast(lines)
        if values is None:
            values, y = self._slow(lines, number)
        if y is None and self.target is not None:
            y = values[:, self.target].copy()
        weight = None if self.weight is None else values[:, self.weight].copy()
        return Block(np.ascontiguousarray(values[:, self.columns]), y, weight)

    def _fast(self, lines: list[str]) -> NDArray | None:
        """NumPy's parser; None where it stumbles, whose errors do not know the file's lines."""
        try:
            values = np.loadtxt(
                lines, delimiter=self.delimiter, ndmin=2, comments=None, quotechar='"'
            )
        except ValueError:
            return None
        return values if values.shape[1] == len(self.names) else None

    def _slow(self, lines: list[str], number: int) -> tuple[NDArray, NDArray | None]:
        """The same line by line, also with labels that are text; says which cell is bad."""
        values, labels = [], []
        for line, row in enumerate(self._reader(lines), number):
            if len(row) < 2 and not "".join(row).strip():
                continue
            if len(row) != len(self.names):
                raise ValueError(
                    f"{self.path}: line {line} has {len(row)} columns instead of "
                    f"{len(self.names)}: the file is cut off or damaged there."
                )
            if self.has_labels and self.target is not None:
                labels.append(row[self.target])
                row[self.target] = "0"
            for name, cell in zip(self.names, row, strict=True):
                if not _is_number(cell):
                    raise ValueError(
                        f"{self.path}: line {line}, column {name!r}: {cell!r} is not a number."
                    )
            values.append([float(cell) for cell in row])
        return np.array(values), np.array(labels) if labels else None


class LibsvmFile(Container):
    """Lines ``label index:value …`` with increasing indices; blocks are CSR."""

    def __init__(
        self, path: Path, rows: int = ROWS, n_features: Any = None, zero_based: Any = None
    ):
        self.path, self.rows = path, rows
        self._n_rows: int | None = None
        if n_features is None or zero_based is None:
            n_rows, least, most = self._counted()
            self._n_rows = n_rows
            zero_based = least == 0 if zero_based is None else zero_based
            n_features = most + zero_based if n_features is None else n_features
        self.n_features, self.zero_based = int(n_features), bool(zero_based)
        if self.n_features < 1:
            raise ValueError(f"{path} has no features: give n_features ≥ 1 if all rows are empty.")

    @property
    def n_rows(self) -> int | None:
        return self._n_rows

    def _counted(self) -> tuple[int, int, int]:
        """Rows, least and greatest index. Indices increase, so each line's first and last do."""
        n_rows, least, most = 0, 1, 0
        for number, lines in _lines(self.path, self.rows):
            for line, text in enumerate(lines, number):
                text = text.partition("#")[0].rstrip()
                n_rows += bool(text)
                pairs = [pair for pair in text.split(None, 3)[1:3] if pair[:4] != "qid:"]
                if pairs:
                    last = text[max(map(text.rfind, " \t")) + 1 :]
                    least = min(least, self._index(pairs[0], line))
                    most = max(most, self._index(last, line))
        return n_rows, least, most

    def __iter__(self) -> Iterator[Block]:
        from sklearn.datasets import load_svmlight_file

        for number, lines in _lines(self.path, self.rows):
            if not any(line.partition("#")[0].strip() for line in lines):
                continue
            stream = io.BytesIO("".join(lines).encode())
            try:
                X, y = load_svmlight_file(
                    stream, n_features=self.n_features, zero_based=self.zero_based
                )
            except (ValueError, OverflowError) as error:
                self._explain(lines, number)
                raise ValueError(
                    f"{self.path}: lines {number} to {number + len(lines) - 1} cannot be read as "
                    f"libsvm text ({error})."
                ) from error
            yield Block(X, y)

    def _index(self, pair: str, line: int) -> int:
        index, colon, value = pair.partition(":")
        if not (colon and index.isdecimal() and _is_number(value)):
            raise ValueError(f"{self.path}: line {line}: {pair!r} is not index:value.")
        return int(index)

    def _explain(self, lines: list[str], number: int) -> None:
        """Raise the sentence that names the first bad line."""
        least, stop = 1 - self.zero_based, self.n_features + 1 - self.zero_based
        for line, text in enumerate(lines, number):
            label, *pairs = text.partition("#")[0].split() or ["0"]
            if not _is_number(label):
                raise ValueError(f"{self.path}: line {line}: the label {label!r} is not a number.")
            before = -1
            for pair in pairs:
                if pair.startswith("qid:"):
                    continue
                index = self._index(pair, line)
                if not least <= index < stop or index <= before:
                    raise ValueError(
                        f"{self.path}: line {line}: index {index} is not one of {least} to "
                        f"{stop - 1} in increasing order (n_features={self.n_features}, "
                        f"zero_based={self.zero_based})."
                    )
                before = index
