"""Invoices for boat rentals, read from a CSV file."""
import csv
import io
from datetime import date


def read_rentals(text):
    """Rows of a CSV text with the columns boat, start, end and rate (per day)."""
    rows = []
    for row in csv.DictReader(io.StringIO(text)):
        rows.append(
            {
                "boat": row["boat"].strip(),
                "start": date.fromisoformat(row["start"]),
                "end": date.fromisoformat(row["end"]),
                "rate": float(row["rate"]),
            }
        )
    return rows


def rental_days(start, end):
    """Days a boat is away; the day it leaves and the day it comes back both count."""
    return (end - start).days


def invoice(rows):
    """Amount due for each boat, rounded to cents."""
    due = {}
    for row in rows:
        amount = rental_days(row["start"], row["end"]) * row["rate"]
        due[row["boat"]] = round(due.get(row["boat"], 0.0) + amount, 2)
    return due
