import unittest

from ledger.total import totals


class Totals(unittest.TestCase):
    def test_comments_and_blank_lines_count_nothing(self):
        self.assertEqual(totals(["# a", "", "d food 1", "d food 2.05"]), {"food": 305})


if __name__ == "__main__":
    unittest.main()
