"""YAML for files that people complete by hand: mappings, lists, texts, numbers and comments, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

Value = str | int | float | Sequence[str] | Mapping[str, "Value"] | None


def yaml_text(values: Mapping[str, Value], comments: Mapping[str, str]) -> str:
    """Write a mapping as YAML.

    Comments are given by the dotted names of what they stand behind. A value of None becomes a comment as a whole, for
    whoever completes the file. Texts stand in double quotes, so that no reader takes them for anything else.

    >>> print(yaml_text({"name": "Trips", "when": {"year": 2026, "kind": None}}, {"when.kind": "one or many"}), end="")
    name: "Trips"
    when:
      year: 2026
      # kind: # one or many
    """
    return "\n".join(_lines(values, comments, "", "")) + "\n"


def _lines(values: Mapping[str, Value], comments: Mapping[str, str], indent: str, above: str) -> Iterator[str]:
    for name, value in values.items():
        path = f"{above}{name}"
        comment = f" # {comments[path]}" if path in comments else ""
        if value is None:
            yield f"{indent}# {name}:{comment}"
        elif isinstance(value, Mapping):
            yield f"{indent}{name}:{comment}"
            yield from _lines(value, comments, f"{indent}  ", f"{path}.")
        elif isinstance(value, (str, int, float)):
            yield f"{indent}{name}: {_scalar(value)}{comment}"
        else:
            yield f"{indent}{name}:{comment}"
            yield from (f"{indent}  - {_scalar(item)}" for item in value)


def _scalar(value: str | int | float) -> str:
    if isinstance(value, str):
        return '"' + "".join(map(_letter, value)) + '"'
    shown = repr(value)
    mantissa, exponent, power = shown.partition("e")
    # Without a point, YAML 1.1 takes a number with an exponent for a text.
    return f"{mantissa}.0e{power}" if exponent and "." not in mantissa else shown


def _letter(letter: str) -> str:
    if letter in '"\\':
        return f"\\{letter}"
    if letter == "\n":
        return "\\n"
    return letter if letter.isprintable() else f"\\U{ord(letter):08x}"
