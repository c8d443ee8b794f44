#!/usr/bin/env python3
# Installs real packages in the sandbox with --yolo and nobody to ask. Fetches them outside first, through the
# ordinary clients, and compares what was installed with the same command outside.
"""usage: packages.py [--cairn PATH] [--only NAME,...]

Fifty packages of npm, PyPI and crates.io, each in a project of its own, must install without a question and be
kept whole. `husky`, which writes git hooks, is the control: it must need a person.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile

NPM = ["express", "lodash", "react", "typescript", "eslint", "prettier", "chalk", "axios", "commander", "esbuild",
       "core-js", "rimraf", "uuid", "semver", "yargs", "webpack", "zod", "mocha", "ws", "jsdom"]
PYPI = ["requests", "flask", "click", "rich", "attrs", "pyyaml", "numpy", "pytest", "jinja2", "six", "black", "httpx",
        "pydantic", "sqlalchemy", "setuptools"]
CRATES = ["itoa", "serde", "anyhow", "libc", "log", "bitflags", "memchr", "smallvec", "regex", "thiserror", "semver",
          "once_cell", "proc-macro2", "byteorder", "cfg-if"]


class Package:
    """One package: how its project is laid out and fetched outside, and what installs it."""

    def __init__(self, client, name):
        self.client, self.name = client, name

    def lay_out(self, project):
        os.makedirs(project)
        {"npm": self.lay_out_npm, "pip": self.lay_out_pip, "cargo": self.lay_out_cargo}[self.client](project)
        shell(project, "git init -q && git add -A && git -c user.name=t -c user.email=t@localhost commit -qm begin")

    def lay_out_npm(self, project):
        write(project, ".gitignore", "node_modules/\n")
        write(project, "package.json", json.dumps({"name": "sample", "version": "1.0.0", "private": True}))
        shell(project, f"npm install --no-audit --no-fund --ignore-scripts {self.name} && npm ci --no-audit --no-fund --ignore-scripts && rm -rf node_modules")

    def lay_out_pip(self, project):
        write(project, ".gitignore", ".venv/\nwheels/\n")
        shell(project, f"python3 -m pip download --quiet --dest wheels {self.name}")

    def lay_out_cargo(self, project):
        write(project, ".gitignore", "target/\n")
        write(project, "src/main.rs", "fn main() {}\n")
        write(project, "Cargo.toml", "[package]\nname = \"sample\"\nversion = \"1.0.0\"\nedition = \"2021\"\n\n[workspace]\n")
        shell(project, f"cargo add --quiet {self.name} && cargo fetch --quiet")

    def install(self):
        if self.client == "npm":
            return "npm ci --offline --no-audit --no-fund"
        if self.client == "pip":
            return ("python3 -m venv .venv && .venv/bin/python -m pip install --quiet --no-compile --no-index "
                    f"--find-links wheels {self.name}")
        return "cargo build --offline --quiet"

    def installed(self, project):
        """The files that were installed, with what can be compared of them."""
        folder = {"npm": "node_modules", "pip": ".venv", "cargo": "target/debug/deps"}[self.client]
        found = set()
        for place, _, files in os.walk(os.path.join(project, folder)):
            if "__pycache__" in place:
                continue
            for file in files:
                path = os.path.join(place, file)
                name = os.path.relpath(path, project)
                if self.client == "cargo":
                    found.add(name.rsplit("-", 1)[0])
                else:
                    found.add((name, os.lstat(path).st_mode))
        return found


def shell(project, command):
    done = subprocess.run(["bash", "-c", command], cwd=project, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{command}: exit code {done.returncode}\n{done.stdout[-1000:]}{done.stderr[-2000:]}")


def write(project, path, text):
    path = os.path.join(project, path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(text)


def rows(cairn, project, home, command):
    """Runs one command as an agent with --yolo and nobody there; returns its `op/settled` events and all events."""
    script = os.path.join(home, "script.json")
    write(home, "script.json", json.dumps({"cairn_script": 1, "name": "packages", "replies": [
        {"calls": [{"tool": "bash", "args": {"command": command, "timeout": 600000}}]}, {"say": "done"}]}))
    environment = {**os.environ, "CAIRN_HOME": os.path.join(home, "home")}
    done = subprocess.run([cairn, "run", "--yolo", "--json", "--model", f"scripted/{script}", "install"], cwd=project,
                          env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    events = [json.loads(line) for line in done.stdout.splitlines()]
    if not events:
        raise RuntimeError(done.stderr)
    return [event for event in events if event["type"] == "op/settled"], events


def check(cairn, package, base):
    """Returns what is wrong; nothing where the package is installed and kept without a question."""
    inside, outside, home = (os.path.join(base, part) for part in ("inner", "outer", "state"))
    package.lay_out(inside)
    shutil.copytree(inside, outside, symlinks=True)
    os.makedirs(home)
    shell(outside, package.install())
    settled, events = rows(cairn, inside, home, package.install())
    if any(event["type"] == "proposal/opened" for event in events):
        return "it was asked about"
    if [(row["status"], row.get("exit")) for row in settled] != [(200, 0)]:
        return f"{settled}"
    expected, found = package.installed(outside), package.installed(inside)
    if not expected or expected != found:
        return f"{len(expected)} files outside, {len(found)} kept; differing: {sorted(expected ^ found)[:5]}"
    return None


def husky_needs_a_person(cairn, base):
    project, home = os.path.join(base, "inner"), os.path.join(base, "state")
    package = Package("npm", "husky")
    package.lay_out(project)
    os.makedirs(home)
    settled, _ = rows(cairn, project, home, package.install() + " && ./node_modules/.bin/husky init")
    if [row["status"] for row in settled] != [403]:
        return f"husky was not refused: {settled}"
    return "husky left hooks behind" if os.path.exists(os.path.join(project, ".husky")) else None


def main():
    arguments = argparse.ArgumentParser()
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    arguments.add_argument("--cairn", default=os.path.join(root, "target", "debug", "cairn"))
    arguments.add_argument("--only", default="")
    given = arguments.parse_args()
    packages = [Package(client, name) for client, names in [("npm", NPM), ("pip", PYPI), ("cargo", CRATES)]
                for name in names if not given.only or name in given.only.split(",")]
    cairn, wrong = os.path.realpath(given.cairn), []
    for package in packages:
        with tempfile.TemporaryDirectory(prefix="cairn-packages-") as base:
            try:
                problem = check(cairn, package, base)
            except RuntimeError as error:
                problem = str(error)
        print(f"{package.client} {package.name}: {problem or 'kept'}", flush=True)
        wrong += [f"{package.client} {package.name}: {problem}"] if problem else []
    with tempfile.TemporaryDirectory(prefix="cairn-packages-") as base:
        problem = husky_needs_a_person(cairn, base)
    wrong += [problem] if problem else []
    if wrong:
        sys.exit("\n".join(wrong))
    print(f"{len(packages)} packages kept without a question, husky needs a person")


main()
