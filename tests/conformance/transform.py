#!/usr/bin/env python3
"""Compare `classad transform --rules` with HTCondor's own library (package `htcondor`).

usage: transform.py --binary PATH [--random N] [--seed S]

The wheel has no condor_transform_ads, but the library in it has the functions that the tool calls: they are
called here by their C++ names, in the tool's order.  A case is a rules file and one ad.  Where the library has
no complaint, the ads must be equal and the exit status 0; where it complains, the exit status must be 2, and
the ads equal if any are written.  Cases of transform.txt that
begin with `# differs: reason` are known deviations, and fail if they are none; the others, and random rules, must agree.
"""
import argparse
import ctypes
import glob
import json
import os
import random
import subprocess
import sys
import tempfile

os.environ["TZ"] = "UTC"
os.environ["CONDOR_CONFIG"] = "/dev/null"
os.environ["COLUMNS"] = "10000"

import htcondor2  # noqa: E402  (first: it selects the tools' dialect)
import classad2  # noqa: E402

AD = """A = 1
B = "two"
C = A + 1
D = undefined
Owner = "ann"
RequestMemory = 2048
RequestCpus = 4
Args = "x y"
Nested = [ q = A; r = "s" ]
List = { 1, A, "z" }
Resource_a = 7
Resource_b = Memory / 2
"""

# ------------------------------------------------------------------ the library

SITE = os.path.dirname(os.path.dirname(htcondor2.__file__))
LIBRARY = ctypes.CDLL(glob.glob(SITE + "/htcondor.libs/libcondor_utils*.so")[0])
LIBC = ctypes.CDLL(None)
LIBC.fopen.restype = ctypes.c_void_p
STRING = "NSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE"
SOURCE = "_ZN22MacroStreamXFormSource"
KEPT = []


def memory(size=16384):
    """Room for an object whose layout is the library's business."""
    buffer = ctypes.create_string_buffer(size)
    KEPT.append(buffer)
    return ctypes.c_void_p(ctypes.addressof(buffer))


def function(name, result=ctypes.c_int):
    found = getattr(LIBRARY, name)
    found.restype = result
    return found


def pointer(ad):
    """The library's ad behind the binding's: the first field of its handle."""
    return ctypes.c_void_p(ctypes.c_void_p.from_address(id(ad._handle) + 16).value)


def run_library(ad, path):
    """The ads that the rules of a file make of one, or None if they fail; complaints go to stderr."""
    variables, rules, source, message = memory(), memory(), memory(64), memory(64)
    # An empty std::string points to its own room.
    ctypes.c_void_p.from_address(message.value).value = message.value + 16
    name = path.encode()
    function("_ZN9XFormHashC1ENS_6FlavorE")(variables, 0)
    function("_ZN9XFormHash4initEv")(variables)
    function(SOURCE + "C1EPKc")(rules, b"")
    function("_ZN9XFormHash13set_RulesFileEPKcR12macro_source")(variables, name, source)
    stream = ctypes.c_void_p(LIBC.fopen(name, b"r"))
    if function(SOURCE + "4loadEP8_IO_FILER12macro_sourceR" + STRING)(rules, stream, source, message) < 0:
        return None
    if not function(SOURCE + "7matchesEPN7classad7ClassAdE", ctypes.c_bool)(rules, pointer(ad)):
        return [ad]
    iterating = function(SOURCE + "13init_iteratorER9XFormHashR" + STRING)(rules, variables, message)
    if iterating < 0:
        return None
    transform = function("_Z16TransformClassAdPN7classad7ClassAdER22MacroStreamXFormSourceR9XFormHashR"
                         + STRING + "jP11XFormAdUndo")

    def apply(to):
        return transform(pointer(to), rules, variables, message, ctypes.c_uint(1), None) >= 0

    first = function(SOURCE + "15first_iterationER9XFormHash", ctypes.c_bool)
    following = function(SOURCE + "14next_iterationER9XFormHash", ctypes.c_bool)
    if not (iterating > 0 and first(rules, variables)):
        return [ad] if apply(ad) else None
    ads = []
    while True:
        copy = classad2.ClassAd(str(ad))
        if not apply(copy):
            return None
        ads.append(copy)
        if not following(rules, variables):
            return ads


def library(rules, ad):
    """(ads or None, whether there were complaints); in a child, for the library may crash."""
    reading, writing = os.pipe()
    complaints = tempfile.TemporaryFile()
    child = os.fork()
    if child == 0:
        os.dup2(complaints.fileno(), 1)
        os.dup2(complaints.fileno(), 2)
        with tempfile.NamedTemporaryFile("w", suffix=".rules") as file:
            file.write(rules)
            file.flush()
            ads = run_library(next(classad2.parseAds(ad, classad2.ParserType.Old)), file.name)
        ads = None if ads is None else [normal(one) for one in ads if len(one)]
        os.write(writing, json.dumps(ads).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        answer = pipe.read()
    os.waitpid(child, 0)
    complaints.seek(0)
    complained = b"ERROR" in complaints.read()
    if not answer:
        return "crash", True
    return json.loads(answer), complained


def normal(ad):
    """An ad as texts.  Where the text of an expression becomes part of a string, the library's has other blanks."""
    return {name.lower(): str(ad.lookup(name)).replace(", ", ",") for name in ad.keys()}


# ------------------------------------------------------------------- this project

def ours(binary, rules, ad):
    """(ads, exit status)"""
    with tempfile.NamedTemporaryFile("w", suffix=".rules") as file:
        file.write(rules)
        file.flush()
        process = subprocess.run([binary, "transform", "--rules", file.name, "--from", "long"], input=ad.encode(),
                                 capture_output=True, timeout=60)
    ads = classad2.parseAds(process.stdout.decode(errors="replace"), classad2.ParserType.Old)
    return [normal(one) for one in ads if len(one)], process.returncode, process.stderr.decode(errors="replace")


# -------------------------------------------------------------------------- cases

def curated():
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "transform.txt")
    with open(path, encoding="utf-8") as file:
        for case in file.read().split("\n---\n"):
            lines = case.split("\n")
            differs = bool(lines and lines[0].startswith("# differs"))
            yield "\n".join(lines) + "\n", differs


NAMES = ["A", "B", "C", "D", "Owner", "RequestMemory", "RequestCpus", "X", "Y", "Zed", "nope", "Resource_a", "owner"]
ATOMS = ["1", "2.5", '"s"', "A", "B", "RequestMemory", "nope", "true", "undefined", "Nested.q", "List[0]", "C"]
PATTERNS = ["a", "^A$", "^(.)$", "Request(.*)", "^R(.*)e(.*)", "(own)(er)?", "x*e$", "_", "[A-C]", "q(u)?e"]
TEMPLATES = ["N\\0", "\\1x", "Old_\\1", "\\2y\\1", "Z", "\\0", "p_\\0_\\1"]


def expression(random, depth=2):
    if depth == 0 or random.random() < 0.4:
        return random.choice(ATOMS)
    left, right = expression(random, depth - 1), expression(random, depth - 1)
    return random.choice([
        f"{left} + {right}", f"({left} * {right})", f"{left} == {right}", f"{left} =?= {right}",
        f"isUndefined({left})", f"ifThenElse({left}, {right}, 3)", f"strcat({left}, {right})",
        f"{{ {left}, {right} }}", f"[ a = {left} ]", f"{left} ? {right} : 0", f"{left} || {right}",
    ])


def value(random):
    """An expression in which macros may stand."""
    return random.choice([
        lambda: expression(random), lambda: expression(random), lambda: expression(random),
        lambda: f'"$(v{random.randrange(3)})"', lambda: f"$(v{random.randrange(3)}:5)",
        lambda: f"$(MY.{random.choice(NAMES)}:7) + 1", lambda: f'"$(MY.Owner)-$(v1)"',
        lambda: "$INT(MY.RequestMemory) / 2", lambda: "$EVAL(A + 1)", lambda: '"$STRING(MY.B)"',
        lambda: "$REAL(MY.A)", lambda: '"$SUBSTR(MY.Owner,%d,%d)"' % (random.randint(-3, 3), random.randint(-3, 3)),
        lambda: "$CHOICE(%d,10,20,30)" % random.randrange(3), lambda: "$INT(MY.RequestCpus,%03d) == 4 ? 1 : 2".replace("%03d", "%d"),
    ])()


def condition(random):
    # Conditions of expressions are always true ones: the library fails where one is false.
    return random.choice(["true", "false", "1", "0", "yes", "no", f"defined MY.{random.choice(NAMES)}",
                          f"! defined MY.{random.choice(NAMES)}", "defined v1", "A == 1 || true", "$(v1:0)",
                          '"$(MY.Owner)" == "ann" || true'])


def statement(random):
    name = random.choice(NAMES)
    return random.choice([
        lambda: f"SET {name} {value(random)}", lambda: f"SET {name} = {value(random)}",
        lambda: f"DEFAULT {name} {value(random)}", lambda: f"EVALSET {name} {value(random)}",
        # (The text of an ad as the library's old unparser writes it does not read back.)
        lambda: f"EVALMACRO v{random.randrange(3)} {expression(random)}".replace("[ a =", "(").replace(" ]", ")"),
        lambda: f"v{random.randrange(3)} = {random.choice(['1', '0', 'abc', '$(v0)', '$(v1)x', '', '$(MY.A)'])}",
        lambda: f"COPY {name} {random.choice(NAMES)}", lambda: f"RENAME {name} {random.choice(NAMES)}",
        lambda: f"COPY /{random.choice(PATTERNS)}/ {random.choice(TEMPLATES)}",
        lambda: f"RENAME /{random.choice(PATTERNS)}/ {random.choice(TEMPLATES)}",
        lambda: f"DELETE {name}", lambda: f"DELETE /{random.choice(PATTERNS)}/",
    ])()


def block(random, depth=2):
    lines = []
    for _ in range(random.randint(1, 4)):
        if depth and random.random() < 0.2:
            lines += [f"if {condition(random)}", *block(random, depth - 1)]
            if random.random() < 0.4:
                lines += [f"elif {condition(random)}", *block(random, depth - 1)]
            if random.random() < 0.5:
                lines += ["else", *block(random, depth - 1)]
            lines.append("endif")
        else:
            lines.append(statement(random))
    return lines


def generated(random):
    lines = block(random)
    if random.random() < 0.3:
        lines.insert(0, f"REQUIREMENTS {expression(random)}")
    if random.random() < 0.3:
        lines.insert(0, "NAME a rule")
    if random.random() < 0.2:
        lines.append(random.choice(["TRANSFORM", "TRANSFORM 3", "TRANSFORM v1 in (a, b c)", "TRANSFORM 2 v0,v1 in a b",
                                    "TRANSFORM v1 v2 from (\np q r\ns,t\n)"]))
    return "\n".join(lines) + "\n"


def only_known(errors):
    """Whether all that is wrong is passed over in silence there: new names that are none, by COPY; what stands
    behind the expression, by EVALSET and EVALMACRO."""
    messages = [line for line in errors.split("\n") if line.startswith("  ×")]
    known = ["is not an attribute name; ", ": expected the end, found "]
    return messages and all(any(one in line for one in known) for line in messages)


def differences(case, binary):
    expected, complained = library(case, AD)
    ads, status, errors = ours(binary, case, AD)
    if expected == "crash":
        return None
    if expected is None or complained:
        if status == 0 and "this statement is left out" in errors and ads == expected:
            return None
        if status != 2:
            return f"the library complains, exit status {status}"
        if expected is None or not ads or "the ad is left as it is" in errors or "expected the end" in errors:
            return None
    elif status != 0:
        if only_known(errors):
            return None if "expected the end" in errors or ads == expected else f"expected {expected}\n     got {ads}"
        return f"exit status {status}: {errors}"
    return None if ads == expected else f"expected {expected}\n     got {ads}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--binary", required=True)
    parser.add_argument("--random", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    bad = 0
    cases = list(curated())
    chance = random.Random(args.seed)
    cases += [(generated(chance), False) for _ in range(args.random)]
    known = 0
    for case, differs in cases:
        difference = differences(case, args.binary)
        if differs:
            known += 1
            if difference is None:
                bad += 1
                print(f"--- this no longer differs:\n{case}")
        elif difference:
            bad += 1
            print(f"--- {difference}\n{case}")
    print(f"transform: {len(cases)} cases, {known} known deviations, {bad} unexplained")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
