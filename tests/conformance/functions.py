#!/usr/bin/env python3
"""Ask HTCondor's library for every function of `classad functions`.

usage: functions.py [--binary PATH]

Evaluates the example of each function on both sides. The library must know the functions of both dialects, and call an
error what only the papers have; so must `classad eval --dialect condor`.
"""
import argparse
import json
import re
import subprocess
import sys

sys.dont_write_bytecode = True

import compare  # noqa: E402
import oracle  # noqa: E402
import values  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--binary", default=compare.BINARY)
    args = parser.parse_args()
    table = subprocess.run([args.binary, "functions", "-o", "jsonl"], stdout=subprocess.PIPE, check=True).stdout
    rows = [json.loads(line) for line in table.decode().splitlines()]
    # The library reads a relative time that is written as a real (QUIRKS.md).
    computed = lambda match: "relTime(%d)" % values.seconds(match.group(1))
    calls = [re.sub(r'relTime\("([^"]*)"\)', computed, row["example"].rsplit(" = ", 1)[0]) for row in rows]
    cases = [{"id": row["function"], "ad": "[]", "expr": call} for row, call in zip(rows, calls)]
    theirs = {answer["id"]: answer for answer in oracle.evaluate(cases)}
    ours = compare.run_binary(args.binary, cases)
    failed = 0
    for row, case in zip(rows, cases):
        is_unknown = row["dialect"] == "classad"
        answers = [theirs[case["id"]], ours[case["id"]]]
        if any((answer["type"] == "error") != is_unknown for answer in answers):
            failed += 1
            print("%s: the library says %s, we say %s" % (case["expr"], *(answer["value"] for answer in answers)))
    print("%d passed, %d failed" % (len(rows) - failed, failed))
    sys.exit(1 if failed or not rows else 0)


if __name__ == "__main__":
    main()
