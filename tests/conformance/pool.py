#!/usr/bin/env python3
"""Writes a small pool for match_sample.py: pool.py FOLDER makes jobs.long and machines.long, by a fixed seed.

Machines are static and partitionable slots with a START expression in their Requirements; jobs ask for
processors, memory, disk, an operating system, sometimes for something that few or no machines have.
"""
import os
import random
import sys


def quoted(text):
    return '"' + text.replace('"', '\\"') + '"'


def machine(rng, index):
    host = "node%03d.example.org" % (index // 4)
    partitionable = rng.random() < 0.3
    ad = {
        "Name": quoted("slot%d@%s" % (index % 4 + 1, host)),
        "Machine": quoted(host),
        "MyType": '"Machine"',
        "Arch": quoted(rng.choice(["X86_64", "X86_64", "X86_64", "AARCH64"])),
        "OpSys": '"LINUX"',
        "OpSysMajorVer": rng.choice([7, 8, 9, 9]),
        "Cpus": rng.choice([1, 2, 4, 8, 16, 32]),
        "Memory": rng.choice([1024, 2048, 4096, 16384, 65536, 131072]),
        "Disk": rng.randrange(10**6, 10**9),
        "KFlops": rng.randrange(500000, 2000000),
        "LoadAvg": "%.2f" % (rng.random() * 2),
        "KeyboardIdle": rng.choice([5, 400, 1200, 90000]),
        "PartitionableSlot": str(partitionable).lower(),
        "State": quoted(rng.choice(["Unclaimed", "Unclaimed", "Owner"])),
        "Start": rng.choice([
            "true",
            "KeyboardIdle > 15 * 60 && LoadAvg < 1.5",
            "TARGET.RequestMemory <= 8192 || TARGET.Owner == \"alice\"",
            "ifThenElse(isUndefined(TARGET.Department), false, TARGET.Department == \"physics\")",
            "member(TARGET.Owner, { \"alice\", \"bob\", \"carol\" })",
        ]),
        "Requirements": "START && (State != \"Owner\" || TARGET.JobPrio > 5)",
        "Rank": rng.choice(["0.0", "TARGET.JobPrio", "(TARGET.Owner == \"bob\") * 10 + TARGET.JobPrio", "Department =?= TARGET.Department"]),
    }
    if rng.random() < 0.2:
        ad["GPUs"] = rng.choice([1, 2, 4])
        ad["GPUs_Capability"] = rng.choice(["7.0", "8.0", "8.6"])
    if rng.random() < 0.3:
        ad["Department"] = quoted(rng.choice(["physics", "biology"]))
    return ad


def job(rng, cluster):
    ad = {
        "MyType": '"Job"',
        "ClusterId": cluster,
        "ProcId": rng.randrange(3),
        "Owner": quoted(rng.choice(["alice", "bob", "carol", "dave"])),
        "JobPrio": rng.randrange(0, 10),
        "RequestCpus": rng.choice([1, 1, 1, 2, 4, 8]),
        "RequestMemory": rng.choice(["1024", "2048", "ifThenElse(MemoryUsage =!= undefined, MemoryUsage, 3000)", "60000"]),
        "RequestDisk": "DiskUsage",
        "DiskUsage": rng.randrange(1000, 10**7),
        "Rank": rng.choice(["0.0", "TARGET.KFlops", "TARGET.Memory - RequestMemory", "-LoadAvg"]),
    }
    clauses = [
        rng.choice(['(TARGET.Arch == "X86_64")', '(Arch == "x86_64")', '(TARGET.Arch != "INTEL")']),
        '(TARGET.OpSys == "LINUX")',
        "(TARGET.Disk >= RequestDisk)",
        "(TARGET.Memory >= RequestMemory)",
        "(TARGET.Cpus >= RequestCpus)",
    ]
    if rng.random() < 0.3:
        clauses.append(rng.choice([
            "(OpSysMajorVer >= 8)", "(TARGET.GPUs_Capability >= 8.0)", "regexp(\"^slot[12]@\", TARGET.Name)",
            "(TARGET.HasTheLatest =?= true)", "stringListIMember(TARGET.Machine, \"NODE001.example.org, node002.example.org\")",
        ]))
    ad["Requirements"] = " && ".join(clauses)
    if rng.random() < 0.5:
        ad["Department"] = quoted(rng.choice(["physics", "biology"]))
    return ad


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    rng = random.Random(25)
    for name, ads in [
        ("machines", [machine(rng, i) for i in range(300)]),
        ("jobs", [job(rng, i) for i in range(400)]),
    ]:
        with open(os.path.join(folder, name + ".long"), "w", encoding="utf-8") as out:
            for ad in ads:
                out.writelines("%s = %s\n" % item for item in ad.items())
                out.write("\n")


if __name__ == "__main__":
    main()
