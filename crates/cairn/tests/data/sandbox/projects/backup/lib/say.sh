# Sourced: how the scripts speak.
say() { printf 'backup: %s\n' "$*"; }
fail() { say "$*" >&2; exit 1; }
