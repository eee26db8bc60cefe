package gitops

import (
	"bytes"
	"io"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/filemode"

	"github.com/sia-bot/sia/sia/gitignore"
)

// LeftOut lists changes of a work tree that Diff and Commit leave out, by path. A folder's path stands for all that is
// in it.
type LeftOut struct {
	Repositories []string // new folders that are repositories of their own, and changed submodules
	Built        []string // new folders and files that builds, package managers and test runners make
	Filtered     []string // changed files that Git stores through a filter, such as those of Git LFS and git-crypt
	Ignored      []string // files of [Workspace.KeepWritten] that an ignore file names
	Misnamed     []string // new files and folders with a backslash in their names, which are paths on Windows
	Before       []string // tracked files that are as [Workspace.LeaveChanges] found them
}

// LeftOut returns what the last Diff or Commit left out.
func (w *Workspace) LeftOut() LeftOut {
	if left := w.leftOut.Load(); left != nil {
		return *left
	}
	return LeftOut{}
}

// KeepWritten names files, by their paths with slashes, that are part of the change even where they look like the
// output of a build.
func (w *Workspace) KeepWritten(paths []string) {
	written := make(map[string]bool, len(paths))
	for _, p := range paths {
		written[path.Clean(p)] = true
	}
	w.written.Store(&written)
}

// writtenIn returns the files of KeepWritten in a folder, sorted.
func (s *workScanner) writtenIn(dir string) (all []string) {
	for p := range s.written {
		if strings.HasPrefix(p, dir+"/") {
			all = append(all, p)
		}
	}
	slices.Sort(all)
	return all
}

// outputNames are the folders that only tools make, wherever they are.
var outputNames = []string{"__pycache__", "node_modules", ".venv", ".tox", ".nox", ".pytest_cache", ".mypy_cache",
	".ruff_cache", ".gradle", ".eggs", ".nyc_output", ".zig-cache", "CMakeFiles"}

// outputMarks are files that tools put into the folders that they make: virtual environments of Python, caches of
// Cargo and others (https://bford.info/cachedir/), and build folders of CMake.
var outputMarks = []string{"pyvenv.cfg", "CACHEDIR.TAG", "CMakeCache.txt"}

// outputBeside lists the folders that a tool makes beside its build files.
var outputBeside = map[string][]string{
	"target": {"Cargo.toml", "pom.xml", "build.sbt"},
	"build": {"CMakeLists.txt", "Makefile", "meson.build", "build.gradle", "build.gradle.kts", "pyproject.toml",
		"setup.py", "package.json"},
	"dist":     {"pyproject.toml", "setup.py", "package.json"},
	"coverage": {"package.json"},
	"_build":   {"mix.exs", "dune-project", "rebar.config"},
	".build":   {"Package.swift"},
}

// isOutput reports whether a folder without tracked and written files is made by builds. beside has its parent.
func isOutput(beside, folder *os.Root, name string) bool {
	has := func(in *os.Root) func(string) bool {
		return func(file string) bool { _, err := in.Lstat(file); return err == nil }
	}
	return slices.Contains(outputNames, name) || strings.HasSuffix(name, ".egg-info") ||
		slices.ContainsFunc(outputMarks, has(folder)) || slices.ContainsFunc(outputBeside[name], has(beside))
}

// objectStarts begin files that compilers and linkers write: ELF, Mach-O and Java's classes, Windows' programs, and
// archives of object files.
var objectStarts = []string{"\x7fELF", "\xfe\xed\xfa\xce", "\xfe\xed\xfa\xcf", "\xce\xfa\xed\xfe", "\xcf\xfa\xed\xfe",
	"\xca\xfe\xba\xbe", "MZ", "!<arch>\n"}

// startSize is how much of a file tells what it is, in bytes.
const startSize = 512

// isObject reports whether a file that begins like this is object code.
func isObject(name string, start []byte) bool {
	return path.Ext(name) == ".pyc" || bytes.IndexByte(start, 0) >= 0 &&
		slices.ContainsFunc(objectStarts, func(s string) bool { return bytes.HasPrefix(start, []byte(s)) })
}

// readStart returns the first bytes of a regular file.
func readStart(root *os.Root, name string) ([]byte, error) {
	in, _, err := openFile(root, name, filemode.Regular)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return io.ReadAll(io.LimitReader(in, startSize))
}

// filteredStarts begin files as the filters of Git LFS and git-crypt store them.
var filteredStarts = []string{"version https://git-lfs.github.com/spec/", "\x00GITCRYPT\x00"}

// isFiltered reports whether a file that begins like this is as its filter stores it.
func isFiltered(start []byte) bool {
	return slices.ContainsFunc(filteredStarts, func(s string) bool { return bytes.HasPrefix(start, []byte(s)) })
}

// filters are the rules of .gitattributes for one folder that give files a filter.
type filters struct {
	rules  gitignore.Rules
	macros map[string]bool // whether an attribute of the root's file stands for a filter
}

// with returns the rules of a folder, "" for the root, with the given .gitattributes content. The patterns are those of
// .gitignore, except that there are no negated ones, and none of folders.
// https://git-scm.com/docs/gitattributes#_description
func (f filters) with(dir string, content []byte) filters {
	f.macros = maps.Clone(f.macros)
	var lines []string
	for line := range strings.Lines(string(content)) {
		pattern, attributes := splitPattern(strings.TrimSpace(line))
		set, known := f.sets(strings.Fields(attributes))
		macro, isMacro := strings.CutPrefix(pattern, "[attr]")
		switch {
		case !known || pattern == "" || strings.ContainsAny(pattern[:1], "#!") || strings.HasSuffix(pattern, "/"):
		case isMacro && dir == "":
			if f.macros == nil {
				f.macros = map[string]bool{}
			}
			f.macros[macro] = set
		case isMacro:
		case set:
			lines = append(lines, pattern)
		default:
			lines = append(lines, "!"+pattern)
		}
	}
	if lines != nil {
		f.rules = f.rules.With(dir, []byte(strings.Join(lines, "\n")))
	}
	return f
}

// splitPattern splits a line of .gitattributes. A pattern in quotes may contain spaces.
func splitPattern(line string) (pattern, attributes string) {
	if quoted, ok := strings.CutPrefix(line, `"`); ok {
		if pattern, attributes, ok = strings.Cut(quoted, `"`); ok {
			return pattern, attributes
		}
	}
	end := strings.IndexAny(line, " \t")
	if end < 0 {
		return line, ""
	}
	return line[:end], line[end:]
}

// sets reports whether attributes set a filter; known: they say something of it.
func (f filters) sets(attributes []string) (set, known bool) {
	for _, a := range attributes {
		off := strings.HasPrefix(a, "-") || strings.HasPrefix(a, "!")
		switch name := strings.TrimLeft(a, "-!"); {
		case strings.HasPrefix(a, "filter="), name == "filter":
			set, known = strings.HasPrefix(a, "filter="), true
		case !off && f.hasMacro(name):
			set, known = f.macros[name], true
		}
	}
	return set, known
}

func (f filters) hasMacro(name string) bool { _, ok := f.macros[name]; return ok }

// gives reports whether a file gets a filter.
func (f filters) gives(p string) bool { return f.rules.Ignore(p, false) }
