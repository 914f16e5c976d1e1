"""Division of delimited text into whole records; a quoted cell is never divided."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .raw import LONGEST, FileError, decoded, in_lines, n_lines, pieces, too_long

BOM = b"\xef\xbb\xbf"
# Largest number of characters of a cell that Python's csv module accepts.
LONGEST_CELL = 131_072


class Records(NamedTuple):
    """Consecutive whole records of one file.

    Attributes
    ----------
    text : bytes
        Valid UTF-8 without zero bytes.
    line : int
        The number of the first line, counted from 1.
    plain : bool
        True if all quotes surround whole cells and no cell is too long.
    """

    text: bytes
    line: int
    plain: bool


def records(path: Path, delimiter: str, n_bytes: int) -> Iterator[Records]:
    """Yield the records of a file in pieces of about `n_bytes`.

    Cells follow Python's ``csv`` in strict mode. A quote at the start of a cell is closed by a
    quote in front of a delimiter or a line end. Two quotes within a quoted cell stand for one
    quote. A quote within an unquoted cell is an ordinary character.
    """
    line, source = 1, pieces(path, n_bytes)
    rest, ended = _longer(b"", source, max(n_bytes, len(BOM)))
    rest = rest.removeprefix(BOM)
    while rest or not ended:
        end, plain = _end(path, rest, delimiter, line, ended)
        if not end and len(rest) > LONGEST:
            raise too_long(path, line)
        if end:
            text, rest = rest[:end], rest[end:]
            if not text.isascii() or b"\0" in text:
                decoded(path, text, line)
            yield Records(text, line, plain and not _has_long_cell(text, delimiter))
            line += n_lines(text)
        # The text doubles, so that a long record is not searched again for every piece.
        rest, ended = _longer(rest, source, max(n_bytes, 2 * len(rest)))


def _longer(rest: bytes, source: Iterator[bytes], n_bytes: int) -> tuple[bytes, bool]:
    """Return at least `n_bytes` bytes that begin with `rest`, and True if the file has ended."""
    parts, size = [rest], len(rest)
    while size < n_bytes:
        piece = next(source, None)
        if piece is None:
            return b"".join(parts), True
        parts.append(piece)
        size += len(piece)
    return b"".join(parts), False


def _end(path: Path, text: bytes, delimiter: str, line: int, ended: bool) -> tuple[int, bool]:
    """Return the end of the last whole record, and True if all quotes surround whole cells."""
    if b'"' not in text:
        return (len(text) if ended else 1 + max(text.rfind(b"\n"), text.rfind(b"\r"))), True
    found = np.frombuffer(text, np.uint8)
    quotes = np.flatnonzero(found == ord('"'))
    breaks = np.flatnonzero((found == ord("\n")) | (found == ord("\r")))
    outside = breaks[np.searchsorted(quotes, breaks) % 2 == 0]
    end = int(outside[-1]) + 1 if len(outside) else 0
    if ended:
        end = len(text) if len(quotes) % 2 == 0 else 0
    if end and _surround_cells(found, quotes[quotes < end], delimiter):
        return end, True
    return _end_by_cells(path, text, delimiter, line, ended), False


def _surround_cells(text: NDArray[np.uint8], quotes: NDArray[np.intp], delimiter: str) -> bool:
    """Return True if the quotes alternately open and close a cell, or stand for one quote."""
    around = [ord(delimiter), ord("\n"), ord("\r"), ord('"')]
    opening, closing = quotes[::2], quotes[1::2]
    before = text[opening[opening > 0] - 1]
    after = text[closing[closing < len(text) - 1] + 1]
    return bool(np.isin(before, around).all() and np.isin(after, around).all())


def _end_by_cells(path: Path, text: bytes, delimiter: str, line: int, ended: bool) -> int:
    """Return the end of the last whole record; raise a FileError at an invalid quoted cell."""
    quoted, bare = _patterns(delimiter)
    end = at = 0
    while at < len(text):
        cell = (quoted if text[at : at + 1] == b'"' else bare).match(text, at)
        if cell is None:
            if ended or len(text) > LONGEST or _closing(text, at):
                raise _bad_quote(path, text, at, line)
            return end
        if not cell[1] and not ended:  # the last cell may be incomplete
            return end
        at = cell.end()
        if cell[1] != delimiter.encode():
            end = at
    return at if ended else end


QUOTED = rb'"[^"]*+(?:""[^"]*+)*+"'


@cache
def _patterns(delimiter: str) -> tuple[re.Pattern[bytes], re.Pattern[bytes]]:
    """Return patterns of a quoted and an unquoted cell with the delimiter or line end after it."""
    separator = re.escape(delimiter.encode())
    ends = rb"(" + separator + rb"|\r\n|\n|\r|\Z)"
    return re.compile(QUOTED + ends), re.compile(rb"[^" + separator + rb"\r\n]*" + ends)


def _closing(text: bytes, at: int) -> int:
    """Return the end of the quoted cell that begins at `at`, or 0 if the cell is not closed."""
    found = re.compile(QUOTED).match(text, at)
    return 0 if found is None else found.end()


def _bad_quote(path: Path, text: bytes, at: int, line: int) -> FileError:
    opened, after = line + n_lines(text[:at]), _closing(text, at)
    if not after:
        where = f"{LONGEST >> 20} MiB after it" if len(text) > LONGEST else "rest of the file"
        return FileError(
            f"{path}: line {opened}: the quote that opens a cell there is not closed in the "
            f"{where}."
        )
    shown = text[after : after + 20].decode(errors="replace").splitlines()[0]
    return FileError(
        f"{path}: line {opened}: the quoted cell that begins there is followed by {shown!r} "
        "instead of a delimiter or the end of the line."
    )


def _has_long_cell(text: bytes, delimiter: str) -> bool:
    """Return True if a cell may have more than `LONGEST_CELL` characters."""
    if len(text) <= LONGEST_CELL:
        return False
    found = np.frombuffer(text, np.uint8)
    ends = np.flatnonzero(found == ord("\n"))
    if _widest(ends, text) > LONGEST_CELL:
        ends = np.flatnonzero((found == ord("\n")) | (found == ord(delimiter)))
    quotes = np.flatnonzero(found == ord('"')) if b'"' in text else ends[:0]
    inside = (quotes[1::2] - quotes[: len(quotes) // 2 * 2 : 2]).max(initial=0)
    return max(_widest(ends, text), int(inside)) > LONGEST_CELL


def _widest(ends: NDArray[np.intp], text: bytes) -> int:
    return int(np.diff(ends, prepend=-1, append=len(text)).max())


def rows(path: Path, delimiter: str, found: Records) -> Iterator[tuple[int, list[str]]]:
    """Yield the number of the first line and the cells of each record; skip blank lines."""
    reader = csv.reader(in_lines(found.text.decode()), delimiter=delimiter, strict=True)
    line = found.line
    try:
        for row in reader:
            if row and not (len(row) == 1 and row[0].isspace()):
                yield line, row
            line = found.line + reader.line_num
    except csv.Error as error:
        raise FileError(f"{path}: line {line}: {_explained(error)}.") from error


def _explained(error: csv.Error) -> str:
    if "field limit" in str(error):
        return f"a cell has more than {LONGEST_CELL:,} characters"
    return f"the line cannot be divided into cells ({error})"
