"""Run tests, and write for each which lines of the project it ran to /tmp/ran. With pytest it is a plugin."""
import json
import os
import re
import sys
import threading
import unittest

NEAR, WANTED = 32, 8
wanted = json.loads(os.environ["SIA_WANTED"])  # lists of a file and a name; "": all of the file's
root = os.path.join(os.getcwd(), "")
ran, paths, events = set(), {}, getattr(sys, "monitoring", None)


def inside(code):  # the file's path in the project, "" for others
    name = code.co_filename
    if name not in paths:
        full = os.path.abspath(name)
        paths[name] = full[len(root):] if full.startswith(root) and not name.startswith("<") else ""
    return paths[name]


def on_line(code, line):
    if inside(code):
        ran.add("%s:%d,%d\n" % (inside(code), line, line))
    return events.DISABLE  # once a test is enough


def on_event(frame, event, arg):  # before Python 3.12
    if not inside(frame.f_code):
        return None
    if event == "line":
        ran.add("%s:%d,%d\n" % (inside(frame.f_code), frame.f_lineno, frame.f_lineno))
    return on_event


if events:
    events.use_tool_id(events.PROFILER_ID, "sia")
    events.register_callback(events.PROFILER_ID, events.events.LINE, on_line)


def watch(on):
    if not events:
        sys.settrace(on_event if on else None)
        threading.settrace(on_event if on else None)
        return
    events.restart_events()
    events.set_events(events.PROFILER_ID, events.events.LINE if on else 0)


def is_wanted(file, name):
    for of, full in wanted:
        bare, bracket, rest = full.partition("[")
        bare = re.split(r"::|\.| > ", bare)[-1] + bracket + rest
        if of == file and (not full or bare in (name, name.partition("[")[0])):
            return True
    return False


def choose(tests):  # of (file, name, test): the wanted first, and of those with parameters one before the others
    seen, near, more = set(), [], []
    for test in tests:
        if not is_wanted(*test[:2]):
            bare = test[1].partition("[")[0]
            (more if bare in seen else near).append(test)
            seen.add(bare)
    return [t for t in tests if is_wanted(*t[:2])][:WANTED] + (near + more)[:NEAR]


def write(file, name, failed):
    watch(False)
    with open("/tmp/ran", "a", encoding="utf-8", errors="replace") as out:
        out.write("ran %s %d\n" % ("wanted" if is_wanted(file, name) else "near", failed) + "".join(sorted(ran)))


def begin():
    ran.clear()
    watch(True)


def of_item(item):
    return os.path.relpath(str(item.fspath), root), item.name, item


def pytest_collection_modifyitems(items):
    items[:] = [test for _, _, test in choose([of_item(i) for i in items])]


def pytest_runtest_logstart():
    begin()
    failures.clear()


def pytest_runtest_logreport(report):
    if report.failed:
        failures.append(report)
    if report.when == "teardown":
        write(report.nodeid.split("::")[0], report.nodeid.split("::")[-1], bool(failures))


failures = []


def flat(suite):
    for one in suite:
        yield from flat(one) if isinstance(one, unittest.TestSuite) else [one]


if __name__ == "__main__":
    found = []
    for path in sys.argv[1:]:
        suite = unittest.defaultTestLoader.loadTestsFromName(path[:-len(".py")].replace("/", "."))
        found += [(path, t.id().split(".")[-1], t) for t in flat(suite)]
    for path, name, test in choose(found):
        result = unittest.TestResult()
        begin()
        unittest.TestSuite([test]).run(result)
        write(path, name, not result.wasSuccessful())
