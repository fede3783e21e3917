"""Numbers as people write them: with decimal commas, with separators of thousands, or as degrees with a letter.

How they are written is a public choice (``numbers``), never guessed. A guess would have to look at many rows, and one
of them could change how all others are read: 7,450 is 7.45 or 7450. Each text is then matched as a whole by a pattern,
and what does not match is no number, for its row alone. Patterns are regular expressions without back-references, which
take time in proportion to the text.
"""

from __future__ import annotations

from collections.abc import Iterable

from dpheatmap.curator.read.sql_text import literal

_BLANKS = r"[ \t\x{a0}\x{202f}\x{2009}'\x{2019}]"
_PART = r"([0-9]{1,3}(?:\.[0-9]{1,12})?)"
_DEGREES = r"[\x{b0}\x{ba}\x{2da}]?"
_MINUTES = rf"(?:{_PART}\s*['\x{{2032}}\x{{2019}}]\s*)?"
_SECONDS = rf"(?:{_PART}\s*(?:[\"\x{{2033}}\x{{201d}}]|''|\x{{2032}}\x{{2032}})\s*)?"
"""The signs of degrees, minutes and seconds, as typewriters and printers have them."""

PATTERNS = {
    "comma": rf"\s*[-+]?([0-9]{{1,3}}((\.|{_BLANKS})[0-9]{{3}})+|[0-9]+)(,[0-9]+)?\s*",
    "thousands": rf"\s*[-+]?([0-9]{{1,3}}((,|{_BLANKS})[0-9]{{3}})+|[0-9]+)(\.[0-9]+)?\s*",
    "degrees": rf"\s*(?:([NSEW])\s*)?{_PART}\s*{_DEGREES}\s*{_MINUTES}{_SECONDS}([NSEW])?\s*",
}
"""The ways of writing, and the texts that are numbers in each. Of degrees, letters may be small."""
LETTERS = {"x": "EW", "y": "NS"}
"""The letters of longitudes and latitudes; the second one is below 0."""
_WORDS = {
    "comma": "have decimal commas",
    "thousands": "have separators of thousands",
    "degrees": "have letters for north, south, east or west",
}


def match_of(text: str, way: str) -> str:
    """The condition, as SQL, that a text is a number that is written in a way."""
    pattern = PATTERNS[way] if way != "degrees" else f"(?i){PATTERNS[way]}"
    return f"regexp_full_match({text}, {literal(pattern)})"


def number_of(text: str, way: str, axis: str) -> str:
    """The number, as SQL, of a text that is written in a way, for the ``axis`` x or y; null if it is none."""
    if way == "degrees":
        return _degrees_of(text, *LETTERS[axis])
    kept = "[^0-9,+-]" if way == "comma" else "[^0-9.+-]"
    plain = f"replace(regexp_replace({text}, {literal(kept)}, '', 'g'), ',', '.')"
    return f"CASE WHEN {match_of(text, way)} THEN TRY_CAST({plain} AS DOUBLE) END"


def _degrees_of(text: str, above: str, below: str) -> str:
    pattern = literal(f"(?i)^{PATTERNS['degrees']}$")
    found = [f"regexp_extract({text}, {pattern}, {group})" for group in range(1, 6)]
    first, degrees, minutes, seconds, last = found
    letter = f"upper({first} || {last})"  # with none or two, it is neither
    parts = [f"COALESCE(TRY_CAST(NULLIF({part}, '') AS DOUBLE), 0)" for part in (minutes, seconds)]
    small = " AND ".join(f"{part} < 60" for part in parts)
    value = f"(TRY_CAST({degrees} AS DOUBLE) + {parts[0]} / 60 + {parts[1]} / 3600)"
    return (
        f"CASE WHEN {small} THEN CASE {letter} WHEN {literal(above)} THEN {value} WHEN {literal(below)} THEN -{value} "
        "END END"
    )


def hint_of(columns: Iterable[str], way: str) -> str:
    """A sentence for the data holder about how the numbers of columns are written."""
    named = " and ".join(map(repr, columns))
    return f"values of {named} {_WORDS[way]}: say so (--numbers {way}), for it is never guessed"
