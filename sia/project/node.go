package project

import (
	"encoding/json"
	"regexp"
	"strings"
)

// noTest matches the test script that npm init writes if there are no tests.
var noTest = regexp.MustCompile(`no test specified`)

// packageFile contains the fields of package.json that are used.
type packageFile struct {
	Scripts         map[string]string          `json:"scripts"`
	PackageManager  string                     `json:"packageManager"`
	Workspaces      json.RawMessage            `json:"workspaces"`
	Dependencies    map[string]json.RawMessage `json:"dependencies"`
	DevDependencies map[string]json.RawMessage `json:"devDependencies"`
}

// node inspects package.json and the lock files.
func node(t top) finding {
	text, ok := t.file("package.json")
	if !ok {
		return finding{}
	}
	var p packageFile
	if json.Unmarshal([]byte(text), &p) != nil {
		return finding{language: Language{Name: "JavaScript", Why: "package.json, which can't be read as JSON"}}
	}
	f := finding{language: Language{Name: "JavaScript", Why: "package.json"}}
	if t.has("tsconfig.json") {
		f.language.Name, f.language.Why = "TypeScript", "package.json and tsconfig.json"
	}
	f.language.Manager, f.setup = nodeInstall(t, p)
	f.locked = len(f.setup) > 0 && strings.HasSuffix(f.setup[len(f.setup)-1].Why, " is there")
	switch script := p.Scripts["test"]; {
	case script != "" && !noTest.MatchString(script):
		f.test = Command{Line: f.language.Manager + " test", Why: "package.json has the script test"}
		if f.language.Manager == "npm" {
			f.test.Line += " --silent"
		}
	case f.language.Manager == "npm" && len(p.Workspaces) > 0:
		f.test = Command{Line: "npm test --workspaces --if-present --silent",
			Why: "package.json joins several packages, and has no script test of its own"}
	case t.has("pnpm-workspace.yaml"):
		f.test = Command{Line: "pnpm -r test",
			Why: "pnpm-workspace.yaml joins several packages, and package.json has no script test of its own"}
	default:
		f.test = nodeRunner(p, f.language.Manager)
	}
	return f
}

// nodeRunner returns the command of a test runner among the packages, for a package.json without a script.
func nodeRunner(p packageFile, manager string) Command {
	program := map[string]string{"npm": "npx --no-install ", "pnpm": "pnpm exec ", "yarn": "yarn "}[manager]
	for _, runner := range []struct{ name, args string }{{"vitest", " run"}, {"jest", ""}, {"mocha", ""}} {
		if p.Dependencies[runner.name] != nil || p.DevDependencies[runner.name] != nil {
			return Command{Line: program + runner.name + runner.args, Why: "package.json names " + runner.name +
				", and has no script test"}
		}
	}
	return Command{}
}

// nodeInstall returns the package manager, and the commands that install it if it is not npm, and then the packages,
// without changing a file of the repository.
func nodeInstall(t top, p packageFile) (manager string, install []Command) {
	npm := []string{"registry.npmjs.org"}
	named, version, _ := strings.Cut(p.PackageManager, "@")
	version = managerVersion.FindString(version)
	switch {
	case named == "pnpm" || named == "" && t.has("pnpm-lock.yaml"):
		why := because(t, "pnpm-lock.yaml", named)
		return "pnpm", []Command{managerInstall("pnpm", "pnpm", version, why), {"pnpm install --frozen-lockfile", why, npm}}
	case named == "yarn" || named == "" && t.has("yarn.lock"):
		why, program, line := because(t, "yarn.lock", named), "yarn", "yarn install --frozen-lockfile"
		isNewer := named == "yarn" && !firstYarn.MatchString(p.PackageManager) // version 2, or newer
		if isNewer || version == "" && t.has(".yarnrc.yml") {
			line = "yarn install --immutable"
		}
		if isNewer {
			program = "@yarnpkg/cli-dist"
		}
		if isNewer && version != "" {
			version = "~" + version // npm does not have all of them
		}
		return "yarn", []Command{managerInstall("yarn", program, version, why),
			{line, why, []string{"registry.yarnpkg.com", "registry.npmjs.org"}}}
	}
	if lock := t.first("package-lock.json", "npm-shrinkwrap.json"); lock != "" {
		return "npm", []Command{{"npm ci", lock + " is there", npm}}
	}
	if len(p.Dependencies)+len(p.DevDependencies) > 0 {
		return "npm", []Command{{"npm install --no-package-lock",
			"package.json has dependencies, and there is no lock file", npm}}
	}
	if len(p.Workspaces) > 0 {
		return "npm", []Command{{"npm install --no-package-lock",
			"package.json joins several packages, and there is no lock file", npm}}
	}
	return "npm", nil
}

var (
	// managerVersion matches the version of a package manager, without a hash.
	managerVersion = regexp.MustCompile(`^\d{1,4}\.\d{1,4}\.\d{1,4}(?:-[0-9A-Za-z.]{1,20})?`)
	firstYarn      = regexp.MustCompile(`^yarn(?:@1\b.*)?$`)
)

// managerInstall returns the command that installs a package manager. Managers that are asked for another version of
// themselves fetch it, which tests can't, so the version that package.json names is installed, if it names one. If the
// manager needs another version of Node, npm says so.
func managerInstall(program, name, version, why string) Command {
	found := "command -v " + program
	if version != "" {
		name, why = quoted([]string{name + "@" + version}), "package.json names this version as its packageManager"
	}
	if name != program { // a program of that name may be another version
		found = "npm ls --global " + name + " >/dev/null 2>&1"
	}
	return Command{found + " || npm install --global --engine-strict " + name, why, []string{"registry.npmjs.org"}}
}

// because returns the reason for a package manager: its lock file, or that package.json names it.
func because(t top, lock, named string) string {
	if t.has(lock) {
		return lock + " is there"
	}
	return "package.json names " + named + " as its packageManager"
}
