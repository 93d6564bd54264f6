#!/usr/bin/env python3
"""Generate conformance cases, deterministic by seed.

usage: generate.py [-o CASES] [--seed N] [--scale F] [--group PREFIX]...

Writes JSON Lines {"id","ad","target","expr"}; ad and target are optional
bracketed ads.  Groups: op/ operators over all pairs of values; fn/NAME/ every
function; ref/ scopes and nested ads; match/ an ad and its target; rand/ random
ads and expressions; lex/ lexical things.  No case depends on the clock, on
random numbers, on the host or on a time zone.
"""
import argparse
import itertools
import json
import os
import random
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))

# ------------------------------------------------------------------ the values

VALUES = {
    "undefined": ["undefined"],
    "error": ["error"],
    "bool": ["true", "false"],
    "int": ["0", "1", "-1", "2", "7", "-8", "63", "64", "65", "2147483647", "2147483648",
            "-2147483649", "4294967296", "9223372036854775807", "-9223372036854775808"],
    "real": ["0.0", "-0.0", "1.0", "2.5", "-1.5", "1e308", "-1e308", "1e-320", "1e19",
             "9007199254740993.0", 'real("INF")', 'real("-INF")', 'real("NaN")'],
    "string": ['""', '"a"', '"A"', '"ab"', '"B"', '"_"', '"1"', '"true"', '"\\351"', '"a\\n"'],
    "abstime": ["absTime(0)", "absTime(5)", "absTime(5,3600)",
                'absTime("2001-02-03T04:05:06Z")', 'absTime("2001-02-03T04:05:06-06:00")'],
    "reltime": ["relTime(0)", "relTime(5)", "relTime(5.5)", "relTime(-93784)"],
    "list": ["{}", "{1,2}", '{1,"a",undefined,2.5}'],
    "classad": ["[]", "[a=1]", '[a=1;b={a,"x"}]'],
}

# the core: what every operator meets on both sides
CORE = ["undefined", "error", "true", "false", "0", "1", "-8", "64", "65", "9223372036854775807",
        "-9223372036854775808", "0.0", "-0.0", "2.5", "-1e308", "1e308", 'real("INF")',
        'real("NaN")', '""', '"a"', '"A"', '"1"', "absTime(5)", "absTime(5,3600)", "relTime(5.5)",
        "relTime(-93784)", "{1,2}", "{}", "[a=1]", "[]"]

ARGS = ["undefined", "error", "true", "false", "0", "1", "-3", "93784", "2.5", "-1.5", '""', '"a"',
        '"12"', '"a,b"', '"A b"', "absTime(93784,3600)", "relTime(93784.5)", "{}", '{"a",1,undefined}',
        "{1,2.5}", "[]", "[a=1;b=a]", "a", "zz", "l", "n"]
ARG_AD = '[a=1; s="a,b"; l={a,"b",2}; n=[v=5;w=a]; e=a+zz+n.v; t=absTime(93784); cap=0]'

BINARY = ["+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>", ">>>", "<", "<=", ">", ">=", "==",
          "!=", "=?=", "=!=", "is", "isnt", "&&", "||", "?:"]
UNARY = ["-", "+", "!", "~"]


def all_values():
    return [v for vs in VALUES.values() for v in vs]


# -------------------------------------------------------------------- collector

class Out:
    def __init__(self):
        self.cases = []
        self.seen = set()
        self.count = {}

    def add(self, group, expr, ad=None, target=None):
        key = (group.split("/")[0], expr, ad, target)
        if key in self.seen:
            return
        self.seen.add(key)
        n = self.count[group] = self.count.get(group, 0) + 1
        case = {"id": "%s/%d" % (group, n)}
        if ad is not None:
            case["ad"] = ad
        if target is not None:
            case["target"] = target
        case["expr"] = expr
        self.cases.append(case)


# -------------------------------------------------------------------- operators

def operand(v):
    """A value as the operand of any operator (elvis takes no leading sign)."""
    return v


def gen_op(out, rng, scale):
    curated(out, "op", "op/curated")
    values = all_values()
    for op in UNARY:
        for v in values:
            out.add("op/unary", "%s %s" % (op, v))
            out.add("op/unary", "%s(%s)" % (op, v))
        for op2 in UNARY:
            for v in ("true", "5", "2.5", "undefined", "error", '"a"', "relTime(5)", "{1}"):
                out.add("op/unary", "%s%s%s" % (op, op2, v))
    for op in BINARY:
        for left, right in itertools.product(CORE, CORE):
            out.add("op/binary", "%s %s %s" % (left, op, right))
    # the values outside the core, against a few partners
    rest = [v for v in values if v not in CORE]
    for op in BINARY:
        for v in rest:
            for w in rng.sample(values, 4):
                out.add("op/binary", "%s %s %s" % (v, op, w))
                out.add("op/binary", "%s %s %s" % (w, op, v))
    # through attributes, so that nothing is folded when parsing
    for _ in range(int(600 * scale)):
        left, right, op = rng.choice(values), rng.choice(values), rng.choice(BINARY)
        out.add("op/attr", "a %s b" % op, "[a = %s; b = %s]" % (left, right))
    conditions = ["undefined", "error", "true", "false", "0", "3", "0.0", "-0.5", 'real("NaN")', '"true"',
                  '""', "absTime(0)", "relTime(0)", "{}", "{true}", "[]", "zz"]
    branches = ["1", "error", "undefined", '"x"', "{1}", "zz"]
    for c in conditions:
        for x, y in itertools.product(branches, branches):
            out.add("op/ternary", "%s ? %s : %s" % (c, x, y))
        for x in branches:
            out.add("op/ternary", "(%s) ?: (%s)" % (c, x))
    subjects = ["{10,20,30}", "{}", "{{1,2},[a=5]}", "[a=1;B=2]", "undefined", "error", '"abc"', "5",
                "2.5", "true", "absTime(0)", "relTime(0)"]
    indexes = ["0", "1", "2", "3", "-1", "2147483647", "9223372036854775807", "0.0", "1.5", "true", '"a"', '"b"',
               '"zz"', '""', "undefined", "error", "{0}", "[]", "absTime(0)", "relTime(0)"]
    for s, i in itertools.product(subjects, indexes):
        out.add("op/subscript", "%s[%s]" % (s, i))
    for s in values:
        out.add("op/select", "(%s).a" % s)
        out.add("op/select", "({%s}).a" % s)
        out.add("op/select", "({[a=%s],%s}).a" % (s, s))
        out.add("op/select", "[a=%s].a" % s)
        out.add("op/select", '[a=%s]["a"]' % s)
        out.add("op/select", "{%s}[0]" % s)
    # precedence and associativity
    atoms = ["1", "2", "3", "5", "7", "0", "true", "false", "undefined", "2.5", "4.0", "a", "zz", '"a"']
    ops = ["+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>", ">>>", "<", "<=", ">", ">=", "==", "!=",
           "=?=", "=!=", "is", "isnt", "&&", "||"]
    for x, y in itertools.product(ops, ops):
        out.add("op/precedence", "7 %s 2 %s 3" % (x, y))
        out.add("op/precedence", "a %s 5 %s 1" % (x, y), "[a = 6]")
    for _ in range(int(1500 * scale)):
        n = rng.randint(3, 6)
        text = rng.choice(["", "", "-", "!", "~", "+"]) + rng.choice(atoms)
        for _ in range(n):
            kind = rng.random()
            if kind < 0.06:
                text += " ?: " + rng.choice(atoms)
            elif kind < 0.12:
                text += " ? %s : %s" % (rng.choice(atoms), rng.choice(atoms))
            else:
                text += " %s %s%s" % (rng.choice(ops), rng.choice(["", "", "", "", "-", "!", "~"]), rng.choice(atoms))
        out.add("op/precedence", text, "[a = 6]")


# -------------------------------------------------------------------- functions

# name: argument slots; the first value of a slot is the good one.  A slot "*"
# may be repeated.  `least` is the number of arguments needed.
TIME = ["absTime(981173106)", 'absTime("2001-02-03T04:05:06-06:00")', "absTime(0)", "absTime(-1.0)", "0",
        "981173106", "-1", "1.9", "-86401", "relTime(93784)", "relTime(-93784.5)", "relTime(0.25)", "splitTime(93784)",
        "[Year=2001;Month=2;Day=3]", '"2001-02-03"', "true"]
VERSION = ['"8.9"', '"8.10"', '"8.9.0"', '"08.9"', '"8.9a"', '"8.9b"', '""', '"a"', '"10"', '"9"', '"1.010"', '"1.09"',
           '"007"', '"07"', '"0"', '"00"', '"v1.2-rc3"', '"v1.2-rc12"', "8", "8.9", "true", "{1}", "relTime(5)"]
LISTS = ["{1,2}", "{}", "{3,1,2}", "{1,2.5,true}", "{undefined,4}", "{undefined}", '{"a","B"}', '{1,"a"}', "{error,1}",
         "{1,error}", "{a,a+1}", "{{1},2}", "{[a=1]}", "{relTime(5)}", "{absTime(0),1}", '{real("NaN"),1}', "{true}",
         "{-0.0,0}", "{9223372036854775807,1}", "l", "n.v"]
SCALAR = ["1", '"a"', '"B"', "1.0", "true", "2.5", "relTime(5)", "absTime(0)", "undefined", "error", "{1}", "[a=1]", "a", "zz"]
NUM = ["2.5", "-2.5", "0.5", "1.5", "-0.5", "0", "-7", "1e19", "-1e19", '"3.9"', '" -2x"', '"x"', '""', '"1e3"', '"0x1f"',
       "true", "relTime(2.7)", "absTime(5)", 'real("INF")', 'real("-INF")', 'real("NaN")', "9223372036854775807",
       '"inf"', '"9223372036854775807"', "4503599627370495.5"]
TEXT = ['"aB"', '""', '"a b"', '"\\t"', '"\\303\\251"', "1", "2.5", "true", "-0.0", '{a,"x",2.5}', "[b=1;A=2;c=a.b]", "relTime(93784)",
        "absTime(93784,3600)", 'real("-INF")', "{}", "[]", "{!a,-a,a?b:c,(a),a[0],f(a,1),a is b,.a,parent.a,'x y'}", "s"]
PATTERN = ['"b+"', '""', '"^A"', '"."', '"(a)(b)?"', '"["', '"a|b"', '"\\\\d+"', '"(?i)B"', '"x*"', '"[^a]"', '"c$"', "1", "{}"]
TARGET = ['"abbc"', '""', '"ABC"', '"a\\nb"', '"12ab34"', '"aaa"', '"\\303\\251"', "5", '{"a"}', "s"]
SUBST = ['"<\\\\0>"', '""', '"\\\\1"', '"\\\\2\\\\1"', '"\\\\x"', '"\\\\"', '"-"', "3"]
OPTS = ['"i"', '""', '"g"', '"f"', '"fg"', '"ims"', '"x"', '"I"', '"zq"', "1"]
SLIST = ['"a,b"', '""', '" a , b "', '"a;b"', '"a b c"', '"A,B"', '","', '"a,,b"', '"1,2,3"', '"-1,2.5"', '"1.5,x"', '"10 20\\t30"', '"0x10"',
         "1", '{"a"}', "s"]
DELIM = ['","', '";"', '" "', '""', '", ;"', '"b"', "1"]
ARGSTR = ['"a \'b c\' d"', '""', '"a"', '"\'\'"', '"a\'b\'c"', '"it\'\'s"', '"\'"', '"  x  y "', '"\\"q\\" r"', '"a\\tb"', "1", "{}"]
ENVSTR = ['"A=1 B=2"', '""', '"A=\'x y\'"', '"A"', '"=1"', '"A=1;B=2"', '"B=3 A="', '"A=\'\'\'x"', '"a=1\\nA=2"', '"A=\\"x\\""', "1"]
ENV1 = ['"A=1;B=2"', '""', '"A=x y;B=\'q\'"', '"A"', '"=1"', '";;A=1;"', '"|A=1|B=2;3"', '"B=3;A=;B=4"', '"A=1\\nB=2"', "1"]
ADS = ["{[cap=3.5],[cap=5.0;a=10]}", "{}", "{[cap=1],undefined,3}", "{n}", "{[],[]}", "gpus", "n", "3", '"x"', "zz"]
GPUS = "{[cap=3.5],[cap=7;a=2]}"
EXPR = ["cap > 4", "cap", "a", "cap + a", "need", "zz", "true", "1", '"x"', "undefined", "error", "{cap}", "[q=cap]", "MY.cap", "eval(\"cap\")", "n.v"]
OPSTR = ['"<"', '"<="', '"=="', '"!="', '">"', '">="', '"is"', '"isnt"', '"=?="', '"IS"', '""', '"&&"', "1"]
FORMAT = ['"%Y/%m/%d %H:%M:%S"', '"%c"', '""', '"plain"', '"%j %a %A %b %B %p %y %e %u %w"', '"%U %W %V %G %C"', '"%%"', '"%D %T %R %r %F"', "1"]
REFS = ["a", "e", "s", "l", "n", "n.v", "zz", "(a)", "a+1", '"a"', "1", "need", "gpus", "MY.a", "self.e", ".e", "E"]

FUNCTIONS = {
    **{name: ([SCALAR + TEXT + TIME[:12] + ["1/0", "zz.a", "{}[0]", "-0.0", "time()", "nosuch()"]], 1)
       for name in ("isUndefined", "isError", "isString", "isInteger", "isReal", "isBoolean", "isList", "isClassAd", "isAbsTime", "isRelTime")},
    "member": ([SCALAR, LISTS], 2),
    "identicalMember": ([SCALAR, LISTS + ["{undefined,error,{1},[a=1]}"]], 2),
    "size": ([LISTS + TEXT + ["[a=1;b=2;A=3]"]], 1),
    "sum": ([LISTS + ["{1e308,1e308}", "{true,false,true}", "{0.1,0.2,0.3}"]], 1),
    "avg": ([LISTS + ["{1e308,1e308}", "{true,false}", "{0.1,0.2,0.3}", "{1,2,4}"]], 1),
    "min": ([LISTS + ["{true,false}", "{2,1.5,3}", "{1,1.0}"]], 1),
    "max": ([LISTS + ["{true,false}", "{2,1.5,3}", "{1,1.0}"]], 1),
    "anyCompare": ([OPSTR, LISTS, SCALAR], 3),
    "allCompare": ([OPSTR, LISTS, SCALAR], 3),
    "getYear": ([TIME], 1), "getMonth": ([TIME], 1), "getDayOfYear": ([TIME], 1), "getDayOfMonth": ([TIME], 1),
    "getDayOfWeek": ([TIME], 1), "getHours": ([TIME], 1), "getMinutes": ([TIME], 1), "getSeconds": ([TIME], 1), "getDays": ([TIME], 1),
    "splitTime": ([TIME], 1),
    "formatTime": ([TIME, FORMAT], 1),
    "strcat": ([TEXT, TEXT, "*"], 0),
    "join": ([TEXT, ['"a"', "{\"a\",1}", "undefined", '""', "{undefined}", "{}", "l"], "*"], 0),
    "toUpper": ([TEXT], 1), "toLower": ([TEXT], 1),
    "substr": ([['"abcdef"', '""', '"a"', "12", "s", '"\\303\\251x"'], ["1", "0", "-2", "3", "6", "7", "-6", "-7", "100", "-100", "1.0", "true"],
                ["2", "0", "-1", "3", "5", "6", "-5", "-6", "100", "-100", "1.0", '"1"']], 2),
    "strcmp": ([TEXT, TEXT], 2), "stricmp": ([TEXT, TEXT], 2),
    **{name: ([VERSION, VERSION], 2) for name in ("versioncmp", "versionLT", "versionLE", "versionGT", "versionGE", "versionEQ")},
    "version_in_range": ([VERSION, VERSION, VERSION], 3),
    "regexp": ([PATTERN, TARGET, OPTS], 2),
    "regexpMember": ([PATTERN, ['{"a","bb"}', "{}", "{undefined}", "{undefined,\"b\"}", '{"q",1}', "{s,\"B\"}", '"a"', "1"], OPTS], 2),
    "regexps": ([PATTERN, TARGET, SUBST, OPTS], 3),
    "replace": ([PATTERN, TARGET, SUBST, OPTS], 3),
    "replaceAll": ([PATTERN, TARGET, SUBST, OPTS], 3),
    "int": ([NUM + TEXT], 1), "real": ([NUM + TEXT], 1), "string": ([TEXT + NUM + TIME], 1),
    "bool": ([['"true"', '"FALSE"', '"tRuE"', '" true"', '"yes"', "0", "0.0", "-0.0", "relTime(0)", "relTime(0.5)"] + NUM + TEXT], 1),
    "absTime": ([["981173106", "0", "-1", "1.9", "-1.9", "relTime(5.5)", "absTime(5,3600)", "true", '"2001-02-03T04:05:06Z"', '"2001-02-03"',
                  '"20010203T040506+0100"', '"bad"', "2147483647", "a"],
                 ["3600", "0", "-18000", "1800.9", "relTime(60)", "true", '"x"', "59"]], 1),
    "relTime": ([["93784", "0", "-5", "1.5", "-0.25", "1e6", "absTime(5)", "relTime(5.5)", "true", "a"]], 1),
    "floor": ([NUM], 1), "ceiling": ([NUM], 1), "ceil": ([NUM], 1), "round": ([NUM], 1),
    "pow": ([["2", "3", "0", "1", "10", "2.5", "-2.5", '"2"', "true", "relTime(3)", "1e200", 'real("NaN")', "7"],
             ["3", "0", "1", "10", "-1", "0.5", "-2.0", '"2"', "62", "300", "true", 'real("INF")']], 2),
    "quantize": ([["10", "0", "-10", "5", "2.5", "-2.5", '"7"', "true", "relTime(7)", "1e19", "17"],
                  ["4", "0", "-4", "2.5", "0.0", '"4"', "true", "{}", "{4,8}", "{4,8.5,20}", "{8,4}", '{4,"12"}', '{"x"}', "{undefined}", "relTime(4)", "1e-9"]], 2),
    "random": ([["1", "0", "-1", "0.0", "-2.5", '"x"', "true", "{}", "[]", "relTime(1)", "absTime(1)", "undefined", "error", "zz"]], 9),
    "ifThenElse": ([["true", "false", "1", "0", "0.0", "2.5", '"x"', "undefined", "error", "{}", "[]", "relTime(1)"], ["1", "a", "error", "{a}"], ["2", "undefined", "n"]], 3),
    "interval": ([["93784", "0", "59", "60", "3599", "3600", "86399", "86400", "-1", "-61", "-3661", "-93784", "60.9", "-60.9", '"61"', '"x"', "true",
                   "relTime(61.5)", "absTime(61)", "2147483647", "-2147483648", "1e6", "123456789"]], 1),
    "eval": ([['"a+1"', '"s"', '"n.v"', '"zz"', '"1 +"', '""', '"{a}"', '"[q=a]"', '"error"', "a", "s", "l", "n", "2.5", "1+1", "true", "undefined", "error",
               '"a b"', '"strcat(\\"x\\",a)"', '"self.a"', '"1;2"', '"(1"', "e"]], 1),
    "unparse": ([REFS], 1),
    "unresolved": ([REFS + ["u"], ['"zz"', '"^z"', '"Z"', '"q"', '""', '"("']], 1),
    "debug": ([TEXT + SCALAR], 1),
    "stringListSize": ([SLIST, DELIM], 1), "stringListSum": ([SLIST, DELIM], 1), "stringListAvg": ([SLIST, DELIM], 1),
    "stringListMin": ([SLIST, DELIM], 1), "stringListMax": ([SLIST, DELIM], 1),
    "stringListMember": ([['"a"', '"A"', '""', '" a"', '"a b"', '"1"', "1"], SLIST, DELIM], 2),
    "stringListIMember": ([['"a"', '"A"', '""', '" a"', '"a b"', '"1"', "1"], SLIST, DELIM], 2),
    "stringListSubsetMatch": ([SLIST, SLIST, DELIM], 2),
    "stringListISubsetMatch": ([SLIST, SLIST, DELIM], 2),
    "stringListsIntersect": ([SLIST, SLIST, DELIM], 2),
    "stringList_regexpMember": ([PATTERN, SLIST, DELIM, OPTS], 2),
    "split": ([SLIST + ['"a,,b;;c"', '",a,"', '"a, ,b"', '"\\t a\\n"'], DELIM + ['"\\n"', '" ;"']], 1),
    "splitUserName": ([['"u@d"', '"u"', '"@"', '"a@b@c"', '"@d"', '"u@"', '""', "1", "s"]], 1),
    "splitSlotName": ([['"slot1@h"', '"h"', '"@"', '"a@b@c"', '"@d"', '"u@"', '""', "1", "s"]], 1),
    "argsToList": ([ARGSTR, ["2", "1", "3", "0", "1.0", "true"]], 1),
    "listToArgs": ([['{"a","b c"}', "{}", '{""}', '{"it\'s"}', '{"a\\tb","c"}', '{"a\\"b"}', "{1}", "{undefined}", '"a"', 'split("a,b c",",")', "l"],
                    ["2", "1", "3", "true"]], 1),
    "envV1ToV2": ([ENV1], 1),
    "mergeEnvironment": ([ENVSTR, ENVSTR, "*"], 0),
    "evalInEachContext": ([EXPR, ADS], 2),
    "countMatches": ([EXPR, ADS], 2),
    "userHome": ([['"no such user"', '""', "1", "undefined", "error", "{}", "zz"], ['"/d"', '""', "1", "undefined"]], 1),
    "userMap": ([['"m"', "1", "undefined", "error"], ['"u"', "1", "undefined", "error", "zz"], ['"p"', "1"], ['"d"', "1", "undefined", "{a}"]], 2),
    "time": ([], 9), "currentTime": ([], 9), "dayTime": ([], 9), "timeZoneOffset": ([], 0),
    "noSuchFunction": ([SCALAR, SCALAR], 0),
}
FN_AD = ('[a=1; s="a,b"; l={a,"b",2}; n=[v=5;w=a;cap=6]; e=a+zz+n.v; u=zz+a+target.q; cap=0; need=cap>4; gpus=%s]' % GPUS)
CLOCK = {"time", "currentTime", "dayTime"}


def call(name, args):
    return "%s(%s)" % (name, ",".join(args))


def gen_fn(out, rng, scale):
    predicates = ("isUndefined", "isError", "isString", "isInteger", "isReal", "isBoolean", "isList", "isClassAd", "isAbsTime", "isRelTime")
    for name, (slots, least) in FUNCTIONS.items():
        group = "fn/" + name
        repeat = bool(slots) and slots[-1] == "*"
        if repeat:
            slots = slots[:-1]
        good = [s[0] for s in slots]

        def add(args, name=name, group=group, ad=FN_AD):
            clock = name in CLOCK and not args or name == "absTime" and not args or name == "formatTime" and not args
            if clock or name == "random" and args[:1] not in (["1"], ["0"], ["-1"], ["0.0"], ["-2.5"]) and not unrandom(args):
                return
            out.add(group, call(name, args), ad)

        def unrandom(args):
            """random() with arguments that are no number: never random."""
            return len(args) > 1 or len(args) == 1 and (args[0][0] in "\"{[" or args[0] in (
                "true", "false", "undefined", "error", "zz", "l", "n") or args[0].startswith(("relTime", "absTime")))

        counts = [n for n in range(least, len(slots) + 1)] if least != 9 else [len(slots)]
        # every value of every slot, the others good
        for n in counts:
            for i in range(n):
                for v in slots[i]:
                    add(good[:i] + [v] + good[i + 1:n])
                for v in ARGS:
                    add(good[:i] + [v] + good[i + 1:n])
            # undefined and error in each position, and in each pair of positions
            for i, j in itertools.combinations(range(n), 2):
                for x, y in itertools.product(("undefined", "error", "1", "{}"), repeat=2):
                    args = list(good[:n])
                    args[i], args[j] = x, y
                    add(args)
        # two slots at a time
        if len(slots) >= 2:
            pairs = list(itertools.product(slots[0], slots[1]))
            if len(pairs) > 120 * scale:
                pairs = rng.sample(pairs, int(120 * scale))
            for x, y in pairs:
                add([x, y])
                if len(slots) > 2:
                    add([x, y] + [rng.choice(s) for s in slots[2:rng.randint(3, len(slots))]])
        for _ in range(int(60 * scale) if slots else 0):
            n = rng.choice(counts)
            args = [rng.choice(slots[i]) for i in range(n)]
            if repeat:
                args += [rng.choice(slots[-1]) for _ in range(rng.randint(0, 3))]
            add(args)
        # wrong counts
        top = len(slots)
        for n in range(0, top + 3):
            for _ in range(3):
                add([(slots[i][0] if i < top else rng.choice(ARGS)) for i in range(n)])
            if n > top or n < least:
                for v in ("undefined", "error", '"a"', "1"):
                    add([v] * n)
        if name in CLOCK or name == "timeZoneOffset":
            for v in ARGS:
                add([v])
                add([v, v])
            for p in predicates:
                out.add(group, "%s(%s())" % (p, name))
        if name == "random":
            for v in ARGS:
                add([v, "2"])
                add(["2", v])
            for p in predicates:
                out.add(group, "%s(random(5))" % p)
                out.add(group, "%s(random(2.5))" % p)
        # spelling of the name, results used further on
        if slots and name not in CLOCK and name != "random":
            out.add(group, call(name.upper(), good[:max(least, 1)]), FN_AD)
            out.add(group, call(name.lower(), good), FN_AD)
            inner = call(name, good)
            for shape in ("%s == %s", "strcat(%s,%s)", "{%s,%s}[1]", "isError(%s) || isUndefined(%s)", "[x=%s;y=%s].x"):
                out.add(group, shape % (inner, inner), FN_AD)
            out.add(group, "x", "[x = %s; %s" % (inner, FN_AD[1:]))
    curated(out, "fn", lambda text: "fn/" + fn_name(text))


CANON = {name.lower(): name for name in FUNCTIONS}


def fn_name(text):
    for m in re.finditer(r"([A-Za-z_]\w*)\s*\(", text):
        if m.group(1).lower() in CANON:
            return CANON[m.group(1).lower()]
    return "other"


def curated(out, wanted, group):
    section = ad = target = None
    with open(os.path.join(HERE, "curated.txt"), encoding="utf-8") as f:
        for line in f:
            line = line.rstrip("\n")
            if line.startswith("## "):
                section = line[3:]
            elif line == "@ad" or line.startswith("@ad "):
                ad = line[4:] or None
            elif line == "@target" or line.startswith("@target "):
                target = line[8:] or None
            elif not line.strip() or line.startswith("# "):
                continue
            elif section == wanted:
                out.add(group(line) if callable(group) else group, line, ad, target)


# ----------------------------------------------------------- scopes, nested ads

NAMES = ["a", "b", "c", "d", "x", "y"]


def leaf(rng):
    return rng.choice(["1", "2", "3", "10", '"s"', "true", "2.5", "undefined"])


def reference(rng, match):
    name = rng.choice(NAMES)
    prefixes = ["", "", "", "", "parent.", "self.", "root.", "my.", ".", "x.", "y.", "parent.parent.", "toplevel.", "x.y."]
    if match:
        prefixes += ["other.", "TARGET.", "MY.", "target.", "other.x.", "other."]
    prefix = rng.choice(prefixes)
    if prefix == ".":
        return "." + name
    return prefix + name


def scoped_value(rng, depth, match):
    kind = rng.random()
    if depth > 0 and kind < 0.25:
        return nested_ad(rng, depth - 1, match)
    if depth > 0 and kind < 0.35:
        return "{%s}" % ",".join(scoped_value(rng, depth - 1, match) for _ in range(rng.randint(1, 3)))
    if kind < 0.55:
        return leaf(rng)
    if kind < 0.85:
        return reference(rng, match)
    return "%s %s %s" % (reference(rng, match), rng.choice(["+", "==", "is", "?:"]), rng.choice([reference(rng, match), "1"]))


def nested_ad(rng, depth, match=False):
    names = rng.sample(NAMES, rng.randint(1, 4))
    if depth > 1 and rng.random() < 0.7:
        names = list(dict.fromkeys(["x"] + names))
    items = []
    for name in names:
        if name in "xy" and depth > 0 and rng.random() < 0.8:
            items.append("%s = %s" % (name, nested_ad(rng, depth - 1, match)))
        else:
            items.append("%s = %s" % (name, scoped_value(rng, depth, match)))
    return "[%s]" % "; ".join(items)


def path(rng, match):
    first = rng.choice(["", "", "", "x.", "x.y.", "y.", "x.x."] + (["other.", "TARGET.", "other.x.", "MY."] if match else ["self.", "root."]))
    text = first + rng.choice(NAMES)
    if rng.random() < 0.15:
        text += "[%d]" % rng.randint(0, 2)
    if rng.random() < 0.1:
        text += "." + rng.choice(NAMES)
    return text


def gen_ref(out, rng, scale):
    curated(out, "ref", "ref/curated")
    for _ in range(int(700 * scale)):
        ad = nested_ad(rng, 3)
        for _ in range(4):
            out.add("ref/nested", path(rng, False), ad)
        out.add("ref/nested", reference(rng, False), ad)
    # who sees what: one name at every level, every prefix
    for level in itertools.product((False, True), repeat=3):
        inner = "[q = %%s%s]" % ("; a = 3" if level[2] else "")
        mid = "[y = %s%s]" % (inner, "; a = 2" if level[1] else "")
        ad = "[x = %s%s]" % (mid, "; a = 1" if level[0] else "")
        for ref in ("a", ".a", "self.a", "my.a", "parent.a", "parent.parent.a", "parent.parent.parent.a", "root.a", "toplevel.a",
                    "self.parent.a", "parent.self.a", "x.a", "y.a", "x.y.a", "root.x.a", ".x.y.a", "parent.y.a", "self.self.a", "other.a", "target.a"):
            for use in ("x.y.q", "x.y.self.q", "{x.y}[0].q", "x.y.q is undefined", 'x["y"]["q"]'):
                out.add("ref/level", use, ad % ref)
        for ref in ("{a}", "{[z=a],[a=4;z=a]}", "[z=a]", "[a=9;z=a]", "eval(\"a\")", "{a,parent.a}"):
            for use in ("x.y.q[0]", "x.y.q.z", "x.y.q[1].z", "sum(x.y.q)", "x.y.q[1]", "x.y.q", "member(3,x.y.q)", "[a=50;r=x.y.q].r[0]", "size(x.y.q)"):
                out.add("ref/level", use, ad % ref)
    # circles
    circles = ["[a = a]", "[a = b; b = a]", "[a = b; b = c; c = a]", "[a = a + 1]", "[a = a ?: 3]", "[a = b ?: 3; b = a ?: 4]",
               "[a = b || true; b = a]", "[a = b && false; b = a]", "[a = true || b; b = a]", "[a = isUndefined(b); b = a]",
               "[a = b is undefined; b = a]", "[a = {b}; b = a]", "[a = {a}; b = a[0]]", "[a = [b = a]; b = a.b]", "[a = x.b; x = [b = a]]",
               "[a = x.b; x = [b = parent.a]]", "[x = [a = y.a]; y = [a = x.a]; a = x.a; b = y.a]", "[a = self.a; b = a]", "[a = eval(\"a\"); b = 1]",
               "[a = ifThenElse(true, 1, a); b = a]", "[a = ifThenElse(b, 1, 2); b = a]", "[a = strcat(\"x\", a); b = a]",
               "[a = size(b); b = {a}]", "[a = sum(b); b = {a, 1}]", "[a = member(1, b); b = {a, 1}]", "[a = b[0]; b = {a}]", "[a = b[1]; b = {a, 5}]",
               "[a = b.c; b = [c = b.d; d = a]]", "[a = parent; b = a]", "[a = self; b = a.a.a]", "[a = root.b; b = root.a]", "[a = .b; b = .a]"]
    uses = ["a", "b", "a is undefined", "b is error", "a ?: 7", "a || true", "a == b", "isUndefined(a)", "isError(b)", "{a,b}", "[z = a].z", "a + 1",
            "eval(\"a\")", "a[0]", "b[0]", "a.b", "true || a", "false && a", "a ? 1 : 2", "strcat(a)", "{a}[0]"]
    for ad, use in itertools.product(circles, uses):
        out.add("ref/circle", use, ad)


# ---------------------------------------------------------------------- matches

JOB = ('[ClusterId=%d; ProcId=0; Owner="%s"; RequestCpus=%d; RequestMemory=%d; ImageSize=%s; Rank=%s; WantGPUs=%s; MinCap=%s; '
       'x=[cap=TARGET.Memory; own=RequestCpus; o=other.Cpus]; l={Cpus,TARGET.Memory,RequestMemory}; RequireGPUs=%s; Requirements=%s]')
MACHINE = ('[Name="%s"; Cpus=%d; Memory=%s; Arch="%s"; OpSys="%s"; GPUs=%s; KFlops=%d; State="Unclaimed"; Rank=%s; '
           'x=[cap=11; m=Memory; o=other.RequestMemory; r=RequestCpus]; Tags="%s"; Requirements=%s]')


def gen_match(out, rng, scale):
    curated(out, "match", "match/curated")
    job_reqs = ["TARGET.Cpus >= RequestCpus && TARGET.Memory >= RequestMemory", "Cpus >= RequestCpus && Memory > ImageSize / 1024", "other.Arch == \"x86_64\"",
                "(TARGET.Arch == \"X86_64\") && (TARGET.OpSys =?= \"LINUX\") && TARGET.Memory >= MY.RequestMemory", "TARGET.HasDocker && true", "undefined", "1", "0.0",
                "stringListMember(\"fast\", TARGET.Tags)", "regexp(\"^slot\", TARGET.Name)", "countMatches(MY.RequireGPUs, TARGET.GPUs) >= 1",
                "TARGET.Cpus * 1024 > Memory || Owner == \"bob\"", "MY.Rank > TARGET.Rank", "TARGET.Missing =?= undefined", "\"yes\"", "TARGET.Requirements", "ImageSize > 5 && x.o > 1"]
    machine_reqs = ["TARGET.ImageSize < Memory", "RequestCpus <= Cpus && RequestMemory <= Memory", "TARGET.Owner != \"bob\"", "true", "TARGET.WantGPUs ?: false", "other.RequestMemory < MY.Memory",
                    "MY.Cpus >= TARGET.RequestCpus && (TARGET.ImageSize =?= undefined || x.o <= Memory)", "START", "member(TARGET.Owner, {\"alice\", \"carol\"})"]
    ranks = ["0", "Memory", "TARGET.Memory + TARGET.KFlops / 1000.0", "TARGET.Cpus * 2", "undefined", "TARGET.Owner == \"alice\"", "(Arch == \"X86_64\") * 10", "ifThenElse(TARGET.Cpus > 4, 1.5, 0)"]
    sizes = ["10", "2000", "undefined", "TARGET.Memory * 2", "2.5e3"]
    uses = ["Requirements", "other.Requirements", "TARGET.Requirements && MY.Requirements", "Rank", "TARGET.Rank",
            "Memory", "MY.Memory", "TARGET.Memory", "other.RequestMemory", "RequestMemory", "x.cap", "x.own", "x.o", "TARGET.x.m", "TARGET.x.o", "TARGET.x.r", "other.x.cap", "l[0]", "l[1]", "l[2]", "sum(l)", "TARGET.l[0]",
            "x.m", "x.r", "Owner", "Name", "TARGET.TARGET.Owner", "other.other.Name", "MY.TARGET.Cpus", "self.Cpus", "root.Cpus", ".Cpus", "parent.Cpus", "TARGET.self.Cpus", "Cpus + RequestCpus",
            "countMatches(RequireGPUs, GPUs)", "countMatches(MY.RequireGPUs, TARGET.GPUs)", "evalInEachContext(RequireGPUs, GPUs)", "evalInEachContext(cap > 3, GPUs)", "GPUs.cap", "TARGET.GPUs[0].cap", "size(GPUs)",
            "unresolved(Requirements)", "eval(\"TARGET.Memory - RequestMemory\")", "strcat(Owner, \"@\", Name)", "MinCap", "TARGET.MinCap", "State", "TARGET.Nope", "isUndefined(TARGET.Nope)", "{Cpus, Owner}[0]", "[q = Cpus].q", "[q = TARGET.Cpus].q"]
    for i in range(int(160 * scale)):
        job = JOB % (i, rng.choice(["alice", "bob", "carol"]), rng.choice([1, 2, 4, 8]), rng.choice([100, 1024, 4000]), rng.choice(sizes), rng.choice(ranks), rng.choice(["true", "false", "1", "undefined"]),
                     rng.choice(["4", "3.5", "undefined", "TARGET.Cpus"]), rng.choice(["cap > 4", "cap >= MinCap", "true", "TARGET.Cpus > 2", "undefined"]), rng.choice(job_reqs))
        machine = MACHINE % (rng.choice(["slot1@h", "SLOT2@k", "m"]), rng.choice([1, 2, 4, 16]), rng.choice(["1024", "8000.0", "64", "Cpus * 1000"]), rng.choice(["X86_64", "x86_64", "aarch64"]), rng.choice(["LINUX", "Linux"]),
                             rng.choice(["{}", "{[cap=3.5],[cap=7.0]}", "undefined", "{[cap=Cpus]}", "{x,[cap=9]}"]), rng.choice([1000, 20000]), rng.choice(ranks), rng.choice(["fast,big", "slow", ""]), rng.choice(machine_reqs))
        for use in rng.sample(uses, 14):
            out.add("match/pair", use, job, machine)
        for use in rng.sample(uses, 5):
            out.add("match/pair", use, machine, job)
    for _ in range(int(350 * scale)):
        ad, target = nested_ad(rng, 2, True), nested_ad(rng, 2, True)
        for _ in range(3):
            out.add("match/nested", path(rng, True), ad, target)
        out.add("match/nested", reference(rng, True), ad, target)


# ------------------------------------------------------- random ads, expressions

class Random:
    """Typed random expressions: most of them evaluate to something."""

    def __init__(self, rng, attrs, match):
        self.rng, self.attrs, self.match = rng, attrs, match

    def pick(self, *choices):
        return self.rng.choice(choices)

    def ref(self, kind):
        rng = self.rng
        names = [n for n, k in self.attrs.items() if k == kind] or list(self.attrs)
        if rng.random() < 0.08:
            names = list(self.attrs) + ["Missing"]
        if not names:
            return self.literal(kind)
        name = rng.choice(names)
        r = rng.random()
        if self.match:
            if r < 0.2:
                return "TARGET." + name
            if r < 0.3:
                return "other." + name
            if r < 0.4:
                return "MY." + name
        elif r < 0.07:
            return rng.choice(["MY.", "self.", "root.", "."]) + name
        return name if rng.random() < 0.8 else rng.choice([name.upper(), name.lower()])

    def literal(self, kind):
        rng = self.rng
        if kind == "int":
            return str(rng.choice([0, 1, 2, 3, 5, 7, 10, 64, 100, 1024, -1, -3, 123456789, 2**31, 2**40]))
        if kind == "real":
            return rng.choice(["0.0", "0.5", "1.5", "2.25", "-3.75", "1e3", "6.02e23", "0.1", "-0.0", "100.0"])
        if kind == "bool":
            return rng.choice(["true", "false"])
        if kind == "string":
            return rng.choice(['"alice"', '"Bob"', '"x86_64"', '"LINUX"', '""', '"a,b,c"', '"8.10.2"', '"slot1@host"', '"10"', '"2.5"', '"it\'s \\"q\\""'])
        if kind == "list":
            return "{%s}" % ",".join(self.literal(rng.choice(["int", "real", "string", "bool", "int"])) for _ in range(rng.randint(0, 4)))
        if kind == "ad":
            return "[p = %s; q = %s]" % (self.literal("int"), self.literal("string"))
        if kind == "time":
            return rng.choice(["absTime(981173106)", "absTime(0, 3600)", "relTime(93784)", "relTime(5.5)", "relTime(-61)", 'absTime("2001-02-03T04:05:06Z")'])
        return rng.choice(["undefined", "error"])

    def expr(self, kind, depth):
        rng = self.rng
        if rng.random() < 0.04:
            kind = rng.choice(["int", "real", "bool", "string", "list", "ad", "time", "odd"])
        if depth <= 0 or rng.random() < 0.12:
            return self.literal(kind) if rng.random() < 0.45 else self.ref(kind)
        e = lambda k: self.expr(k, depth - 1)                                        # noqa: E731
        num = lambda: e(rng.choice(["int", "int", "real", "bool"] if rng.random() < 0.1 else ["int", "real", "int"]))    # noqa: E731
        r = rng.random()
        if r < 0.06:
            return "(%s ? %s : %s)" % (e("bool"), e(kind), e(kind))
        if r < 0.09:
            return "((%s) ?: (%s))" % (e(kind), e(kind))
        if r < 0.11:
            return "ifThenElse(%s, %s, %s)" % (e("bool"), e(kind), e(kind))
        if r < 0.13:
            return "{%s, %s}[%s]" % (e(kind), e(kind), rng.choice(["0", "1", "2", "-1", "(%s) & 1" % e("int"), "Missing", "1.0"]))
        if r < 0.15:
            return "[z = %s].z" % e(kind)
        if kind == "int":
            return self.pick(
                lambda: "%s %s %s" % (self.paren(e("int")), rng.choice(["+", "-", "*", "/", "%", "&", "|", "^"]), self.paren(e("int"))),
                lambda: "%s %s %s" % (self.paren(e("int")), rng.choice(["+", "-", "*"]), self.paren(e("int"))),
                lambda: "%s %s %d" % (self.paren(e("int")), rng.choice(["<<", ">>", ">>>"]), rng.choice([1, 3, 8, 31, 63])),
                lambda: "%s%s" % (rng.choice(["-", "~", "+"]), self.paren(e("int"))),
                lambda: "int(%s)" % e(rng.choice(["real", "string", "bool", "time"])),
                lambda: "%s(%s)" % (rng.choice(["floor", "ceiling", "round"]), e("real")),
                lambda: "size(%s)" % e(rng.choice(["list", "string", "ad"])),
                lambda: "stringListSize(%s)" % e("string"),
                lambda: "strcmp(%s, %s)" % (e("string"), e("string")),
                lambda: "versioncmp(%s, %s)" % (e("string"), e("string")),
                lambda: "quantize(%s, %s)" % (e("int"), rng.choice(["4", "128", "{8, 64, 512}"])),
                lambda: "(%s).p" % e("ad"))()
        if kind == "real":
            return self.pick(
                lambda: "%s %s %s" % (self.paren(num()), rng.choice(["+", "-", "*", "/"]), self.paren(e("real"))),
                lambda: "%s %s %s" % (self.paren(e("real")), rng.choice(["+", "-", "*", "/"]), self.paren(num())),
                lambda: "-%s" % self.paren(e("real")),
                lambda: "real(%s)" % e(rng.choice(["int", "string", "bool"])),
                lambda: "%s(%s)" % (rng.choice(["sum", "avg", "min", "max"]), e("list")),
                lambda: "pow(%s, %s)" % (e("real"), rng.choice(["2", "0.5", "3"])))()
        if kind == "bool":
            return self.pick(
                lambda: "%s %s %s" % (self.paren(num()), rng.choice(["<", "<=", ">", ">=", "==", "!="]), self.paren(num())),
                lambda: "%s %s %s" % (self.paren(e("bool")), rng.choice(["&&", "||"]), self.paren(e("bool"))),
                lambda: "%s %s %s" % (self.paren(e("bool")), rng.choice(["&&", "||"]), self.paren(e("bool"))),
                lambda: "%s %s %s" % (self.paren(e("string")), rng.choice(["==", "!=", "<", ">="]), self.paren(e("string"))),
                lambda: "%s %s %s" % (self.paren(e(rng.choice(["int", "string", "bool", "real"]))), rng.choice(["=?=", "=!=", "is", "isnt"]), self.paren(e(rng.choice(["int", "string", "odd", "real"])))),
                lambda: "!%s" % self.paren(e("bool")),
                lambda: "%s(%s)" % (rng.choice(["isUndefined", "isError", "isString", "isInteger", "isReal", "isList", "isBoolean"]), e(rng.choice(["int", "string", "odd", "real", "list", "bool"]))),
                lambda: "member(%s, %s)" % (e(rng.choice(["int", "string"])), e("list")),
                lambda: "stringListMember(%s, %s)" % (e("string"), e("string")),
                lambda: "regexp(\"%s\", %s)" % (rng.choice(["^a", "b", "[0-9]+", "x.6", "o$"]), e("string")),
                lambda: "%s(%s, %s)" % (rng.choice(["versionLT", "versionGE", "versionEQ"]), e("string"), e("string")),
                lambda: "%s(\"%s\", %s, %s)" % (rng.choice(["anyCompare", "allCompare"]), rng.choice(["<", ">=", "==", "isnt"]), e("list"), e(rng.choice(["int", "string"]))))()
        if kind == "string":
            return self.pick(
                lambda: "strcat(%s, %s)" % (e("string"), e(rng.choice(["string", "int", "real", "bool"]))),
                lambda: "%s(%s)" % (rng.choice(["toUpper", "toLower"]), e("string")),
                lambda: "substr(%s, %s, %s)" % (e("string"), e("int"), e("int")),
                lambda: "string(%s)" % e(rng.choice(["int", "real", "bool", "list", "ad", "time"])),
                lambda: "join(%s, %s)" % (e("string"), e("list")),
                lambda: "replace(\"%s\", %s, %s)" % (rng.choice(["a", "[aeiou]", "(.)(.)"]), e("string"), rng.choice(['"-"', '"<\\\\0>"', e("string")])),
                lambda: "interval(%s)" % e("int"),
                lambda: "formatTime(%s, \"%%Y-%%m-%%d %%H\")" % rng.choice(["1000000000", "absTime(86400)", "0"]),
                lambda: "(%s).q" % e("ad"))()
        if kind == "list":
            return self.pick(
                lambda: "{%s}" % ", ".join(e(rng.choice(["int", "string", "real", "bool"])) for _ in range(rng.randint(1, 3))),
                lambda: "split(%s)" % e("string"),
                lambda: "evalInEachContext(p + 1, {%s, %s})" % (e("ad"), e("ad")),
                lambda: "({%s, %s}).p" % (e("ad"), e("ad")))()
        if kind == "ad":
            return self.pick(
                lambda: "[p = %s; q = %s]" % (e("int"), e("string")),
                lambda: "[p = %s; q = %s; r = p]" % (e("int"), e("string")))()
        if kind == "time":
            return self.pick(
                lambda: "%s + relTime((%s) %% 100000)" % (self.paren(e("time")), e("int")),
                lambda: "%s - %s" % (self.paren(e("time")), self.paren(e("time"))),
                lambda: "relTime(%s) * ((%s) %% 1000)" % (rng.choice(["60", "1.5"]), e("int")))()
        return self.literal("odd")

    def paren(self, text):
        if re.fullmatch(r"[\w.]+|\"[^\"\\]*\"", text):
            return text
        return "(%s)" % text if self.rng.random() < 0.85 or text.startswith("-") else text

    def ad(self, depth):
        rng = self.rng
        items = []
        for name, kind in self.attrs.items():
            if rng.random() < 0.12:
                text = self.expr(kind, depth)
            elif rng.random() < 0.25:
                text = self.expr(kind, 1)
            else:
                text = self.literal(kind)
            items.append("%s = %s" % (name, text))
        rng.shuffle(items)
        return "[%s]" % "; ".join(items)


ATTRS = ["Cpus", "Memory", "Disk", "Owner", "Arch", "Rank", "LoadAvg", "State", "Flag", "Tags", "Sub", "Age", "Job", "Values", "When", "Ok"]
KINDS = {"Cpus": "int", "Memory": "int", "Disk": "int", "Owner": "string", "Arch": "string", "Rank": "real", "LoadAvg": "real", "State": "string",
         "Flag": "bool", "Tags": "list", "Sub": "ad", "Age": "int", "Job": "ad", "Values": "list", "When": "time", "Ok": "bool"}


def gen_rand(out, rng, scale):
    for _ in range(int(1300 * scale)):
        match = rng.random() < 0.35
        attrs = {n: KINDS[n] for n in rng.sample(ATTRS, rng.randint(4, 10))}
        maker = Random(rng, attrs, match)
        ad = maker.ad(2)
        target = None
        if match:
            other = Random(rng, {n: KINDS[n] for n in rng.sample(ATTRS, rng.randint(3, 8))}, match)
            target = other.ad(2)
            maker.attrs = {**other.attrs, **attrs}
        for _ in range(7):
            kind = rng.choice(["int", "real", "bool", "bool", "string", "list", "ad", "time"])
            out.add("rand/match" if match else "rand/ad", maker.expr(kind, rng.randint(1, 5)), ad, target)
        out.add("rand/match" if match else "rand/ad", rng.choice(list(attrs)), ad, target)


# --------------------------------------------------------------------- lexical

def gen_lex(out, rng, scale):
    curated(out, "lex", "lex/curated")
    pieces = ["1", "a", '"s"', "(", ")", "{", "}", "[", "]", ",", ";", "=", "==", "+", "-", "*", "/", "!", "~", "?", ":", "?:", ".", "..", "&&", "||", "&", "|", "<", "<=", "<<", ">>>", "=?=", "is", "isnt",
              "'q r'", "true", "undefined", "1.5", ".5", "1e3", "f(", "//", "/*", "*/", " ", "\\", "'", "parent", "a.b", "error"]
    for _ in range(int(1200 * scale)):
        out.add("lex/soup", " ".join(rng.choice(pieces) for _ in range(rng.randint(2, 6))))
    for digits in ("0", "7", "8", "9", "10", "100", "12345678901"):
        for form in ("%s", "%s.0", "%s.25", "%se2", "%sE-2", "%s.5e+3", ".%s", "-%s", "+%s", "%s.e1", "%se", "(%s)", "- %s"):
            out.add("lex/number", form % digits)
    for char in range(1, 256):
        out.add("lex/octal", '"\\%03o"' % char)
        out.add("lex/octal", 'size("x\\%03oy")' % char)
    for char in range(32, 127):
        if chr(char) not in "01234567":
            out.add("lex/escape", '"\\%c"' % char if chr(char) != '"' else '"\\""')
    for word in ("true", "TRUE", "True", "undefined", "UNDEFINED", "error", "Error", "is", "IS", "isnt", "parent", "Parent", "self", "root", "my", "target", "other", "null", "toplevel", "x is", "and", "not"):
        for form in ("%s", "[%s = 5].a", "['%s' = 5].'%s'" % (word, word), "[a = 5; %s = 6]", "a.%s", "%s + 1", "string({%s, a.%s})" % (word, word), "(%s)", "%s.x", "!%s"):
            out.add("lex/word", form % word if "%s" in form else form)


GROUPS = {"op": gen_op, "fn": gen_fn, "ref": gen_ref, "match": gen_match, "rand": gen_rand, "lex": gen_lex}


def generate(seed=1, scale=1.0, groups=None):
    out = Out()
    for name, make in GROUPS.items():
        if not groups or any(g.split("/")[0] == name for g in groups):
            make(out, random.Random("%s/%s" % (seed, name)), scale)
    cases = out.cases
    if groups:
        cases = [c for c in cases if any(c["id"].startswith(g) for g in groups)]
    return cases


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("-o", "--output", default="-")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--scale", type=float, default=1.0, help="more (or fewer) random cases")
    parser.add_argument("--group", action="append", help="only ids that start so")
    args = parser.parse_args()
    out = sys.stdout if args.output == "-" else open(args.output, "w", encoding="utf-8")
    for case in generate(args.seed, args.scale, args.group):
        out.write(json.dumps(case) + "\n")


if __name__ == "__main__":
    main()
