"""Write what importlib.metadata reads of the project in this folder into the folder of the first argument."""
import configparser
import os
import re
import sys

try:
    import tomllib
except ImportError:  # before Python 3.11
    tomllib = None


def text(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def stated(name, of):
    found = re.search(r"""^\s*%s\s*=\s*["']([^"'\n]+)["']""" % name, of, re.MULTILINE)
    return found.group(1) if found else ""


project, points = {}, {}
if tomllib:
    try:
        about = tomllib.loads(text("pyproject.toml"))
        project = about.get("project") or about.get("tool", {}).get("poetry") or {}
    except tomllib.TOMLDecodeError:
        pass
points = dict(project.get("entry-points") or project.get("plugins") or {})
if project.get("scripts"):
    points["console_scripts"] = project["scripts"]
setup = configparser.ConfigParser(interpolation=None, strict=False)
try:
    setup.read_string(text("setup.cfg"))
except configparser.Error:
    pass
for group, lines in setup.items("options.entry_points") if setup.has_section("options.entry_points") else []:
    points.setdefault(group, dict(re.findall(r"^\s*([\w.-]+)\s*=\s*(\S+)", lines, re.MULTILINE)))
code = text("setup.py")
name = project.get("name") or setup.get("metadata", "name", fallback="") or stated("name", code)
version = project.get("version") or setup.get("metadata", "version", fallback="") or stated("version", code)
if name and not re.match(r"\d[\w.+!-]*$", str(version)):  # it is written in the code, or made of a tag
    module = re.sub(r"\W", "_", name)
    version = next(filter(None, (stated("__version__", text(os.path.join(src, module, "__init__.py")))
                                 for src in (".", "src", "lib"))), "0")
if name:
    folder = os.path.join(sys.argv[1], "%s-%s.dist-info" % (re.sub(r"[-_.]+", "_", name), version))
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "METADATA"), "w", encoding="utf-8") as file:
        file.write("Metadata-Version: 2.1\nName: %s\nVersion: %s\n" % (name, version))
    with open(os.path.join(folder, "entry_points.txt"), "w", encoding="utf-8") as file:
        for group, entries in points.items():
            if isinstance(entries, dict):
                file.write("[%s]\n%s\n" % (group, "\n".join("%s = %s" % e for e in entries.items())))
