"""Times reading columns of a file with `classad_cli` and with `classad2`: see `benchmark`."""

import os
import statistics
import sys
import time
from typing import Any, Callable, Dict, Iterator, List

os.environ.setdefault("CONDOR_CONFIG", "/dev/null")
import classad2  # noqa: E402

import classad_cli  # noqa: E402

COLUMNS = ["Name", "Cpus", "Memory", "State"]
CONSTRAINT = "Cpus >= 8 && Memory > 16000"
ROUNDS = 3
# Ours is measured so often in each round: it takes a fraction of a second.
REPEATED = 3

Rows = List[Dict[str, Any]]
Reader = Callable[[str], Iterator[Any]]


def parse_ads(file: str) -> Iterator[Any]:
    """Read a file as the manual of classad2 says."""
    with open(file, encoding="utf-8") as ads:
        yield from classad2.parseAds(ads, classad2.ParserType.Old)


def parse_one(file: str) -> Iterator[Any]:
    """Split the file at blank lines in Python, and parse each ad. `parseAds` takes longer for each ad of a long file."""
    lines: List[str] = []
    with open(file, encoding="utf-8") as text:
        for line in text:
            if line != "\n":
                lines.append(line)
            elif lines:
                yield classad2.parseOne("".join(lines), classad2.ParserType.Old)
                lines = []
    if lines:
        yield classad2.parseOne("".join(lines), classad2.ParserType.Old)


def row(ad: Any) -> Dict[str, Any]:
    values = {name: ad.eval(name) if name in ad else None for name in COLUMNS}
    return {name: None if value is classad2.Value.Undefined else value for name, value in values.items()}


def all_rows(read: Reader, file: str) -> Rows:
    return [row(ad) for ad in read(file)]


def some_rows(read: Reader, file: str) -> Rows:
    constraint = classad2.ExprTree(CONSTRAINT)
    return [row(ad) for ad in read(file) if constraint.eval(ad) is True]


def seconds(work: Callable[[], Rows], expected: Rows) -> float:
    start = time.perf_counter()
    rows = work()
    taken = time.perf_counter() - start
    if rows != expected:
        sys.exit(f"the answers differ: {len(rows)} and {len(expected)} rows")
    return taken


def measure(name: str, ours: Callable[[], Rows], theirs: Callable[[Reader], Rows]) -> None:
    """Measure all in turns, and print a row of the table: the medians, and how many times as fast ours is."""
    expected = ours()
    mine: List[float] = []
    others: Dict[Reader, List[float]] = {parse_ads: [], parse_one: []}
    for _ in range(ROUNDS):
        mine += [seconds(ours, expected) for _ in range(REPEATED)]
        for read, times in others.items():
            times.append(seconds(lambda: theirs(read), expected))
    fast = statistics.median(mine)
    cells = [f"{slow:.1f} s: {slow / fast:.0f} times" for slow in map(statistics.median, others.values())]
    print(f"| {name} | {fast:.2f} s | {' | '.join(cells)} |", flush=True)


def main(file: str) -> None:
    print(f"{os.path.getsize(file) / 1e6:.0f} MB, {os.cpu_count()} processors, Python {sys.version.split()[0]}")
    print("| work | `classad_cli` | `classad2.parseAds` | `classad2.parseOne` |\n|---|---|---|---|", flush=True)
    query = classad_cli.query
    measure("all ads", lambda: query(file, None, COLUMNS), lambda read: all_rows(read, file))
    measure("those with a constraint", lambda: query(file, CONSTRAINT, COLUMNS), lambda read: some_rows(read, file))


main(sys.argv[1])
