"""Says which relative links of the pages lead nowhere."""

import pathlib
import re
import sys

broken = 0
for page in sorted(pathlib.Path(".").rglob("*.md")):
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
        if "://" not in target and not (page.parent / target).exists():
            print(f"{page}: {target} does not exist")
            broken = 1
sys.exit(broken)
