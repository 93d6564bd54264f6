"""Runs a classad command over parts of files on the executors of a Spark cluster, and prints what one run prints.

    python spark_run.py MASTER SIZE COMMAND...
    python spark_run.py spark://head:7077 1G query 'JobUniverse == 5' --group-by Owner /shared/history*

The executors need classad, and see the files under the names that they have here. A part whose executor dies runs again.
"""

import subprocess
import sys
import tempfile

from pyspark import SparkConf, SparkContext


def run(line):
    return subprocess.run(line, shell=True, check=True, stdout=subprocess.PIPE).stdout


master, size, *command = sys.argv[1:]
with tempfile.TemporaryDirectory() as folder, SparkContext(conf=SparkConf().setMaster(master)) as context:
    plan = f"{folder}/plan.json"
    scatter = ["classad", "scatter", "--command", "--plan", plan, "--size", size, "--", *command]
    lines = subprocess.run(scatter, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    partials = context.parallelize(lines, len(lines)).map(run).collect()
    names = [f"{folder}/{number}.part" for number in range(len(partials))]
    for name, partial in zip(names, partials):
        with open(name, "wb") as file:
            file.write(partial)
    sys.exit(subprocess.run(["classad", "merge", "--plan", plan, *names]).returncode)
