"""Runs shell commands in a scratch folder, for the simulated evaluation of the demo model. Not used by the app.

One JSON object a line: {"files": {name: text}, "command": "..."} -> {"output": "...", "files": {...}}.
`python3 -c "..."` without shell syntax inside runs in a forked child of this process, which saves the start of Python.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import traceback

DEADLINE_S = 5
MAX_FILE = 20_000
MAX_OUTPUT = 4_000
INLINE = re.compile(r'python3 -c "([^"$`\\]*)"(?: > ([A-Za-z0-9_.-]+))?', re.S)


def run_inline(code, target):
    """Output and exit code of a Python program, as a shell would give them."""
    shown = tempfile.TemporaryFile(dir="/tmp")
    child = os.fork()
    if child == 0:
        status = 0
        try:
            signal.alarm(DEADLINE_S)
            os.dup2(shown.fileno(), 2)
            out = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644) if target else shown.fileno()
            os.dup2(out, 1)
            sys.stdout, sys.stderr = open(1, "w", closefd=False), open(2, "w", closefd=False)
            try:
                exec(compile(code, "<string>", "exec"), {"__name__": "__main__"})
            except SystemExit as end:
                status = end.code if isinstance(end.code, int) else 0
            except BaseException as error:
                status = 1
                own = error.__traceback__.tb_next if error.__traceback__ else None
                traceback.print_exception(type(error), error, own)
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            os._exit(status)
    _, status = os.waitpid(child, 0)
    shown.seek(0)
    return shown.read().decode("utf8", "replace"), os.WEXITSTATUS(status) if os.WIFEXITED(status) else 124


def run(command):
    inline = INLINE.fullmatch(command)
    if inline:
        return run_inline(inline.group(1), inline.group(2))
    try:
        done = subprocess.run(
            ["/bin/bash", "-c", command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=DEADLINE_S
        )
        return done.stdout.decode("utf8", "replace"), done.returncode
    except subprocess.TimeoutExpired:
        return "", 124


def as_tool_result(output, code):
    """The text pi's bash tool returns."""
    if code == 124:
        return f"Command timed out after {DEADLINE_S} seconds"
    shown = output or "(no output)"
    return shown if code == 0 else f"{shown}\n\nCommand exited with code {code}"


def answer(folder, files, command):
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path)
        else:
            os.unlink(path)
    os.chdir(folder)
    for name, text in files.items():
        with open(os.path.join(folder, os.path.basename(name)), "w") as file:
            file.write(text)
    output = as_tool_result(*run(command))
    after = {}
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        if os.path.isfile(path) and not os.path.islink(path) and os.path.getsize(path) < MAX_FILE:
            with open(path, errors="replace") as file:
                after[name] = file.read()
    return {"output": output[:MAX_OUTPUT], "files": after}


def main():
    for name in ("csv", "json", "collections", "statistics"):
        __import__(name)
    folder = tempfile.mkdtemp(prefix="tackroom-sim-")
    try:
        for line in sys.stdin:
            request = json.loads(line)
            print(json.dumps(answer(folder, request["files"], request["command"])), flush=True)
    finally:
        os.chdir("/")
        shutil.rmtree(folder, ignore_errors=True)


main()
