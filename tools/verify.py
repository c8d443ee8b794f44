#!/usr/bin/env python3
# keeps: second-verifier
# Judges Cairn bundles by docs/receipts.md alone. Shares no code with the project, needs nothing but
# the standard library, writes no file, and holds no secret: it cannot check an HMAC.
"""Verify a Cairn bundle: `verify.py FILE [--anchor H]` or `verify.py --many LIST [--anchor H]`."""

import argparse
import functools
import hashlib
import json
import re
import sys

EXITS = {"VERIFIED": 0, "UNANCHORED": 0, "REFUTED": 1, "UNVERIFIABLE": 7}
ZERO = "0" * 64
MAX_DEPTH = 64

class Wrong(Exception):
    """The first thing that is wrong. The message is ours, never text from the file."""

def demand(holds, reason):
    if not holds:
        raise Wrong(reason)

def sha256(data):
    return hashlib.sha256(data).digest()

# ---- Canonical JSON ----

ENCODER = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"))

def canonical(value):
    return ENCODER.encode(value).encode("utf-8")

def parse_canonical(line):
    """The object that a line spells. Writing it again must give the same bytes, so white space, key
    order, escapes, `-0` and the like need no rule of their own."""
    try:
        demand(not nests_too_deeply(line), "it nests too deeply")
        value = DECODER.decode(line.decode("utf-8"))
        same = canonical(value) == line  # a lone surrogate fails here, as a ValueError
    except (ValueError, RecursionError):
        raise Wrong("it is not canonical JSON") from None
    demand(same, "it is not canonical JSON")
    demand(type(value) is dict, "it is not an object")
    return value

def nests_too_deeply(line):
    """Counts brackets outside strings. Runs before the parser, because that recurses."""
    if line.count(b"[") + line.count(b"{") <= MAX_DEPTH:
        return False
    level = 0
    for byte in b"".join(line.replace(b"\\\\", b"").replace(b'\\"', b"").split(b'"')[::2]):
        level += (byte in b"[{") - (byte in b"]}")
        if level > MAX_DEPTH:
            return True
    return False

def read_object(pairs):
    value = dict(pairs)
    if len(value) != len(pairs) or not all(key.isascii() for key in value):
        raise ValueError("keys are ASCII and unique")
    return value

def read_number(digits):
    # The length comes first: Python would spend quadratic time on a million digits. Fractions,
    # exponents, NaN and Infinity come here too, and int() refuses them with a ValueError.
    if len(digits) > 20 or not -2**63 <= int(digits) < 2**64:
        raise ValueError("not an integer in range")
    return int(digits)

DECODER = json.JSONDecoder(object_pairs_hook=read_object, parse_int=read_number,
                           parse_float=read_number, parse_constant=read_number)

# ---- Ed25519 (RFC 8032), points as extended coordinates (X, Y, Z, T) ----

P = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
SQRT_MINUS_1 = pow(2, (P - 1) // 4, P)
NEUTRAL = (0, 1, 1, 0)

def add(p, q):
    a = (p[1] - p[0]) * (q[1] - q[0]) % P
    b = (p[1] + p[0]) * (q[1] + q[0]) % P
    c = 2 * D * p[3] * q[3] % P
    d = 2 * p[2] * q[2] % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return (e * f % P, g * h % P, f * g % P, e * h % P)

def decode_point(data):
    """The point that 32 bytes encode, or None."""
    y = int.from_bytes(data, "little")
    sign, y = y >> 255, y & (2**255 - 1)
    if y >= P:
        return None
    u, v = (y * y - 1) % P, (D * y * y + 1) % P
    x = u * pow(v, 3, P) * pow(u * pow(v, 7, P), (P - 5) // 8, P) % P
    if v * x * x % P != u:
        x = x * SQRT_MINUS_1 % P
    if v * x * x % P != u or (x == 0 and sign):
        return None
    if x & 1 != sign:
        x = P - x
    return (x, y, 1, x * y % P)

def encode_point(point):
    inverse = pow(point[2], P - 2, P)
    x, y = point[0] * inverse % P, point[1] * inverse % P
    return (y | (x & 1) << 255).to_bytes(32, "little")

def has_small_order(point):
    for _ in range(3):
        point = add(point, point)
    return point[0] == 0 and point[1] == point[2]

def doublings(point):
    """The point times 1, 2, 4 and so on, so that multiplying it is only additions."""
    table = [point]
    while len(table) < 253:
        table.append(add(table[-1], table[-1]))
    return table

def times(scalar, table):
    total = NEUTRAL
    for point in table:
        if scalar & 1:
            total = add(total, point)
        scalar >>= 1
    return total

BASE = doublings(decode_point((4 * pow(5, P - 2, P) % P).to_bytes(32, "little")))

@functools.lru_cache(maxsize=256)
def minus_key(key):
    """The doublings of -A, or None when the key is no point or has small order."""
    point = decode_point(key)
    if point is None or has_small_order(point):
        return None
    return doublings((P - point[0], point[1], 1, P - point[3]))

@functools.lru_cache(maxsize=1 << 16)
def signature_fits(key, message, signature):
    minus_a = minus_key(key)
    r, s = signature[:32], int.from_bytes(signature[32:], "little")
    if minus_a is None or s >= ORDER:
        return False
    k = int.from_bytes(hashlib.sha512(r + key + message).digest(), "little") % ORDER
    # The sum is R itself once the encodings agree, so its order is the order of R.
    found = add(times(s, BASE), times(k, minus_a))
    return encode_point(found) == r and not has_small_order(found)

# ---- Forms: what each line may hold ----
# A form is a test, an object of forms with exactly these keys, [form] for an array of any length,
# or a tuple of alternatives. Types are compared exactly, because Python's True is an int.

def integer(low, high):
    return lambda value: type(value) is int and low <= value <= high

def matches(pattern):
    whole = re.compile(pattern, re.DOTALL)
    return lambda value: type(value) is str and whole.fullmatch(value) is not None

def exactly(wanted):
    return lambda value: type(value) is type(wanted) and value == wanted

def hexes(size):
    return matches("[0-9a-f]{%d}" % (2 * size))

def text(value):
    return type(value) is str

U64, ONE, NULL, HASH = integer(0, 2**64 - 1), exactly(1), exactly(None), hexes(32)
SESSION_ID = matches("s[0-9abcdefghjkmnpqrstvwxyz]{14}")
RUN_ID = matches("r[0-9abcdefghjkmnpqrstvwxyz]{14}")
RECEIPT_ID = matches("rcpt_[0-9a-f]{12}")
COMMITMENT = {"bytes": U64, "commitment": HASH}
SPAN = {"from": U64, "to": U64, "sha256": HASH}
SALT, BYTES = hexes(16), matches("[0-9a-f]*")
OPENED = (NULL, {"salt": SALT, "text": text}, {"salt": SALT, "hex": BYTES})

HEADER = {"type": text, "format": text, "v": ONE, "session_id": SESSION_ID, "public_key": HASH}
ORIGIN = {"public_key": HASH, "receipts": U64, "checkpoints": U64}

FORMS = {
    "bundle": (HEADER, HEADER | {"v": exactly(2), "origins": [ORIGIN]}),
    "run": {
        "type": text, "run": RUN_ID, "parent": (NULL, {"run": RUN_ID, "n": U64})},
    "fact": {
        "type": text, "fact": {
            "run": RUN_ID, "n": U64, "at": U64, "engine": text, "kind": text,
            "v": integer(0, 2**32 - 1), "body": lambda value: type(value) is dict}},
    "receipt": {
        "type": text, "hmac": HASH, "hash": HASH, "signature": hexes(64),
        "signature_alg": exactly("ed25519"), "opened": {"inputs": OPENED, "outputs": OPENED},
        "payload": {
            "v": ONE, "receipt_id": RECEIPT_ID, "session_id": SESSION_ID, "task_id": RUN_ID,
            "seq": U64, "turn_id": text, "agent_id": matches("model|client|plugin|system"),
            "tool_id": text, "status": integer(0, 65535),
            "exit": (NULL, integer(-2**31, 2**31 - 1)), "inputs": COMMITMENT, "outputs": COMMITMENT,
            "file_refs": [{"path": text, "before": (NULL, HASH), "after": (NULL, HASH)}],
            "layers": [text],
            "decided_by": matches("(person|gate):.+|yolo|remembered|nobody|timeout|none"),
            "facts": SPAN, "timestamp": U64, "prev": HASH}},
    "checkpoint": {
        "type": text, "hash": HASH, "signature": hexes(64),
        "payload": {
            "v": ONE, "session_id": SESSION_ID, "seq": U64, "receipts": U64, "merkle_root": HASH,
            "heads": [{"run": RUN_ID, "seq": U64, "hash": HASH, "tail": SPAN}],
            "public_key": HASH, "timestamp": U64, "prev": HASH}},
}

def misfit(value, form, name):
    """The name of the first field that does not have its form, or None."""
    if isinstance(form, dict):
        if type(value) is not dict or set(value) != set(form):
            return name
        found = (misfit(value[key], form[key], key) for key in form)
        return next((bad for bad in found if bad), None)
    if isinstance(form, list):
        if type(value) is not list:
            return name
        return next((bad for bad in (misfit(item, form[0], name) for item in value) if bad), None)
    if isinstance(form, tuple):
        return None if any(misfit(value, each, name) is None for each in form) else name
    return None if form(value) else name

def name_of(value):
    """A receipt's id, if this is one and has one."""
    payload = value.get("payload")
    name = payload.get("receipt_id") if type(payload) is dict else None
    return name if value["type"] == "receipt" and RECEIPT_ID(name) else None

# ---- The bundle, line by line ----

class Run:
    """One run: its own facts as (canonical line, body of an outcome or None, line number), and its
    own receipts so far as (payload, hash)."""

    def __init__(self, parent, line):
        self.parent, self.line = parent, line
        self.first = parent["n"] + 1 if parent else 1
        self.facts, self.receipts = [], []

    def last(self):
        return self.first + len(self.facts) - 1

    def own(self, start, end):
        return self.facts[start - self.first:end - self.first + 1]

    def span_hash(self, start, end):
        """The hash of a fact span. The parent's line ties a fork to its parent."""
        found = hashlib.sha256()
        if self.parent and start == self.first:
            found.update(canonical(self.parent) + b"\n")
        for fact, _, _ in self.own(start, end):
            found.update(fact + b"\n")
        return found.hexdigest()

    def latest(self):
        return self.receipts[-1] if self.receipts else None

    def next_span(self, receipt):
        """Where the span after this own receipt begins; with None, the run's first span."""
        return receipt[0]["facts"]["to"] + 1 if receipt else self.first

class Bundle:
    """What the lines so far have said. Each `take_` judges one line; each `close_` judges what can
    only be known once the last line of a kind has been read."""

    def __init__(self, header):
        self.header, self.place = header, "line 1"
        self.runs, self.receipt_ids, self.checkpoints = {}, set(), []
        self.receipts = []       # (payload, hash) in the session's order
        self.latest_run = ""     # the run of the latest fact line
        self.asked = {}          # run: the greatest n up to which a fork relied on its receipts
        self.covered = 0         # how many receipts the latest checkpoint covers
        self.peaks = []          # the perfect trees over those receipts, as (size, root)
        self.last_covered = {}   # run: its last (payload, hash) among them
        self.tails = {}          # run: where its tail ended in the latest checkpoint

    def read(self, lines, rest):
        self.check_form(self.header)
        self.check_origins()
        kinds, stage = list(FORMS), 1
        closing = [None, self.close_runs, self.close_facts, self.close_receipts]
        for number, line in enumerate(lines[1:], 2):
            self.place = f"line {number}"
            value = parse_canonical(line)
            kind = value.get("type")
            demand(kind in kinds[stage:], "its type is unknown or out of order")
            while kinds[stage] != kind:
                closing[stage]()
                stage += 1
            self.place = name_of(value) or f"line {number}"
            self.check_form(value)
            getattr(self, "take_" + kind)(value, number)
        if rest or not lines:
            self.refuse_line(len(lines) + 1, "it does not end with a newline")
        for close in closing[stage:]:
            close()
        self.close_checkpoints()

    def check_origins(self):
        """Whose keys signed, each with how many receipts and checkpoints there were when the next
        one took over."""
        self.keys, receipts, checkpoints = [], 0, 0
        demand(self.header.get("origins") != [], "there are no origins")
        for origin in self.header.get("origins", []):
            demand(origin["receipts"] >= receipts, "origins are not in order")
            demand(origin["checkpoints"] > checkpoints, "origins are not in order")
            receipts, checkpoints = origin["receipts"], origin["checkpoints"]
            self.keys.append((origin["public_key"], receipts, checkpoints))
        self.keys.append((self.header["public_key"], 2**64, 2**64))

    def key_of(self, kind, index):
        """The key that signs the receipt (1) or checkpoint (2) with this index."""
        return next(bounds[0] for bounds in self.keys if index < bounds[kind])

    def check_form(self, value):
        bad = misfit(value, FORMS[value["type"]], value["type"])
        demand(bad is None, f"{bad} is not as specified")

    def refuse_line(self, line, reason):
        self.place = f"line {line}"
        raise Wrong(reason)

    def take_run(self, value, line):
        demand(value["run"] > next(reversed(self.runs), ""), "runs are not sorted by id")
        self.runs[value["run"]] = Run(value["parent"], line)

    def close_runs(self):
        children = {}
        for name, run in self.runs.items():
            children.setdefault(run.parent and run.parent["run"], []).append(name)
        reached = [None]
        for name in reached:  # grows as it goes, from the runs without a parent downwards
            reached += children.get(name, [])
        for name in sorted(set(self.runs) - set(reached)):
            self.refuse_line(self.runs[name].line, "its forebears are not here, or it is its own")

    def take_fact(self, value, line):
        fact = value["fact"]
        run = self.runs.get(fact["run"])
        demand(run, "the fact is of an unknown run")
        demand(fact["run"] >= self.latest_run, "facts are not sorted by run")
        demand(fact["n"] == run.last() + 1, "the fact's n leaves a gap")
        self.latest_run = fact["run"]
        outcome = fact["body"] if fact["kind"] == "outcome" else None
        run.facts.append((canonical(fact), outcome, line))

    def close_facts(self):
        for run in self.runs.values():
            if run.parent is None and not run.facts:
                self.refuse_line(run.line, "the run has no facts")
            if run.parent and run.parent["n"] > self.runs[run.parent["run"]].last():
                self.refuse_line(run.line, "the fork point is beyond the parent's last fact")

    def take_receipt(self, value, line):
        payload, run = value["payload"], self.runs.get(value["payload"]["task_id"])
        demand(payload["receipt_id"] not in self.receipt_ids, "the receipt id is used twice")
        demand(run, "the receipt is of an unknown run")
        self.check_place(payload, run)
        check_facts(payload, run)
        for side in ("inputs", "outputs"):
            check_commitment(payload[side], value["opened"][side], side)
        key = self.key_of(1, len(self.receipts))
        self.check_signed(value, key, bytes.fromhex(value["hmac"]))
        self.receipt_ids.add(payload["receipt_id"])
        self.receipts.append((payload, value["hash"]))
        run.receipts.append((payload, value["hash"]))

    def check_place(self, payload, run):
        before = run.latest() or self.inherited(run)
        prev, seq = (before[1], before[0]["seq"] + 1) if before else (ZERO, 1)
        demand(payload["prev"] == prev, "prev does not fit")
        demand(payload["seq"] == seq, "seq does not fit")
        # A fork has already built on the receipts up to there; this one would have come before it.
        late = payload["facts"]["to"] <= self.asked.get(payload["task_id"], -1)
        demand(not late, "the receipt stands after a fork that shares it")

    def inherited(self, run):
        """The receipt that a fork's first one follows, or None."""
        limit = 2**64
        while run.parent:
            name, limit = run.parent["run"], min(limit, run.parent["n"])
            self.asked[name] = max(limit, self.asked.get(name, -1))
            run = self.runs[name]
            for receipt in reversed(run.receipts):
                if receipt[0]["facts"]["to"] <= limit:
                    return receipt
        return None

    def close_receipts(self):
        for run in self.runs.values():
            for _, outcome, line in run.own(run.next_span(run.latest()), run.last()):
                if outcome is not None:
                    self.refuse_line(line, "the outcome has no receipt")

    def take_checkpoint(self, value, line):
        payload, prev = value["payload"], self.checkpoints[-1] if self.checkpoints else ZERO
        key = self.key_of(2, len(self.checkpoints))
        demand(payload["public_key"] == key, "the public key is not the header's")
        demand(payload["seq"] == len(self.checkpoints) + 1, "seq leaves a gap")
        demand(payload["prev"] == prev, "prev does not fit")
        self.cover(payload["receipts"])
        demand(payload["merkle_root"] == self.merkle_root(), "the root does not fit")
        self.check_heads(payload["heads"])
        self.check_signed(value, key, b"")
        self.checkpoints.append(value["hash"])
        for _, receipts, checkpoints in self.keys:
            handover = checkpoints == len(self.checkpoints)
            demand(not handover or receipts == payload["receipts"], "a key took over elsewhere")

    def cover(self, count):
        demand(self.covered <= count, "the checkpoint covers fewer receipts than the one before")
        demand(count <= len(self.receipts), "the checkpoint covers receipts that are not here")
        for receipt in self.receipts[self.covered:count]:
            self.last_covered[receipt[0]["task_id"]] = receipt
            size, root = 1, sha256(b"\0" + bytes.fromhex(receipt[1]))
            while self.peaks and self.peaks[-1][0] == size:
                size, root = 2 * size, sha256(b"\1" + self.peaks.pop()[1] + root)
            self.peaks.append((size, root))
        self.covered = count

    def merkle_root(self):
        """RFC 6962 splits at the largest power of two, so this folds the peaks from the right."""
        if not self.peaks:
            return sha256(b"").hex()
        roots = [root for _, root in reversed(self.peaks)]
        return functools.reduce(lambda right, left: sha256(b"\1" + left + right), roots).hex()

    def check_heads(self, heads):
        names = [head["run"] for head in heads]
        demand(all(a < b for a, b in zip(names, names[1:])), "heads are not sorted by run")
        demand(all(name in self.runs for name in names), "a head is of an unknown run")
        # A run that has begun stays begun.
        missing = (set(self.last_covered) | set(self.tails)) - set(names)
        demand(not missing, "a run has no head")
        for head in heads:
            self.check_head(head, self.runs[head["run"]])
            self.tails[head["run"]] = head["tail"]["to"]

    def check_head(self, head, run):
        receipt = self.last_covered.get(head["run"])
        seq, found = (receipt[0]["seq"], receipt[1]) if receipt else (0, ZERO)
        demand(head["seq"] == seq and head["hash"] == found, "a head is not the run's last receipt")
        tail, start, end = head["tail"], run.next_span(receipt), head["tail"]["to"]
        demand(tail["from"] == start, "a tail does not begin after the last receipt")
        demand(start - 1 <= end <= run.last(), "a tail has facts that are not here")
        demand(end >= self.tails.get(head["run"], 0), "a tail ends before an earlier one")
        demand(run.parent or end > 0, "a head is of a run that had not begun")
        demand(all(fact[1] is None for fact in run.own(start, end)), "an outcome is in a tail")
        demand(tail["sha256"] == run.span_hash(start, end), "a tail's hash does not fit")

    def check_signed(self, value, key, hmac):
        found = sha256(canonical(value["payload"]) + hmac)
        session = self.header["session_id"]
        demand(value["payload"]["session_id"] == session, "the session id differs")
        demand(found.hex() == value["hash"], "the hash does not fit")
        fits = signature_fits(bytes.fromhex(key), found, bytes.fromhex(value["signature"]))
        demand(fits, "the signature does not fit")

    def close_checkpoints(self):
        demand(self.checkpoints, "there is no checkpoint")
        origins = self.header.get("origins", [{"checkpoints": 0}])
        here = origins[-1]["checkpoints"] < len(self.checkpoints)
        demand(here, "no checkpoint follows those of the last origin")
        ends = {name: run.last() for name, run in self.runs.items()}
        everything = self.covered == len(self.receipts) and self.tails == ends
        demand(everything, "the last checkpoint does not cover everything")

def check_facts(payload, run):
    """A receipt's span follows the one before, and its only outcome is its last fact."""
    start, end = payload["facts"]["from"], payload["facts"]["to"]
    demand(start == run.next_span(run.latest()), "the facts do not follow the previous receipt's")
    demand(start <= end <= run.last(), "the facts are not here")
    demand(payload["facts"]["sha256"] == run.span_hash(start, end), "the facts' hash does not fit")
    *others, (_, outcome, _) = run.own(start, end)
    demand(outcome is not None, "the facts do not end at an outcome")
    demand(all(fact[1] is None for fact in others), "the facts hold another outcome")
    demand(exactly(payload["turn_id"])(outcome.get("at")), "turn_id is not the outcome's")
    demand(exactly(payload["status"])(outcome.get("status")), "status is not the outcome's")

def check_commitment(committed, opened, side):
    if opened is None:  # redacted
        return
    if "text" in opened:
        content = opened["text"].encode("utf-8")
    else:
        demand(len(opened["hex"]) % 2 == 0, f"the hex of the {side} has an odd length")
        content = bytes.fromhex(opened["hex"])
        demand(not is_utf8(content), f"the {side} are UTF-8 and given as hex")
    found = sha256(b"cairn-commit-v1\0" + bytes.fromhex(opened["salt"]) + content)
    demand(committed["bytes"] == len(content), f"the size of the {side} does not fit")
    demand(committed["commitment"] == found.hex(), f"the commitment of the {side} does not fit")

def is_utf8(content):
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True

# ---- Verdict ----

def judge(data, anchor):
    """(verdict, reason) for the bytes of a file."""
    *lines, rest = data.split(b"\n")
    try:
        header = parse_canonical(lines[0] if lines else rest)
    except Wrong:
        header = {}
    wanted = {"type": exactly("bundle"), "format": exactly("cairn-bundle"),
              "v": lambda v: type(v) is int and v in (1, 2)}
    if not all(wanted[key](header.get(key)) for key in wanted):
        return "UNVERIFIABLE", "the first line is not the header of a Cairn bundle, version 1 or 2"
    bundle = Bundle(header)
    try:
        bundle.read(lines, rest)
    except Wrong as wrong:
        return "REFUTED", f"{bundle.place}: {wrong}"
    anchors = bundle.checkpoints
    if anchor is None:
        return "UNANCHORED", f"the file agrees with itself; compare its anchor {anchors[-1]}"
    if anchor not in anchors:
        return "REFUTED", "no checkpoint has this anchor"
    return "VERIFIED", f"the anchor is checkpoint {anchors.index(anchor) + 1} of {len(anchors)}"

def judge_file(path, anchor):
    try:
        with open(path, "rb") as file:
            data = file.read()
    except (OSError, ValueError, MemoryError):  # a path with a zero byte is a ValueError
        return "UNVERIFIABLE", "the file cannot be read"
    return judge(data, anchor)

def main():
    parser = argparse.ArgumentParser(description="Verify Cairn bundles.", allow_abbrev=False)
    parser.add_argument("file", nargs="?", metavar="FILE", help="the bundle")
    parser.add_argument("--many", metavar="LIST", help="a file with one path of a bundle per line")
    parser.add_argument("--anchor", metavar="H", help="the hash of a checkpoint, kept elsewhere")
    options = parser.parse_args()
    if (options.file is None) == (options.many is None):
        parser.error("give either FILE or --many LIST")
    if options.file is not None:
        verdict, reason = judge_file(options.file, options.anchor)
        print(f"{verdict}: {reason}")
        return EXITS[verdict]
    try:
        with open(options.many, "rb") as file:
            paths = [path for path in file.read().split(b"\n") if path]
    except (OSError, ValueError):
        parser.error("LIST cannot be read")
    for path in paths:
        verdict, _ = judge_file(path, options.anchor)
        sys.stdout.buffer.write(verdict.encode() + b"\t" + path + b"\n")
    return 0

if __name__ == "__main__":
    sys.exit(main())
