"""Container of a Parquet file, read by pyarrow."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .columns import Layout, only
from .containers import ROWS, Block, check_rows
from .raw import FileError, reason
from .tables import Table

# Size of the buffer for reading column chunks. A whole chunk may contain millions of rows.
BUFFER_BYTES = 2**18
# Number of rows per batch of pyarrow. It does not depend on the block size, because the batch size
# decides how many rows of a damaged file pyarrow reads. Batches are regrouped into blocks.
BATCH_ROWS = 1024


def _arrow() -> Any:
    try:
        import pyarrow.parquet
    except ImportError as error:
        raise ImportError(
            'Parquet files need pyarrow: install it with  pip install "krein[files]".'
        ) from error
    return pyarrow


class ParquetFile(Table):
    """Container of the numeric columns of a Parquet file.

    Parameters
    ----------
    path : Path
        The file.
    target : str, int, None or False, default=None
        The name or the index of the column of y. None takes the last column, False reads no y.
    weight : str or int, default=None
        The name or the index of the column of weights. None reads no weights.
    rows : int, default=6144
        The number of rows per block.
    layout : Layout, default=None
        The columns that an earlier fit used. The same features are read, without y and weights.
    """

    def __init__(
        self,
        path: Path,
        target: Any = None,
        weight: Any = None,
        rows: int = ROWS,
        layout: Layout | None = None,
    ):
        self.path, self.rows = path, check_rows(rows)
        with self._opened() as file:
            self.n_rows = int(file.metadata.num_rows)
            self.schema = file.schema_arrow
        self.names = list(self.schema.names)
        besides = [] if layout else _index_columns(path, self.schema)
        self._choose(target, weight, layout, besides)

    def _check_columns(self) -> None:
        kinds = {j: self.schema.field(j).type for j in self._wanted}
        for j, kind in kinds.items():
            only(self.path, self.names, self.names[j])  # pyarrow selects columns by name
            if not (_is_number(kind) or (j == self.target and _is_label(kind))):
                role = {self.target: "the target", self.weight: "the weights"}.get(j, "features")
                raise FileError(
                    f"{self.path}: column {self.names[j]!r} holds {kind}, but {role} must be "
                    "numbers: encode it first or leave it out."
                )
        single = [str(kinds[j]) in ("float", "halffloat") for j in self.columns]
        self.dtype = np.float32 if all(single) else np.float64

    @property
    def _wanted(self) -> list[int]:
        return [*self.columns, *(j for j in (self.target, self.weight) if j is not None)]

    def _opened(self) -> Any:
        parquet = _arrow().parquet
        try:
            return parquet.ParquetFile(
                self.path, buffer_size=BUFFER_BYTES, page_checksum_verification=True
            )
        except FileNotFoundError:  # its message is already clear
            raise
        except Exception as error:  # a damaged footer raises errors of many types
            raise FileError(
                f"{self.path} is not a complete Parquet file: its footer, at the end, cannot be "
                f"read ({reason(error)}). The file is cut off or has another format."
            ) from error

    def _blocks(self) -> Iterator[Block]:
        n_seen = 0
        names = [self.names[j] for j in self._wanted]
        with self._opened() as file:
            try:
                for batch in file.iter_batches(BATCH_ROWS, columns=names, use_threads=False):
                    yield self._block(batch, names, n_seen)
                    n_seen += batch.num_rows
            except FileError:
                raise
            except Exception as error:
                raise FileError(
                    f"{self.path} breaks off or is damaged after row {n_seen} of {self.n_rows} "
                    f"({reason(error)})."
                ) from error
        if n_seen != self.n_rows:
            raise FileError(
                f"{self.path} is damaged: its footer says {self.n_rows} rows, but the file has "
                f"{n_seen}."
            )

    def _block(self, batch: Any, names: list[str], n_seen: int) -> Block:
        # pyarrow returns the columns in the order of the file, not in the requested order.
        values = {name: _numpy(batch.column(name)) for name in names}
        X = np.empty((batch.num_rows, len(self.columns)), dtype=self.dtype)
        for j, name in enumerate(names[: len(self.columns)]):
            X[:, j] = values[name]
        sides = [None if j is None else self.names[j] for j in (self.target, self.weight)]
        if sides[0] is not None:
            self._check_target(sides[0], batch.column(sides[0]), n_seen)
        return Block(X, *(None if name is None else values[name] for name in sides))

    def _check_target(self, name: str, column: Any, n_seen: int) -> None:
        if not column.null_count and _is_number(column.type):
            return
        for row, label in enumerate(column.to_pylist(), n_seen):
            if label is None or not str(label).strip():
                raise FileError(
                    f"{self.path}: row {row}, column {name!r}: the target is empty: drop the row "
                    "or fill in its target."
                )


def _is_number(kind: Any) -> bool:
    types = _arrow().types
    return types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)


def _is_label(kind: Any) -> bool:
    if _arrow().types.is_dictionary(kind):
        return _is_label(kind.value_type) or _is_number(kind.value_type)
    return str(kind) in ("string", "large_string", "binary", "large_binary")


def _index_columns(path: Path, schema: Any) -> list[str]:
    """Return the columns that contain the index of a pandas table; they are not features."""
    written = (schema.metadata or {}).get(b"pandas")
    try:
        index = json.loads(written)["index_columns"] if written else []
        return [name for name in index if isinstance(name, str) and name in schema.names]
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise FileError(
            f"{path}: the pandas metadata in the footer cannot be read ({reason(error)}), so the "
            "index column is unknown: write the file again."
        ) from error


def _numpy(column: Any) -> NDArray:
    array = column.to_numpy(zero_copy_only=False)
    if array.dtype == object and column.null_count and str(column.type) == "bool":
        return np.array([np.nan if value is None else float(value) for value in array])
    return array
