"""Ask, match and check ClassAds, the language of HTCondor's jobs and machines.

Each function runs the program `classad`, which the wheel of this package holds, and reads its JSON. Ads are given as

- names of files, `str` or `os.PathLike`, or a list of them;
- `Text("...")` or `bytes`: the content of a file;
- a `dict`, or an iterable of dicts.
"""

from ._ads import Ad, Ads, Text
from ._binary import find_binary
from ._commands import Columns, Finding, Label, check, evaluate, explain, match, query
from ._program import ClassAdError
from ._query_result import QueryResult, Row
from ._values import ERROR, Expression

__all__ = [
    "ERROR",
    "Ad",
    "Ads",
    "ClassAdError",
    "Columns",
    "Expression",
    "Finding",
    "Label",
    "QueryResult",
    "Row",
    "Text",
    "check",
    "evaluate",
    "explain",
    "find_binary",
    "match",
    "query",
]
