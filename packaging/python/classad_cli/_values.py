"""Values of ClassAds as Python values, by way of the program's JSON, and back."""

import json
import math
import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Callable, Dict, Iterable, List, Optional

START, END = "/Expr(", ")/"


class Expression(str):
    """A value that is not a literal, as text of the ClassAd language: `Cpus * 2`. The value `error` is one, too."""

    def __repr__(self) -> str:
        return f"Expression({str.__repr__(self)})"


ERROR = Expression("error")


def from_json(value: Any) -> Any:
    """Return the Python value of a value in the program's JSON: undefined is `None`, times are of `datetime`."""
    if isinstance(value, str):
        if value.startswith(START) and value.endswith(END):
            return _of_expression(value[len(START) : -len(END)])
        return value
    if isinstance(value, dict):
        return {name: from_json(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [from_json(inner) for inner in value]
    return value


def _of_expression(text: str) -> Any:
    """Return times, reals that JSON lacks and strings as what they are in Python, other expressions as their text."""
    if string := _STRING.fullmatch(text):
        return re.sub(r"\\(.)", r"\1", string[1])
    if call := _CALL.fullmatch(text):
        try:
            return _READERS[call[1]](call[2])
        except ValueError:
            pass
    return Expression(text)


def _length_of_time(text: str) -> timedelta:
    """Read `[-][DAYS+]HH:MM:SS`, where the last parts may be missing."""
    sign = -1 if text.startswith("-") else 1
    days, _, clock = text.lstrip("-").rpartition("+")
    numbers = [float(part) for part in clock.split(":")]
    if len(numbers) != 3:
        raise ValueError(text)
    hours, minutes, seconds = numbers
    return sign * timedelta(days=int(days or 0), hours=hours, minutes=minutes, seconds=seconds)


_STRING = re.compile(r'"((?:[^"\\]|\\["\\])*)"')
_CALL = re.compile(r'(absTime|relTime|real)\("([^"]*)"\)')
_READERS: Dict[str, Callable[[str], Any]] = {
    "absTime": datetime.fromisoformat,
    "relTime": _length_of_time,
    "real": float,
}


def json_of(ads: Iterable["Mapping[str, Any]"]) -> bytes:
    """Return the ads in JSON Lines, as the program reads them."""
    lines: List[str] = []
    for ad in ads:
        if not isinstance(ad, Mapping):
            raise TypeError(f"an ad is a dict of attributes, not {type(ad).__name__}")
        lines.append(json.dumps(_to_json(ad), allow_nan=False))
    return "".join(line + "\n" for line in lines).encode()


def _to_json(value: Any) -> Any:
    if isinstance(value, Expression):
        return f"{START}{value}{END}"
    if isinstance(value, str):
        # The program would read such a string as an expression. Quoted, it is an expression that is a string.
        return f"{START}{quoted(value)}{END}" if value.startswith(START) else value
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, Mapping):
        return {str(name): _to_json(inner) for name, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_to_json(inner) for inner in value]
    call = _call_of(value)
    return value if call is None else f"{START}{call}{END}"


def _call_of(value: Any) -> Optional[str]:
    """Return the call that makes the value in the ClassAd language; `None` for a number that JSON has."""
    if isinstance(value, float):
        if math.isfinite(value):
            return None
        return 'real("NaN")' if math.isnan(value) else f'real("{"-" if value < 0 else ""}INF")'
    if isinstance(value, datetime):
        in_zone = value if value.tzinfo else value.astimezone()
        return f'absTime("{in_zone.isoformat(timespec="seconds")}")'
    if isinstance(value, timedelta):
        return f'relTime("{_clock(value)}")'
    raise TypeError(f"an attribute cannot have a value of the type {type(value).__name__}")


def _clock(length: timedelta) -> str:
    """Write a length of time as `[-]DAYS+HH:MM:SS`."""
    positive = abs(length)
    minutes, seconds = divmod(positive.seconds, 60)
    hours, minutes = divmod(minutes, 60)
    fraction = f".{positive.microseconds // 1000:03}" if positive.microseconds else ""
    return f"{'-' if positive != length else ''}{positive.days}+{hours:02}:{minutes:02}:{seconds:02}{fraction}"


def quoted(text: str) -> str:
    """Return the text as a string of the ClassAd language."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
