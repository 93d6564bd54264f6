#!/usr/bin/env python3
"""Measures commands over many gigabytes of history, with one thread and with two; `benches/SCALE.md` has the results.

    history.py make PROGRAM FOLDER FILES        makes history files of 17 MB and 5,300 jobs, with HTCondor's banners
    history.py growth PROGRAM FOLDER [ROUNDS]   the commands over 6, 58 and all files
    history.py compare PROGRAM FOLDER TREE      beside condor_history of a tree of tests/pool/run, as root; compares outputs

PROGRAM is the classad to measure. The rows are Markdown. A cell has the elapsed time, the processor's time (user and system) and
the peak resident memory of the fastest round; memory below 15 MB is not seen. The commands of a row run in turns.
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import time

JOBS = 5300
COLUMNS = (
    "ClusterId ProcId GlobalJobId Owner AcctGroup JobStatus JobUniverse QDate CompletionDate EnteredCurrentStatus "
    "RemoteWallClockTime RemoteUserCpu RemoteSysCpu RequestCpus RequestMemory RequestDisk ResidentSetSize ImageSize "
    "NumJobStarts Cmd"
).split()
WORKS = {
    "`query 'RequestMemory > 16000 && JobUniverse == 5' --count`": [
        "query", "RequestMemory > 16000 && JobUniverse == 5", "--count"],
    "`query true --group-by Owner --sum RequestMemory`": ["query", "true", "--group-by", "Owner", "--sum", "RequestMemory"],
    "`census`": ["census"],
    "`query true --af` 20 columns `-o parquet`": [
        "query", "true", *(word for name in COLUMNS for word in ("--af", name)), "-o", "parquet"],
}
# Options that condor_history and query share.
QUESTIONS = {
    "rows of one owner's jobs with much memory": [
        "-constraint", 'Owner == "user49" && RequestMemory > 8000', "-af", "ClusterId", "ProcId", "RequestMemory"],
    "rows of three columns of all jobs": ["-af", "ClusterId", "Owner", "RequestMemory"],
    "rows of an expression of all jobs": ["-af", "ClusterId", "RequestMemory * RequestCpus / 1024.0", "Requirements"],
}


def make(program, folder, files):
    """Each ad ends with a banner, as in the history of a schedd."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(int(files)):
        arguments = ["workload", "pool", "--kind", "jobs", "--jobs", str(JOBS), "--seed", str(number)]
        text = subprocess.run([program, *arguments], check=True, capture_output=True).stdout
        offset, records = 0, []
        for ad in text.strip().split(b"\n\n"):
            names = dict(line.split(b" = ", 1) for line in ad.split(b"\n"))
            banner = b"*** Offset = %d ClusterId = %s ProcId = %s Owner = %s CompletionDate = %s CurrentTime = 1760000000\n"
            record = ad + b"\n" + banner % (offset, *(names[name] for name in (b"ClusterId", b"ProcId", b"Owner", b"CompletionDate")))
            records.append(record)
            offset += len(record)
        (folder / f"history.{number:04}").write_bytes(b"".join(records))


class Run:
    """One run of a command: its times in seconds, its memory in bytes. Its notes are dropped; if it fails, it ends the program."""

    def __init__(self, command, output=os.devnull):
        start = time.monotonic()
        with open(output, "wb") as file:
            process = subprocess.Popen(command, stdout=file, stderr=subprocess.DEVNULL)
            _, status, usage = os.wait4(process.pid, 0)
        self.elapsed = time.monotonic() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            sys.exit(f"{command[:6]} exits with {process.returncode}")
        self.processor = usage.ru_utime + usage.ru_stime
        self.memory = usage.ru_maxrss * 1024

    def __str__(self):
        return f"{self.elapsed:.2f} s, CPU {self.processor:.2f} s, {self.memory / 1e6:.0f} MB"


def in_turns(rounds, runs):
    """The fastest of some rounds, of each of several runs."""
    done = [[run() for run in runs] for _ in range(rounds)]
    return [min(of_one, key=lambda run: run.processor) for of_one in zip(*done)]


def growth(program, folder, rounds="2"):
    files = sorted(str(path) for path in folder.iterdir())
    for count in [6, 58, len(files)]:
        some = files[:count]
        size = sum(os.path.getsize(path) for path in some)
        subprocess.run(["cat", *some], stdout=subprocess.DEVNULL, check=True)
        print(f"\n{count} files, {size / 1e9:.2f} GB; load average {os.getloadavg()[0]:.1f}\n\n| work | 1 thread | 2 threads |\n| --- | --- | --- |")
        for name, arguments in WORKS.items():
            one, two = in_turns(int(rounds), [
                lambda threads=threads: Run([program, *arguments, "--threads", threads, *some]) for threads in "12"])
            print(f"| {name} | {one} | {two} |", flush=True)
        (plain,) = in_turns(int(rounds), [lambda: Run(["cat", *some])])
        print(f"| `cat` | {plain} | |", flush=True)
    print(f"\nload average at the end {os.getloadavg()[0]:.1f}")


def compare(program, folder, tree):
    inside = 'mount --bind "$1" "$2/mnt" && tree=$2 && shift 2 && exec chroot "$tree" condor_history "$@"'
    outputs = tempfile.TemporaryDirectory()
    theirs, ours = (f"{outputs.name}/{whose}" for whose in ("theirs", "ours"))
    for path in sorted(folder.iterdir()):
        print(f"\n{path.name}, {path.stat().st_size / 1e6:.0f} MB; load average {os.getloadavg()[0]:.1f}\n\n"
              "| question | rows | `condor_history` | `query`, 1 thread | CPU, times |\n| --- | --- | --- | --- | --- |")
        for name, options in QUESTIONS.items():
            one, other = in_turns(2, [
                lambda: Run(["unshare", "--mount", "sh", "-c", inside, "sh", str(folder.resolve()), tree,
                             "-file", f"/mnt/{path.name}", *options], theirs),
                lambda: Run([program, "query", "-file", str(path), "-backwards", *options, "--threads", "1"], ours)])
            subprocess.run(["cmp", theirs, ours], check=True)
            with open(ours, "rb") as file:
                rows = sum(1 for _ in file)
            print(f"| {name} | {rows} | {one} | {other} | {one.processor / other.processor:.0f} |", flush=True)
    outputs.cleanup()


work, program, folder, *rest = sys.argv[1:]
{"make": make, "growth": growth, "compare": compare}[work](program, pathlib.Path(folder), *rest)
