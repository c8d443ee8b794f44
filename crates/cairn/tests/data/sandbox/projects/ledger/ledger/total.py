"""Totals by account."""

from ledger.entry import parse


def totals(lines):
    sums = {}
    for line in lines:
        if not line.strip() or line.startswith("#"):
            continue
        entry = parse(line)
        sums[entry.account] = sums.get(entry.account, 0) + entry.cents
    return sums
