"""Compares an answer file with the expected answer: exact text, or a number within a tolerance.

usage: check.py ANSWER_FILE EXPECTED_JSON; exit 0 right, 1 wrong, 2 the expected answer is unreadable.
The file must be an ordinary one: a link or a pipe is wrong, so is anything longer than 4096 bytes.
"""
import json
import os
import re
import stat
import sys

LIMIT_BYTES = 4096
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


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


def is_right(given, expected):
    if given is None:
        return False
    if not expected["numeric"]:
        return given == expected["answer"]
    return bool(NUMBER.fullmatch(given)) and abs(float(given) - float(expected["answer"])) <= expected["tolerance"]


def main():
    try:
        with open(sys.argv[2], encoding="utf-8") as file:
            expected = json.load(file)
    except (OSError, ValueError) as error:
        print(f"expected answer unreadable: {error}")
        return 2
    right = is_right(read_answer(sys.argv[1]), expected)
    print("right" if right else "wrong")
    return 0 if right else 1


sys.exit(main())
