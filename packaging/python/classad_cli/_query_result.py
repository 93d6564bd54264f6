"""Rows of a query, and tables of other libraries made of them."""

from __future__ import annotations

import io
import json
from datetime import datetime
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Optional

from ._values import Expression, START, from_json

if TYPE_CHECKING:
    from pandas import DataFrame as PandasFrame
    from polars import DataFrame as PolarsFrame
    from pyarrow import Table as ArrowTable

Row = Dict[str, Any]


class QueryResult(List[Row]):
    """A list of dicts, which can also become a table of pyarrow, pandas or polars.

    If the query has `columns`, the table comes from the program as Parquet, which reads the files again. Otherwise it
    is made of the rows. A column of a table has one type: other mixtures than integers and reals become text.
    """

    def __init__(self, lines: bytes, parquet: Optional[Callable[[], bytes]] = None) -> None:
        rows = json.loads(b"[" + b",".join(lines.splitlines()) + b"]")
        # Few outputs have values that are not JSON's.
        marked = START.encode() in lines or START.replace("/", "\\/", 1).encode() in lines
        super().__init__([from_json(row) for row in rows] if marked else rows)
        self._parquet = parquet

    def arrow(self) -> ArrowTable:
        """Return the rows as a table of pyarrow."""
        pyarrow = _package("pyarrow")
        if self._parquet is None:
            table: ArrowTable = pyarrow.table(self._columns())
        else:
            table = _package("pyarrow.parquet").read_table(pyarrow.BufferReader(self._parquet()))
        return table

    def pandas(self) -> PandasFrame:
        """Return the rows as a data frame of pandas. Without pyarrow, it is made of the rows."""
        pandas = _package("pandas")
        if self._parquet is None or find_spec("pyarrow") is None:
            frame: PandasFrame = pandas.DataFrame(self._columns())
        else:
            frame = self.arrow().to_pandas()
        return frame

    def polars(self) -> PolarsFrame:
        """Return the rows as a data frame of polars."""
        polars = _package("polars")
        if self._parquet is None:
            frame: PolarsFrame = polars.DataFrame(self._columns(), strict=False)
        elif find_spec("pyarrow") is not None:
            # polars 1.36 does not read columns of reals in this Parquet: it does not know the order that the file names.
            frame = polars.from_arrow(self.arrow())
        else:
            frame = polars.read_parquet(io.BytesIO(self._parquet()))
        return frame

    def _columns(self) -> Dict[str, List[Any]]:
        """Return the columns of the rows, in the order in which their names first occur, each of one type."""
        names = dict.fromkeys(name for row in self for name in row)
        return {name: _of_one_type([row.get(name) for row in self]) for name in names}


def _package(name: str) -> Any:
    """Import a package that only a table needs."""
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        package = name.partition(".")[0]
        if error.name != package:
            raise
        raise ImportError(f"this table needs the package {package}: pip install {package}", name=package) from None


def _of_one_type(values: List[Any]) -> List[Any]:
    """Return the values of a column as they are if they have one type that a table has, else as text."""
    kinds = {type(value) for value in values if value is not None and not _is_error(value)}
    if kinds <= {int, float} or (len(kinds) == 1 and not kinds & {list, dict, Expression}):
        return [None if _is_error(value) else value for value in values]
    return [None if value is None or _is_error(value) else _as_text(value) for value in values]


def _is_error(value: Any) -> bool:
    return isinstance(value, Expression) and value == "error"


def _as_text(value: Any) -> str:
    if isinstance(value, str):
        return str(value)
    if isinstance(value, datetime):
        return value.isoformat()
    return json.dumps(value, default=str)
