"""Runs the recorded check of a repair task on what an agent left in /work and judges it from outside.

usage: check.py CHECK_JSON; exit 0 passed, 1 failed, 2 the settings are unreadable.

Before the run: tests and settings of the start state are put back, planted ones are removed, so are compiled files,
start-up hooks and modules that would stand in for the standard library. After the run every process it left is killed.
A passing exit status is not enough: unittest runs under guarded_unittest.py, which reports its counts through a pipe
together with a number drawn for this run; other runners must print at least as many passed tests as the known solution.
"""
import json
import os
import re
import secrets
import shutil
import signal
import subprocess
import sys
import time

WORK = "/work"
SAVED = "/tests/files"
HOOKS = {"sitecustomize.py", "usercustomize.py"}
OUTPUT_BYTES = 1 << 20


def remove(path):
    if os.path.islink(path) or not os.path.isdir(path):
        os.unlink(path)
    else:
        shutil.rmtree(path)


def clean(settings):
    """Removes what must not take part in the run. Files of the start state and the solution stay."""
    known = set(settings["known"])
    planted = re.compile(settings["planted"])
    check_folder = os.path.normpath(os.path.join(WORK, settings["cwd"]))
    for folder, folders, files in os.walk(WORK):
        for name in list(folders):
            if name == "__pycache__" or (shadows(name) and folder == check_folder and not under(known, folder, name)):
                remove(os.path.join(folder, name))
                folders.remove(name)
        for name in files:
            path = os.path.join(folder, name)
            relative = os.path.relpath(path, WORK)
            if relative in known and not os.path.islink(path):
                continue
            stem = name.split(".")[0]
            if (
                name in HOOKS
                or name.endswith((".pth", ".pyc", ".so"))
                or planted.search(relative)
                or (shadows(stem) and folder == check_folder)
            ):
                remove(path)


def shadows(name):
    return name in sys.stdlib_module_names or name in ("pytest", "_pytest", "pluggy")


def under(known, folder, name):
    prefix = os.path.relpath(os.path.join(folder, name), WORK) + "/"
    return any(path.startswith(prefix) for path in known)


def restore(settings):
    for relative in settings["restored"]:
        target = os.path.join(WORK, relative)
        place = WORK
        for part in relative.split("/")[:-1]:
            place = os.path.join(place, part)
            if os.path.islink(place) or (os.path.lexists(place) and not os.path.isdir(place)):
                os.unlink(place)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        if os.path.lexists(target):
            remove(target)
        shutil.copyfile(os.path.join(SAVED, relative), target)


def run(settings):
    """-> (exit status, output, report or None); the status is None after a time-out."""
    nonce = secrets.token_hex(16)
    before = processes()
    env = {"PATH": os.environ["PATH"], "HOME": "/tmp", "LANG": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1", **settings["env"]}
    readable, writable = os.pipe()
    os.set_inheritable(writable, True)
    if settings["unittest"] is not None:
        argv = ["python3", "-B", "/tests/guarded_unittest.py", str(writable), *settings["unittest"]]
    else:
        argv = ["bash", "-c", settings["command"]]
    with open("/tmp/check-output", "w+b", buffering=0) as sink:
        child = subprocess.Popen(
            argv,
            cwd=os.path.join(WORK, settings["cwd"]),
            env=env,
            stdin=subprocess.PIPE,
            stdout=sink,
            stderr=subprocess.STDOUT,
            pass_fds=[writable],
            start_new_session=True,
        )
        os.close(writable)
        try:
            child.stdin.write((nonce + "\n").encode())
            child.stdin.close()
        except OSError:
            pass
        try:
            status = child.wait(settings["timeout_sec"])
        except subprocess.TimeoutExpired:
            status = None
        kill_new(before)
        os.set_blocking(readable, False)
        try:
            report = os.read(readable, 65536).decode("utf-8", "replace")
        except OSError:
            report = ""
        size = os.fstat(sink.fileno()).st_size
        output = os.pread(sink.fileno(), OUTPUT_BYTES, max(0, size - OUTPUT_BYTES)).decode("utf-8", "replace")
    return status, output, parse_report(report, nonce)


def parse_report(text, nonce):
    lines = text.splitlines()
    if len(lines) != 1 or not lines[0].startswith(nonce):
        return None
    try:
        return json.loads(lines[0][len(nonce):])
    except ValueError:
        return None


def processes():
    """Living processes as (id, start time): an id alone may be used again."""
    found = set()
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as file:
                fields = file.read().rpartition(")")[2].split()
        except OSError:
            continue
        if fields[0] not in ("Z", "X"):
            found.add((int(name), fields[19]))
    return found


def kill_new(before):
    """Ends every process that was not there before, until none is left. A container's own first processes stay."""
    for _ in range(200):
        others = processes() - before
        if not others:
            return
        for other, _start in others:
            try:
                os.kill(other, signal.SIGKILL)
            except OSError:
                pass
        time.sleep(0.005)


def passed(settings, status, output, report):
    if status != 0:
        return False
    if settings["unittest"] is not None:
        clean_run = report is not None and not report["tampered"] and report["failed"] == 0
        return clean_run and report["run"] == settings["tests"] and report["skipped"] <= settings["skipped"]
    if settings["summary"] is None:
        return True
    counts = [int(count) for count in re.findall(settings["summary"], output, re.MULTILINE)]
    return sum(counts) >= settings["tests"]


def main():
    try:
        with open(sys.argv[1], encoding="utf-8") as file:
            settings = json.load(file)
    except (OSError, ValueError) as error:
        print(f"settings unreadable: {error}")
        return 2
    clean(settings)
    restore(settings)
    status, output, report = run(settings)
    print(output[-8192:])
    print(json.dumps({"status": status, "report": report}))
    return 0 if passed(settings, status, output, report) else 1


sys.exit(main())
