#!/usr/bin/env python3
"""Evaluate conformance cases with HTCondor's own library (package `htcondor`).

usage: oracle.py [CASES] [-o ANSWERS] [--jobs N] [--timeout SECONDS]

Reads JSON Lines cases {"id","ad","target","expr"} (optional keys "form" and
"exprs", see README.md) and writes {"id","value","type"} in the same order.

Some expressions crash the library, so every evaluation happens in a child
process; when a child dies, the case it was working on gets type `crash` and a
new child goes on behind it.
"""
import argparse
import json
import os
import signal
import subprocess
import sys
import threading

os.environ["TZ"] = "UTC"

TIMEOUT = 20


# ---------------------------------------------------------------- parent side

class Worker:
    """One child process of this very file, fed case by case."""

    def __init__(self, timeout):
        self.timeout = timeout
        self.proc = None

    def start(self):
        env = dict(os.environ, TZ="UTC", CONDOR_CONFIG="/dev/null",
                   _CONDOR_CLASSAD_ENABLE_USER_HOME="false")
        self.proc = subprocess.Popen(
            [sys.executable, os.path.abspath(__file__), "--worker", str(self.timeout)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=env)
        if self.proc.stdout.readline() != b"ready\n":
            raise RuntimeError("oracle.py: the package `htcondor` cannot be loaded by " + sys.executable)

    def stop(self):
        if self.proc:
            try:
                self.proc.stdin.close()
            except OSError:
                pass
            self.proc.wait()
            self.proc = None

    def run(self, cases):
        """Answers of all cases, in order; survives crashes."""
        out = []
        while len(out) < len(cases):
            if self.proc is None:
                self.start()
            rest = cases[len(out):]
            proc = self.proc
            feeder = threading.Thread(target=feed, args=(proc.stdin, rest), daemon=True)
            feeder.start()
            got = 0
            while got < len(rest):
                line = proc.stdout.readline()
                if not line.endswith(b"\n"):
                    break
                out.append(json.loads(line))
                got += 1
            if got < len(rest):
                # the child died on case `got`
                status = proc.wait()
                feeder.join()
                self.proc = None
                case = rest[got]
                kind = "timeout" if status == -signal.SIGALRM else "crash"
                if "exprs" in case:
                    out.append(isolate(case, self, kind))
                else:
                    out.append({"id": case.get("id"), "value": None, "type": kind})
            else:
                feeder.join()
        return out


def isolate(case, worker, kind):
    """A grouped case crashed: ask for its expressions one by one."""
    if len(case["exprs"]) == 1:
        return {"id": case.get("id"), "values": [{"value": None, "type": kind}]}
    singles = [dict(case, exprs=[e]) for e in case["exprs"]]
    values = []
    for single in singles:
        values += worker.run([single])[0]["values"]
    return {"id": case.get("id"), "values": values}


def feed(pipe, cases):
    try:
        for case in cases:
            pipe.write(json.dumps(case).encode() + b"\n")
        pipe.flush()
    except (BrokenPipeError, ValueError):
        pass


def evaluate(cases, jobs=None, timeout=TIMEOUT):
    """Evaluate a list of case dicts; the answers come in the same order."""
    jobs = jobs or os.cpu_count() or 1
    size = 500
    chunks = [cases[i:i + size] for i in range(0, len(cases), size)]
    answers = [None] * len(chunks)
    todo = iter(range(len(chunks)))
    lock = threading.Lock()

    problems = []

    def go():
        worker = Worker(timeout)
        try:
            while not problems:
                with lock:
                    i = next(todo, None)
                if i is None:
                    break
                answers[i] = worker.run(chunks[i])
            worker.stop()
        except RuntimeError as problem:
            problems.append(problem)

    threads = [threading.Thread(target=go) for _ in range(min(jobs, len(chunks)))]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    if problems:
        sys.exit(str(problems[0]))
    return [a for chunk in answers for a in chunk]


# ----------------------------------------------------------------- child side

def balanced(text):
    """True if no bracket of the text closes one that the text did not open.

    Strings, quoted names and comments are skipped as the library's lexer does.
    """
    stack = []
    i, n = 0, len(text)
    pairs = {")": "(", "]": "[", "}": "{"}
    while i < n:
        c = text[i]
        if c in "\"'":
            i += 1
            while i < n and text[i] != c:
                i += 2 if text[i] == "\\" else 1
        elif text.startswith("//", i):
            end = text.find("\n", i)
            i = n if end < 0 else end
        elif text.startswith("/*", i):
            end = text.find("*/", i + 2)
            if end < 0:
                return False
            i = end + 1
        elif c in "([{":
            stack.append(c)
        elif c in ")]}":
            if not stack or stack.pop() != pairs[c]:
                return False
        i += 1
    return not stack


class Evaluator:
    def __init__(self):
        import htcondor2  # noqa: F401  (must come first: selects the tools' dialect)
        import classad2
        self.classad2 = classad2
        self.ClassAd = classad2.ClassAd
        self.ExprTree = classad2.ExprTree
        self.failures = (classad2.ClassAdException, RuntimeError)

    def expr(self, text):
        """The tree of a complete expression, or None.

        ExprTree(text) accepts `1; b = 2` and `1 ] junk`; the same text in
        parentheses does not parse, given that its brackets are balanced.
        """
        if "\0" in text or not balanced(text):
            return None
        try:
            self.ExprTree("(" + text + "\n)")
            return self.ExprTree(text + "\n")
        except (ValueError, SyntaxError):
            return None
        except self.failures:
            return None

    def ad(self, text, form):
        """A fresh ad for every case: selecting from lists changes the ads."""
        try:
            if form == "long":
                return next(self.classad2.parseAds(text, self.classad2.ParserType.Old), None)
            if text.lstrip()[:1] in ("[", "/") and self.expr(text) is not None:
                return self.ClassAd(text)
        except ValueError:
            pass
        return None

    def value(self, text, ad, target):
        tree = self.expr(text)
        if tree is None:
            return {"value": None, "type": "parse-error"}
        try:
            shown = repr(tree.simplify(ad, target))
        except self.failures:
            return {"value": None, "type": "failure"}
        kind = classify(shown)
        if kind in ("real", "reltime"):
            number = tree.eval(ad, target)
            if isinstance(number, float):
                if kind == "real":
                    shown = show_real(number)
                else:
                    shown = show_reltime(number)
        return {"value": shown, "type": kind}

    def references(self, case):
        """What an expression refers to, in an ad and outside; None where the library refuses."""
        ad, tree = self.ad(case["ad"], "new"), self.expr(case["expr"])
        if ad is None or tree is None:
            return {"id": case.get("id"), "type": "parse-error"}
        found = {}
        for kind, ask in (("external", ad.externalRefs), ("internal", ad.internalRefs)):
            try:
                found[kind] = [name for name in ask(tree) if name]
            except self.failures + (ValueError,):
                found[kind] = None
        return {"id": case.get("id"), "type": "references", **found}

    def ads(self, case):
        """The ads that the library reads in a text; None where it raises."""
        parsers = self.classad2.ParserType
        form = {"long": parsers.Old, "new": parsers.New, "json": parsers.JSON, "xml": parsers.XML}[case["form"]]
        try:
            found = [repr(ad) for ad in self.classad2.parseAds(case["text"], form)]
        except self.failures + (ValueError,):
            found = None
        return {"id": case.get("id"), "type": "ads", "ads": found}

    def case(self, case):
        if case.get("parse"):
            return self.ads(case)
        if case.get("refs"):
            return self.references(case)
        form = case.get("form", "new")
        ad = target = None
        bad = False
        if case.get("ad") is not None:
            ad = self.ad(case["ad"], form)
            bad = ad is None
        else:
            ad = self.ClassAd()
        if case.get("target") is not None and not bad:
            target = self.ad(case["target"], form)
            bad = target is None
        exprs = case["exprs"] if "exprs" in case else [case["expr"]]
        if bad:
            values = [{"value": None, "type": "parse-error"} for _ in exprs]
        else:
            values = [self.value(e, ad, target) for e in exprs]
        if "exprs" in case:
            return {"id": case.get("id"), "values": values}
        return {"id": case.get("id"), **values[0]}


def classify(shown):
    """Type of a value from its unparsed text."""
    if shown in ("undefined", "error"):
        return shown
    if shown in ("true", "false"):
        return "bool"
    c = shown[0]
    if c == '"':
        return "string"
    if c == "{":
        return "list"
    if c == "[":
        return "classad"
    low = shown.lower()
    if low.startswith("abstime("):
        return "abstime"
    if low.startswith("reltime("):
        return "reltime"
    if low.startswith("real("):
        return "real"
    return "real" if any(x in low for x in ".e") else "int"


def show_real(x):
    if x != x:
        return 'real("NaN")'
    if x in (float("inf"), float("-inf")):
        return 'real("%sINF")' % ("-" if x < 0 else "")
    text = repr(x)
    return text if any(c in text for c in ".e") else text + ".0"


def show_reltime(x):
    """A relative time with all its parts, and with its fraction (which the
    library keeps but does not print for computed values)."""
    if x != x or x in (float("inf"), float("-inf")):
        return 'relTime("%r")' % x
    sign = "-" if x < 0 else ""
    x = abs(x)
    whole = int(x)
    frac = repr(x - whole)[1:] if x != whole else ""
    if frac and "e" in frac:
        frac = ("%.17f" % (x - whole))[1:].rstrip("0")
    d, rest = divmod(whole, 86400)
    return 'relTime("%s%d+%02d:%02d:%02d%s")' % (
        sign, d, rest // 3600, rest // 60 % 60, rest % 60, frac)


def worker(timeout):
    evaluator = Evaluator()
    inp = sys.stdin.buffer
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)                       # the library may print
    out.write(b"ready\n")
    out.flush()
    for line in inp:
        signal.alarm(timeout)
        answer = evaluator.case(json.loads(line))
        signal.alarm(0)
        out.write(json.dumps(answer).encode() + b"\n")
        out.flush()


def read_cases(stream):
    return [json.loads(line) for line in stream if line.strip()]


def main():
    if sys.argv[1:2] == ["--worker"]:
        worker(int(sys.argv[2]))
        return
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("cases", nargs="?", default="-")
    parser.add_argument("-o", "--output", default="-")
    parser.add_argument("--jobs", type=int)
    parser.add_argument("--timeout", type=int, default=TIMEOUT)
    args = parser.parse_args()
    stream = sys.stdin if args.cases == "-" else open(args.cases, encoding="utf-8")
    answers = evaluate(read_cases(stream), args.jobs, args.timeout)
    out = sys.stdout if args.output == "-" else open(args.output, "w", encoding="utf-8")
    for answer in answers:
        out.write(json.dumps(answer) + "\n")
    out.flush()


if __name__ == "__main__":
    main()
