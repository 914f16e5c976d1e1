"""Text as blocks: numbers between delimiters (.csv, .tsv) and libsvm lines, packed or not."""

from __future__ import annotations

import csv
import io
import itertools
import warnings
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from .containers import ROWS, Block, Container

# The last one is what zipfile raises where the method of compression is damaged.
DAMAGE = (EOFError, zlib.error, zipfile.BadZipFile, OSError, NotImplementedError)


@contextmanager
def damage(path: Path, place: list[str]) -> Iterator[None]:
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
    path: Path, names: list[str], target: Any, weight: Any, besides: Sequence[str] = ()
) -> tuple[list[int], int | None, int | None]:
    """Indices of the features, of y and of the weights; columns `besides` are no features."""
    ours = [j for j, name in enumerate(names) if name not in besides]

    def index(role: str, column: Any) -> int:
        if isinstance(column, str) and column in names:
            return names.index(column)
        whole = isinstance(column, int | np.integer) and not isinstance(column, bool)
        if whole and -len(names) <= column < len(names):
            return int(column) % len(names)
        listed = ", ".join(map(repr, names[:20])) + (", …" if len(names) > 20 else "")
        raise ValueError(f"{path} has no column {column!r} for {role}: its columns are {listed}.")

    last = ours[-1] if ours else len(names) - 1
    y = None if target is False else index("target", last if target is None else target)
    w = None if weight is None else index("weight", weight)
    features = [j for j in ours if j not in (y, w)]
    if not features:
        raise ValueError(f"{path} has no column left for X: y and weights take all of them.")
    return features, y, w


def _lines(path: Path, rows: int) -> Iterator[tuple[int, list[str]]]:
    """Pieces of at most `rows` lines of a text file, each with the number of its first line."""
    number, place = 1, ["at its start"]
    with ExitStack() as stack:
        stack.enter_context(damage(path, place))
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
        roles = [None if isinstance(role, str) else role for role in (target, weight)]
        features = choose_columns(path, indices, roles[0], roles[1])[0]
        written = [cells[0][j] for j in features if cells[0][j].strip()]
        # One number in the line makes it data: a bad number there must not pass as a header.
        self.has_header = named or not any(map(_is_number, written))
        # Two columns 0, 1 may well be a row.
        if not self.has_header and len(cells) == 2 and len(indices) > 2 and cells[0] == indices:
            warnings.warn(
                f"{path}: its first line, 0, 1, 2, …, is taken for the numbers of the columns, as "
                "pandas writes them, and not for a row.",
                UserWarning,
                stacklevel=4,
            )
            self.has_header = True
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
