"""Files of every kind with seeded damage, and independent readers to compare with.

Mutation `i` depends on ``(SEED, i)`` alone: what a slow run finds, ``check(i, …)`` shows again.
"""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import warnings
import zipfile

import numpy as np
from numpy.lib import format as npy
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

from krein.streaming import arrow_csv, checked, libsvm, open_stream, raw

SEED = 12
BLOCKS = (1, 7, 4096)
N, D = 23, 4

# --- whole files ---------------------------------------------------------------------------------


def _numbers():
    rng = np.random.default_rng(SEED)
    X = np.round(rng.standard_normal((N, D)), 3)
    X[rng.random((N, D)) < 0.2] = 0
    X[0, [0, -1]] = 1
    return X, rng.integers(3, size=N).astype(float)


X, Y = _numbers()
LABELS = np.array(["low", "very, high", 'say ""mid""'])[Y.astype(int)]


def _rows(delimiter, labels=None, quote=""):
    y = Y if labels is None else [f'"{label}"' for label in labels]
    return [
        delimiter.join([*(f"{quote}{value!r}{quote}" for value in row), str(label)])
        for row, label in zip(X.tolist(), y, strict=True)
    ]


def _text(delimiter=",", header=True, end="\n", **options):
    names = [delimiter.join([*(f"f{j}" for j in range(D)), "y"])] if header else []
    return (end.join(names + _rows(delimiter, **options)) + end).encode()


def _broken_lines():
    """Labels with line breaks, which are legal within quotes."""
    return _text(labels=[label.replace(" ", "\n") for label in LABELS])


def _npy(array=X):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def _npz(write=np.savez, y=Y):
    file = io.BytesIO()
    write(file, X=X, y=y)
    return file.getvalue()


def _libsvm():
    file = io.BytesIO()
    dump_svmlight_file(X, Y, file, zero_based=False, comment="made up")
    return file.getvalue()


def _parquet(y=Y, **options):
    import pyarrow
    import pyarrow.parquet

    file = io.BytesIO()
    columns = {f"f{j}": X[:, j] for j in range(D)} | {"y": y}
    pyarrow.parquet.write_table(pyarrow.table(columns), file, row_group_size=9, **options)
    return file.getvalue()


# The suffix, the file and what packs it.
KINDS = {
    "csv": (".csv", _text, None),
    "csv without header": (".csv", lambda: _text(header=False), None),
    "csv with labels": (".csv", lambda: _text(labels=LABELS), None),
    "csv with broken lines": (".csv", _broken_lines, None),
    "csv of Windows": (".csv", lambda: b"\xef\xbb\xbf" + _text(end="\r\n", quote='"'), None),
    "tsv": (".tsv", lambda: _text("\t"), None),
    "csv.gz": (".csv.gz", lambda: _text(labels=LABELS), gzip.compress),
    "tsv.bz2": (".tsv.bz2", lambda: _text("\t", header=False), bz2.compress),
    "npy": (".npy", _npy, None),
    "npy in Fortran order": (".npy", lambda: _npy(np.asfortranarray(X)), None),
    "npy of integers": (".npy", lambda: _npy((10 * X).astype("i2")), None),
    "npz": (".npz", _npz, None),
    "npz compressed": (".npz", lambda: _npz(np.savez_compressed), None),
    "npz with labels": (".npz", lambda: _npz(y=LABELS), None),
    "libsvm": (".svm", _libsvm, None),
    "libsvm.gz": (".svmlight.gz", _libsvm, gzip.compress),
    "parquet": (".parquet", _parquet, None),
    "parquet with labels": (".parquet", lambda: _parquet(LABELS, compression="none"), None),
}

# --- damage --------------------------------------------------------------------------------------

INSERTED = [
    *(b'"', b'""', b"\n", b"\r", b"\r\n", b",", b"\t", b";", b"\0", b"\xff", b"\xc3", b"\xe2\x82"),
    *(b"_", b"-", b"+", b".", b"e9", b"E400", b"nan", b"inf", b"0x1", b" ", b"#", b":", b"99:9"),
    *("é".encode(), "٣".encode(), "\u2028".encode(), b"\x0b", b"\x1f", b"\xef\xbb\xbf", b"qid:3"),
    *(b"[", b"(", b"'", b"L", b"True", b"{", b"\\", b"99999999999", b"PK\x05\x06", b"PAR1"),
]


def _flip(content, rng):
    at = int(rng.integers(len(content)))
    return content[:at] + bytes([content[at] ^ (1 << int(rng.integers(8)))]) + content[at + 1 :]


def _set(content, rng):
    at = int(rng.integers(len(content)))
    return content[:at] + bytes([int(rng.integers(256))]) + content[at + 1 :]


def _slice(content, rng, longest=40):
    at = int(rng.integers(len(content)))
    return slice(at, at + 1 + int(rng.integers(longest)))


def _delete(content, rng):
    cut = _slice(content, rng)
    return content[: cut.start] + content[cut.stop :]


def _insert(content, rng):
    at = int(rng.integers(len(content) + 1))
    return content[:at] + INSERTED[int(rng.integers(len(INSERTED)))] + content[at:]


def _truncate(content, rng):
    return content[: int(rng.integers(len(content)))]


def _double(content, rng):
    piece = _slice(content, rng, 200)
    return content[: piece.stop] + content[piece] + content[piece.stop :]


def _splice(content, rng):
    """A piece from elsewhere in place of another one."""
    source, goal = _slice(content, rng), _slice(content, rng)
    return content[: goal.start] + content[source] + content[goal.stop :]


def _swap(content, rng):
    """One separator in place of another one, everywhere or behind some place."""
    separators = [b",", b"\t", b";", b"\n", b"\r\n", b"\r", b'"', b" ", b":"]
    old, new = (separators[int(j)] for j in rng.choice(len(separators), 2, replace=False))
    at = int(rng.integers(len(content)))
    return content[:at] + content[at:].replace(old, new, int(rng.integers(1, 4)))


def _zero(content, rng):
    cut = _slice(content, rng, 16)
    piece = content[cut]
    return content[: cut.start] + bytes(len(piece)) + content[cut.stop :]


def _move_line(content, rng):
    """A line twice, nowhere or in another place."""
    lines = content.splitlines(keepends=True)
    line = lines.pop(int(rng.integers(len(lines))))
    for _ in range(int(rng.integers(3))):
        lines.insert(int(rng.integers(len(lines) + 1)), line)
    return b"".join(lines)


def _quote(content, rng):
    """Quotes around a cell, or around several with what is between them."""
    ends = [j for j, byte in enumerate(content) if byte in b",\t\n\r"] or [0]
    first = int(rng.integers(len(ends)))
    last = min(first + 1 + int(rng.integers(2)), len(ends) - 1)
    start, stop = ends[first] + 1, max(ends[last], ends[first] + 1)
    return content[:start] + b'"' + content[start:stop] + b'"' + content[stop:]


def _digit(content, rng):
    places = [j for j, byte in enumerate(content) if byte in b"0123456789"] or [0]
    at = places[int(rng.integers(len(places)))]
    return content[:at] + b"%d" % int(rng.integers(10)) + content[at + 1 :]


DAMAGE = (_flip, _set, _delete, _insert, _truncate, _double, _splice, _swap, _zero)
MILD = (_move_line, _quote, _digit)


def mutated(i):
    """The kind of mutation `i`, its suffix and its bytes."""
    rng = np.random.default_rng([SEED, i])
    name = list(KINDS)[i % len(KINDS)]
    suffix, write, pack = KINDS[name]
    content = _whole(name, write)
    inside = pack is not None and rng.random() < 0.6
    if pack is not None and not inside:
        content = pack(content)
    for _ in range(int(rng.choice([1, 2, 3], p=[0.6, 0.25, 0.15]))):
        if content:
            damage = DAMAGE if rng.random() < 0.6 else MILD
            content = damage[int(rng.integers(len(damage)))](content, rng)
    return name, suffix, pack(content) if inside else content


_written: dict[str, bytes] = {}


def _whole(name, write):
    if name not in _written:
        _written[name] = write()
    return _written[name]


# --- reading -------------------------------------------------------------------------------------


class Refused(str):
    """Our one sentence."""


def _read(path, rows):
    """X and y of a file, or the sentence that refuses it; anything else is raised."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            blocks = list(checked(open_stream(path, rows=rows)))
        except (ValueError, UserWarning) as error:
            if not str(error).startswith(str(path)):
                raise
            return Refused(error)
    assert max(block.X.shape[0] for block in blocks) <= rows
    stack = sparse.vstack if sparse.issparse(blocks[0].X) else np.concatenate
    y = None if blocks[0].y is None else np.concatenate([block.y for block in blocks])
    return stack([block.X for block in blocks]), y


def _same_rows(one, other, what):
    assert isinstance(one, Refused) == isinstance(other, Refused), f"{what}: {one} or {other}"
    if isinstance(one, Refused):
        return
    assert one[0].shape == other[0].shape, f"{what}: {one[0].shape} or {other[0].shape}"
    dense = [part[0] for part in (one, other)]
    if sparse.issparse(one[0]):
        assert abs(dense[0] - dense[1]).nnz == 0, what
    else:
        np.testing.assert_array_equal(*dense, what)
    if one[1] is not None:
        np.testing.assert_array_equal(one[1], other[1], what)


def _make_small(monkeypatch, n_bytes):
    """Files are read in pieces of so few bytes that many records lie across their ends."""
    monkeypatch.setattr(raw, "LEAST_BYTES", n_bytes)
    monkeypatch.setattr(raw, "MOST_BYTES", n_bytes)
    monkeypatch.setattr(libsvm, "LINES", 1)


def check(i, folder, monkeypatch):
    """Read mutation `i` in blocks of three sizes and by an independent reader.

    Returns whether the file could be read.
    """
    name, suffix, content = mutated(i)
    path = folder / f"m{suffix}"
    path.write_bytes(content)
    what = f"mutation {i} ({name})"
    found = _read(path, BLOCKS[-1])
    for rows in BLOCKS[:-1]:
        _same_rows(found, _read(path, rows), f"{what} in blocks of {rows}")
    with monkeypatch.context() as small:
        _make_small(small, 1 + i % 97)
        _same_rows(found, _read(path, 1), f"{what} in pieces of {1 + i % 97} bytes")
    if suffix.startswith((".csv", ".tsv")):
        with monkeypatch.context() as without:
            without.setattr(arrow_csv, "is_installed", lambda: False)
            slow = _read(path, BLOCKS[-1])
        _same_rows(found, slow, f"{what} without pyarrow")
        assert not isinstance(found, Refused) or found == slow, what
    if isinstance(found, Refused):
        return False
    _same_rows(found, _oracle(path, content, suffix), f"{what} by another reader")
    return True


# --- independent readers -------------------------------------------------------------------------


def _oracle(path, content, suffix):
    if suffix == ".npy":
        return np.load(path).astype(float), None
    if suffix == ".npz":
        return _npz_oracle(path)
    if suffix == ".parquet":
        return _parquet_oracle(path)
    unpack = {".gz": gzip.decompress, ".bz2": bz2.decompress}.get(path.suffix, bytes)
    text = unpack(content).decode("utf-8-sig")
    return _libsvm_oracle(text, path) if ".svm" in suffix else _csv_oracle(text, suffix, path)


def _npz_oracle(path):
    """Without numpy.load, which looks at the first bytes, where zip archives need not begin."""
    with zipfile.ZipFile(path) as archive:
        arrays = [
            npy.read_array(archive.open(f"{name}.npy"), max_header_size=100_000)
            for name in ("X", "y")
            if f"{name}.npy" in archive.namelist()
        ]
    return arrays[0].astype(float), arrays[1] if len(arrays) == 2 else None


def _csv_oracle(text, suffix, path):
    """Python's csv module in strict mode."""
    delimiter = "\t" if suffix.startswith(".tsv") else ","
    found = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    rows = [row for row in found if row and not (len(row) == 1 and row[0].isspace())]
    rows = rows[open_stream(path).has_names :]
    y = [row[-1] for row in rows]
    try:
        float(y[0])
        y = [float(label) for label in y]
    except ValueError:
        pass
    return np.array([[float(cell) for cell in row[:-1]] for row in rows]), np.array(y)


def _libsvm_oracle(text, path):
    stream = open_stream(path)
    rows, columns, values, y = [], [], [], []
    for line in io.StringIO(text, newline=None):
        label, *pairs = line.partition("#")[0].split() or [None]
        if label is None:
            continue
        for pair in pairs:
            if not pair.startswith("qid:"):
                index, value = pair.split(":")
                rows.append(len(y))
                columns.append(int(index) - (not stream.zero_based))
                values.append(float(value))
        y.append(float(label))
    shape = (len(y), stream.n_features)
    return sparse.csr_array((values, (rows, columns)), shape=shape), np.array(y)


def _parquet_oracle(path):
    import pyarrow.parquet

    with pyarrow.parquet.ParquetFile(path) as file:
        table = file.read()
    *features, y = (column.to_numpy() for column in table.columns)
    return np.column_stack(features).astype(float), y
