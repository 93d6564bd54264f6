#!/usr/bin/env python3
"""HTCondor's own library at the same work.

peer.py serve            a line of JSON in, [TASK, ARGUMENT...]; a line out: [seconds, answer]
peer.py query CONSTRAINT FILE    what `classad query CONSTRAINT FILE --af Name` prints
peer.py parse FILE...            merely parses
"""
import json
import os
import sys
import time

os.environ.setdefault("CONDOR_CONFIG", "/dev/null")
import htcondor2  # noqa: E402,F401  (first: selects the tools' dialect)
import classad2  # noqa: E402


def texts(path):
    """The text of each ad of a file, in the long form or in brackets."""
    with open(path, encoding="utf-8") as file:
        end = "]\n" if path.endswith(".new") else "\n"
        lines = []
        for line in file:
            lines.append(line)
            if line == end:
                yield "".join(lines)
                lines = []


def parsed(path):
    kind = classad2.ParserType.New if path.endswith(".new") else classad2.ParserType.Old
    return (classad2.parseOne(text, kind) for text in texts(path))


def timed(work):
    start = time.perf_counter()
    answer = work()
    return [time.perf_counter() - start, answer]


def parse(path):
    """Seconds for the parsing alone."""
    kind = classad2.ParserType.New if path.endswith(".new") else classad2.ParserType.Old
    pieces = list(texts(path))
    return timed(lambda: sum(classad2.parseOne(text, kind) is not None for text in pieces))


def query(path, constraint, rounds):
    """Seconds for asking ads in memory, again and again."""
    ads, expression = list(parsed(path)), classad2.ExprTree(constraint)
    return timed(lambda: [sum(expression.eval(ad) is True for ad in ads) for _ in range(rounds)][0])


def pairs(left, right, count):
    """Seconds for so many pairs, each request with 100 offers, as `match` tests them; how many match."""
    left, right = list(parsed(left)), list(parsed(right))
    sample = [(left[i // 100 * 7 % len(left)], right[i % 100 * 13 % len(right)]) for i in range(count)]
    return timed(lambda: sum(one.symmetricMatch(other) for one, other in sample))


def anonymous():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("RssAnon"))


def memory(path):
    """Bytes for each ad that is held.  To be asked first: what was given back before is not taken again."""
    before = anonymous()
    ads = list(parsed(path))
    return [(anonymous() - before) / len(ads), None]


def serve():
    tasks = {"parse": parse, "query": query, "pairs": pairs, "memory": memory}
    for line in sys.stdin:
        task, *arguments = json.loads(line)
        print(json.dumps(tasks[task](*arguments)), flush=True)


def main():
    command, *arguments = sys.argv[1:]
    if command == "serve":
        serve()
    elif command == "query":
        expression = classad2.ExprTree(arguments[0])
        for ad in parsed(arguments[1]):
            if expression.eval(ad) is True:
                print(ad["Name"])
    elif command == "parse":
        for path in arguments:
            for _ in parsed(path):
                pass


if __name__ == "__main__":
    main()
