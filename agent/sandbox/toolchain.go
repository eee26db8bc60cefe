package sandbox

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Toolchain is a compiler or interpreter of this host outside of /usr, with the folders that a command needs, mounted
// read-only at the same path.
type Toolchain struct {
	Name string
	Dirs []string
	Bin  []string // for PATH
	Env  []string
}

// knownPrograms are looked up in PATH. Most are at PREFIX/bin/NAME, and a command then needs PREFIX.
var knownPrograms = []struct {
	name string
	env  []string // for use without a network
}{
	{"go", []string{"GOTOOLCHAIN=local", "GOTELEMETRY=off", "GOFLAGS=-buildvcs=false"}},
	{"node", []string{"npm_config_update_notifier=false", "npm_config_fund=false", "npm_config_audit=false"}},
	{"python3", []string{"PYTHONDONTWRITEBYTECODE=1", "PIP_DISABLE_PIP_VERSION_CHECK=1"}},
	{"cargo", nil},
	{"ruby", nil},
	{"java", nil},
	{"mvn", nil},
	{"gradle", nil},
}

// findToolchains finds toolchains with the PATH and HOME of an environment.
func findToolchains(env []string) (found []Toolchain) {
	home, _ := LookupEnv(env, "HOME")
	list, _ := LookupEnv(env, "PATH")
	for _, p := range knownPrograms {
		file := findExecutable(list, p.name)
		if file == "" {
			continue
		}
		t := Toolchain{Name: p.name, Env: p.env}
		switch prefix := prefixOf(file, home); {
		case prefix == "":
			continue
		case !inSystem(prefix):
			t.Dirs = neededDirs(prefix)
			t.Bin = []string{filepath.Join(prefix, "bin")}
		case !strings.HasPrefix(systemPath, prefix+"/bin:") && !strings.Contains(systemPath, ":"+prefix+"/bin:"):
			t.Bin = []string{filepath.Join(prefix, "bin")} // such as /usr/local/go/bin
		}
		found = append(found, t)
	}
	return found
}

// stores are the folders of Nix and of Guix. Programs in them need others there, and nothing in them is personal.
var stores = []string{"/nix/store", "/gnu/store"}

// systemProfiles are the folders of programs of NixOS and Guix System, which have almost none in /usr.
var systemProfiles = []string{"/run/current-system/sw/bin", "/run/current-system/profile/bin"}

// systemProfile returns the store of a system that has its programs there, and its folder of programs; "" if this is
// another system.
func systemProfile() (store, bin string) {
	for i, profile := range systemProfiles {
		if real, err := filepath.EvalSymlinks(profile); err == nil && strings.HasPrefix(real, stores[i]+"/") {
			return stores[i], real
		}
	}
	return "", ""
}

// neededDirs returns the folders that the programs of a toolchain need: its own, or with those of Nix, Guix and
// Homebrew also the folders of the libraries.
func neededDirs(prefix string) []string {
	for _, store := range stores {
		if strings.HasPrefix(prefix, store+"/") {
			return []string{store}
		}
	}
	brew, _, ok := strings.Cut(prefix, "/Cellar/")
	if !ok {
		return []string{prefix}
	}
	all := []string{filepath.Join(brew, "Cellar"), filepath.Join(brew, "opt"), filepath.Join(brew, "lib")}
	return slices.DeleteFunc(all, func(dir string) bool { return !isDir(dir) })
}

// LookupEnv is os.LookupEnv for an environment as of os.Environ. Of several values, the last one counts.
func LookupEnv(environ []string, name string) (value string, set bool) {
	for _, e := range slices.Backward(environ) {
		if value, set = strings.CutPrefix(e, name+"="); set {
			return value, true
		}
	}
	return "", false
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

// IsProgram reports whether file is an executable file.
func IsProgram(file string) bool {
	st, err := os.Stat(file)
	return err == nil && st.Mode().IsRegular() && st.Mode()&0o111 != 0
}

// prefixOf returns the folder that contains the program's toolchain only, or "" if there is none. A user's own folders,
// such as ~/.cargo, also contain credentials and are never returned.
func prefixOf(file, home string) string {
	dir := filepath.Dir(file)
	switch {
	case filepath.Base(dir) == "shims" && isDir(filepath.Join(dir, "..", "installs")): // asdf, mise
		return installedPrefix(filepath.Join(dir, "..", "installs"), filepath.Base(file), home)
	case home != "" && dir == filepath.Join(home, ".volta", "bin"):
		tools := filepath.Join(home, ".volta", "tools")
		return chosenVersion(filepath.Join(tools, "image", "node"), filepath.Join(tools, "user", "platform.json"),
			regexp.MustCompile(`"runtime":\s*"([^"/]+)"`))
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
	if filepath.Base(filepath.Dir(real)) != "bin" || prefix == "/" || !inSystem(prefix) && containsHome(prefix, home) {
		return ""
	}
	return prefix
}

// containsHome reports whether a folder without symbolic links contains personal files: it is the home, a parent of it,
// or a folder directly in it, unless conda made that.
func containsHome(dir, home string) bool {
	if real, err := filepath.EvalSymlinks(home); err == nil {
		home = real
	}
	return home != "" && (strings.HasPrefix(home+"/", dir+"/") ||
		filepath.Dir(dir) == home && !isDir(filepath.Join(dir, "conda-meta")))
}

// installedPrefix returns the folder of a program in installs/NAME/VERSION: of the version in ~/.tool-versions, or else
// the last one.
func installedPrefix(installs, program, home string) (prefix string) {
	chosen, _ := os.ReadFile(filepath.Join(home, ".tool-versions"))
	for _, bin := range []string{"bin", "go/bin"} {
		found, _ := fs.Glob(os.DirFS(installs), "*/*/"+bin+"/"+program) // the folder's own name is not part of the pattern
		for _, file := range found {
			prefix = filepath.Join(installs, path.Dir(path.Dir(file)))
			tool := strings.Split(file, "/")
			if slices.ContainsFunc(strings.Split(string(chosen), "\n"), func(line string) bool {
				return slices.Equal(strings.Fields(line), tool[:2])
			}) {
				return prefix
			}
		}
	}
	return prefix
}

// chosenVersion returns the folder in dir that a settings file names, or else the last one.
func chosenVersion(dir, settings string, name *regexp.Regexp) string {
	if b, err := os.ReadFile(settings); err == nil {
		if m := name.FindSubmatch(b); m != nil && filepath.IsLocal(string(m[1])) &&
			isDir(filepath.Join(dir, string(m[1]), "bin")) {
			return filepath.Join(dir, string(m[1]))
		}
	}
	all, _ := fs.Glob(os.DirFS(dir), "*/bin") // the folder's own name is not part of the pattern
	if len(all) == 0 {
		return ""
	}
	return filepath.Join(dir, filepath.Dir(all[len(all)-1]))
}

func isDir(p string) bool {
	st, err := os.Stat(p)
	return err == nil && st.IsDir()
}

// inSystem reports whether a path is visible to all commands.
func inSystem(p string) bool {
	for _, dir := range []string{"/usr", "/bin", "/sbin", "/lib", "/lib64"} {
		if p == dir || strings.HasPrefix(p, dir+"/") {
			return true
		}
	}
	return false
}
