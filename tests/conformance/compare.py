#!/usr/bin/env python3
"""Compare `classad eval --dialect condor --cases -` with HTCondor's library.

usage: compare.py [CASES] [--binary PATH] [--answers FILE] [--min PERCENT]
                  [--group PREFIX]... [--seed N] [--scale F] [--show N] [--ours FILE]

Without CASES, the cases of generate.py are used.  --answers reads the answers
of oracle.py from a file instead of running it.  A difference that a rule below
explains is a known deviation (QUIRKS.md has one row for every rule, by the same
name).  Exit status 0 only if nothing is unexplained (or at least --min percent
agree), no rule is stale and the names of rules and rows are the same.
"""
import argparse
import json
import math
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True

import generate  # noqa: E402
import oracle  # noqa: E402
import values  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
BINARY = "classad"


# ------------------------------------------------------------- known deviations
#
# Each rule is a predicate over (text of the case, the library's answer, ours),
# asked only when the answers differ.  `text` is ad, target and expr joined.

RULES = {}


def rule(name):
    def add(function):
        RULES[name] = function
        return function
    return add


def big_literals(text):
    """Integer literals of the text that do not fit 64 bits (sign included)."""
    for m in re.finditer(r"(?<![\w.])(-?)(\d{19,})(?![\d.]|[BKMGTbkmgt](?!\w)|[eE][-+\d])", unquoted(text)):
        n = int(m.group(1) + m.group(2))
        if not -2**63 <= n < 2**63:
            yield n


def unquoted(text):
    """The text without the insides of its strings."""
    return re.sub(r'"(?:[^"\\]|\\.)*"', '""', text)


def number(answer):
    if answer["type"] == "int":
        return int(answer["value"].replace(" ", ""))
    if answer["type"] == "real":
        return values.real_value(answer["value"])
    return None


@rule("crash")
def _(text, lib, our):
    return lib["type"] in ("crash", "timeout")


@rule("evaluation-failure")
def _(text, lib, our):
    return lib["type"] == "failure" and our["type"] in ("error", "failure", "undefined", "list")


@rule("list-index-32bit")
def _(text, lib, our):
    return our["type"] == "error" and lib["type"] != "error" and any(
        not -2**31 <= int(m) < 2**31 for m in re.findall(r"[\w)\]}]\s*\[\s*(-?\d+)\s*\]", unquoted(text)))


@rule("int-literal-64bit")
def _(text, lib, our):
    # The text that `eval` reads stands in a string.
    of_eval = "eval" in text and our["type"] == "error" and any(big_literals(text.replace('"', " ")))
    return of_eval or our["type"] == "parse-error" and any(big_literals(text))


@rule("abstime-32bit")
def _(text, lib, our):
    if lib["type"] != "abstime" or our["type"] != "abstime":
        return False
    a, b = values.abstime_value(lib["value"]), values.abstime_value(our["value"])
    if a is None or b is None or a[1] != b[1] or -2**31 <= b[0] < 2**31:
        return False
    return (a[0] - b[0]) % 2**32 == 0 or a[0] == -2**31


@rule("reltime-32bit")
def _(text, lib, our):
    if lib["type"] != "reltime" or our["type"] != "reltime":
        return False
    a, b = values.reltime_value(lib["value"]), values.reltime_value(our["value"])
    return a is not None and b is not None and not -2**31 <= b < 2**31 and (a - b) % 2**32 == 0


@rule("reltime-literal-real")
def _(text, lib, our):
    if not re.search(r"reltime\s*\(", text, re.I):
        return False
    if lib["type"] == "real" and our["type"] == "reltime":
        a, b = number(lib), values.reltime_value(our["value"])
        return a is not None and b is not None and (abs(a - b) < 1e-9 or a == math.trunc(b))
    return bool(re.search(r'reltime\s*\(\s*"', text, re.I)) and lib["type"] != "parse-error"


@rule("reltime-nonfinite")
def _(text, lib, our):
    # As an integer it is the smallest one of 32 bits.
    is_converted = re.match(r"(round|floor|ceiling|int)\s*\(", text.split("\n")[-1], re.I) and "reltime" in text.lower()
    if is_converted and lib["type"] == "int" and number(lib) == -(2**31) and our["type"] == "error":
        return True
    return lib["type"] == "reltime" and our["type"] == "error" and bool(re.search("inf|nan", lib["value"]))


@rule("computed-time-string")
def _(text, lib, our):
    expr = text.split("\n")[-1]
    if re.match(r"abstime\s*\(", expr, re.I):
        return lib["type"] == "string" and our["type"] in ("abstime", "error")
    return bool(re.match(r"reltime\s*\(\s*[A-Za-z(]", expr, re.I)) and lib["type"] == "reltime" and (
        values.reltime_value(lib["value"]) == 0) and our["type"] in ("reltime", "error")


@rule("ushift-multiple-of-64")
def _(text, lib, our):
    return ">>>" in unquoted(text) and lib["type"] == our["type"] == "int" and number(lib) == 0 and number(our) < 0


@rule("pow-negative-base")
def _(text, lib, our):
    return (bool(re.search(r"pow\s*\(", text, re.I)) and lib["type"] == our["type"] == "int"
            and abs(number(lib) - number(our)) == 1)


@rule("pow-precision")
def _(text, lib, our):
    if not re.search(r"pow\s*\(", text, re.I) or lib["type"] != "int" or our["type"] != "int":
        return False
    return abs(number(our)) > 2**53 and abs(number(our) - number(lib)) <= abs(number(our)) / 2**45


@rule("moved-scope")
def _(text, lib, our):
    # Only seen where the scope can move: in a match, or in an ad nested in another.
    ads, _, expr = text.rpartition("\n")
    within = ads if "\n" not in ads else text
    return bool(re.search(r"evalineachcontext|countmatches|unresolved", within, re.I)) and our["type"] != "parse-error"


@rule("substr-32bit")
def _(text, lib, our):
    return bool(re.search(r"substr\s*\(", text, re.I)) and bool(re.search(r"\d{10,}|<<", text))


@rule("computed-list-is")
def _(text, lib, our):
    return (lib["type"] == "bool" and our["type"] == "error" and bool(re.search(r"=\?=|=!=|\bisn?t?\b", text))
            and bool(re.search(r"\b(split|evalineachcontext|splitusername|splitslotname|listtoargs|argstolist)\s*\(", text, re.I)))


@rule("circle-in-list")
def _(text, lib, our):
    kinds = {lib["type"], our["type"]}
    return kinds <= {"list", "error", "undefined"} and "{" in text and has_circle(text)


def has_circle(text):
    """Whether an attribute leads back to itself, by the names that follow `name =`, wherever they are."""
    mentions = {}
    for name, value in re.findall(r"\b(\w+)\s*=(?![=?!])([^;]*)", unquoted(text).lower()):
        mentions.setdefault(name, set()).update(re.findall(r"[a-z_]\w*", value))
    for name in mentions:
        seen, pending = set(), list(mentions[name])
        while pending:
            at = pending.pop()
            if at == name:
                return True
            if at not in seen:
                seen.add(at)
                pending.extend(mentions.get(at, ()))
    return False


@rule("arguments-32bit")
def _(text, lib, our):
    return bool(re.search(r"argstolist|listtoargs", text, re.I)) and our["type"] == "error" and bool(re.search(r"\d{10,}", text))


@rule("stringListMin-ceiling")
def _(text, lib, our):
    return "stringlistmin" in text.lower() and lib["value"].replace(" ", "").startswith(("3.402823466385288", "-9223372036854775808"))


@rule("unparse-quoted")
def _(text, lib, our):
    return bool(re.search(r"unparse\s*\(\s*'", text, re.I)) and lib["type"] == our["type"] == "string" and lib["value"] == '""'


@rule("stringListMax-floor")
def _(text, lib, our):
    return ("stringlistmax" in text.lower() and lib["type"] == our["type"] and number(our) is not None
            and (number(lib) == 0 or number(lib) == 1.1754943508222875e-38) and number(our) < number(lib))


@rule("replaceAll-empty-match")
def _(text, lib, our):
    return bool(re.search(r"replace|regexps", text, re.I)) and lib["type"] == "error" and our["type"] == "string"


@rule("int-of-long-string")
def _(text, lib, our):
    if lib["type"] != "int" or our["type"] != "int" or not re.search(r'"\s*[-+]?\d{16,}', text):
        return False
    a, b = number(lib), number(our)
    return a == -2**63 or float(b) == a


@rule("minus-one-second")
def _(text, lib, our):
    return "1969-12-31" in text and lib["type"] == "parse-error"


@rule("incomplete-date")
def _(text, lib, our):
    return bool(re.search(r'abstime\s*\(\s*"(?!\s*\d{4}[-/]?\d\d[-/]?\d\d)', text, re.I)) and lib["type"] == "abstime"


@rule("eval-trailing-text")
def _(text, lib, our):
    return bool(re.search(r'eval\("[^"]*\?[^"]*:', text, re.I)) and our["type"] == "error"


@rule("detached-selection")
def _(text, lib, our):
    if re.search(r'"\]\.root', text):
        return True
    return (bool(re.search(r'\w\]?\)?\[\s*("|\w*[A-Za-z]\w*\])', text)) and lib["type"] in ("undefined", "list", "error", "bool")
            and our["type"] not in ("parse-error", "failure", "error"))


@rule("match-ad-names")
def _(text, lib, our):
    expr = text.split("\n")[-1]
    return (bool(re.search(r"\b(left|right|ad|lctx|rctx|parent|symmetricMatch|leftMatchesRight|rightMatchesLeft|leftRankValue|rightRankValue)\b", expr, re.I))
            and text.count("\n") >= 2 and our["type"] == "undefined")


@rule("scale-suffix")
def _(text, lib, our):
    return lib["type"] == "parse-error" and bool(re.search(r"\d[BKMGTbkmgt]\b", unquoted(text)))


@rule("time-in-single-quotes")
def _(text, lib, our):
    return bool(re.search(r"'[^']*\d+:\d+[^']*'", unquoted(text))) and lib["type"] in ("undefined", "error", "list", "bool", "string", "classad")


@rule("real-ending-in-dot")
def _(text, lib, our):
    return lib["type"] == "parse-error" and bool(re.search(r"(?<![\w.])\d+\.(?!\d)", unquoted(text)))


# ----------------------------------------------------------------------- compare

def quirk_names(path=os.path.join(HERE, "QUIRKS.md")):
    names = []
    with open(path, encoding="utf-8") as f:
        for line in f:
            m = re.match(r"\|\s*`([\w-]+)`\s*\|", line)
            if m:
                names.append(m.group(1))
    return names


def run_binary(binary, cases):
    """Answers of the tool under test, by id."""
    data = "".join(json.dumps(c) + "\n" for c in cases).encode()
    run = subprocess.run([binary, "eval", "--dialect", "condor", "--cases", "-"], input=data,
                         stdout=subprocess.PIPE, env=dict(os.environ, TZ="UTC"))
    answers = {}
    for line in run.stdout.decode("utf-8", "surrogateescape").splitlines():
        if line.strip():
            answer = json.loads(line)
            answers[answer["id"]] = answer
    if len(answers) < len(cases):
        print("warning: %s answered %d of %d cases (exit status %d)" % (binary, len(answers), len(cases), run.returncode),
              file=sys.stderr)
    return answers


NONE = {"type": "no-answer", "value": None}


def judge(case, lib, our, used=None):
    """'same', the name of the rule that explains the difference, or None."""
    if lib["type"] == our["type"]:
        if lib["type"] in ("parse-error", "failure", "undefined", "error"):
            return "same"
        if values.equal(lib["type"], lib["value"], our["value"]):
            return "same"
    if our["type"] == "no-answer":
        return None
    text = "\n".join(case[k] for k in ("ad", "target", "expr") if case.get(k))
    for name, predicate in RULES.items():
        if predicate(text, lib, our):
            return name
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("cases", nargs="?")
    parser.add_argument("--binary", default=BINARY)
    parser.add_argument("--answers", help="answers of oracle.py for these cases")
    parser.add_argument("--ours", help="answers of the binary, instead of running it")
    parser.add_argument("--min", type=float, help="percentage that is enough (default: nothing unexplained)")
    parser.add_argument("--min-function", type=float, default=0.0, help="percentage that every function must reach")
    parser.add_argument("--group", action="append")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--show", type=int, default=50, help="disagreements to print")
    args = parser.parse_args()

    if args.cases:
        with open(args.cases, encoding="utf-8") as f:
            cases = oracle.read_cases(f)
        if args.group:
            cases = [c for c in cases if any(c["id"].startswith(g) for g in args.group)]
    else:
        cases = generate.generate(args.seed, args.scale, args.group)
    whole = not args.cases and not args.group
    if args.answers:
        with open(args.answers, encoding="utf-8") as f:
            lib = {a["id"]: a for a in map(json.loads, f)}
    else:
        lib = {a["id"]: a for a in oracle.evaluate(cases)}
    if args.ours:
        with open(args.ours, encoding="utf-8") as f:
            our = {a["id"]: a for a in map(json.loads, f)}
    else:
        our = run_binary(args.binary, cases)

    groups, functions, used = {}, {}, {}
    bad = []
    for case in cases:
        a, b = lib[case["id"]], our.get(case["id"], NONE)
        verdict = judge(case, a, b)
        parts = case["id"].split("/")
        tables = [groups.setdefault(parts[0], [0, 0, 0])]
        if parts[0] == "fn":
            tables.append(functions.setdefault(parts[1], [0, 0, 0]))
        index = 0 if verdict == "same" else 1 if verdict else 2
        for table in tables:
            table[index] += 1
        if verdict is None:
            bad.append((case, a, b))
        elif verdict != "same":
            used.setdefault(verdict, []).append(case["id"])

    def line(name, t):
        total = sum(t)
        counted = total - t[1]
        print("  %-26s %6d same %5d explained %5d different  %7.2f %%" % (
            name, t[0], t[1], t[2], 100.0 * t[0] / counted if counted else 100.0))

    for case, a, b in bad[:args.show]:
        print("%s: %s" % (case["id"], case["expr"]))
        for key in ("ad", "target"):
            if case.get(key):
                print("    %-7s %s" % (key, case[key]))
        print("    library %-11s %s" % (a["type"], a["value"]))
        print("    ours    %-11s %s" % (b["type"], b["value"]))
    if len(bad) > args.show:
        print("... and %d more" % (len(bad) - args.show))
    print("functions:")
    for name, t in sorted(functions.items(), key=lambda x: (x[1][0] / max(1, x[1][0] + x[1][2]), x[0])):
        line(name, t)
    print("groups:")
    for name, t in groups.items():
        line(name, t)
    print("rules:")
    for name in RULES:
        print("  %-26s %5d  %s" % (name, len(used.get(name, ())), " ".join(used.get(name, ())[:3])))

    problems = []
    rows = [name for name in quirk_names() if not name.startswith(("refs-", "read-"))]
    for name in sorted(set(rows) ^ set(RULES)):
        problems.append("rule %s is only in %s" % (name, "QUIRKS.md" if name in rows else "compare.py"))
    for name in {n for n in rows if rows.count(n) > 1}:
        problems.append("rule %s has two rows in QUIRKS.md" % name)
    if whole:
        for name in RULES:
            if name not in used:
                problems.append("rule %s is stale: it explains nothing" % name)
    same = sum(t[0] for t in groups.values())
    different = len(bad)
    percent = 100.0 * same / max(1, same + different)
    if args.min is None:
        enough = different == 0
    else:
        enough = percent >= args.min
    if not enough:
        problems.append("agreement %.3f %%" % percent)
    for name, t in functions.items():
        if t[0] + t[2] and 100.0 * t[0] / (t[0] + t[2]) < args.min_function:
            problems.append("function %s agrees in %.1f %%" % (name, 100.0 * t[0] / (t[0] + t[2])))
    for problem in problems:
        print("FAIL: " + problem)
    print("%d passed, %d failed" % (same + sum(t[1] for t in groups.values()), different))
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
