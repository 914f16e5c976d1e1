"""Container of a .csv or .tsv file, compressed or not."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import arrow_csv
from .columns import Layout, choose_columns
from .containers import ROWS, Block, check_rows
from .header import LOOK, has_header
from .raw import FileError, as_number, in_lines, is_number, piece_bytes
from .records import BOM, Records, records, rows
from .tables import Table

# A longer label is an error: it is probably caused by a misplaced quote.
LONGEST_LABEL = 1000
# Bytes that NumPy's and Python's parsers treat alike: they strip different white space.
PLAIN = bytes(range(32, 127)) + b"\t\n\r"


class TextFile(Table):
    """Container of delimited numbers; the target may be text.

    Parameters
    ----------
    path : Path
        The file.
    delimiter : str
        The character between cells.
    target : str, int, None or False, default=None
        The name or the index of the column of y. None takes the last column, False reads no y.
    weight : str or int, default=None
        The name or the index of the column of weights. None reads no weights.
    rows : int, default=6144
        The number of rows per block.
    header : {"auto", True, False}, default="auto"
        True if the first record contains the names of the columns, False if it is a row. "auto"
        decides by its content and raises a ValueError if the record is ambiguous.
    layout : Layout, default=None
        The columns that an earlier fit used. The same features are read, without y and weights.
    """

    def __init__(
        self,
        path: Path,
        delimiter: str,
        target: Any = None,
        weight: Any = None,
        rows: int = ROWS,
        header: Any = "auto",
        layout: Layout | None = None,
    ):
        self.path, self.delimiter, self.rows = path, delimiter, check_rows(rows)
        head = list(itertools.islice(self._rows(piece_bytes(0)), 2))
        if not head:
            raise FileError(f"{path} is empty: it has no line with columns.")
        first = head[0][1]
        self.has_names = self._has_header(header, first, target, weight, layout)
        self.names = [cell.strip() if self.has_names else str(j) for j, cell in enumerate(first)]
        self._choose(target, weight, layout)
        row = head[self.has_names][1] if len(head) > self.has_names else []
        self._labels = self._is_label(row)
        self.n_bytes = piece_bytes((sum(map(len, row)) + len(first)) * self.rows)

    def _is_label(self, row: list[str]) -> bool:
        if self.target is None or len(row) != len(self.names):
            return False
        if not row[self.target].strip() or is_number(row[self.target]):
            return False
        # Text above numbers is a damaged number, not a label. Reading the rows reports it.
        later = itertools.islice(self._rows(piece_bytes(0)), self.has_names + 1, LOOK)
        cells = [row[self.target] for _, row in later if len(row) == len(self.names)]
        return not cells or not all(map(is_number, cells))

    @property
    def has_labels(self) -> bool:
        """True if the target is text."""
        return self._labels and self.target is not None

    def _has_header(
        self, header: Any, first: list[str], target: Any, weight: Any, layout: Layout | None
    ) -> bool:
        named = [role for role in (target, weight) if isinstance(role, str)]
        if header != "auto":
            if not header and named:
                raise FileError(
                    f"{self.path}: {named[0]!r} names a column, but header=False says that the "
                    "columns have no names: pass the column's index, from 0."
                )
            return bool(header)
        if named:
            return True
        if layout is not None:
            cells = {cell.strip() for cell in first}
            if layout.names is not None and cells.issuperset(layout.names):
                return True
            besides = layout.places(len(first))
            target = besides[0] if besides else False
        indices = [str(j) for j in range(len(first))]
        if target is None and len(first) == 1:
            target = False  # choose_columns raises an error later
        features, y, _ = choose_columns(self.path, indices, target, weight)
        return has_header(self.path, self._rows(piece_bytes(0)), features, y)

    # --- reading --------------------------------------------------------------------------------

    def _rows(self, n_bytes: int) -> Iterator[tuple[int, list[str]]]:
        for found in records(self.path, self.delimiter, n_bytes):
            yield from rows(self.path, self.delimiter, found)

    def _blocks(self) -> Iterator[Block]:
        skip = self.has_names
        for found in records(self.path, self.delimiter, self.n_bytes):
            rest = self._without_header(found) if skip else found
            skip = rest is None
            if rest is not None and not rest.text.isspace() and rest.text:
                block = self._fast(rest)
                yield self._slow(rest) if block is None else block

    def _without_header(self, found: Records) -> Records | None:
        """Return the records without the first one, or None if all lines are blank."""
        lines = [line for line, _ in itertools.islice(rows(self.path, self.delimiter, found), 2)]
        if len(lines) < 2:
            return Records(b"", found.line, True) if lines else None
        ends = re.finditer(rb"\r\n|\n|\r", found.text)
        end = next(itertools.islice(ends, lines[1] - found.line - 1, None)).end()
        return Records(found.text[end:], lines[1], found.plain)

    @property
    def _numbers(self) -> list[int]:
        """The indices of the numeric columns, with the columns of X first."""
        sides = [] if self.target is None or self.has_labels else [self.target]
        return [*self.columns, *sides, *([] if self.weight is None else [self.weight])]

    def _block(self, values: NDArray, labels: NDArray | None) -> Block:
        """Return a block of the values of the columns `_numbers` and of the labels."""
        X, sides = values[:, : len(self.columns)], iter(values.T[len(self.columns) :])
        y = labels
        if self.target is not None and not self.has_labels:
            y = next(sides).copy()
        weight = None if self.weight is None else next(sides).copy()
        return Block(np.ascontiguousarray(X), y, weight)

    def _fast(self, found: Records) -> Block | None:
        """Return the block parsed by pyarrow or NumPy, or None if the parser fails."""
        # pyarrow would skip a byte order mark at the start of the text.
        if not found.plain or found.text.startswith(BOM):
            return None
        if arrow_csv.is_installed():
            label = self.target if self.has_labels else None
            width, longest = len(self.names), LONGEST_LABEL
            read = arrow_csv.read(found.text, self.delimiter, width, self._numbers, label, longest)
        else:
            read = None if self.has_labels else self._by_numpy(found.text)
        if read is None or not np.isfinite(read[0]).all():
            return None
        return self._block(*read)

    def _by_numpy(self, text: bytes) -> tuple[NDArray, None] | None:
        if text.translate(None, PLAIN):
            return None
        blank = " \r\n" if self.delimiter == "\t" else None  # a line of tabs is a record
        lines = [line for line in in_lines(text.decode()) if line.strip(blank)]
        try:
            values = np.loadtxt(
                lines, delimiter=self.delimiter, ndmin=2, comments=None, quotechar='"'
            )
        except ValueError:
            return None
        return (values[:, self._numbers], None) if values.shape[1] == len(self.names) else None

    def _slow(self, found: Records) -> Block:
        """Return the block parsed record by record; raise a FileError that names a bad cell."""
        values, labels, numbers = [], [], self._numbers
        for line, row in rows(self.path, self.delimiter, found):
            if len(row) != len(self.names):
                raise FileError(
                    f"{self.path}: line {line} has {len(row)} columns instead of "
                    f"{len(self.names)}: the file is cut off or damaged there."
                )
            if self.target is not None:
                self._check_target(line, row[self.target])
                if self.has_labels:
                    labels.append(row[self.target])
            try:
                values.append([as_number(row[j]) for j in numbers])
            except ValueError:
                bad = next(j for j in numbers if not is_number(row[j]))
                why = (
                    f"{_short(row[bad])} is not a number: fill in or encode the column, or leave "
                    "it out."
                )
                raise self._refused(line, bad, why) from None
        shape = (len(values), len(numbers))
        return self._block(
            np.array(values).reshape(shape), np.array(labels) if self.has_labels else None
        )

    def _check_target(self, line: int, cell: str) -> None:
        assert self.target is not None
        if not cell.strip():
            raise self._refused(
                line, self.target, "the target is empty: drop the row or fill in its target."
            )
        if self.has_labels and len(cell) > LONGEST_LABEL:
            raise self._refused(
                line,
                self.target,
                f"the label has {len(cell)} characters, more than {LONGEST_LABEL}: is a quote in "
                "the wrong place?",
            )

    def _refused(self, line: int, column: int, why: str) -> FileError:
        return FileError(f"{self.path}: line {line}, column {self.names[column]!r}: {why}")


def _short(cell: str) -> str:
    """Return a cell, shortened to 60 characters, for an error message."""
    return repr(cell if len(cell) <= 60 else cell[:57] + "…")
