import unittest
from datetime import date

from rentals import invoice, read_rentals, rental_days

LIST = """boat,start,end,rate
heron,2026-05-01,2026-05-03,20
pike,2026-05-30,2026-06-02,12.50
heron,2026-05-09,2026-05-09,20
"""


class RentalTest(unittest.TestCase):
    def test_reads_every_row(self):
        rows = read_rentals(LIST)
        self.assertEqual([row["boat"] for row in rows], ["heron", "pike", "heron"])
        self.assertEqual(rows[1]["start"], date(2026, 5, 30))
        self.assertEqual(rows[1]["rate"], 12.5)

    def test_counts_first_and_last_day(self):
        self.assertEqual(rental_days(date(2026, 5, 1), date(2026, 5, 3)), 3)

    def test_same_day_is_one_day(self):
        self.assertEqual(rental_days(date(2026, 5, 9), date(2026, 5, 9)), 1)

    def test_counts_over_the_end_of_a_month(self):
        self.assertEqual(rental_days(date(2026, 5, 30), date(2026, 6, 2)), 4)

    def test_invoice_adds_up_per_boat(self):
        self.assertEqual(invoice(read_rentals(LIST)), {"heron": 80.0, "pike": 50.0})


if __name__ == "__main__":
    unittest.main()
