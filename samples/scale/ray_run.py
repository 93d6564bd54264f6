"""Runs a classad command over parts of files on the nodes of a Ray cluster, and prints what one run prints.

    python ray_run.py ADDRESS SIZE COMMAND...
    python ray_run.py head:6379 1G query 'JobUniverse == 5' --group-by Owner /shared/history*

The nodes need classad, and see the files under the names that they have here. A part whose node dies runs again.
"""

import contextlib
import subprocess
import sys
import tempfile

import ray


@ray.remote(max_retries=3, retry_exceptions=True)
def run(line):
    return subprocess.run(line, shell=True, check=True, stdout=subprocess.PIPE).stdout


address, size, *command = sys.argv[1:]
# Ray prints what happens to its nodes. It belongs to standard error: only merge writes the output.
with contextlib.redirect_stdout(sys.stderr), tempfile.TemporaryDirectory() as folder, ray.init(address=address):
    plan = f"{folder}/plan.json"
    scatter = ["classad", "scatter", "--command", "--plan", plan, "--size", size, "--", *command]
    lines = subprocess.run(scatter, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    partials = ray.get([run.remote(line) for line in lines])
    names = [f"{folder}/{number}.part" for number in range(len(partials))]
    for name, partial in zip(names, partials):
        with open(name, "wb") as file:
            file.write(partial)
    sys.exit(subprocess.run(["classad", "merge", "--plan", plan, *names]).returncode)
