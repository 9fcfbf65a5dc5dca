"""Compares an answer file with the expected answer: exact text, or a number within a tolerance.

usage: check.py ANSWER_FILE EXPECTED_FILE; exit 0 right, 1 wrong, 2 the expected answer is unreadable.
EXPECTED_FILE: a line `text` or `number TOLERANCE`, then the answer. Only three modules are imported: this runs once for
every rollout, and json or re would cost more than the rest.
The file must be an ordinary one: a link or a pipe is wrong, so is anything longer than 4096 bytes.
"""
import os
import stat
import sys

LIMIT_BYTES = 4096
NUMBER_LETTERS = frozenset("0123456789+-.eE")


def read_answer(path):
    """The text of the file without surrounding white space; None when it is no small regular UTF-8 file."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        info = os.fstat(handle)
        if not stat.S_ISREG(info.st_mode) or info.st_size > LIMIT_BYTES:
            return None
        return os.read(handle, LIMIT_BYTES).decode("utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return None
    finally:
        os.close(handle)


def number(text):
    """The value of a plain decimal number; None for anything else, also for nan, inf and 1_000."""
    if not text or not NUMBER_LETTERS.issuperset(text):
        return None
    try:
        return float(text)
    except ValueError:
        return None


def is_right(given, kind, answer):
    if given is None:
        return False
    if kind[0] == "text":
        return given == answer
    value = number(given)
    return value is not None and abs(value - float(answer)) <= float(kind[1])


def main():
    try:
        with open(sys.argv[2], encoding="utf-8") as file:
            kind = file.readline().split()
            answer = file.read().removesuffix("\n")
    except (OSError, ValueError) as error:
        print(f"expected answer unreadable: {error}")
        return 2
    if not kind or kind[0] not in ("text", "number"):
        print("expected answer unreadable: no kind")
        return 2
    right = is_right(read_answer(sys.argv[1]), kind, answer)
    print("right" if right else "wrong")
    return 0 if right else 1


sys.exit(main())
