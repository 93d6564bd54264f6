#!/usr/bin/env python3
"""Compare `classad refs --dialect condor --cases -` with HTCondor's library.

usage: refs.py [--binary PATH] [--count N] [--seed N] [--show N]

Asks externalRefs and internalRefs of module `classad2` about random ads and
expressions.  Every name that one side has and the other has not needs a rule
below that explains it; QUIRKS.md has one row for every rule, by the same name.
Exit status 0 only if nothing is unexplained, no rule is stale and the names of
rules and rows are the same.
"""
import argparse
import json
import os
import random
import re
import subprocess
import sys

sys.dont_write_bytecode = True

import compare  # noqa: E402
import oracle  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
NAMES = ["a", "b", "c", "d", "e", "x", "y", "z", "'q r'"]
FUNCTIONS = ["strcat", "size", "member", "ifThenElse", "isUndefined", "sum", "round", "nosuchfunction"]


# ---------------------------------------------------------------------- generator

class Text:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def name(self):
        return self.random.choice(NAMES)

    def path(self):
        scope = self.random.choice(["", "", "", "", "MY.", "TARGET.", "other.", "self.", "parent.", "root.", "."])
        return scope + ".".join(self.name() for _ in range(self.random.choice([1, 1, 1, 2, 2, 3])))

    def leaf(self):
        return self.random.choice([
            self.path, self.path, self.path, self.path, self.name,
            lambda: self.random.choice(["1", "2.5", '"s"', "true", "undefined", "error", "MY", "TARGET", "CurrentTime", "time()"]),
        ])()

    def expression(self, depth):
        if depth == 0 or self.random.random() < 0.2:
            return self.leaf()
        a, b, c = (self.expression(depth - 1) for _ in range(3))
        return self.random.choice([
            lambda: "(%s %s %s)" % (a, self.random.choice(["+", "*", "<", "==", "&&", "||", "is", "isnt", "|"]), b),
            lambda: "(%s %s %s)" % (a, self.random.choice(["-", ">=", "&&", "||", "=?=", "%"]), b),
            lambda: "!(%s)" % a,
            lambda: "(%s ? %s : %s)" % (a, b, c),
            lambda: "(%s ?: %s)" % (a, b),
            lambda: "{ %s, %s }" % (a, b),
            lambda: "{ %s, %s }[%s]" % (a, b, c),
            lambda: "%s(%s, %s)" % (self.random.choice(FUNCTIONS), a, b),
            lambda: "%s(%s)" % (self.random.choice(FUNCTIONS), a),
            lambda: "[ %s = %s; %s = %s ]" % (self.name(), a, self.name(), b),
            lambda: "[ %s = %s; %s = %s ].%s" % (self.name(), a, self.name(), b, self.name()),
            lambda: "(%s).%s" % (a, self.name()),
            lambda: "%s[%s]" % (self.path(), self.random.choice(["0", '"a"', a])),
            lambda: "eval(\"%s\")" % self.path(),
            lambda: "%s(%s, { [ a = 1 ], %s })" % (self.random.choice(["countMatches", "evalInEachContext"]), a, self.name()),
            lambda: "%s(%s)" % (self.random.choice(["unparse", "unresolved"]), self.name()),
        ])()

    def ad(self, most):
        return "[ %s ]" % "; ".join(
            "%s = %s" % (self.name(), self.random.choice([self.leaf, lambda: self.expression(1), lambda: self.expression(2),
                                                          lambda: self.ad(3)])())
            for _ in range(self.random.randint(0, most)))


def generate(seed, count):
    text = Text(seed)
    return [{"id": i, "ad": text.ad(4), "expr": text.expression(text.random.choice([0, 0, 1, 1, 2, 3]))} for i in range(count)]


# ---------------------------------------------------------------- known deviations
#
# Each rule is a predicate over a case, the one name that differs, and which side
# has it: "lib.external", "our.internal" and so on.

RULES = {}


def rule(name):
    def add(function):
        RULES[name] = function
        return function
    return add


class Difference:
    """A name that one side has and the other has not."""

    def __init__(self, case, lib, our, side, kind, name):
        self.text = plain(case["ad"] + "\n" + case["expr"])
        self.lib = lib
        self.everything = our.get("everything", False)
        self.theirs = {plain(name) for name in lib.get("external") or ()}
        self.ours = {plain(name) for name in our["external"]}
        # Of the names that it finds in the ad, those that we do not, and those of ads in the expression.
        inside, written = {plain(name) for name in lib.get("internal") or ()}, self.text.rpartition("\n")[2]
        self.inside = (inside - {plain(name) for name in our["internal"]}) | {
            name for name in inside if re.search(r"[\[;] %s = " % re.escape(name), written)}
        self.side, self.kind, self.name = side, kind, name
        self.only_lib = side == "library"

    def mistaken(self):
        """Names of ads in ads that only the library has."""
        return {name for name in (self.theirs - self.ours) | self.inside if "." not in name and self.defined(name)}

    def has(self, pattern):
        return bool(re.search(pattern, self.text))

    def defined(self, name):
        """Whether some ad of the case, nested or not, has an attribute of the name."""
        return self.has(r"(?<![\w.])%s\s*=(?![=?!])" % re.escape(name))


COMPUTED = re.compile(r"[][(){}\",=+*<&|!?:]|^[^.]*[0-9]|^ |\\.$")
QUALIFIER = re.compile(r"^(?:(?:my|self|root|toplevel|parent)?\.)+")


@rule("crash")
def _(d):
    return d.lib["type"] in ("crash", "timeout")


@rule("refs-refused")
def _(d):
    return d.lib["type"] == "references" and d.lib[d.kind] is None


@rule("refs-nested-scope")
def _(d):
    # Names in a nested ad are looked up outside it, and names of it are taken for missing; so for what they lead to.
    mistaken = d.mistaken()
    if d.only_lib:
        return bool(mistaken) and ("." not in d.name or d.name not in mistaken)
    return bool(mistaken) or (d.kind == "internal" and d.has(r"\n.*\["))


@rule("refs-whole-ad")
def _(d):
    return d.only_lib and d.everything


@rule("refs-computed-path")
def _(d):
    if d.only_lib:
        return bool(COMPUTED.search(d.name))
    return any(COMPUTED.search(name) for name in d.theirs)


@rule("refs-parent")
def _(d):
    parents = [name for name in d.theirs if re.match(r"parent(\.|$)", name)]
    return d.name in parents if d.only_lib else bool(parents)


@rule("refs-own-path")
def _(d):
    # The same path without its way through the ad itself, and through ads that are there.
    if d.only_lib:
        return bool(QUALIFIER.match(d.name)) and any(d.name.endswith("." + name) for name in d.ours)
    return any(QUALIFIER.match(name) and name.endswith("." + d.name) for name in d.theirs)


@rule("refs-stops")
def _(d):
    # The library does not look behind an attribute that is no ad and that something is selected from.
    def stopped(name):
        first = QUALIFIER.sub("", name, count=1).split(".")
        return len(first) > 1 and d.defined(first[0])
    return stopped(d.name) if d.only_lib else any(stopped(name) for name in d.theirs)


@rule("refs-eval-text")
def _(d):
    return not d.only_lib and d.has(r"eval\(\"")


@rule("refs-evaluated-elsewhere")
def _(d):
    return not d.only_lib and d.has(r"countmatches|evalineachcontext|\{")


# -------------------------------------------------------------------------- compare

def judge(case, lib, our):
    """The rules that explain what differs, and what none explains."""
    rules, unexplained = set(), []
    if lib["type"] == "parse-error" or our.get("error"):
        same = lib["type"] == "parse-error" and our.get("error")
        return set(), [] if same else ["parse error on one side"]
    for kind in ("external", "internal"):
        ours = {plain(name) for name in our[kind]}
        theirs = {plain(name) for name in lib.get(kind) or ()}
        for side, names in (("library", theirs - ours), ("ours", ours - theirs)):
            for name in sorted(names):
                difference = Difference(case, lib, our, side, kind, name)
                rule = next((rule for rule, predicate in RULES.items() if predicate(difference)), None)
                if rule:
                    rules.add(rule)
                else:
                    unexplained.append("%s: %s only in %s" % (kind, name, side))
    return rules, unexplained


def plain(name):
    """A name without case and quotes, in which the sides differ."""
    return name.lower().replace("'", "")

def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--binary", default="classad")
    parser.add_argument("--count", type=int, default=40000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", type=int, default=30)
    args = parser.parse_args()
    cases = generate(args.seed, args.count)
    lib = oracle.evaluate([dict(case, refs=True) for case in cases])
    data = "".join(json.dumps(case) + "\n" for case in cases).encode()
    run = subprocess.run([args.binary, "refs", "--dialect", "condor", "--cases", "-"], input=data, stdout=subprocess.PIPE)
    our = [json.loads(line) for line in run.stdout.splitlines()]
    used, same, explained, bad = {}, 0, 0, []
    for case, a, b in zip(cases, lib, our):
        rules, unexplained = judge(case, a, b)
        for name in rules:
            used.setdefault(name, []).append(case)
        same += not rules and not unexplained
        explained += bool(rules) and not unexplained
        if unexplained:
            bad.append((case, a, b, unexplained))
    for case, a, b, unexplained in bad[:args.show]:
        print("%s in %s" % (case["expr"], case["ad"]))
        print("    library %s %s" % (a.get("external"), a.get("internal")))
        print("    ours    %s %s" % (b.get("external"), b.get("internal")))
        print("    unexplained %s" % unexplained)
    if len(bad) > args.show:
        print("... and %d more" % (len(bad) - args.show))
    for name in RULES:
        print("  %-26s %5d" % (name, len(used.get(name, ()))))
    rows = [name for name in compare.quirk_names() if name.startswith("refs-")]
    problems = ["rule %s is only in %s" % (name, "QUIRKS.md" if name in rows else "refs.py")
                for name in sorted(set(rows) ^ {name for name in RULES if name.startswith("refs-")})]
    problems += ["rule %s is stale: it explains nothing" % name for name in RULES if name not in used and name != "crash"]
    if len(our) != len(cases):
        problems.append("%d of %d cases answered" % (len(our), len(cases)))
    for problem in problems:
        print("FAIL: " + problem)
    print("%d same, %d explained, %d different" % (same, explained, len(bad)))
    sys.exit(1 if problems or bad else 0)


if __name__ == "__main__":
    main()
