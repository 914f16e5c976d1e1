"""Parquet files as blocks; the only file that imports pyarrow."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .containers import ROWS, Block, Container, check_rows
from .text import choose_columns

# Column chunks are read through a buffer of this size instead of whole: a row group may hold
# millions of rows.
BUFFER_BYTES = 2**18


def _arrow() -> Any:
    try:
        import pyarrow.parquet
    except ImportError as error:
        raise ImportError(
            'Parquet files need pyarrow: install it with  pip install "krein[parquet]".'
        ) from error
    return pyarrow


class ParquetFile(Container):
    """Blocks of a Parquet file.

    Parameters
    ----------
    path : Path
    target : str, int or False, default=None
        The column of y; None is the last one, False none.
    weight : str or int, default=None
        The column of weights.
    rows : int, default=4096
    """

    def __init__(self, path: Path, target: Any = None, weight: Any = None, rows: int = ROWS):
        self.path, self.rows = path, check_rows(rows)
        with self._opened() as file:
            self._n_rows = int(file.metadata.num_rows)
            schema = file.schema_arrow
        self.columns, self.target, self.weight = choose_columns(
            path, schema.names, target, weight, _index_columns(schema)
        )
        single = [str(schema.field(i).type) in ("float", "halffloat") for i in self.columns]
        self.dtype = np.float32 if all(single) else np.float64
        types = _arrow().types
        for i in self.columns:
            kind = schema.field(i).type
            if not (types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)):
                raise ValueError(
                    f"{path}: column {schema.names[i]!r} holds {kind}, but features must be "
                    "numbers: encode it first or leave it out."
                )

    @property
    def n_rows(self) -> int:
        return self._n_rows

    def _opened(self) -> Any:
        arrow = _arrow()
        try:
            return arrow.parquet.ParquetFile(self.path, buffer_size=BUFFER_BYTES)
        except FileNotFoundError:  # an OSError too, but says all there is to say
            raise
        except (arrow.ArrowException, OSError) as error:
            raise ValueError(
                f"{self.path} is no complete Parquet file: its footer, at the end, cannot be read "
                f"({_first_line(error)}), so it was cut off or is something else."
            ) from error

    def __iter__(self) -> Iterator[Block]:
        arrow = _arrow()
        n_seen = 0
        wanted = [*self.columns, *(i for i in (self.target, self.weight) if i is not None)]
        with self._opened() as file:
            names = [file.schema_arrow.names[i] for i in wanted]
            batches = file.iter_batches(batch_size=self.rows, columns=names)
            while True:
                try:
                    batch = next(batches, None)
                except (arrow.ArrowException, OSError) as error:
                    raise ValueError(
                        f"{self.path} breaks off or is damaged after row {n_seen} of "
                        f"{self.n_rows} ({_first_line(error)})."
                    ) from error
                if batch is None:
                    return
                yield self._block(batch, names)
                n_seen += batch.num_rows

    def _block(self, batch: Any, names: list[str]) -> Block:
        # Arrow returns the columns in the file's order, whatever order was asked for.
        values = {name: _numpy(batch.column(name)) for name in names}
        X = np.empty((batch.num_rows, len(self.columns)), dtype=self.dtype)
        for j in range(len(self.columns)):
            X[:, j] = values[names[j]]
        sides = iter(names[len(self.columns) :])
        y = None if self.target is None else values[next(sides)]
        weight = None if self.weight is None else values[next(sides)]
        return Block(X, y, weight)


def _index_columns(schema: Any) -> list[str]:
    """The columns in which pandas has written the index of its table: no features."""
    written = (schema.metadata or {}).get(b"pandas")
    index = json.loads(written).get("index_columns", []) if written else []
    return [name for name in index if isinstance(name, str) and name in schema.names]


def _numpy(column: Any) -> NDArray:
    array = column.to_numpy(zero_copy_only=False)
    if array.dtype == object and column.null_count and str(column.type) == "bool":
        return np.array([np.nan if value is None else float(value) for value in array])
    return array


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0].rstrip(".")
