#!/usr/bin/env python3
# Runs the long proofs and adds a row to docs/proofs.md when all hold. Proves nothing itself:
# each proof is a test or tool that counts, and a count that is not printed is a failed proof.
"""`make prove`: kills, crash points, power cuts, mutations, the long loop, floods, undos, op sequences, hostile paths and crash points, long lines, races, near misses, timeouts, runtime kills, escape probes, fuzzed surfaces, a local model and packages, counted."""

import concurrent.futures
import datetime
import hashlib
import os
import re
import shlex
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PAGE = os.path.join(ROOT, "docs", "proofs.md")
LOGS = os.path.join(ROOT, "target", "prove")
CARGO = shlex.split(os.environ.get("CARGO", "cargo"))
RULE = "|" + "---|" * 27 + "\n"
SIZES = {"CAIRN_KILLS": "200", "CAIRN_CRASH_POINTS": "2000", "CAIRN_POWER_CUTS": "100",
         "CAIRN_MUTATIONS": "2000", "CAIRN_FLOOD": "1500000000", "CAIRN_TIMEOUTS": "200",
         "CAIRN_UNDO_CASES": "2000", "CAIRN_UNDO_POINTS": "1000", "CAIRN_CASES": "400000", "CAIRN_RACES": "1000",
         "CAIRN_CHOICE_POINTS": "1000", "CAIRN_COMMIT_POINTS": "150", "CAIRN_LARGE_COMMIT_POINTS": "40", "CAIRN_OVERLAY_CASES": "5000",
         "CAIRN_OP_SEQUENCES": "10000", "CAIRN_PATHS": "100000", "CAIRN_LINE_MIB": "1024", "CAIRN_OP_POINTS": "1000", "CAIRN_LINES": "50000", "CAIRN_RUNTIME_KILLS": "50", "CAIRN_FUZZ_SECONDS": "60"}

def test(package, target, name):
    tests = ["--", "--nocapture", "--test-threads=1", name]
    return [*CARGO, "test", "--locked", "--package", package, "--test", target, *tests]

def with_model(command):
    return [os.path.join(ROOT, "tools", "local", "with_model.sh"), *command]

def proofs(sizes):
    """Each proof: its name, its command, and the counts to find in what it prints."""
    cuts = [os.path.join(ROOT, "tools", "power_cut.py"), "--cuts", sizes["CAIRN_POWER_CUTS"]]
    return [
        ("kills", test("cairn", "cli", "survive::kill_at_random"), [r"\d+ kills"]),
        ("crash points", test("cairn", "cli", "survive::a_crash_at_any"),
         [r"\d+ crash points of \d+"]),
        ("power cuts", cuts, [r"\d+ cuts, 0 acknowledged facts lost", r"\d+ facts acknowledged",
                              r"control: \d+ of \d+ cuts"]),
        ("mutations", test("cairn", "cli", "tamper"),
         [r"\d+ mutations judged the same", r"\d+ bits flipped"]),
        ("200 turns", test("cairn-runtime", "runs", "endurance"),
         [r"rows per turn \d+", r"bytes per turn \d+ early, \d+ late"]),
        ("floods", test("cairn-runtime", "runs", "flood::a_flood"),
         [r"\d+ bytes twice, \d+ KiB more memory"]),
        ("undos", test("cairn-runtime", "runs", "undo::undo_to_any"),
         [r"\d+ undos, \d+ with conflicts"]),
        ("undo crash points", test("cairn", "cli", "survive::an_undo"),
         [r"\d+ undo crash points of \d+"]),
        ("choice crash points", test("cairn", "cli", "choose::killed_after"),
         [r"\d+ crash points of \d+"]),
        ("commit crash points", test("cairn", "cli", "overlay_crash::what_a_command"),
         [r"\d+ commit crash points of \d+"]),
        ("overlay sequences", test("cairn-world", "world", "overlay_random::of_any_two"),
         [r"\d+ overlay sequences, \d+ with conflicts, 0 lost"]),
        ("op sequences", test("cairn-runtime", "runs", "ops_random::any_sequence"),
         [r"\d+ op sequences, \d+ ops, \d+ changes, all as the model says"]),
        ("hostile paths", test("cairn-runtime", "runs", "any_path::every_call"),
         [r"\d+ calls on any path, \d+ rows, 0 panics"]),
        ("op crash points", test("cairn", "cli", "op_crash"),
         [r"\d+ op crash points of \d+", r"\d+ edit crash points of \d+"]),
        ("long lines", test("cairn-runtime", "runs", "hostile::a_line"),
         [r"a line of \d+ MiB, \d+ MiB more memory"]),
        ("races", test("cairn", "cli", "decide::of_two"), [r"\d+ races, one decision each"]),
        ("near misses", test("cairn-text", "near_misses", "a_damaged_edit"),
         [r"\d+ damaged edits, 0 wrong"]),
        ("shell words", test("cairn-text", "shell", "alike::what_is_known"),
         [r"bash: \d+ lines, \d+ known, \d+ compared, 0 wrong",
          r"dash: \d+ lines, \d+ known, \d+ compared, 0 wrong"]),
        ("timeouts", test("cairn-sandbox", "sandbox", "nothing_survives_a"),
         [r"\d+ timeouts, 0 survivors", r"\d+ confined timeouts, 0 left after 250 ms, worst \d+ ms"]),
        ("runtime kills", test("cairn-sandbox", "sandbox", "care::nothing_survives_the_kill"),
         [r"\d+ kills of the runtime, 0 left after 250 ms, worst \d+ ms"]),
        ("escape probes", test("cairn-sandbox", "sandbox", "escape::no_probe_gets_out"),
         [r"\d+ probes denied as root, \d+ as 65534, \d+ not shown"]),
        ("fuzzed surfaces", test("cairn-surface", "fuzz", "no_text_breaks"),
         [rf"{surface}: \d+ inputs, 0 crashes, worst \d+x memory"
          for surface in ["tags", "heredoc", "envelope", "native"]]),
        ("local model", with_model(test("cairn-runtime", "runs", "local_model")),
         [r"(\d+) of \1 admitted by grammar, \d+ by schema, \d+ without",
          r"a whole run: \d+ replies, 0 refused"]),
        ("packages", [os.path.join(ROOT, "tools", "packages.py")],
         [r"\d+ packages kept without a question, husky needs a person"]),
    ]

# These measure time or memory, or count what is left a moment later: each of them runs by itself.
ALONE = {"200 turns", "floods", "long lines", "timeouts", "runtime kills"}

class Failed(Exception):
    """A proof does not hold, or could not be had."""

def last(count, text):
    """The last of what matches: some proofs print as they go."""
    found = list(re.finditer(count, text))
    return found[-1] if found else None

def run(name, command, counts, environment):
    """Runs one proof; gives its counts and time as a cell of the table."""
    print(f"{name}: {shlex.join(command)}", flush=True)
    log = os.path.join(LOGS, name.replace(" ", "-") + ".log")
    began = time.monotonic()
    with open(log, "w+") as output:
        code = subprocess.run(command, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL,
                              stdout=output, stderr=subprocess.STDOUT).returncode
        output.seek(0)
        text = output.read()
    took = round(time.monotonic() - began)
    if code:
        raise Failed(f"{name}: exit code {code} after {took} s\n{text[-3000:]}")
    found = [last(count, text) for count in counts]
    if None in found:
        raise Failed(f"{name}: it printed no {counts[found.index(None)]!r}; see {log}")
    cell = f"{'; '.join(match.group() for match in found)}; {took} s"
    print(f"  {cell}", flush=True)
    return cell

def run_all(all_proofs, environment):
    """Runs the proofs, as many at once as CAIRN_PROVE_AT_ONCE says; gives their cells in order. Ends with the first
    that fails; those that run by then are waited for."""
    at_once = int(os.environ.get("CAIRN_PROVE_AT_ONCE", min(2, os.cpu_count() or 1)))
    with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
        running = {proof[0]: pool.submit(run, *proof, environment)
                   for proof in all_proofs if proof[0] not in ALONE}
        done, _ = concurrent.futures.wait(running.values(),
                                          return_when=concurrent.futures.FIRST_EXCEPTION)
        if any(one.exception() for one in done):
            pool.shutdown(cancel_futures=True)
        cells = {name: one.result() for name, one in running.items() if not one.cancelled()}
    cells.update({proof[0]: run(*proof, environment) for proof in all_proofs if proof[0] in ALONE})
    return [cells[proof[0]] for proof in all_proofs]

def git(*args):
    return subprocess.run(["git", *args], cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout

def commit():
    """The commit as a person writes it down, and a hash that changes with any source."""
    head = git("rev-parse", "--short", "HEAD").decode().strip()
    sources = ["--", "crates", "tools", "Cargo.toml", "Cargo.lock"]
    state = hashlib.sha256(git("diff", "HEAD", *sources))
    for name in git("ls-files", "-z", "--others", "--exclude-standard", *sources).split(b"\0")[:-1]:
        with open(os.path.join(ROOT.encode(), name), "rb") as file:
            state.update(name + file.read())
    changed = git("status", "--porcelain", "--", ".", ":!docs/proofs.md")
    return head + (" + changes" if changed else ""), state.hexdigest()

def add_row(cells):
    with open(PAGE) as page:
        before, rule, rows = page.read().partition(RULE)
    if not rule:
        raise Failed(f"{PAGE} has lost its table; put back its line {RULE.strip()}")
    with open(PAGE + ".new", "w") as page:
        page.write(f"{before}{rule}| {' | '.join(cells)} |\n{rows}")
    os.replace(PAGE + ".new", PAGE)

def main():
    sizes = {name: os.environ.get(name, size) for name, size in SIZES.items()}
    others = [f"{name}={size}" for name, size in sizes.items() if size != SIZES[name]]
    os.makedirs(LOGS, exist_ok=True)
    try:
        # What is proven is what was there at the beginning.
        state = commit()
        cells = run_all(proofs(sizes), os.environ | sizes)
        if commit() != state:
            raise Failed("the sources changed meanwhile; run it again and leave them alone")
        today = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d")
        add_row([today, f"`{' '.join([*others, 'make prove'])}`", state[0], *cells])
    except Failed as failed:
        print(failed, file=sys.stderr)
        return 1
    print("all hold; docs/proofs.md has a new row")
    return 0

if __name__ == "__main__":
    sys.exit(main())
