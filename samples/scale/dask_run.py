"""Runs a classad command over parts of files on the workers of a Dask cluster, and prints what one run prints.

    python dask_run.py SCHEDULER SIZE COMMAND...
    python dask_run.py tcp://head:8786 1G query 'JobUniverse == 5' --group-by Owner /shared/history*

The workers need classad, and see the files under the names that they have here. A part whose worker dies runs again.
"""

import subprocess
import sys
import tempfile

from dask.distributed import Client


def run(line):
    return subprocess.run(line, shell=True, check=True, stdout=subprocess.PIPE).stdout


scheduler, size, *command = sys.argv[1:]
with tempfile.TemporaryDirectory() as folder, Client(scheduler) as client:
    plan = f"{folder}/plan.json"
    scatter = ["classad", "scatter", "--command", "--plan", plan, "--size", size, "--", *command]
    lines = subprocess.run(scatter, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    partials = client.gather(client.map(run, lines, retries=3, pure=False))
    names = [f"{folder}/{number}.part" for number in range(len(partials))]
    for name, partial in zip(names, partials):
        with open(name, "wb") as file:
            file.write(partial)
    sys.exit(subprocess.run(["classad", "merge", "--plan", plan, *names]).returncode)
