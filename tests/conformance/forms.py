#!/usr/bin/env python3
"""Check that HTCondor's library reads what we write, in every form, and we what it writes.

usage: forms.py [--binary PATH] [--seed N] [--count N] [--show N]

Adversarial ads go through the binary into every form; the library parses them there and must find the
ads that it finds in the original text.  The other way round, what the library prints as JSON and in the
long form must read here as the library itself reads it.

Ads are compared attribute by attribute, by the library's text and by the exact value of what is or
holds a real, for the text has only 16 digits.  What a form or the library cannot carry is left out by a
rule of LIMITS, each with its reason; a rule is stale and fails the run if nothing that it leaves out
differs.
"""
import argparse
import json
import os
import random
import re
import struct
import subprocess
import sys

sys.dont_write_bytecode = True
os.environ["TZ"] = "UTC"

import htcondor2  # noqa: E402,F401
import classad2  # noqa: E402

from compare import BINARY  # noqa: E402

# What writes ads in a form, bracketed ads on standard input; the form follows.
CONVERT = ["convert", "--dialect", "condor", "-", "--from", "new", "--to"]
# What reads ads in a form; the form follows.
READ = ["convert", "--dialect", "condor", "-", "--to", "new", "--from"]

PARSERS = {
    "jsonl": classad2.ParserType.JSON,
    "xml": classad2.ParserType.XML,
    "new": classad2.ParserType.New,
    "long": classad2.ParserType.Old,
}


# -------------------------------------------------------------------------- ads

def quote(value, mark='"'):
    """A string literal or, in single quotes, a name, of these bytes."""
    plain = set(range(0x20, 0x7f)) - set(b"\"'\\")
    return mark + "".join(chr(b) if b in plain else "\\%03o" % b for b in value) + mark


STRINGS = [
    b"", b" ", " lead and trail ".encode(), b"\t\n\r", b'"', b"'", b"\\", b"\\\\", b'\\"', b"\\n", b'"quoted"',
    b"C:\\dir\\", b"a\nb", b"a\r\nb", "é€😀\ufffe\uffff\ufeff".encode(), b"\xff\xfe", b"\xc3", b"caf\xe9", b"\x7f\x80",
    b"/Expr(1)/", b"/expr(a + 1)/", b"\\/Expr(1)\\/", b"/Expr()/", b"/Expr(", b"/usr/", b"null", b"&amp;", b"&#10;", b"a & b",
    b"<s>x</s>", b"</s>", b"]]>", b"<![CDATA[x]]>", b"<!-- x -->", b'{"a": 1}', b"[a = 1]", b"// x", b"/* x", b"# x",
    bytes(range(1, 256)), b"x" * 5000,
]
NUMBERS = [
    "0", "-1", "9223372036854775807", "-9223372036854775808", "4294967296", "1.0", "-0.0", "0.0", "1e100", "1e16",
    "1e15", "0.1", "0.30000000000000004", "1.7976931348623157e308", "2.2250738585072014e-308", "5e-324",
    "123456789012345680.0", 'real("INF")', 'real("-INF")', 'real("NaN")',
]
OTHERS = [
    "undefined", "error", "true", "false", 'absTime("2000-01-01T00:00:00+01:00")', 'absTime("1999-12-31T23:59:59-11:30")',
    'absTime("1970-01-01T00:00:01-00:00")', 'relTime("1+02:03:04")', 'relTime("-0.5")', 'relTime("4.25")', 'relTime("0")',
    "{ }", "[ ]", "{ { }, [ ], { [ a = { } ] } }", "[ a = [ b = [ c = 1; 'd e' = 2 ] ] ]", "{ 1, \"x\", undefined, error, 1.5 }",
    "a", ".a", "a.b.c", "a[0]", "a[b].c", "'a b' + 1", "TARGET.Memory >= MY.RequestMemory", "a =?= undefined && b =!= \"x\"",
    "a < b && c > d || !(e <= f) && g >>> 2 != h << 3", "a ? b : c ? d : e", "a ?: b", "-x", "- 5", "--5", "!-x", "~x", "(1 + 2) * 3",
    "1 + 2 * 3", "f()", 'f(x, "y<&>", { 1 }, [ a = 1 ])', 'regexp("^a\\\\.b$", s)', '"a\\001" + x', 'strcat("/Expr(", x, ")/")',
    "'\"' + 'a\\\\b' + 'true'", "x is y", "x isnt y", "a % b / c - d", "a ^ b | c & d", "{" * 40 + "1" + "}" * 40,
    " && ".join("(a%d == %d)" % (i, i) for i in range(200)),
]
NAMES = [
    b"A", b"_x", b"a b", b"true", b"error", "é".encode(), b'a"b', b"a<b&c>d", b"a\\b", b"a.b", b"1a", b"/Expr(1)/", b"a=b", b"x\ty",
    b"is", b"a'b", b" a ", b"&lt;", b"a/",
]


def name(rng):
    """A name as it is written, plain or in quotes."""
    return rng.choice(("A", "_x", "Memory", quote(rng.choice(NAMES), "'")))


def real(rng):
    while True:
        value = struct.unpack("<d", rng.randbytes(8))[0]
        if value == value and abs(value) != float("inf"):
            return repr(value) if "." in repr(value) or "e" in repr(value) else repr(value) + ".0"


def value(rng, depth=3):
    kind = rng.randrange(10)
    if kind == 0:
        return quote(bytes(rng.randrange(1, 256) for _ in range(rng.randrange(8))))
    if kind == 1:
        return quote("".join(chr(rng.choice((rng.randrange(1, 0x300), rng.randrange(0xe000, 0x11000)))) for _ in range(4)).encode())
    if kind == 2:
        return str(rng.randrange(-2**63, 2**63))
    if kind in (3, 4):
        return real(rng)
    if kind == 5 and depth:
        return "{ %s }" % ", ".join(value(rng, depth - 1) for _ in range(rng.randrange(4)))
    if kind == 6 and depth:
        return "[ %s ]" % "; ".join("%s = %s" % (name(rng), value(rng, depth - 1)) for _ in range(rng.randrange(4)))
    if kind == 7:
        return "%s + %s" % (value(rng, 0), value(rng, 0))
    return rng.choice((quote(rng.choice(STRINGS)), rng.choice(NUMBERS), rng.choice(OTHERS)))


def generate(seed, count):
    """Bracketed ads, each with its number as `Id`."""
    rng = random.Random(seed)
    bodies = ["v = " + text for text in [quote(s) for s in STRINGS] + NUMBERS + OTHERS]
    for byte in range(1, 256):
        one = bytes([byte])
        bodies.append("a = %s; b = { %s }; c = x == %s" % (quote(b"<" + one + b">"), quote(one), quote(b"7" + one + b"7")))
    bodies += ["%s = 1; o = [ %s = \"x\" ]" % (quote(name, "'"), quote(name, "'")) for name in NAMES]
    while len(bodies) < count:
        bodies.append("a = %s; %s = %s" % (value(rng), name(rng), value(rng)))
    return ["[ Id = %d; %s ]" % (i, body) for i, body in enumerate(bodies)]


# -------------------------------------------------------------- limits and rules

def literals(text):
    """The string literals of a text."""
    return re.findall(r'"(?:[^"\\]|\\.)*"', text)


def has(pattern):
    return lambda text: any(re.search(pattern, literal) for literal in literals(text))


def quoted_names(text):
    return "'" in re.sub(r'"(?:[^"\\]|\\.)*"', '""', text)


# rule: (where, whether it concerns an ad, why it is left out)
LIMITS = {
    "line": ("ours long", has(r"\\012"), "a line holds no line break; the binary says that it became a space"),
    "backslash": ("ours long", has(r"\\134\"$"), "a backslash ends a string only at the end of its line"),
    "names": ("ours long", quoted_names, "the library reads quotes and escapes of names as part of them"),
    "bytes": ("ours long", lambda text: unprintable(text), "the Python module takes no text that is no UTF-8"),
    "json-bytes": ("library json", lambda text: unprintable(text), "printJson of bytes that are no UTF-8 raises"),
    "json-plain": ("library json", has(r"(?i)^\"/Expr\(.*\)/\"$"), "we read /Expr()/ as an expression without backslashes, too"),
    "old-line": ("library long", has(r"\\012"), "printOld breaks the line"),
    "old-names": ("library long", quoted_names, "the library reads quotes and escapes of names as part of them"),
    "old-bytes": ("library long", lambda text: unprintable(text), "printOld of bytes that are no UTF-8 raises"),
    "old-backslash": ("library long", has(r"\\134\"$"), "printOld writes no backslash that ends a string so that it reads back"),
}


def unprintable(text):
    for literal in literals(text):
        try:
            bytes(int(m[1:], 8) if m[0] == "\\" else ord(m) for m in re.findall(r"\\[0-7]{3}|[^\"]", literal)).decode()
        except (UnicodeDecodeError, ValueError):
            return True
    return False


# ------------------------------------------------------------------ the library

def parse(text, form):
    return next(iter(classad2.parseAds(text, PARSERS[form])), None)


def exact(value):
    """Reals to the last bit, wherever they are in a value."""
    if isinstance(value, float):
        return value.hex()
    if isinstance(value, (list, tuple)):
        return [exact(v) for v in value]
    if isinstance(value, classad2.ClassAd):
        return content(value)
    if isinstance(value, classad2.ExprTree):
        try:
            return exact(value.eval())
        except Exception:  # it has no value, or none that Python can hold
            return None
    return None


def content(ad):
    """What an ad holds, so that it can be compared."""
    found = {}
    for name in ad:
        tree = ad.lookup(name)
        found[name.lower()] = (repr(tree), exact(tree))
    return found


# ------------------------------------------------------------------- the binary

def run(binary, arguments, text):
    done = subprocess.run([binary] + arguments, input=text.encode("utf-8", "surrogateescape"), stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, env=dict(os.environ, TZ="UTC"))
    # What it refuses is missing in its answer, and told as such.
    return done.stdout.decode("utf-8", "surrogateescape")


ENDS = {"jsonl": r"(?<=\})\n", "xml": r"(?<=\n</c>)\n", "new": r"(?<=\n\])\n", "long": r"\n\n"}


def by_id(text, form):
    """The texts of the single ads of a document."""
    ids = {"jsonl": r'"Id": (\d+)', "xml": r'<a n="Id"><i>(\d+)</i>', "new": r"\bId = (\d+);", "long": r"^Id = (\d+)$"}
    found = {}
    for part in re.split(ENDS[form], text):
        m = re.search(ids[form], part, re.M)
        if m:
            found[int(m.group(1))] = part + "\n"
    return found


# ------------------------------------------------------------------- comparison

class Tally:
    def __init__(self, show):
        self.show, self.passed, self.failed = show, 0, 0
        # For each rule: how many ads it leaves out, and how many of them would fail.
        self.left_out = {name: [0, 0] for name in LIMITS}

    def compare(self, where, text, expected, actual):
        rules = [name for name, (place, concerns, _) in LIMITS.items() if place == where and concerns(text)]
        for name in rules:
            self.left_out[name][0] += 1
            self.left_out[name][1] += expected != actual
        if rules:
            return
        if expected == actual:
            self.passed += 1
            return
        self.failed += 1
        if self.failed <= self.show:
            print("%s: %.300s" % (where, text))
            for name in sorted(set(expected) | set(actual)):
                a, b = expected.get(name), actual.get(name)
                if a != b:
                    print("    %s: expected %.300s\n    %s  found    %.300s" % (name, a, " " * len(name), b))


def attempt(function):
    try:
        return function()
    except Exception as problem:  # the library refuses it
        return {"refused": (str(problem), None)}


def ours(binary, ads, tally):
    """What we write, the library reads."""
    for form in PARSERS:
        parts = by_id(run(binary, CONVERT + [form], "\n".join(ads)), form)
        for i, text in enumerate(ads):
            expected = content(classad2.ClassAd(text))
            tally.compare("ours " + form, text, expected, attempt(lambda: content(parse(parts.get(i, ""), form))))
    # The library reads only the first ad of an array; what is in it can be told without the library.
    lines = run(binary, CONVERT + ["jsonl"], "\n".join(ads)).split("\n")[:-1]
    array = json.loads(run(binary, CONVERT + ["json"], "\n".join(ads)))
    for line, element in zip(lines, array, strict=True):
        tally.compare("ours json", line, {"": json.loads(line)}, {"": element})


def library(binary, ads, tally):
    """What the library writes, we read as the library does."""
    for where, form, write in (("library json", "jsonl", "printJson"), ("library long", "long", "printOld")):
        texts = {}
        for i, text in enumerate(ads):
            try:
                texts[i] = getattr(classad2.ClassAd(text), write)()
            except UnicodeDecodeError:
                tally.compare(where, text, {}, {"raised": None})
        parts = by_id(run(binary, READ + [form], "\n".join(texts.values())), "new")
        for i, text in texts.items():
            expected = attempt(lambda: content(parse(text, form)))
            tally.compare(where, ads[i], expected, attempt(lambda: content(parse(parts.get(i, ""), "new"))))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--binary", default=BINARY)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=3000)
    parser.add_argument("--show", type=int, default=30)
    args = parser.parse_args()
    ads = generate(args.seed, args.count)
    tally = Tally(args.show)
    ours(args.binary, ads, tally)
    library(args.binary, ads, tally)
    for name, (where, _, why) in LIMITS.items():
        print("  %-14s %-13s %5d left out, %5d of them differ: %s" % (name, where, *tally.left_out[name], why))
    stale = [name for name, (_, different) in tally.left_out.items() if not different]
    for name in stale:
        print("FAIL: rule %s is stale: nothing that it leaves out differs" % name)
    print("%d passed, %d failed" % (tally.passed, tally.failed))
    sys.exit(1 if tally.failed or stale or not tally.passed else 0)


if __name__ == "__main__":
    main()
