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
	var install Command
	f.language.Manager, install = nodeInstall(t, p)
	if install.Line != "" {
		f.setup = []Command{install}
		f.locked = strings.HasSuffix(install.Why, " is there")
	}
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

// nodeInstall returns the package manager, and the command that installs the packages without changing a file of the
// repository.
func nodeInstall(t top, p packageFile) (manager string, install Command) {
	npm := []string{"registry.npmjs.org"}
	named, version, _ := strings.Cut(p.PackageManager, "@")
	switch {
	case named == "pnpm" || named == "" && t.has("pnpm-lock.yaml"):
		return "pnpm", Command{"pnpm install --frozen-lockfile", because(t, "pnpm-lock.yaml", named), npm}
	case named == "yarn" || named == "" && t.has("yarn.lock"):
		line := "yarn install --frozen-lockfile"
		if t.has(".yarnrc.yml") || version != "" && !strings.HasPrefix(version, "1.") {
			line = "yarn install --immutable" // from version 2 on
		}
		return "yarn", Command{line, because(t, "yarn.lock", named), []string{"registry.yarnpkg.com", "registry.npmjs.org"}}
	}
	if lock := t.first("package-lock.json", "npm-shrinkwrap.json"); lock != "" {
		return "npm", Command{"npm ci", lock + " is there", npm}
	}
	if len(p.Dependencies)+len(p.DevDependencies) > 0 {
		return "npm", Command{"npm install --no-package-lock",
			"package.json has dependencies, and there is no lock file", npm}
	}
	if len(p.Workspaces) > 0 {
		return "npm", Command{"npm install --no-package-lock",
			"package.json joins several packages, and there is no lock file", npm}
	}
	return "npm", Command{}
}

// because returns the reason for a package manager: its lock file, or that package.json names it.
func because(t top, lock, named string) string {
	if t.has(lock) {
		return lock + " is there"
	}
	return "package.json names " + named + " as its packageManager"
}
