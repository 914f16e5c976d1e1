"""Container of a libsvm file with lines ``label index:value …``, compressed or not."""

from __future__ import annotations

import io
import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

from .columns import Layout
from .containers import ROWS, Block, Container, check_rows, regrouped
from .raw import FileError, is_number, lines, piece_bytes, reason

# Smallest number of lines per call of scikit-learn's parser: a call is expensive.
LINES = 256
LARGEST_INDEX = 2**31 - 1
# Python accepts underscores within numbers and more kinds of white space; libsvm does not.
PLAIN = bytes(set(range(32, 127)) - set(b"_")) + b"\t\n\r"


class LibsvmFile(Container):
    """Container of lines ``label index:value …`` with increasing indices; X is a CSR matrix.

    Parameters
    ----------
    path : Path
        The file.
    rows : int, default=6144
        The number of rows per block.
    n_features : int, default=None
        The number of columns. None counts the columns in an additional pass.
    zero_based : bool, default=None
        True if the first column has the index 0, False if it has the index 1. None searches the
        file for an index 0 in an additional pass.
    """

    def __init__(
        self, path: Path, rows: int = ROWS, n_features: Any = None, zero_based: Any = None
    ):
        self.path, self.rows = path, check_rows(rows)
        self.base_is_given = zero_based is not None
        if n_features is None or zero_based is None:
            self.n_rows, least, most = self._counted()
            zero_based = least == 0 if zero_based is None else zero_based
            n_features = most + zero_based if n_features is None else n_features
        self.n_features, self.zero_based = int(n_features), bool(zero_based)
        self.layout = Layout(self.n_features, zero_based=self.zero_based)
        if self.n_features < 1:
            raise FileError(f"{path} has no features: pass n_features ≥ 1 if all rows are empty.")

    def rows_for(self, layout: Layout, *, target: bool = False) -> LibsvmFile:
        """Return the same file with the number of features and the first index of a fit."""
        given = self.base_is_given or layout.zero_based is None
        base = self.zero_based if given else layout.zero_based
        return LibsvmFile(self.path, self.rows, layout.n_features, base)

    def _counted(self) -> tuple[int, int, int]:
        """Return the number of rows, the smallest index and the largest index.

        The indices of a line increase, so the first and the last index of each line are enough.
        """
        n_rows, least, most = 0, 1, 0
        for number, found in lines(self.path, piece_bytes(0)):
            for line, text in enumerate(found, number):
                text = text.partition("#")[0].rstrip()
                n_rows += bool(text)
                pairs = [pair for pair in text.split(None, 3)[1:3] if pair[:4] != "qid:"]
                if pairs:
                    last = text[max(map(text.rfind, " \t")) + 1 :]
                    least = min(least, self._index(pairs[0], line))
                    most = max(most, self._index(last, line))
        return n_rows, least, most

    def __iter__(self) -> Iterator[Block]:
        return regrouped(self._blocks(), self.rows)

    def _blocks(self) -> Iterator[Block]:
        for number, found in lines(self.path, piece_bytes(64 * self.rows)):
            for start in range(0, len(found), max(self.rows, LINES)):
                some = found[start : start + max(self.rows, LINES)]
                self._check_characters(some, number + start)
                if any(line.partition("#")[0].strip() for line in some):
                    yield self._block(some, number + start)

    def _block(self, some: list[str], number: int) -> Block:
        from sklearn.datasets import load_svmlight_file

        text = "".join(line if line.endswith("\n") else line + "\n" for line in some).encode()
        try:
            X, y = load_svmlight_file(
                io.BytesIO(text), n_features=self.n_features, zero_based=self.zero_based
            )
        except (ValueError, OverflowError) as error:
            self._explain(some, number, error)
        return Block(X, y)

    def _index(self, pair: str, line: int) -> int:
        index, colon, value = pair.partition(":")
        if not (colon and index.isdecimal() and is_number(value)):
            raise FileError(f"{self.path}: line {line}: {pair[:60]!r} is not index:value.")
        if len(index) > 20 or int(index) > LARGEST_INDEX:
            raise FileError(
                f"{self.path}: line {line}: the index {index[:20]} is above {LARGEST_INDEX}."
            )
        return int(index)

    def _check_characters(self, some: list[str], number: int) -> None:
        if not "".join(some).encode().translate(None, PLAIN):
            return
        for line, text in enumerate(some, number):
            odd = text.partition("#")[0].encode().translate(None, PLAIN).decode()
            if odd:
                raise FileError(
                    f"{self.path}: line {line}: {odd[0]!r} is not a character of libsvm text."
                )

    def _explain(self, some: list[str], number: int, error: Exception) -> NoReturn:
        """Raise a FileError that names the first bad line."""
        least, stop = 1 - self.zero_based, self.n_features + 1 - self.zero_based
        for line, text in enumerate(some, number):
            label, *pairs = text.partition("#")[0].split() or ["0"]
            if not is_number(label):
                raise FileError(
                    f"{self.path}: line {line}: the label {label[:60]!r} is not a number."
                )
            before = -1
            for pair in itertools.dropwhile(lambda pair: pair.startswith("qid:"), pairs):
                index = self._index(pair, line)
                if not least <= index < stop or index <= before:
                    raise FileError(
                        f"{self.path}: line {line}: index {index} is not one of {least} to "
                        f"{stop - 1} in increasing order (n_features={self.n_features}, "
                        f"zero_based={self.zero_based})."
                    )
                before = index
        raise FileError(
            f"{self.path}: lines {number} to {number + len(some) - 1} cannot be read as libsvm "
            f"text ({reason(error)})."
        ) from error
