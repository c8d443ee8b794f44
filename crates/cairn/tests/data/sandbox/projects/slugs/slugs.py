"""Makes a name for an address out of a title."""

import re


def slug(title, longest=40):
    words = re.findall(r"[a-z0-9]+", title.lower())
    return "-".join(words)[:longest].rstrip("-")
