#!/usr/bin/env python3
"""Compare every attribute of every ad of a file with HTCondor's library.

usage: real_ads.py FILE [--binary PATH] [--show N] [--ours FILE]

FILE holds ads in the long form, plain or gzip.  Each ad is one case with all
its attribute names as "exprs", evaluated in that ad by both sides.  `time()` and
`CurrentTime` are replaced by a fixed number in the text that both sides get;
attributes that read the clock in another way or draw random numbers, directly or
through others, are left out and counted by name.
"""
import argparse
import collections
import gzip
import json
import re
import sys

sys.dont_write_bytecode = True

import compare  # noqa: E402
import oracle  # noqa: E402
import values  # noqa: E402

NOW = "1783300000"
FIXED = re.compile(r'("(?:[^"\\]|\\.)*")|\btime\s*\(\s*\)|(?<![.\w])CurrentTime\b(?!\s*[=(])', re.I)
CLOCK = re.compile(r"\b(time|currentTime|dayTime|random)\s*\(|\b(absTime|formatTime)\s*\(\s*\)|\bCurrentTime\b", re.I)
WORDS = {"true", "false", "undefined", "error", "is", "isnt"}


def read_ads(path):
    """[(text, {name: expression text})] of the ads of a file, with a fixed clock; number of replacements."""
    with open(path, "rb") as f:
        data = f.read()
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    ads, fixed = [], 0
    for chunk in re.split(r"\n[ \t\r]*\n", data.decode("utf-8", "surrogateescape")):
        attrs, lines = {}, []
        for line in chunk.splitlines():
            if not line.strip() or line.lstrip().startswith("#") or "=" not in line:
                lines.append(line)
                continue
            name, _, text = line.partition("=")
            replaced = FIXED.sub(lambda m: m.group(1) or NOW, text)
            fixed += replaced != text
            text = replaced
            attrs[name.strip()] = text
            lines.append(name + "=" + text)
        if attrs:
            ads.append(("\n".join(lines) + "\n", attrs))
    return ads, fixed


def moving(attrs):
    """Names of the attributes whose value depends on the clock."""
    found = {n.lower() for n, t in attrs.items() if CLOCK.search(re.sub(r'"[^"]*"', '""', t))}
    while True:
        more = {n.lower() for n, t in attrs.items() if n.lower() not in found
                and {w.lower() for w in re.findall(r"[A-Za-z_]\w*", re.sub(r'"[^"]*"', '""', t))} & found}
        if not more:
            return found
        found |= more


def spelled(name):
    if re.fullmatch(r"[A-Za-z_]\w*", name) and name.lower() not in WORDS:
        return name
    return "'%s'" % name.replace("\\", "\\\\").replace("'", "\\'")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("file", help="ads in the long form, plain or gzip")
    parser.add_argument("--binary", default=compare.BINARY)
    parser.add_argument("--ours", help="answers of the binary, instead of running it")
    parser.add_argument("--cases", help="write the cases here too")
    parser.add_argument("--show", type=int, default=50)
    args = parser.parse_args()

    cases, names = [], {}
    left_out = collections.Counter()
    ads, fixed = read_ads(args.file)
    for i, (text, attrs) in enumerate(ads, 1):
        skip = moving(attrs)
        left_out.update(n for n in attrs if n.lower() in skip)
        keep = [n for n in attrs if n.lower() not in skip]
        case = {"id": "ad/%d" % i, "form": "long", "ad": text, "exprs": [spelled(n) for n in keep]}
        cases.append(case)
        names[case["id"]] = keep
    if args.cases:
        with open(args.cases, "w", encoding="utf-8") as f:
            f.writelines(json.dumps(c) + "\n" for c in cases)
    lib = {a["id"]: a for a in oracle.evaluate(cases)}
    if args.ours:
        with open(args.ours, encoding="utf-8") as f:
            our = {a["id"]: a for a in map(json.loads, f)}
    else:
        our = compare.run_binary(args.binary, cases)

    passed = failed = 0
    types = collections.Counter()
    for case in cases:
        a = lib[case["id"]]["values"]
        b = our.get(case["id"], {}).get("values", [])
        for k, name in enumerate(names[case["id"]]):
            x = a[k]
            y = b[k] if k < len(b) else compare.NONE
            types[x["type"]] += 1
            if x["type"] == y["type"] and values.equal(x["type"], x["value"], y["value"]):
                passed += 1
                continue
            failed += 1
            if failed <= args.show:
                print("%s %s\n    library %-11s %s\n    ours    %-11s %s" % (
                    case["id"], name, x["type"], x["value"], y["type"], y["value"]))
    print("%d ads, values of the library by type: %s" % (len(cases), ", ".join("%s %d" % t for t in types.most_common())))
    print("clock replaced by %s in %d attributes" % (NOW, fixed))
    print("left out (clock, random): %d values of %d attributes: %s" % (
        sum(left_out.values()), len(left_out), ", ".join("%s %d" % t for t in left_out.most_common())))
    print("%d passed, %d failed" % (passed, failed))
    sys.exit(1 if failed or not passed else 0)


if __name__ == "__main__":
    main()
