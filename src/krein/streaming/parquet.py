"""Parquet files as blocks, by pyarrow."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .columns import Layout, Table, choose_columns, only
from .containers import ROWS, Block, Container, check_rows, regrouped
from .raw import reason

# Column chunks are read through a buffer of this size instead of whole: a row group may hold
# millions of rows.
BUFFER_BYTES = 2**18
# Pages are decoded so many rows at a time, and blocks are cut afterwards: of a damaged file pyarrow
# may read more in batches of another size.
BATCH_ROWS = 1024


def _arrow() -> Any:
    try:
        import pyarrow.parquet
    except ImportError as error:
        raise ImportError(
            'Parquet files need pyarrow: install it with  pip install "krein[files]".'
        ) from error
    return pyarrow


class ParquetFile(Table, Container):
    """Blocks of a Parquet file.

    Parameters
    ----------
    path : Path
    target : str, int or False, default=None
        The column of y; None is the last one, False none.
    weight : str or int, default=None
        The column of weights.
    rows : int, default=4096
    layout : Layout, default=None
        Where an earlier fit found its features: the same columns are read, and neither y nor
        weights.
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
            self._n_rows = int(file.metadata.num_rows)
            self.schema = schema = file.schema_arrow
        self.names = list(schema.names)
        self.target = self.weight = None
        if layout is None:
            chosen = choose_columns(path, self.names, target, weight, _index_columns(path, schema))
            self.columns, self.target, self.weight = chosen
            if target is None and self.target is not None:
                self.assumed_target = self.names[self.target]
        else:
            self.columns = layout.features(path, self.names, len(self.names))
        self._check_columns()

    def _check_columns(self) -> None:
        kinds = {j: self.schema.field(j).type for j in self._wanted}
        for j, kind in kinds.items():
            only(self.path, self.names, self.names[j])  # pyarrow selects columns by name
            if not (_is_number(kind) or (j == self.target and _is_label(kind))):
                role = {self.target: "the target", self.weight: "the weights"}.get(j, "features")
                raise ValueError(
                    f"{self.path}: column {self.names[j]!r} holds {kind}, but {role} must be "
                    "numbers: encode it first or leave it out."
                )
        single = [str(kinds[j]) in ("float", "halffloat") for j in self.columns]
        self.dtype = np.float32 if all(single) else np.float64

    @property
    def n_rows(self) -> int:
        return self._n_rows

    @property
    def _wanted(self) -> list[int]:
        return [*self.columns, *(j for j in (self.target, self.weight) if j is not None)]

    def _opened(self) -> Any:
        parquet = _arrow().parquet
        try:
            return parquet.ParquetFile(
                self.path, buffer_size=BUFFER_BYTES, page_checksum_verification=True
            )
        except FileNotFoundError:  # an OSError too, but says all there is to say
            raise
        except Exception as error:  # the footer holds Arrow's and Python's own structures
            raise ValueError(
                f"{self.path} is no complete Parquet file: its footer, at the end, cannot be read "
                f"({reason(error)}), so it was cut off or is something else."
            ) from error

    def __iter__(self) -> Iterator[Block]:
        return regrouped(self._blocks(), self.rows)

    def _blocks(self) -> Iterator[Block]:
        n_seen = 0
        names = [self.names[j] for j in self._wanted]
        with self._opened() as file:
            batches = file.iter_batches(BATCH_ROWS, columns=names, use_threads=False)
            while True:
                try:
                    batch = next(batches, None)
                    block = None if batch is None else self._block(batch, names, n_seen)
                except Exception as error:
                    if str(error).startswith(str(self.path)):  # one of our own sentences
                        raise
                    raise ValueError(
                        f"{self.path} breaks off or is damaged after row {n_seen} of "
                        f"{self.n_rows} ({reason(error)})."
                    ) from error
                if block is None:
                    break
                n_seen += len(block.X)
                yield block
        if n_seen != self.n_rows:
            raise ValueError(
                f"{self.path} is damaged: its footer says {self.n_rows} rows, and {n_seen} are "
                "there."
            )

    def _block(self, batch: Any, names: list[str], n_seen: int) -> Block:
        # Arrow returns the columns in the file's order, whatever order was asked for.
        values = {name: _numpy(batch.column(name)) for name in names}
        X = np.empty((batch.num_rows, len(self.columns)), dtype=self.dtype)
        for j in range(len(self.columns)):
            X[:, j] = values[names[j]]
        if self.target is not None:
            self._check_target(batch.column(self.names[self.target]), n_seen)
        sides = iter(names[len(self.columns) :])
        y = None if self.target is None else values[next(sides)]
        weight = None if self.weight is None else values[next(sides)]
        return Block(X, y, weight)

    def _check_target(self, column: Any, n_seen: int) -> None:
        if not column.null_count and _is_number(column.type):
            return
        assert self.target is not None
        for row, label in enumerate(column.to_pylist(), n_seen):
            if label is None or not str(label).strip():
                raise ValueError(
                    f"{self.path}: row {row}, column {self.names[self.target]!r}: the target is "
                    "empty: drop such rows or fill them in first."
                )


def _is_number(kind: Any) -> bool:
    types = _arrow().types
    return types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)


def _is_label(kind: Any) -> bool:
    types = _arrow().types
    if types.is_dictionary(kind):
        return _is_label(kind.value_type) or _is_number(kind.value_type)
    return any(
        is_kind(kind)
        for is_kind in (
            types.is_string,
            types.is_large_string,
            types.is_binary,
            types.is_large_binary,
        )
    )


def _index_columns(path: Path, schema: Any) -> list[str]:
    """The columns in which pandas has written the index of its table: no features."""
    written = (schema.metadata or {}).get(b"pandas")
    try:
        index = json.loads(written)["index_columns"] if written else []
        return [name for name in index if isinstance(name, str) and name in schema.names]
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise ValueError(
            f"{path}: what pandas has written about its columns, in the footer, cannot be read "
            f"({reason(error)}), so which of them is the index is unknown: write the file anew."
        ) from error


def _numpy(column: Any) -> NDArray:
    array = column.to_numpy(zero_copy_only=False)
    if array.dtype == object and column.null_count and str(column.type) == "bool":
        return np.array([np.nan if value is None else float(value) for value in array])
    return array
