"""`python3 -m unittest` that reports what really ran.

usage: guarded_unittest.py DESCRIPTOR UNITTEST_ARGUMENTS...; the first line of standard input is a number of this run. When
all is over one line goes to DESCRIPTOR: that number and {"run", "failed", "skipped", "tampered"}. Code under test that ends
the process early leaves no line. It is `tampered` when unittest's own classes were changed meanwhile, and a test fails when
a compared value claims to equal a value nobody has ever seen. The code under test shares this process, so this stops
careless and plain cheating, not every conceivable one.
"""
import json
import os
import sys
import unittest
import unittest.case
import unittest.loader
import unittest.result
import unittest.runner
import unittest.suite

GUARDED = [
    unittest.case.TestCase,
    unittest.result.TestResult,
    unittest.runner.TextTestResult,
    unittest.runner.TextTestRunner,
    unittest.suite.BaseTestSuite,
    unittest.suite.TestSuite,
    unittest.loader.TestLoader,
    unittest.main,
]


class Unseen:
    """Equals nothing but itself."""


def claims_anything(value):
    kind = type(value)
    if kind.__module__ in ("builtins", "unittest.mock"):
        return False
    try:
        return (value == Unseen()) is True
    except Exception:
        return False


def guard_equality(case):
    original = case.assertEqual

    def assertEqual(self, first, second, msg=None):
        if claims_anything(first) or claims_anything(second):
            raise self.failureException("a compared value claims to equal anything")
        original(self, first, second, msg)

    case.assertEqual = assertEqual


def snapshot():
    return {(kind, name): value for kind in GUARDED for name, value in vars(kind).items() if callable(value)}


def main():
    descriptor = int(sys.argv[1])
    arguments = sys.argv[2:]
    nonce = sys.stdin.readline().strip()
    write, close, dumps = os.write, os.close, json.dumps
    guard_equality(unittest.case.TestCase)
    before = snapshot()
    sys.path[0] = os.getcwd()
    sys.argv = ["python3 -m unittest", *arguments]
    program = unittest.main(module=None, argv=sys.argv, exit=False)
    result = program.result
    failed = len(result.failures) + len(result.errors) + len(result.unexpectedSuccesses)
    report = {"run": result.testsRun, "failed": failed, "skipped": len(result.skipped), "tampered": snapshot() != before}
    write(descriptor, (nonce + dumps(report) + "\n").encode())
    close(descriptor)
    return 0 if result.wasSuccessful() and result.testsRun > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
