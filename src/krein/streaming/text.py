"""Text between delimiters (.csv, .tsv) as blocks, packed or not."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import arrow_csv
from .cells import as_number, is_number
from .columns import Layout, Table, choose_columns
from .containers import ROWS, Block, Container, check_rows, regrouped
from .header import LOOK, has_header
from .raw import in_lines, piece_bytes
from .records import BOM, Records, records, rows

# A label of more characters is taken for a quote in the wrong place.
LONGEST_LABEL = 1000
# NumPy's parser strips other white space than Python's; these bytes both understand alike.
PLAIN = bytes(range(32, 127)) + b"\t\n\r"


class TextFile(Table, Container):
    """Records of numbers between delimiters, the target perhaps text.

    Parameters
    ----------
    path : Path
    delimiter : str
    target : str, int or False, default=None
        The column of y; None is the last one, False none.
    weight : str or int, default=None
        The column of weights.
    rows : int, default=4096
    header : "auto" or bool, default="auto"
        Whether the first record holds names; "auto" looks at it and refuses what may be either.
    layout : Layout, default=None
        Where an earlier fit found its features: the same columns are read, and neither y nor
        weights.
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
            raise ValueError(f"{path} is empty: it has no line with columns.")
        first = head[0][1]
        self.has_header = self._has_header(header, first, target, weight, layout)
        self.names = [cell.strip() for cell in first]
        if not self.has_header:
            self.names = [str(j) for j in range(len(first))]
        self.target = self.weight = None
        if layout is None:
            chosen = choose_columns(path, self.names, target, weight)
            self.columns, self.target, self.weight = chosen
            self.assumed_target = self._called(self.target) if target is None else None
        else:
            names = self.names if self.has_names else None
            self.columns = layout.features(path, names, len(self.names))
        row = head[self.has_header][1] if len(head) > self.has_header else []
        self._labels = self._is_label(row)
        self.n_bytes = piece_bytes((sum(map(len, row)) + len(first)) * self.rows)

    def _is_label(self, row: list[str]) -> bool:
        if self.target is None or len(row) != len(self.names):
            return False
        if not row[self.target].strip() or is_number(row[self.target]):
            return False
        # One text above numbers is a damaged number, which the reader names, and no label.
        later = itertools.islice(self._rows(piece_bytes(0)), self.has_header + 1, LOOK)
        cells = [row[self.target] for _, row in later if len(row) == len(self.names)]
        return not cells or not all(map(is_number, cells))

    @property
    def has_labels(self) -> bool:
        """Whether the target is text."""
        return self._labels and self.target is not None

    def _called(self, column: int | None) -> Any:
        """A column by name, or by index where there are no names."""
        return None if column is None else self.names[column] if self.has_names else column

    @property
    def has_names(self) -> bool:  # type: ignore[override]
        return self.has_header

    def _has_header(
        self, header: Any, first: list[str], target: Any, weight: Any, layout: Layout | None
    ) -> bool:
        named = [role for role in (target, weight) if isinstance(role, str)]
        if header != "auto":
            if not header and named:
                raise ValueError(
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
            target = False  # refused later, by choose_columns
        features, y, _ = choose_columns(self.path, indices, target, weight)
        return has_header(self.path, self._rows(piece_bytes(0)), features, y)

    # --- reading --------------------------------------------------------------------------------

    def _rows(self, n_bytes: int) -> Iterator[tuple[int, list[str]]]:
        for found in records(self.path, self.delimiter, n_bytes):
            yield from rows(self.path, self.delimiter, found)

    def __iter__(self) -> Iterator[Block]:
        return regrouped(self._blocks(), self.rows)

    def _blocks(self) -> Iterator[Block]:
        skip = self.has_header
        for found in records(self.path, self.delimiter, self.n_bytes):
            rest = self._without_header(found) if skip else found
            skip = rest is None
            if rest is not None and not rest.text.isspace() and rest.text:
                block = self._fast(rest)
                yield self._slow(rest) if block is None else block

    def _without_header(self, found: Records) -> Records | None:
        """The records behind the first one; None where all lines are blank."""
        lines = [line for line, _ in itertools.islice(rows(self.path, self.delimiter, found), 2)]
        if len(lines) < 2:
            return Records(b"", found.line, True) if lines else None
        ends = re.finditer(rb"\r\n|\n|\r", found.text)
        end = next(itertools.islice(ends, lines[1] - found.line - 1, None)).end()
        return Records(found.text[end:], lines[1], found.plain)

    @property
    def _numbers(self) -> list[int]:
        """Indices of the columns that hold numbers, those of X first."""
        sides = [] if self.target is None or self.has_labels else [self.target]
        return [*self.columns, *sides, *([] if self.weight is None else [self.weight])]

    def _block(self, values: NDArray, labels: NDArray | None) -> Block:
        """Numbers of the columns `_numbers` as the parts of a block."""
        X, sides = values[:, : len(self.columns)], iter(values.T[len(self.columns) :])
        y = labels
        if self.target is not None and not self.has_labels:
            y = next(sides).copy()
        weight = None if self.weight is None else next(sides).copy()
        return Block(np.ascontiguousarray(X), y, weight)

    def _fast(self, found: Records) -> Block | None:
        """By pyarrow, else by NumPy; None where one stumbles: neither knows the file's lines."""
        # pyarrow leaves out a mark of byte order at the start of whatever it is given.
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
        """The same record by record; says which cell is bad."""
        values, labels, numbers = [], [], self._numbers
        for line, row in rows(self.path, self.delimiter, found):
            if len(row) != len(self.names):
                raise ValueError(
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
                raise self._refused(line, bad, f"{_short(row[bad])} is not a number.") from None
        shape = (len(values), len(numbers))
        return self._block(
            np.array(values).reshape(shape), np.array(labels) if self.has_labels else None
        )

    def _check_target(self, line: int, cell: str) -> None:
        assert self.target is not None
        if not cell.strip():
            raise self._refused(
                line, self.target, "the target is empty: drop such rows or fill them in first."
            )
        if self.has_labels and len(cell) > LONGEST_LABEL:
            raise self._refused(
                line,
                self.target,
                f"the label has {len(cell)} characters, more than {LONGEST_LABEL}: is a quote in "
                "the wrong place?",
            )

    def _refused(self, line: int, column: int, why: str) -> ValueError:
        return ValueError(f"{self.path}: line {line}, column {self.names[column]!r}: {why}")


def _short(cell: str) -> str:
    """A cell for a sentence."""
    return repr(cell if len(cell) <= 60 else cell[:57] + "…")
