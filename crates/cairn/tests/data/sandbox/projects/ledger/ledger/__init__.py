"""A ledger kept as text."""
