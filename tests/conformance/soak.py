#!/usr/bin/env python3
"""Soak: random expressions beside HTCondor's library, random commands beside our own slow paths.

usage: soak.py [--binary PATH] [--evaluations N] [--commands N] [--seconds S] [--seed N] [--keep DIR]

An evaluation is a random expression in random ads. Both sides evaluate it, and a rule of compare.py explains each
difference. A command runs on random files several times: as it is, with other threads, without index, autoclusters and
match lists, with every ad read whole, with the files in another form, and in parts that are merged. All runs print the
same and exit with the same status. --seconds bounds each of the two halves. --keep copies the files of commands that
differ. Exit status 0 if nothing differs.
"""
import argparse
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True

import compare  # noqa: E402
import generate  # noqa: E402
import oracle  # noqa: E402

GROUPS = ["rand/", "ref/", "match/", "fn/", "op/attr", "lex/"]
ENVIRONMENT = dict(os.environ, TZ="UTC", LC_ALL="C.UTF-8", COLUMNS="80")


# ------------------------------------------------------------------ evaluations

# Functions whose value deviates by a rule of compare.py.
DEVIANT = re.compile(r"\b(pow|reltime|substr|interval|abstime|round|floor|ceiling|int)\s*\(", re.I)

# Functions of all elements of a list.
AGGREGATE = re.compile(r"\b(sum|avg|min|max|anycompare|allcompare)\s*\(", re.I)

# How the library prints a relative time of infinitely many seconds.
INFINITE_TIME = "-24855+-3:-14:-8"

# Maximum number of calls of a case that are replaced.
MAX_CALLS = 12


def within(binary, case, lib):
    """The rule of compare.py that explains a part of a larger expression; else None.

    A value that deviates by a rule becomes any other value in the expression around it. So the library is asked about
    each call in question. Where a rule explains its answer, the answer is written in place of the call, and our program
    evaluates the rest: it must give the library's value of the whole.
    """
    if lib["type"] == "failure":
        return "evaluation-failure" if fails_in_circle(case) else None
    if lib["type"] == "string" and INFINITE_TIME in lib["value"]:
        return "reltime-nonfinite"
    changed, names, literals = dict(case), [], []
    for _ in range(MAX_CALLS):
        found = next_deviant(binary, changed, literals)
        if found is None:
            break
        key, start, end, literal, name = found
        changed[key] = "%s__V%d__%s" % (changed[key][:start], len(literals), changed[key][end:])
        literals.append(literal)
        names.append(name)
    deviant = [name for name in names if name]
    if not deviant:
        changed = with_listed_times(dict(expanded(changed, literals), id="changed"))
        deviant = ["reltime-literal-real"]
        if changed is None:
            return None
    changed = dict(expanded(changed, literals), id="changed")
    our = compare.run_binary(binary, [changed]).get("changed", compare.NONE)
    # What is left may deviate by a rule of its own.
    verdict = compare.judge(changed, lib, our)
    return deviant[0] if verdict else None


def next_deviant(binary, case, literals):
    """An innermost call in question: its place, the library's value as a literal, and the rule, or None if we agree."""
    for key in ("ad", "target", "expr"):
        text = case.get(key) or ""
        for match in reversed(list(DEVIANT.finditer(text))):
            end = closing(text, match.end() - 1)
            if end is None:
                continue
            call = text[match.start():end]
            own, other = ("target", "ad") if key == "target" else ("ad", "target")
            asked = {"id": "call", "expr": call}
            asked.update({name: case[of] for name, of in (("ad", own), ("target", other)) if case.get(of)})
            asked = expanded(asked, literals)
            library = oracle.evaluate([asked], jobs=1)[0]
            our = compare.run_binary(binary, [asked]).get("call", compare.NONE)
            name = compare.judge(asked, library, our)
            literal = as_literal(library)
            if name is None or literal is None:
                continue
            return key, match.start(), end, literal, None if name == "same" else name
    return None


def with_listed_times(case):
    """The case with the library's lists in place of the arguments of aggregates, relative times in them as numbers.

    A list that a selection makes holds relative times as literals, which are reals in the library. None if no list does.
    """
    key, found = "expr", False
    for match in reversed(list(AGGREGATE.finditer(case[key]))):
        end = closing(case[key], match.end() - 1)
        if end is None:
            continue
        inside = split_arguments(case[key][match.end():end - 1])
        place = 1 if match.group(1).lower().endswith("compare") else 0
        if len(inside) <= place:
            continue
        listed = oracle.evaluate([dict(case, id="list", expr=inside[place])], jobs=1)[0]
        if listed["type"] != "list" or 'relTime("' not in listed["value"]:
            continue
        found = True
        inside[place] = re.sub(r'relTime\("[^"]*"\)', lambda time: "real(%s)" % time.group(0), listed["value"])
        case = dict(case, expr=case[key][:match.end()] + ",".join(inside) + case[key][end - 1:])
    return case if found else None


def split_arguments(text):
    """The arguments of a call."""
    arguments, depth, start, quoted = [], 0, 0, False
    for at, letter in enumerate(text):
        if letter == '"' and text[at - 1:at] != "\\":
            quoted = not quoted
        elif not quoted and letter in "([{":
            depth += 1
        elif not quoted and letter in ")]}":
            depth -= 1
        elif not quoted and letter == "," and depth == 0:
            arguments.append(text[start:at])
            start = at + 1
    return arguments + [text[start:]]


def expanded(case, literals):
    """The case with the literals in place of their marks."""
    def literal(mark):
        return literals[int(mark.group(1))]
    return {key: re.sub(r"__V(\d+)__", literal, text) for key, text in case.items()}


def closing(text, at):
    """The offset behind the bracket that closes the one at `at`."""
    depth, quoted = 0, False
    while at < len(text):
        if quoted:
            at += text[at] == "\\"
            quoted = text[at:at + 1] != '"'
        elif text[at] == '"':
            quoted = True
        elif text[at] in "([{":
            depth += 1
        elif text[at] in ")]}":
            depth -= 1
            if depth == 0:
                return at + 1
        at += 1
    return None


def as_literal(answer):
    """An expression with the value of an answer; None if there is none."""
    kind, value = answer["type"], answer["value"]
    if kind in ("undefined", "error"):
        return kind
    if kind in ("int", "bool"):
        return "(%s)" % value.replace(" ", "")
    if kind == "real":
        number = compare.values.real_value(value)
        if number is None or number != number or number in (float("inf"), float("-inf")):
            return None
        return "(%r)" % number
    if kind == "reltime":
        seconds = compare.values.reltime_value(value)
        return None if seconds is None else "relTime(%r)" % seconds
    return value if kind == "string" else None


def fails_in_circle(case):
    """Whether an attribute that leads back to itself fails in the library on its own."""
    for key, own, other in (("ad", "ad", "target"), ("target", "target", "ad")):
        text = case.get(key) or ""
        names = [name for name in dict.fromkeys(re.findall(r"\b([A-Za-z_]\w*)\s*=(?![=?!])", text)) if compare.has_circle(text)]
        asked = [dict({"id": name, "expr": name}, **{to: case[of] for to, of in (("ad", own), ("target", other)) if case.get(of)}) for name in names]
        if asked and any(answer["type"] == "failure" for answer in oracle.evaluate(asked, jobs=1)):
            return True
    # A circle within an ad or a list of the expression itself.
    return compare.has_circle(case["expr"])


def soak_evaluations(binary, wanted, seed, deadline):
    """Number of evaluations, of explained differences by rule, and of differences."""
    done, explained, different = 0, {}, 0
    curated = {case["id"] for case in generate.generate(0, 0.01, GROUPS) if "/curated/" in case["id"]}
    while done < wanted and time.monotonic() < deadline:
        cases = [case for case in generate.generate(seed, 4.0, GROUPS) if case["id"] not in curated]
        random.Random(seed).shuffle(cases)
        for start in range(0, len(cases), 10_000):
            chunk = cases[start:start + 10_000]
            library = oracle.evaluate(chunk, jobs=1)
            ours = compare.run_binary(binary, chunk)
            for case, answer in zip(chunk, library):
                our = ours.get(case["id"], compare.NONE)
                verdict = compare.judge(case, answer, our)
                if verdict is None:
                    name = within(binary, case, answer)
                    verdict = name and "within " + name
                if verdict is None:
                    different += 1
                    print("seed %d, %s: %s" % (seed, case["id"], {k: case[k] for k in ("ad", "target", "expr") if case.get(k)}))
                    print("    library %s %s" % (answer["type"], answer["value"]))
                    print("    ours    %s %s" % (our["type"], our["value"]), flush=True)
                elif verdict != "same":
                    explained[verdict] = explained.get(verdict, 0) + 1
            done += len(chunk)
            if done >= wanted or time.monotonic() > deadline:
                break
        seed += 1
    return done, explained, different


# --------------------------------------------------------------------- commands

class Pool:
    """Random files of jobs and machines, in the long form and in brackets."""

    def __init__(self, rng, folder, binary):
        self.rng, self.folder = rng, folder
        self.attributes = {n: generate.KINDS[n] for n in rng.sample(generate.ATTRS, 7)}
        self.maker = generate.Random(rng, self.attributes, True)
        self.broken = rng.random() < 0.2
        for name, key in (("jobs", "JobId"), ("machines", "Name")):
            texts = [self.ad(key, number) for number in range(rng.randint(1, 40))]
            text = "\n".join(texts)
            if self.broken:
                text += "\n%s = \"b\"\nCpus = (\n\n%s = \"c\"\nCpus = 3 +\nMemory = 7\n" % (key, key)
            self.write(os.path.join("raw", name), text)
            for form in ("long", "new"):
                run = subprocess.run([binary, "convert", self.path("raw", name), "--to", form], stdout=subprocess.PIPE,
                                     stderr=subprocess.DEVNULL, env=ENVIRONMENT)
                self.write(os.path.join(form, name), text if self.broken else run.stdout.decode())

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def write(self, name, text):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "w", encoding="utf-8") as out:
            out.write(text)

    def ad(self, key, number):
        """An ad of the long form. Few values differ, so that ads share classes and clusters."""
        rng, maker = self.rng, self.maker
        lines = ["%s = \"%s%d\"" % (key, key[0].lower(), number)]
        for name, kind in self.attributes.items():
            text = maker.expr(kind, 2) if rng.random() < 0.2 else maker.literal(kind)
            if rng.random() < 0.9:
                lines.append("%s = %s" % (name, text))
        lines.append("Requirements = %s" % self.constraint())
        if rng.random() < 0.5:
            lines.append("Rank = %s" % maker.expr("real", 1))
        return "\n".join(lines) + "\n"

    def constraint(self):
        return " && ".join("(%s)" % self.clause() for _ in range(self.rng.randint(1, 3)))

    def clause(self):
        rng = self.rng
        if rng.random() < 0.4:
            return self.maker.expr("bool", 2)
        name = rng.choice(list(self.attributes))
        operator = rng.choice(["==", "!=", "<", ">=", "=?=", "=!="])
        return "TARGET.%s %s %s" % (name, operator, self.maker.literal(self.attributes[name]))

    def command(self):
        """A command, and the options that may not change what it prints."""
        rng, maker = self.rng, self.maker
        jobs, machines = "jobs", "machines"
        name = rng.choice(list(self.attributes))
        expression = maker.expr(rng.choice(["int", "bool", "string", "list"]), 3)
        slow = [["--no-index"], ["--no-autocluster"], ["--no-matchlist"], ["--strict-input"], "brackets"]
        whole = [["--strict-input"], "brackets"]
        file = rng.choice([jobs, machines])
        chosen = rng.choice([
            lambda: (["match", jobs, "--pool", machines] + rng.choice(
                [[], ["--all"], ["--best", "2"], ["--no-consume"], ["--why"], ["--strategy", "max"], ["--strategy", "stable"]])
                + rng.choice([[], ["-o", "json"]]), slow),
            lambda: (["negotiate", jobs, "--pool", machines] + rng.choice(
                [[], ["--dock", maker.expr("int", 1)], ["--order", name], ["--transcript"], ["--why"]]), slow),
            lambda: (["gangmatch", jobs, "--pool", machines], whole),
            lambda: (["query", self.constraint().replace("TARGET.", ""), file] + rng.choice(
                [["--count"], ["--af", name], ["-o", "json"], ["--invert", "-o", "long"], ["--af", name, "--sort", name],
                 ["--group-by", name], ["--group-by", name, "--sum", "Memory", "--totals"], ["--distinct", "--af", name],
                 ["-o", "json", "--limit", "3"]]), whole + ["parts", "parts"]),
            lambda: (["census", file] + rng.choice([[], ["--attr", name], ["-o", "json"], ["--top", "2"]]),
                     ["brackets", "parts", "parts"]),
            lambda: (["explain", jobs, "--pool", machines] + rng.choice([[], ["--unmatched"], ["--summary"]]), whole),
            # JSON has places in the text.
            lambda: (["explain", jobs, "--pool", machines, "-o", "json"], [["--strict-input"]]),
            lambda: (["check", jobs] + rng.choice([[], ["--pool", machines]]), []),
            lambda: (["autocluster", jobs, "--pool", machines], whole),
            lambda: (["refs", jobs] + rng.choice([[], ["--attr", name], ["--count"], ["--dot"]]), ["brackets"]),
            lambda: (["specialize", "--each", "--expr", expression, jobs], ["brackets"]),
            lambda: (["eval", "--each", expression, jobs], ["brackets"]),
            lambda: (["transform", "--set", "Soaked=" + expression, jobs], []),
            lambda: (["diff", jobs, machines], []),
            lambda: (["convert", jobs, "--to", rng.choice(["json", "xml", "yaml", "jsonl", "new"])], ["brackets"]),
        ])
        arguments, options = chosen()
        # What is bad is reported with its place, and where it is read.
        options = [option for option in options if option == "parts"] if self.broken else options
        return arguments, options + [["--threads", "1"], ["--threads", "3"]]


class Commands:
    def __init__(self, binary, keep):
        self.binary, self.keep = binary, keep
        self.runs = self.different = 0

    def run(self, folder, arguments, form="long"):
        """Status, output and messages of a run; a panic, a signal or a run without an end is a difference."""
        self.runs += 1
        always = ["--now", "1000000000", "--dialect", "condor"]
        try:
            run = subprocess.run([self.binary] + arguments + always, cwd=os.path.join(folder, form), env=ENVIRONMENT, timeout=60,
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        except subprocess.TimeoutExpired:
            return self.report(folder, arguments, "takes more than a minute")
        if run.returncode not in (0, 1, 2, 3) or b"panicked" in run.stderr:
            return self.report(folder, arguments, "exits with %d: %s" % (run.returncode, run.stderr.decode("utf-8", "replace")))
        return run.returncode, run.stdout, run.stderr

    def report(self, folder, arguments, what):
        self.different += 1
        print("%s: %s" % (" ".join(map(repr, arguments)), what), flush=True)
        if self.keep:
            shutil.copytree(folder, os.path.join(self.keep, "%d" % self.different), dirs_exist_ok=True)
        return None

    def compare(self, pool, seed):
        arguments, options = pool.command()
        expected = self.run(pool.folder, arguments)
        if expected is None:
            return
        for option in pool.rng.sample(options, 2):
            if option == "parts":
                found = self.in_parts(pool, arguments)
            elif option == "brackets":
                found = self.run(pool.folder, arguments, "new")
            else:
                found = self.run(pool.folder, arguments + option)
            # A file in another form has other places in its messages.
            compared = 2 if option == "brackets" else 3
            # A name may be spelt as an ad or as an expression spells it, depending on which is read first.
            folded = [run and [run[0], *(text.lower() for text in run[1:compared])] for run in (found, expected)]
            if found is not None and folded[0] != folded[1]:
                shown = [b"\n".join([b"%d" % run[0], run[1][:1500], run[2][:800]]).decode("utf-8", "replace") for run in (expected, found)]
                self.report(pool.folder, arguments + [str(option)], "seed %d differs\n%s\n--- and ---\n%s" % (seed, *shown))

    def in_parts(self, pool, arguments):
        """The command on parts of its file, merged."""
        at = next(place for place, word in enumerate(arguments) if word in ("jobs", "machines"))
        size = os.path.getsize(pool.path("long", arguments[at]))
        cuts = sorted({0, size, *(pool.rng.randint(0, size) for _ in range(pool.rng.randint(1, 3)))})
        partials = []
        for number, (start, end) in enumerate(zip(cuts, cuts[1:])):
            part = arguments[:at] + ["%s@%d-%d" % (arguments[at], start, end)] + arguments[at + 1:]
            found = self.run(pool.folder, part + ["--partial"])
            if found is None:
                return None
            partials.append("partial-%d" % number)
            with open(pool.path("long", partials[-1]), "wb") as out:
                out.write(found[1])
        pool.rng.shuffle(partials)
        return self.run(pool.folder, ["merge"] + partials)


def soak_commands(binary, wanted, seed, deadline, keep):
    commands = Commands(os.path.abspath(binary), keep)
    while commands.runs < wanted and time.monotonic() < deadline:
        with tempfile.TemporaryDirectory() as folder:
            pool = Pool(random.Random(seed), folder, commands.binary)
            for _ in range(15):
                commands.compare(pool, seed)
        seed += 1
    return commands.runs, commands.different


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--binary", default=compare.BINARY)
    parser.add_argument("--evaluations", type=int, default=1_000_000)
    parser.add_argument("--commands", type=int, default=50_000, help="runs of commands")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="of each half")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", help="folder for the files of commands that differ")
    args = parser.parse_args()

    runs, commands = soak_commands(args.binary, args.commands, args.seed, time.monotonic() + args.seconds, args.keep)
    print("%d runs of commands, %d differ" % (runs, commands), flush=True)
    done, explained, different = soak_evaluations(args.binary, args.evaluations, args.seed, time.monotonic() + args.seconds)
    for name, count in sorted(explained.items()):
        print("  %-26s %5d" % (name, count))
    print("%d evaluations, %d differences explained, %d differ" % (done, sum(explained.values()), different))
    sys.exit(1 if commands or different else 0)


if __name__ == "__main__":
    main()
