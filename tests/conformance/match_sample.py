#!/usr/bin/env python3
"""Compare `classad match` with plain double loops over HTCondor's library.

usage: match_sample.py JOBS MACHINES [--binary PATH] [--sample N] [--show N]

JOBS and MACHINES are files of ads in the long form.  A sample of the jobs, spread
over the file, are the only requests: in order, each takes the best machine that
is still free (both Requirements true, or a number other than 0; then highest Rank
of the job, highest Rank of the machine, first in the file).  The same sample is
written to a file and given to `BINARY match --all-states SAMPLE --pool MACHINES -o tsv`: the
loops know no states.
"""
import argparse
import gzip
import os
import re
import subprocess
import sys
import tempfile

os.environ["TZ"] = "UTC"
os.environ.setdefault("CONDOR_CONFIG", "/dev/null")


def read_texts(path):
    with open(path, "rb") as f:
        data = f.read()
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    chunks = re.split(r"\n[ \t\r]*\n", data.decode("utf-8", "surrogateescape"))
    return [c.strip("\n") + "\n" for c in chunks if "=" in c]


def truth(value):
    """bool, or number other than 0; classad2 gives enums for undefined and error."""
    return value is True or type(value) in (int, float) and value != 0


def rank(value):
    return float(value) if type(value) in (bool, int, float) and value == value else 0.0


class Ad:
    def __init__(self, classad2, text):
        self.ad = next(classad2.parseAds(text, classad2.ParserType.Old))
        self.requirements = self.find("Requirements")
        self.rank = self.find("Rank")
        if self.find("Name") is not None:
            self.id = self.ad.eval("Name")
        else:
            self.id = "%s.%s" % (self.ad.eval("ClusterId"), self.ad.eval("ProcId"))

    def find(self, name):
        try:
            return self.ad.lookup(name)
        except KeyError:
            return None

    def accepts(self, other):
        return self.requirements is not None and truth(self.requirements.eval(self.ad, other.ad))

    def ranks(self, other):
        return 0.0 if self.rank is None else rank(self.rank.eval(self.ad, other.ad))


def expected(jobs, machines):
    free = list(range(len(machines)))
    out = {}
    for job in jobs:
        best = None
        for i in free:
            machine = machines[i]
            if job.accepts(machine) and machine.accepts(job):
                key = (-job.ranks(machine), -machine.ranks(job), i)
                if best is None or key < best:
                    best = key
        if best is None:
            out[job.id] = (None, None)
        else:
            free.remove(best[2])
            out[job.id] = (machines[best[2]].id, (-best[0], -best[1]))
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("jobs")
    parser.add_argument("machines")
    parser.add_argument("--binary", default="classad")
    parser.add_argument("--sample", type=int, default=40)
    parser.add_argument("--show", type=int, default=50)
    args = parser.parse_args()

    import htcondor2  # noqa: F401  (first: selects the tools' dialect)
    import classad2

    texts = read_texts(args.jobs)
    count = min(args.sample, len(texts))
    texts = [texts[i * len(texts) // count] for i in range(count)]
    jobs = [Ad(classad2, t) for t in texts]
    machines = [Ad(classad2, t) for t in read_texts(args.machines)]
    want = expected(jobs, machines)

    with tempfile.TemporaryDirectory() as folder:
        sample = os.path.join(folder, "sample.long")
        with open(sample, "w", encoding="utf-8", errors="surrogateescape") as f:
            f.write("\n".join(texts))
        run = subprocess.run([args.binary, "match", "--all-states", sample, "--pool", args.machines, "-o", "tsv"],
                             stdout=subprocess.PIPE, env=dict(os.environ))
    got = {}
    for row in run.stdout.decode("utf-8", "replace").splitlines()[1:]:
        cells = row.split("\t")
        if len(cells) >= 2:
            got[cells[0]] = (cells[1] or None, cells[2:])

    passed = failed = 0
    if run.returncode not in (0, 1) or not run.stdout:
        print("%s: exit status %d, %d bytes of output" % (args.binary, run.returncode, len(run.stdout)))
        failed += 1
    for job in jobs:
        offer, ranks = want[job.id]
        ours, our_ranks = got.pop(job.id, (None, None))
        if offer == ours:
            passed += 1
            continue
        failed += 1
        if failed <= args.show:
            print("%s: library %s %s, ours %s %s" % (job.id, offer, ranks, ours, our_ranks))
    for extra in got:
        failed += 1
        print("%s: not in the sample, ours %s" % (extra, got[extra][0]))
    print("%d jobs, %d machines, %d matched by the library; exit status of the tool %d" % (
        len(jobs), len(machines), sum(o is not None for o, _ in want.values()), run.returncode))
    print("%d passed, %d failed" % (passed, failed))
    sys.exit(1 if failed or not passed else 0)


if __name__ == "__main__":
    main()
