"""The papers behind the library, read from CITATION.cff.

The list of references in that file is written in JSON, which is also YAML, so the standard library
reads it. The keywords of a reference are the classes and methods to which it belongs.
"""

from __future__ import annotations

import difflib
import functools
import json
import re
import unicodedata
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FILE = "CITATION.cff"


@dataclass(frozen=True)
class Reference:
    """A paper or a book.

    Parameters
    ----------
    fields : dict
        An entry of ``references`` in CITATION.cff.

    Examples
    --------
    >>> import krein
    >>> krein.citations("NotSoRandomFeatures")[0].year
    2018
    """

    fields: dict[str, Any]

    @property
    def title(self) -> str:
        return self.fields["title"]

    @property
    def year(self) -> int:
        return self.fields["year"]

    @property
    def names(self) -> list[str]:
        """The classes and methods to which the reference belongs."""
        return self.fields["keywords"]

    @property
    def authors(self) -> list[str]:
        return [f"{a['given-names']} {a['family-names']}" for a in self.fields["authors"]]

    @property
    def key(self) -> str:
        """The key of BibTeX: first author, year and first word of the title, in plain letters."""
        author = self.fields["authors"][0]["family-names"]
        word = next(w for w in re.findall(r"\w+", self.title) if w.lower() not in ("a", "the"))
        plain = unicodedata.normalize("NFKD", f"{author}{self.year}{word}")
        return plain.encode("ascii", "ignore").decode().lower()

    @property
    def _pages(self) -> str | None:
        start, end = self.fields.get("start"), self.fields.get("end")
        return None if start is None else f"{start}--{end}"

    @property
    def bibtex(self) -> str:
        """The entry of BibTeX, in UTF-8."""
        get = self.fields.get
        kinds = {"conference-paper": "inproceedings", "book": "book"}
        kind = kinds.get(get("type", ""), "article" if get("journal") else "misc")
        fields = {
            "author": " and ".join(self.authors),
            "title": f"{{{self.title}}}",
            "booktitle": get("collection-title"),
            "journal": get("journal"),
            "publisher": get("publisher", {}).get("name"),
            "volume": get("volume"),
            "number": get("issue"),
            "pages": self._pages,
            "year": self.year,
            "doi": get("doi"),
            "url": get("url"),
        }
        lines = [f"  {name} = {{{value}}}," for name, value in fields.items() if value is not None]
        return "\n".join([f"@{kind}{{{self.key},", *lines, "}"])

    def __str__(self) -> str:
        get = self.fields.get
        venue = get("collection-title") or get("journal") or get("publisher", {}).get("name")
        number = f"({get('issue')})" if get("issue") else ""
        place = f"{venue} {get('volume')}{number}" if get("volume") else venue
        where = f"https://doi.org/{get('doi')}" if get("doi") else get("url")
        parts = [", ".join(self.authors), self.title, place, str(self.year), where]
        return ". ".join(part for part in parts if part)


class Bibliography(tuple[Reference, ...]):
    """Some references; printing them gives one line per reference.

    Attributes
    ----------
    bibtex : str
        The entries of BibTeX.

    Examples
    --------
    >>> import krein
    >>> krein.citations("SRF")
    Jeffrey Pennington, Felix X. Yu, Sanjiv Kumar. Spherical Random Features for Polynomial...
    >>> print(krein.citations("SRF").bibtex)
    @inproceedings{pennington2015spherical,
      author = {Jeffrey Pennington and Felix X. Yu and Sanjiv Kumar},
    ...
    """

    __slots__ = ()

    @property
    def bibtex(self) -> str:
        return "\n\n".join(reference.bibtex for reference in self)

    def __str__(self) -> str:
        return "\n".join(map(str, self))

    __repr__ = __str__


def citations(name: Any = None) -> Bibliography:
    """Return the papers behind a class or a method of the library.

    Parameters
    ----------
    name : str, class or object, default=None
        A name such as "Nystrom", "SRF" or "recursive landmarks", in capitals or not, or a class or
        an object of the library; None means all references.

    Returns
    -------
    Bibliography
        The references. ``str`` gives one line per reference, and `Bibliography.bibtex` the entries
        of BibTeX.

    Raises
    ------
    ValueError
        If no reference has the name.

    Examples
    --------
    >>> import krein
    >>> for paper in krein.citations("nystrom"):
    ...     print(paper.year, paper.title)
    2019 Scalable Learning in Reproducing Kernel Kreĭn Spaces
    2000 Using the Nyström Method to Speed Up Kernel Machines
    >>> krein.citations(krein.Nystrom) == krein.citations("nystrom")
    True
    >>> krein.citations("Nystroem")
    Traceback (most recent call last):
    ...
    ValueError: No reference is known for 'Nystroem': did you mean 'Nystrom'? ...
    """
    if name is None:
        return _all()
    wanted = name if isinstance(name, str) else getattr(name, "__name__", type(name).__name__)
    found = [paper for paper in _all() if _plain(wanted) in map(_plain, paper.names)]
    if found:
        return Bibliography(found)
    known = {_plain(each): each for paper in _all() for each in paper.names}
    close = difflib.get_close_matches(_plain(wanted), known, n=1)
    guess = f": did you mean {known[close[0]]!r}?" if close else "."
    raise ValueError(
        f"No reference is known for {wanted!r}{guess} krein.citations() returns all references; "
        "each lists its names in the attribute `names`."
    )


def _plain(name: str) -> str:
    """Return a name without capitals, spaces, hyphens and underscores."""
    return re.sub(r"[\s_-]", "", name).lower()


@functools.cache
def _all() -> Bibliography:
    _, _, references = _path().read_text(encoding="utf-8").partition("\nreferences:")
    return Bibliography(map(Reference, json.loads(references)))


def _path() -> Path:
    """Return CITATION.cff: beside this file in an installed package, or among the sources."""
    package = Path(__file__).resolve().parent
    candidates = [package / FILE, package.parents[1] / FILE]
    for path in candidates:
        if path.is_file():
            return path
    raise FileNotFoundError(
        f"{FILE} is found neither in {candidates[0].parent} nor in {candidates[1].parent}: install "
        "krein again."
    )
