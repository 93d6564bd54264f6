#!/usr/bin/env python3
"""Compare which ads HTCondor's library reads with which ads `classad parse` reads.

usage: acceptance.py [--binary PATH] [--seed N] [--count N] [--show N] [--supersets]

Ads of odd texts, one attribute of each made of pieces of the lexical grammar: numbers, escapes, names, quotes, comments,
operators, brackets, times. An ad that the library reads must be read here, with the same contents. A rule of RULES,
which QUIRKS.md describes by the same name, explains a difference; a rule that explains nothing fails the run. An ad
that only we read is counted.
"""
import argparse
import json
import os
import random
import re
import subprocess
import sys
from xml.sax.saxutils import escape

sys.dont_write_bytecode = True

import oracle  # noqa: E402
import values  # noqa: E402

from compare import BINARY, big_literals, quirk_names, unquoted  # noqa: E402

# ------------------------------------------------------------------------ texts

NUMBERS = [
    "0", "00", "017", "08", "0x1f", "0X1F", "0xg", "0x", "0b11", "5.", ".5", "5.5.5", "1e5", "1E+5", "1e", "1e+", "1.e5", "00.5", "08.5",
    "09e2", "017e1", "1_000", "1,5", "12abc", "5K", "5k", "2M", "3B", "1.5T", "4GB", "1L", "1f", "1.0f", "9223372036854775807",
    "9223372036854775808", "99999999999999999999", "1e400", "1e-400", "0e0", "0.0", "1..2", "1 .b", "1.b", "INF", "NaN",
]
WORDS = [
    "a", "b", "A", "_x", "x1", "true", "TRUE", "false", "undefined", "error", "is", "isnt", "parent", "self", "root", "my", "target", "other",
    "toplevel", "null", "CurrentTime", "time", "x-y", "x.y", "x$y", "x@y", "x:y", "$x", "#x", "@x", "é", "x\u00e9", "\u00a0", "\u2028", "x\u200b",
]
QUOTED = [
    "'a'", "'a b'", "''", "'a\\'b'", "'a\"b'", "'\\101'", "'\\x41'", "'true'", "'1:2:3'", "'12:30'", "'1d02:03:04'", "'a", "a'", "'a\\\\'", "'é'",
    "'\\700'", "'\\400b'", "'\\0'", "'a''b'", "'a' 'b'", "'Thu Aug 17 18:21:07 2000 (CDT) -06:00'",
]
STRINGS = [
    '""', '"a"', '"a" "b"', '"a""b"', '"a"  "b"', '"\\q"', '"\\101"', '"\\7"', '"\\18"', '"\\x41"', '"\\u0041"', '"\\400"', '"\\700"', '"\\777"', '"\\0"',
    '"\\00"', '"\\000"', '"\\0a"', '"a\\"b"', '"\\\\"', '"\\"', '"a', 'a"', '"a\\\n b"', '"a\nb"', '"\t"', '"é"', '"\\é"', '"a"b', '"\\8"', '"\\9"',
    '"\\1"', '"\\e"', '"\\$"', '"\\/"', '"%d"', "\"'\"", '"//"', '"/*"', '"\\08"', '"\\018"', '"\\400\\400"', '"\\4000"', '"a\\400"',
]
TIMES = [
    "12abc", "", " ", "abc", "2000", "2000-01", "2000-01-01", "20000101", "2000-01-01T00:00:00", "2000-01-01 00:00:00", "2000-01-01T00:00:00Z",
    "2000-01-01T00:00:00+01:00", "2000-01-01T00:00:00+0100", "2000-01-01T00:00:00-06", "2000/01/01", "2000-13-01", "2000-00-00", "2000-02-30",
    "2000-01-01T25:00:00", "2000-01-01T00:60:00", "99-01-01", "1-1-1", "-2000-01-01", "2000-01-01T00:00:00.5", "2000-01-01T00:00", "2000-01-01T",
    "2000-1-1T1:1:1", "x2000-01-01", "2000-01-01x", "2000-01-01T00:00:00 junk", "Thu Aug 17 18:21:07 2000 (CDT) -06:00", "946684800", "1e9", "12",
    "5", "-5", "+5", "1:2", "1:2:3", "1+02:03:04", "1d02:03:04", "-1+02:03:04", "1+", "+1:2", "1:2:3:4", "90", "1.5", "1:2.5", ":5", "5:", "::", "1+2+3",
    "1 2", " 5 ", "5s", "1h", "0:99:99", "100:00:00", "1+25:61:61", "0", "00", "-", "--5", "- 5", "99999999999", "1+1:1", "12:30 junk", "1969-12-31T23:59:59Z",
    "9999-12-31T23:59:59Z", "99999-01-01", "0000-00-00", "0001-01-01T00:00:00Z", "1:-2:3", "1.5.5", ".5", "5.", "12:", "1:2:3.25", "-0", "-0:0:1",
]
OPERATORS = [
    "+", "-", "*", "/", "%", "&", "|", "^", "~", "!", "&&", "||", "==", "!=", "<", "<=", ">", ">=", "<<", ">>", ">>>", "=?=", "=!=", "is", "isnt", "?:",
    "? :", "?", ":", ".", "..", ",", ";", "=", "=?", "=!", "===", "!==", "<>", "**", "<<<", "->", "!!", "~~", "- -", "--", "+-", "-+", "=-", "&&&", "?::",
    "?\n:", "@", "#", "$", "\\", "`",
]
COMMENTS = ["//", "// x\n", "/**/", "/* x */", "/* x", "*/", "/*/", "/* /* */", "/***/", "/* \n */", "# x\n", "//\r\n", "/ /"]
BRACKETS = ["(", ")", "[", "]", "{", "}", "()", "[]", "{}", "(1)", "{1,2}", "{1,}", "{,}", "{1;2}", "[c=1]", "[c=1;]", "[;c=1]", "[;]", "[c=1;;d=2]", "[c=1,d=2]",
            "[c]", "[c=]", "[=1]", "['c d'=1]", "[c.d=1]", "[\"c\"=1]", "[true=1]", "[parent=1]", "f()", "f(1)", "f(1,2)", "f(1;2)", "f(1,)", "f(,)", "'f'(1)", "f (1)",
            "f(1)(2)", "{1}[0]", "[c=1].c", "(1).c", "f(1).c", "f(1)[0]", "\"a\"[0]", "a[0]", "a[]", "a[0,1]", "a.'b'", "a.\"b\"", "a.1", "a.true", "a.is", ".a", "..a",
            "true(1)", "is(1)", "1(2)", "\"f\"(1)", "isnt.a", "a.b.c", "a .b", "a. b", "a\n.b"]
SPACES = ["", "", "", " ", " ", "\t", "\n", "\r\n", "\x0b", "\x0c"]


def time_call(rng):
    name = rng.choice(("absTime", "relTime", "ABSTIME", "'relTime'", "real"))
    return "%s(\"%s\")" % (name, rng.choice(TIMES) if rng.random() < 0.7 else soup_of(rng, "0123456789-+:.TZ dabc", 1, 12))


def soup_of(rng, letters, least, most):
    return "".join(rng.choice(letters) for _ in range(rng.randint(least, most)))


def number(rng):
    return rng.choice(NUMBERS) if rng.random() < 0.5 else soup_of(rng, "00011234567889..eExX+-aFKM_", 1, 6)


def string(rng):
    return rng.choice(STRINGS) if rng.random() < 0.5 else '"%s"' % soup_of(rng, "\\\\\\01234567xnua\"' ", 0, 6)


def operand(rng, depth):
    kind = rng.randrange(14)
    if kind < 4:
        return rng.choice(("", "", "-", "- ", "+", "!", "~", "--")) + number(rng)
    if kind < 6:
        return string(rng)
    if kind == 6:
        return rng.choice(QUOTED)
    if kind == 7:
        return time_call(rng)
    if kind == 8:
        return rng.choice(BRACKETS)
    if kind == 9 and depth:
        left, right = rng.choice(("()", "{}", "[]", ("f(", ")"), ("[c=", "]"), ("a[", "]"), ("{1,", "}"), ("f(a,", ")")))
        return left + expression(rng, depth - 1) + right
    return rng.choice(WORDS)


def expression(rng, depth=2):
    parts = [operand(rng, depth)]
    for _ in range(rng.choice((0, 0, 1, 1, 2, 3))):
        parts += [rng.choice(SPACES), rng.choice(OPERATORS if rng.random() < 0.8 else COMMENTS), rng.choice(SPACES), operand(rng, depth)]
    return "".join(parts)


NAMES = ["a", "A1", "_", "a b", "'a b'", "'a'", "1a", "é", "a.b", "a-b", "true", "is", "Parent", "self", "a'b", "\"a\"", "a[0]", "a(1)", "", "a\tb", "$a", "@a", "#a", "//a", "/*a*/ b",
         "a /*x*/", "*a", "'\\101'", "'\\700'", "a:b", "[a", "a]", "- a", "+a", "'a' 'b'"]


IN_XML = '<c><a n="a"><%s>%s</%s></a><a n="z"><i>1</i></a></c>\n'


def texts(rng, count):
    """Ads in the bracketed and in the long form, in JSON and in XML."""
    fixed = NUMBERS + ["-" + n for n in NUMBERS] + ["- " + n for n in NUMBERS] + ["3-" + n for n in NUMBERS] + ["(-%s)" % n for n in NUMBERS]
    fixed += WORDS + QUOTED + STRINGS + BRACKETS + ["1 " + o + " 2" for o in OPERATORS] + ["a" + o + "b" for o in OPERATORS] + ["1 " + c + " + 2" for c in COMMENTS]
    fixed += ["a ? 1 : 2 b", "b ? 1 : 12abc", "((1) /*/", "f({1} /* x", "[c=1] /*/", "8isnt 1", "~+02e8x", "0b%", "0x1.8", "--..5b"]
    fixed += ["%s(\"%s\")" % (name, time) for name in ("absTime", "relTime") for time in TIMES]
    bodies = [("a", body) for body in fixed] + [(name, "1") for name in NAMES]
    while len(bodies) < count:
        bodies.append((rng.choice(NAMES) if rng.random() < 0.1 else "a", expression(rng)))
    for name, body in bodies:
        both = "%s = %s" % (name, body)
        yield "new", both, "[ %s; z = 1 ]" % both
        yield "long", both, "%s\nz = 1\n" % both.replace("\n", " ")
        yield "json", body, json.dumps({"a": "/Expr(%s)/" % body, "z": 1}, ensure_ascii=False).replace("/", "\\/") + "\n"
        yield "xml", body, IN_XML % ("e", escape(body), "e")
    for text in NUMBERS + ["-" + number for number in NUMBERS]:
        yield "json", text, '{"a": %s, "z": 1}\n' % text
        yield "json", text, '{"a": [1, %s], "z": 1}\n' % text
        for tag in "irs":
            yield "xml", text, IN_XML % (tag, text, tag)
    for text in TIMES:
        for tag in ("at", "rt"):
            yield "xml", "absTime(%s)" % text, IN_XML % (tag, escape(text), tag)


# ------------------------------------------------------------------- comparison

# Each rule is a predicate over the form, the text of the attribute without the insides of its strings, and our answer,
# asked only when the answers differ.
RULES = {
    "read-integer-64bit": lambda form, text, our: any(big_literals(text)),
    "read-zero": lambda form, text, our: re.search(r"-0[xX][0-9A-Fa-f]|\.\.\d", text),
    "read-quoted-time": lambda form, text, our: re.search(r"'[^']*\d:\d[^']*'", text),
    "read-scale-suffix": lambda form, text, our: re.search(r"\d\.?[BKMGTbkmgt](?![A-Za-z0-9_])", text),
    "read-time-string": lambda form, text, our: re.search(r"(?i)(abs|rel)time'?\s*\(", text),
    "read-quoted-name": lambda form, text, our: form == "long" and "'" in text,
    "read-comment": lambda form, text, our: form == "long" and text.startswith("//"),
    "read-joined-strings": lambda form, text, our: re.search(r"[\"'](\s*(//[^\n]*\n|/\*.*?\*/))+\s*[\"']", text, re.S),
    "read-open-comment": lambda form, text, our: re.search(r"[])}]\s*/\*(?!.*\*/)", text, re.S) and (form == "new" or our["ok"] and our["ads"] == ["[ a = error; z = 1 ]"]),
    "read-json-rest": lambda form, text, our: form == "json" and re.search(r"\?[^:]*:", text) and our["ok"] and our["ads"] == ["[ a = error; z = 1 ]"],
    "read-xml-value": lambda form, text, our: form == "xml" and our["ok"] and our["ads"] == ["[ a = error; z = 1 ]"],
}


def readable(ad):
    """What an ad says, whatever its spaces and the quotes around its names are."""
    ad = re.sub(r"(\d) \.(?=[A-Za-z_'])", r"\1.", re.sub(r"(?<=\.)'([^'\\\x00-\x7f]+)'", r"\1", ad))
    try:
        return values.read(ad)
    except (values.Unreadable, ValueError):
        return re.sub(r"[\s']", "", ad)


def ours(binary, cases):
    data = "".join(json.dumps(case) + "\n" for case in cases).encode()
    run = subprocess.run([binary, "parse", "--dialect", "condor", "--cases", "-"], input=data, stdout=subprocess.PIPE, check=True,
                         env=dict(os.environ, TZ="UTC"))
    return {answer["id"]: answer for answer in map(json.loads, run.stdout.decode().split("\n")[:-1])}


def verdict(lib, our):
    """'same', 'lost', 'superset' or 'different'."""
    if lib["type"] in ("crash", "timeout"):
        return "same"
    theirs = lib["ads"] if lib["ads"] is not None else []
    if not theirs:
        return "superset" if our["ok"] and our["ads"] else "same"
    if not our["ok"]:
        return "lost"
    if len(theirs) == len(our["ads"]) and all(values.same(readable(a), readable(b)) for a, b in zip(theirs, our["ads"])):
        return "same"
    return "different"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--binary", default=BINARY)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=3000)
    parser.add_argument("--show", type=int, default=40)
    parser.add_argument("--supersets", action="store_true", help="print also what only we read")
    args = parser.parse_args()
    cases = [{"id": i, "form": form, "body": body, "text": text, "parse": True} for i, (form, body, text) in enumerate(texts(random.Random(args.seed), args.count))]
    theirs = {answer["id"]: answer for answer in oracle.evaluate(cases)}
    mine = ours(args.binary, cases)
    counts, used = {}, {}
    shown = 0
    for case in cases:
        lib, our = theirs[case["id"]], mine[case["id"]]
        kind = verdict(lib, our)
        if kind in ("lost", "different"):
            rule = next((name for name, explains in RULES.items() if explains(case["form"], unquoted(case["body"]), our)), None)
            if rule:
                used[rule] = used.get(rule, 0) + 1
                kind = "explained"
        counts[kind] = counts.get(kind, 0) + 1
        if (kind in ("lost", "different") or kind == "superset" and args.supersets) and shown < args.show:
            shown += 1
            print("%s %s %r\n    library %s\n    ours    %s" % (kind, case["form"], case["text"], lib["ads"], our.get("error") or our["ads"]))
    print(counts)
    for name in RULES:
        print("  %-24s %5d" % (name, used.get(name, 0)))
    stale = [name for name in RULES if name not in used]
    for name in stale:
        print("FAIL: rule %s is stale: it explains nothing" % name)
    unknown = sorted(set(RULES) ^ {name for name in quirk_names() if name.startswith("read-")})
    for name in unknown:
        print("FAIL: rule %s is not both here and in QUIRKS.md" % name)
    failed = counts.get("lost", 0) + counts.get("different", 0)
    print("%d passed, %d failed" % (len(cases) - failed, failed))
    sys.exit(1 if failed or stale or unknown else 0)


if __name__ == "__main__":
    main()
