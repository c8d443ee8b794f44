import unittest

from ledger.entry import parse


class Entries(unittest.TestCase):
    def test_a_line_is_day_account_and_amount(self):
        self.assertEqual(parse("2024-01-02 food 12.50").cents, 1250)

    def test_cents_may_be_left_out(self):
        self.assertEqual(parse("2024-01-02 food 3").cents, 300)


if __name__ == "__main__":
    unittest.main()
