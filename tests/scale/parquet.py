"""Compares columns in Parquet with rows in JSON Lines and tab-separated values, for every attribute of some files."""

import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile

import duckdb
import polars
import pyarrow
import pyarrow.parquet

# Evaluated beside the attributes: each type, mixtures, errors, and a name of its own.
EXPRESSIONS = [
    "half_=Memory / 2.0",
    "mixed_=ifThenElse(Memory > 8000, \"a\", Memory)",
    "joined_=ifThenElse(Memory > 8000, 1.5, Memory)",
    "failed_=1 / 0",
    "truth_=Memory > 8000",
    "time_=absTime(EnteredCurrentState)",
    "list_={ Memory, \"a b\" }",
]


def run(program, *arguments):
    return subprocess.run([program, *arguments], check=True, capture_output=True).stdout


def unescaped(cell):
    return re.sub(r"\\(.)", lambda found: {"t": "\t", "n": "\n", "r": "\r"}.get(found[1], found[1]), cell)


def expected(kind, value, cell):
    """The value of a column of a type, by the value in JSON and the text."""
    if value is None or value == "/Expr(error)/":
        return None
    if pyarrow.types.is_string(kind) or pyarrow.types.is_large_string(kind):
        return unescaped(cell)
    if pyarrow.types.is_timestamp(kind):
        return re.search(r'absTime\("(.*)"\)', cell)[1]
    return value


def agrees(found, value):
    if isinstance(found, float):
        return found == value or (math.isnan(found) and value == 'real("NaN")')
    if hasattr(found, "timestamp"):
        import datetime

        return found.timestamp() == datetime.datetime.fromisoformat(value).timestamp()
    return found == value and isinstance(found, bool) == isinstance(value, bool)


def compare(program, path, folder):
    census = json.loads(run(program, "census", "-o", "json", path))
    names = [attribute["name"] for attribute in census["attributes"]]
    # Other names are quoted in expressions, and the columns have the quoted names.
    columns = [name for name in names if re.fullmatch(r"[A-Za-z_]\w*", name)] + EXPRESSIONS
    query = ["query", "true", path, *(f"--af={column}" for column in columns)]
    rows = [json.loads(line) for line in run(program, *query, "-o", "jsonl").splitlines()]
    header, *cells = (line.split("\t") for line in run(program, *query, "-o", "tsv").decode().rstrip("\n").split("\n"))
    written = folder / "ads.parquet"
    written.write_bytes(run(program, *query, "-o", "parquet"))
    table = pyarrow.parquet.read_table(written)
    assert table.column_names == header, (table.column_names, header)
    readers = {
        "pyarrow": {name: table[name].to_pylist() for name in header},
        "polars": polars.read_parquet(written).to_dict(as_series=False),
        "duckdb": {},
    }
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'")
    read = connection.sql(f"SELECT * FROM '{written}'")
    readers["duckdb"] = dict(zip(read.columns, zip(*read.fetchall())))
    different = 0
    for place, name in enumerate(header):
        kind = table.schema.field(name).type
        values = [expected(kind, row[name], line[place]) for row, line in zip(rows, cells)]
        for reader, found in readers.items():
            assert len(found[name]) == len(values), (reader, name)
            for row, (one, other) in enumerate(zip(found[name], values)):
                if not agrees(one, other):
                    different += 1
                    print(f"{path}: {reader}: row {row}: {name}: {one!r}, and not {other!r}", file=sys.stderr)
    print(f"{path}: {len(rows)} rows of {len(header)} columns, {3 * len(rows) * len(header)} values compared")
    return different, len(rows)


def main(program, *paths):
    with tempfile.TemporaryDirectory() as folder:
        results = [compare(program, path, pathlib.Path(folder)) for path in paths]
    different, rows = map(sum, zip(*results))
    if different or not rows:
        sys.exit(f"{different} values differ in {rows} rows")
    print("every value is that of the rows")


main(*sys.argv[1:])
