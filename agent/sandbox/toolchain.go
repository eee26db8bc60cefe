package sandbox

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Toolchain is a compiler or interpreter of this host that lies outside of /usr,
// with the folders that a command needs to see, read-only and at the same place.
type Toolchain struct {
	Name string
	Dirs []string
	Bin  []string // for PATH
	Env  []string
}

// knownPrograms are looked for in PATH. Most lie at PREFIX/bin/NAME, and then a command
// needs PREFIX.
var knownPrograms = []struct {
	name string
	env  []string // that make it behave without a network
}{
	{"go", []string{"GOTOOLCHAIN=local", "GOTELEMETRY=off", "GOFLAGS=-buildvcs=false"}},
	{"node", []string{"npm_config_update_notifier=false", "npm_config_fund=false", "npm_config_audit=false"}},
	{"python3", []string{"PYTHONDONTWRITEBYTECODE=1", "PIP_DISABLE_PIP_VERSION_CHECK=1"}},
	{"cargo", nil},
	{"ruby", nil},
	{"java", nil},
}

// findToolchains looks for toolchains with the PATH and HOME of an environment.
func findToolchains(env []string) (found []Toolchain) {
	value := func(name string) string {
		for _, e := range slices.Backward(env) {
			if v, ok := strings.CutPrefix(e, name+"="); ok {
				return v
			}
		}
		return ""
	}
	home := value("HOME")
	for _, p := range knownPrograms {
		file := findExecutable(value("PATH"), p.name)
		if file == "" {
			continue
		}
		t := Toolchain{Name: p.name, Env: p.env}
		switch prefix := prefixOf(file, home); {
		case prefix == "":
			continue
		case !inSystem(prefix):
			t.Dirs = []string{prefix}
			t.Bin = []string{filepath.Join(prefix, "bin")}
		case !strings.HasPrefix(systemPath, prefix+"/bin:") && !strings.Contains(systemPath, ":"+prefix+"/bin:"):
			t.Bin = []string{filepath.Join(prefix, "bin")} // such as /usr/local/go/bin
		}
		found = append(found, t)
	}
	return found
}

// findExecutable finds an executable in a PATH.
func findExecutable(list, name string) string {
	for _, dir := range filepath.SplitList(list) {
		if file := filepath.Join(dir, name); filepath.IsAbs(file) && IsProgram(file) {
			return file
		}
	}
	return ""
}

// IsProgram reports whether there is a file that can be run.
func IsProgram(file string) bool {
	st, err := os.Stat(file)
	return err == nil && st.Mode().IsRegular() && st.Mode()&0o111 != 0
}

// prefixOf is the folder that holds all of the program's toolchain and nothing
// else, or "" when it can't be found. A person's own folders, such as ~/.cargo,
// hold credentials too and are not shown.
func prefixOf(file, home string) string {
	dir := filepath.Dir(file)
	switch {
	case filepath.Base(dir) == "shims" && isDir(filepath.Join(dir, "..", "versions")): // pyenv, rbenv
		root := filepath.Dir(dir)
		return chosenVersion(filepath.Join(root, "versions"), filepath.Join(root, "version"),
			regexp.MustCompile(`(?m)^(\S+)`))
	case home != "" && dir == filepath.Join(home, ".cargo", "bin"):
		root := filepath.Join(home, ".rustup")
		return chosenVersion(filepath.Join(root, "toolchains"), filepath.Join(root, "settings.toml"),
			regexp.MustCompile(`default_toolchain = "([^"/]+)"`))
	}
	real, err := filepath.EvalSymlinks(file)
	if err != nil {
		return ""
	}
	if inSystem(real) && !strings.HasPrefix(real, "/usr/local/") {
		return "/usr"
	}
	prefix := filepath.Dir(filepath.Dir(real))
	if filepath.Base(filepath.Dir(real)) != "bin" || prefix == "/" || !inSystem(prefix) && holdsHome(prefix, home) {
		return ""
	}
	return prefix
}

// holdsHome reports whether a folder, of which no link leads elsewhere, holds a person's own: the home, what is around
// it, or a folder right in it.
func holdsHome(dir, home string) bool {
	if real, err := filepath.EvalSymlinks(home); err == nil {
		home = real
	}
	return home != "" && (strings.HasPrefix(home+"/", dir+"/") || filepath.Dir(dir) == home)
}

// chosenVersion is the folder in dir that a settings file names, or else the last one.
func chosenVersion(dir, settings string, name *regexp.Regexp) string {
	if b, err := os.ReadFile(settings); err == nil {
		if m := name.FindSubmatch(b); m != nil && filepath.IsLocal(string(m[1])) &&
			isDir(filepath.Join(dir, string(m[1]), "bin")) {
			return filepath.Join(dir, string(m[1]))
		}
	}
	all, _ := fs.Glob(os.DirFS(dir), "*/bin") // the folder's own name is no pattern
	if len(all) == 0 {
		return ""
	}
	return filepath.Join(dir, filepath.Dir(all[len(all)-1]))
}

func isDir(p string) bool {
	st, err := os.Stat(p)
	return err == nil && st.IsDir()
}

// inSystem reports whether a path is visible to every command anyway.
func inSystem(p string) bool {
	for _, dir := range []string{"/usr", "/bin", "/sbin", "/lib", "/lib64"} {
		if p == dir || strings.HasPrefix(p, dir+"/") {
			return true
		}
	}
	return false
}
