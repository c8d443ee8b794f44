"""One line of the ledger."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Entry:
    day: str
    account: str
    cents: int


def parse(line):
    day, account, amount = line.split()
    whole, _, part = amount.partition(".")
    return Entry(day, account, int(whole) * 100 + int(part or 0))
