#!/usr/bin/env python3
# Compares two builds of cairn in alternation: system calls, allocations and user time of a start and of a run
# of 20 turns. Prints medians and their ratios; fails where the new build needs more than it may.
"""usage: compare.py OLD NEW [--runs N]

OLD and NEW are cairn binaries. Needs strace and cc. Counts are of the whole process tree.
"""

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

# The new build may need at most this many times what the old one needs.
LIMITS = {"system calls": 1.02, "allocations": 1.02, "user time": 1.05}

COUNTER = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static unsigned long allocations;
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);

void *malloc(size_t n) { __atomic_add_fetch(&allocations, 1, __ATOMIC_RELAXED); return __libc_malloc(n); }
void *calloc(size_t n, size_t m) { __atomic_add_fetch(&allocations, 1, __ATOMIC_RELAXED); return __libc_calloc(n, m); }
void *realloc(void *p, size_t n) { __atomic_add_fetch(&allocations, 1, __ATOMIC_RELAXED); return __libc_realloc(p, n); }
int posix_memalign(void **p, size_t a, size_t n) {
    __atomic_add_fetch(&allocations, 1, __ATOMIC_RELAXED);
    *p = __libc_memalign(a, n);
    return *p ? 0 : 12;
}

__attribute__((destructor)) static void report(void) {
    const char *path = getenv("ALLOCATIONS");
    char exe[4096];
    ssize_t length = readlink("/proc/self/exe", exe, sizeof exe - 1);
    if (!path || length < 0) return;
    exe[length] = 0;
    int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (file < 0) return;
    dprintf(file, "%lu %s\n", allocations, exe);
    close(file);
}
"""


class Build:
    """One binary, and what was measured of it."""

    def __init__(self, name, path):
        self.name = name
        self.path = os.path.realpath(path)
        self.measured = {}

    def note(self, what, value):
        self.measured.setdefault(what, []).append(value)


def script_of(turns):
    """A scripted model that reads, edits and runs commands for this many turns."""
    replies = []
    for n in range(1, turns + 1):
        call = [
            {"tool": "read", "args": {"path": "notes.txt"}},
            {"tool": "edit", "args": {"path": "notes.txt", "old": f"line {n}\n", "new": f"line {n}, seen\n"}},
            {"tool": "bash", "args": {"command": f"echo {n} >> made.txt"}},
            {"tool": "write", "args": {"path": f"out/{n}.txt", "content": f"{n}\n"}},
        ][n % 4]
        replies.append({"say": f"Step {n}.", "calls": [call], "usage": {"input": 100, "output": 10}})
    return {"cairn_script": 1, "name": "compare", "replies": replies, "then": {"say": "Done."}}


def lay_out(place, turns):
    """A fresh project, home and script. Returns the command's arguments and its environment."""
    project = os.path.join(place, "project")
    os.makedirs(project)
    with open(os.path.join(project, "notes.txt"), "w") as file:
        file.write("".join(f"line {n}\n" for n in range(1, 41)))
    script = os.path.join(place, "script.json")
    with open(script, "w") as file:
        json.dump(script_of(turns), file)
    environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": place, "USER": "tester", "LANG": "C.UTF-8",
                   "CAIRN_HOME": os.path.join(place, "home")}
    arguments = ["run", "--json", "--yolo", "--model", f"scripted/{script}", "Go."]
    return project, arguments, environment


def run_in_fresh_place(build, turns, wrap, extra):
    """Runs the build once in a fresh place. Returns the user time of the process tree in seconds."""
    place = tempfile.mkdtemp(prefix="cairn-compare-")
    try:
        project, arguments, environment = lay_out(place, turns)
        process = subprocess.Popen([*wrap, build.path, *arguments], cwd=project, env={**environment, **extra},
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        errors = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            sys.exit(f"{build.name}: exit code {process.returncode}: {errors.decode(errors='replace')}")
        return usage.ru_utime
    finally:
        shutil.rmtree(place, ignore_errors=True)


def count_system_calls(build, turns, scratch):
    output = os.path.join(scratch, "strace")
    run_in_fresh_place(build, turns, ["strace", "-f", "-qq", "-c", "-o", output], {})
    with open(output) as file:
        total = re.search(r"^\s*[\d.]+\s+[\d.]+\s+\d+\s+(\d+)\s+(?:\d+\s+)?total$", file.read(), re.M)
    return int(total[1])


def count_allocations(build, turns, scratch, counter):
    output = os.path.join(scratch, "allocations")
    run_in_fresh_place(build, turns, [], {"LD_PRELOAD": counter, "ALLOCATIONS": output})
    with open(output) as file:
        lines = [line.split(" ", 1) for line in file]
    os.remove(output)
    return sum(int(count) for count, exe in lines if exe.strip() == build.path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--runs", type=int, default=50)
    given = parser.parse_args()
    builds = [Build("old", given.old), Build("new", given.new)]
    too_much = False
    with tempfile.TemporaryDirectory() as scratch:
        counter = os.path.join(scratch, "counter.so")
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", counter, "-x", "c", "-"], input=COUNTER.encode(), check=True)
        for what, turns in [("a start", 0), ("20 turns", 20)]:
            for build in builds:
                build.measured.clear()
            for n in range(given.runs):
                for build in builds if n % 2 == 0 else reversed(builds):
                    build.note("system calls", count_system_calls(build, turns, scratch))
                    build.note("allocations", count_allocations(build, turns, scratch, counter))
                    build.note("user time", run_in_fresh_place(build, turns, [], {}))
            for measure, limit in LIMITS.items():
                old, new = (statistics.median(build.measured[measure]) for build in builds)
                verdict = "" if new <= old * limit else f"  more than {limit} times"
                too_much |= bool(verdict)
                print(f"{what:10} {measure:13} old {old:12.6g}  new {new:12.6g}  {new / old:.3f}{verdict}", flush=True)
    sys.exit(1 if too_much else 0)


if __name__ == "__main__":
    main()
