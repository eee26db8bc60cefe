package project_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/sia/project"
)

// look inspects a folder of these files; a name that ends with a slash is an empty folder.
func look(files map[string]string) project.Project {
	return project.Look(func(dir string) (names []string) {
		for p := range files {
			rest, in := strings.CutPrefix(p, dir+"/")
			if dir == "." {
				rest, in = p, true
			}
			name, _, inside := strings.Cut(rest, "/")
			if inside {
				name += "/"
			}
			if in {
				names = append(names, name)
			}
		}
		return names
	}, func(p string) ([]byte, bool) {
		text, ok := files[p]
		return []byte(text), ok
	})
}

// atTop lists names at the top, and no other folder.
func atTop(names ...string) func(string) []string {
	return func(dir string) []string {
		if dir == "." {
			return names
		}
		return nil
	}
}

// said formats a project in one line: languages; setup; test; other tests; hosts.
func said(p project.Project) string {
	var parts [5][]string
	for _, l := range p.Languages {
		parts[0] = append(parts[0], strings.TrimSuffix(l.Name+"/"+l.Manager, "/"))
	}
	for _, c := range p.Setup {
		parts[1] = append(parts[1], c.Line)
	}
	parts[2] = []string{p.Test.Line}
	for _, c := range p.Others {
		parts[3] = append(parts[3], c.Line)
	}
	parts[4] = p.Hosts()
	var all []string
	for _, s := range parts {
		all = append(all, strings.Join(s, ", "))
	}
	return strings.Join(all, "; ")
}

func TestLook(t *testing.T) {
	const npm, goHosts, py = "registry.npmjs.org", "proxy.golang.org, sum.golang.org", "pypi.org, files.pythonhosted.org"
	const pnpm = "command -v pnpm || npm install --global --engine-strict pnpm, "
	const yarn = "command -v yarn || npm install --global --engine-strict yarn, "
	const yarnHosts = npm + ", registry.yarnpkg.com"
	const fetches = " -q -Dmaven.test.failure.ignore=true -DforkCount=1 -Dsurefire.timeout=1 test"
	const each = "find . -name go.mod -not -path '*/testdata/*' -not -path '*/vendor/*' -not -path '*/[._]*/*' " +
		"-execdir sh -c "
	const testEach = each + `'p=$(go list ./...) && { test -z "$p" || go test $p; }' {} +`
	script := `{"scripts":{"test":"jest"},"devDependencies":{"jest":"1"}}`
	for _, c := range []struct {
		name, want string
		files      map[string]string
	}{
		{"nothing", "; ; ; ; ", nil},
		{"words alone", "; ; ; ; ", map[string]string{"README.md": "go.mod", "docs/go.mod": "module x"}},
		{"Go without modules of others", "Go/go modules; ; go test ./...; ; ", map[string]string{"go.mod": "module x\n"}},
		{"Go", "Go/go modules; go mod download; go test ./...; ; " + goHosts,
			map[string]string{"go.mod": "module x\nrequire y v1.0.0\n"}},
		{"Go workspace", "Go/go modules; go mod download; go list -m -f '{{.Dir}}/...' | xargs go test; ; " + goHosts,
			map[string]string{"go.work": "use ./a\n", "a/go.mod": "module a\n"}},
		{"Go workspace with a module at its top",
			"Go/go modules; go mod download; go list -m -f '{{.Dir}}/...' | xargs go test; ; " + goHosts,
			map[string]string{"go.mod": "module x\n", "go.work": "use (\n.\n./a\n)\n", "a/go.mod": "module a\n"}},
		{"Go modules below", "Go/go modules; " + each + "'go mod download' {} +; " + testEach + "; ; " + goHosts,
			map[string]string{"go.mod": "module x\n", "a/go.mod": "module a\n", "b/c": ""}},
		{"Go modules further below", "Go/go modules; " + each + "'go mod download' {} +; " + testEach + "; ; " + goHosts,
			map[string]string{"go.mod": "module x\nreplace (\n\tx/a/b => ./a/b\n)\n", "a/b/go.mod": "module x/a/b\n"}},
		{"Go modules that no command goes into", "Go/go modules; ; go test ./...; ; ", map[string]string{
			"go.mod": "module x\nreplace y => ../y\n", "vendor/go.mod": "", "testdata/go.mod": "", ".tools/go.mod": ""}},
		{"npm", "JavaScript/npm; npm ci; npm test --silent; ; " + npm,
			map[string]string{"package.json": script, "package-lock.json": "{}"}},
		{"npm without a lock", "JavaScript/npm; npm install --no-package-lock; npm test --silent; ; " + npm,
			map[string]string{"package.json": script}},
		{"npm without anything", "JavaScript/npm; ; ; ; ", map[string]string{"package.json": "{}"}},
		{"npm init", "JavaScript/npm; ; ; ; ",
			map[string]string{"package.json": `{"scripts":{"test":"echo \"Error: no test specified\" && exit 1"}}`}},
		{"TypeScript and pnpm", "TypeScript/pnpm; " + pnpm + "pnpm install --frozen-lockfile; pnpm test; ; " + npm,
			map[string]string{"package.json": script, "pnpm-lock.yaml": "", "tsconfig.json": "{}"}},
		{"pnpm monorepo", "JavaScript/pnpm; " + pnpm + "pnpm install --frozen-lockfile; pnpm -r test; ; " + npm,
			map[string]string{"package.json": "{}", "pnpm-lock.yaml": "", "pnpm-workspace.yaml": ""}},
		{"npm monorepo", "JavaScript/npm; npm ci; npm test --workspaces --if-present --silent; ; " + npm,
			map[string]string{"package.json": `{"workspaces":["a"]}`, "package-lock.json": "{}", "a/package.json": script}},
		{"npm monorepo without a lock", "JavaScript/npm; npm install --no-package-lock; " +
			"npm test --workspaces --if-present --silent; ; " + npm,
			map[string]string{"package.json": `{"workspaces":["a"]}`, "a/package.json": script}},
		{"Vitest without a script", "JavaScript/npm; npm ci; npx --no-install vitest run; ; " + npm,
			map[string]string{"package.json": `{"devDependencies":{"vitest":"1"}}`, "package-lock.json": "{}"}},
		{"Jest without a script", "JavaScript/pnpm; " + pnpm + "pnpm install --frozen-lockfile; pnpm exec jest; ; " + npm,
			map[string]string{"package.json": `{"devDependencies":{"jest":"1"}}`, "pnpm-lock.yaml": ""}},
		{"Mocha without a script", "JavaScript/yarn; " + yarn + "yarn install --frozen-lockfile; yarn mocha; ; " + yarnHosts,
			map[string]string{"package.json": `{"dependencies":{"mocha":"1"}}`, "yarn.lock": ""}},
		{"yarn", "JavaScript/yarn; " + yarn + "yarn install --frozen-lockfile; yarn test; ; " + yarnHosts,
			map[string]string{"package.json": script, "yarn.lock": ""}},
		{"pnpm of a version", "JavaScript/pnpm; npm ls --global pnpm@10.14.0-0 >/dev/null 2>&1 || " +
			"npm install --global --engine-strict pnpm@10.14.0-0, pnpm install --frozen-lockfile; pnpm test; ; " + npm,
			map[string]string{
				"package.json": `{"packageManager":"pnpm@10.14.0-0+sha512.2c","scripts":{"test":"jest"}}`}},
		{"yarn of a version", "JavaScript/yarn; npm ls --global yarn@1.22.22 >/dev/null 2>&1 || " +
			"npm install --global --engine-strict yarn@1.22.22, yarn install --frozen-lockfile; yarn test; ; " + yarnHosts,
			map[string]string{"package.json": `{"packageManager":"yarn@1.22.22","scripts":{"test":"jest"}}`}},
		{"first yarn with a file of newer ones", "JavaScript/yarn; npm ls --global yarn@1.22.19 >/dev/null 2>&1 || " +
			"npm install --global --engine-strict yarn@1.22.19, yarn install --frozen-lockfile; yarn test; ; " + yarnHosts,
			map[string]string{".yarnrc.yml": "",
				"package.json": `{"packageManager":"yarn@1.22.19","scripts":{"test":"jest"}}`}},
		{"yarn of a name", "JavaScript/yarn; npm ls --global @yarnpkg/cli-dist >/dev/null 2>&1 || " +
			"npm install --global --engine-strict @yarnpkg/cli-dist, yarn install --immutable; yarn test; ; " + yarnHosts,
			map[string]string{"package.json": `{"packageManager":"yarn@stable","scripts":{"test":"jest"}}`}},
		{"newer yarn without a version", "JavaScript/yarn; " + yarn + "yarn install --immutable; yarn test; ; " + yarnHosts,
			map[string]string{"package.json": script, "yarn.lock": "", ".yarnrc.yml": ""}},
		{"newer yarn", "JavaScript/yarn; " +
			"npm ls --global '@yarnpkg/cli-dist@~4.1.0' >/dev/null 2>&1 || npm install --global --engine-strict " +
			"'@yarnpkg/cli-dist@~4.1.0', yarn install --immutable; yarn test; ; " + yarnHosts,
			map[string]string{"package.json": `{"packageManager":"yarn@4.1.0","scripts":{"test":"jest"}}`}},
		{"package.json of Windows", "JavaScript/npm; npm ci; npm test --silent; ; " + npm,
			map[string]string{"package.json": "\ufeff" + script, "package-lock.json": "{}"}},
		{"broken package.json", "JavaScript; ; make test; ; ",
			map[string]string{"package.json": `{"scripts":`, "package-lock.json": "{}", "Makefile": "test:\n"}},
		{"package.json of another shape", "JavaScript; ; ; ; ", map[string]string{"package.json": `{"scripts":["test"]}`}},
		{"Python with extras", "Python/pip; python3 -m pip install -e '.[test]'; python3 -m pytest -q; ; " + py,
			map[string]string{"pyproject.toml": "[project]\nname='x'\n[project.optional-dependencies]\ndev=[]\n" +
				"test=['pytest']\n[tool.pytest.ini_options]\n"}},
		{"Python with lists", "Python/pip; python3 -m pip install -r requirements.txt -r requirements-dev.txt; " +
			"python3 -m pytest -q; ; " + py,
			map[string]string{"requirements.txt": "", "requirements-dev.txt": "pytest", "tests/conftest.py": ""}},
		{"a list with an underscore", "Python/pip; python3 -m pip install -r test_requirements.txt, " +
			"python3 -m pip install -e .; python3 -m pytest -q; ; " + py,
			map[string]string{"setup.py": "", "test_requirements.txt": "pytest\nwhatever\n", "tests/test_a.py": ""}},
		{"pytest that nothing installs", "Python/pip; python3 -m pip install -e ., python3 -m pip install pytest; " +
			"python3 -m pytest -q; ; " + py, map[string]string{"setup.py": "", "conftest.py": ""}},
		{"words of a description", "Python/pip; python3 -m pip install -e ., python3 -m pip install pytest; " +
			"python3 -m pytest -q; ; " + py,
			map[string]string{"setup.py": "setup(description='a pytest-based runner')\n", "conftest.py": ""}},
		{"a dependency with an extra", "Python/pip; python3 -m pip install -e ., python3 -m pip install pytest; " +
			"python3 -m pytest -q; ; " + py, map[string]string{"conftest.py": "", "pyproject.toml": "[project]\n" +
			"name='x'\ndependencies=['uvicorn[standard]', 'y-x[z]']\n"}},
		{"a package whose extra needs another of its own", "Python/pip; python3 -m pip install -e '.[test]'; " +
			"python3 -m pytest -q; ; " + py, map[string]string{"conftest.py": "", "pyproject.toml": "[project]\n" +
			"name='x'\n[project.optional-dependencies]\ntest=['a', 'x[all]']\nall=['pytest']\n"}},
		{"old Python", "Python/pip; python3 -m pip install -e .; python3 -m unittest discover -s tests; ; " + py,
			map[string]string{"setup.py": "", "tests/test_a.py": ""}},
		{"pytest in requirements alone", "Python/pip; python3 -m pip install -r requirements-dev.txt; " +
			"python3 -m pytest -q; ; " + py,
			map[string]string{"requirements-dev.txt": "pytest>=7\n", "tests/__init__.py": "", "tests/test_a.py": ""}},
		{"pytest in setup.py alone", "Python/pip; python3 -m pip install -e ., python3 -m pip install pytest; " +
			"python3 -m pytest -q; ; " + py,
			map[string]string{"setup.py": "setup(tests_require=['pytest'])\n", "tests/test_a.py": ""}},
		{"pytest and tests beside the code", "Python/pip; python3 -m pip install -e ., python3 -m pip install pytest; " +
			"python3 -m pytest -q; ; " + py,
			map[string]string{"pyproject.toml": "[project]\nname='x'\n", "tox.ini": "[testenv]\ndeps = pytest\n",
				"x/tests/test_a.py": ""}},
		{"make before a guess", "Python/pip; python3 -m pip install -r requirements.txt; make test; " +
			"python3 -m pytest -q; " + py,
			map[string]string{"requirements.txt": "pytest\n", "Makefile": "test:\n", "tests/test_a.py": ""}},
		{"Python with uv", "Python/uv; command -v uv || python3 -m pip install uv, " +
			"uv sync --frozen --offline || uv sync --frozen; uv run --no-sync python3 -m pytest -q; ; " + py,
			map[string]string{"pyproject.toml": "[project]\n[tool.pytest.ini_options]\n[dependency-groups]\ndev=[]\n",
				"uv.lock": ""}},
		{"Python with uv, a group and an extra", "Python/uv; command -v uv || python3 -m pip install uv, " +
			"uv sync --frozen --extra test --group tests --offline || uv sync --frozen --extra test --group tests; " +
			"uv run --no-sync python3 -m pytest -q; ; " + py,
			map[string]string{"pyproject.toml": "[project.optional-dependencies]\ntest=[]\n" +
				"[dependency-groups]\ntests=['pytest']\n", "uv.lock": "", "tests/__init__.py": ""}},
		{"Python with Poetry", "Python/poetry; command -v poetry || python3 -m pip install poetry, " +
			"poetry install --no-interaction; poetry run python3 -m unittest discover -s tests; ; " + py,
			map[string]string{"pyproject.toml": "[tool.poetry]\nname='x'\n", "poetry.lock": "", "tests/a.py": ""}},
		{"Python with a group",
			"Python/pip; python3 -m pip install --upgrade pip, python3 -m pip install -e . --group test; " +
				"python3 -m pytest -q; ; " + py,
			map[string]string{"pyproject.toml": "[project]\nname='x'\n[dependency-groups]\ntest=['pytest']\n",
				"tests/__init__.py": ""}},
		{"Python with a group and no package",
			"Python/pip; python3 -m pip install --upgrade pip, python3 -m pip install --group dev; " +
				"python3 -m pytest -q; ; " + py,
			map[string]string{"pyproject.toml": "[dependency-groups]\ndev=['pytest']\n", "tests/__init__.py": ""}},
		{"broken pyproject.toml", "Python/pip; ; python3 -m unittest discover -s tests; ; ",
			map[string]string{"pyproject.toml": "[project\n", "tests/a.py": ""}},
		{"Rust", "Rust/cargo; cargo fetch; cargo test --offline; ; index.crates.io, static.crates.io",
			map[string]string{"Cargo.toml": "[workspace]\n"}},
		{"Cargo workspace with a package at its top",
			"Rust/cargo; cargo fetch; cargo test --workspace --offline; ; index.crates.io, static.crates.io",
			map[string]string{"Cargo.toml": "[package]\nname = 'x'\n[workspace]\nmembers = ['a']\n"}},
		{"Cargo workspace that says what is tested",
			"Rust/cargo; cargo fetch; cargo test --offline; ; index.crates.io, static.crates.io",
			map[string]string{"Cargo.toml": "[package]\nname = 'x'\n[workspace]\ndefault-members = ['.']\n"}},
		{"Maven", "Java/maven; mvn" + fetches + " || mvn -q dependency:go-offline; mvn -q -o test; ; repo.maven.apache.org",
			map[string]string{"pom.xml": "<project/>"}},
		{"Maven with a wrapper", "Java/maven; ./mvnw" + fetches + " || ./mvnw -q dependency:go-offline; " +
			"./mvnw -q -o test; ; repo.maven.apache.org",
			map[string]string{"pom.xml": "<project/>", "mvnw": ""}},
		{"CMake", "C or C++/cmake; ; cmake -S . -B build && cmake --build build && ctest --test-dir build " +
			"--output-on-failure --no-tests=error; make test; ",
			map[string]string{"CMakeLists.txt": "project(x C)\nif(A)\n  enable_testing()\n", "Makefile": "test:\n"}},
		{"CMake without tests", "; ; ; ; ", map[string]string{"CMakeLists.txt": "project(x C)\n# enable_testing()\n"}},
		{"make", "; ; make check; ; ", map[string]string{"Makefile": "test := 1\ncheck: all\n"}},
		{"several", "Go/go modules, JavaScript/npm; npm ci; go test ./...; npm test --silent, make test; " + npm,
			map[string]string{"go.mod": "module x\n", "package.json": script, "package-lock.json": "{}", "Makefile": "test:\n"}},
		{"linters of another language", "Go/go modules, Python/pip; ; go test ./...; make test; ",
			map[string]string{"go.mod": "module x\n", "requirements.txt": "codespell==2.4.3\n", "Makefile": "test:\n"}},
		{"one too large to read", "; ; ; ; ", map[string]string{"go.mod": strings.Repeat("/", project.MaxFile+1)}},
	} {
		p := look(c.files)
		if d := cmp.Diff(c.want, said(p)); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
		for i, command := range append(append([]project.Command{p.Test}, p.Setup...), p.Others...) {
			if command.Line != "" && command.Why == "" {
				t.Errorf("%s: command %d, %s, has no reason", c.name, i, command.Line)
			}
		}
		for _, l := range p.Languages {
			if l.Why == "" {
				t.Errorf("%s: %s has no reason", c.name, l.Name)
			}
		}
	}
}

// Deeper modules, which only some callers know, are tested, too: each by itself where go.work does not use it.
func TestLookAtDeeperModules(t *testing.T) {
	files := map[string]string{"go.work": "go 1.26\n\nuse (\n\t./a // first\n\t\"./x/b\"\n)\n\nreplace c => ./x/c\n"}
	names := atTop("go.work", "a/", "x/", "a/go.mod", "x/b/go.mod", "x/c/go.mod", "x/testdata/go.mod", "x/$(y)/go.mod")
	read := func(name string) ([]byte, bool) {
		text, ok := files[name]
		return []byte(text), ok
	}
	want := []project.Command{{Line: "(cd ./x/c && GOWORK=off go test ./...)",
		Why: "go.work does not use the module in x/c"}}
	if diff := cmp.Diff(want, project.Look(names, read).Others); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	files["go.mod"] = "module x\n"
	got := project.Look(atTop("go.mod", "x/", "x/c/go.mod"), read).Test.Line
	if !strings.HasPrefix(got, "find . -name go.mod") {
		t.Errorf("a deeper module: %s", got)
	}
}

// A file that can't be read, such as a link out of the folder, is treated as missing.
func TestLookAtWhatCannotBeRead(t *testing.T) {
	p := project.Look(atTop("go.mod", "package.json", "pyproject.toml", "Cargo.toml", "pom.xml",
		"Makefile", "pytest.ini"),
		func(string) ([]byte, bool) { return nil, false })
	if p.Test.Line != "" || len(p.Setup) > 0 {
		t.Errorf("found %+v", p)
	}
}

// version matches a version in a command.
var version = regexp.MustCompile(`@(~?)[0-9]+\.[0-9]+\.[0-9]+(?:-[0-9A-Za-z.]+)?\b`)

// A file is read once, since that may be a request to GitHub.
func TestLookReadsAFileOnce(t *testing.T) {
	times := map[string]int{}
	project.Look(atTop("pyproject.toml", "setup.py", "tests/", "package.json"), func(name string) ([]byte, bool) {
		times[name]++
		return nil, name != "tests/conftest.py"
	})
	for name, n := range times {
		if n > 1 {
			t.Errorf("%s: %d times", name, n)
		}
	}
}

// No content of an untrusted file but a version becomes part of a command or of its reason.
func FuzzLook(f *testing.F) {
	f.Add("package.json", `{"packageManager":"$(evil)@1","scripts":{"test":"evil"},"dependencies":{"evil":"1"}}`)
	f.Add("pyproject.toml", "[project.optional-dependencies]\n'evil' = []\n")
	f.Add("Makefile", "evil:\ntest: evil\n")
	known := map[string]bool{}
	for _, files := range []map[string]string{
		{"package.json": `{"scripts":{"test":"x"},"dependencies":{"a":"1"}}`}, {"package.json": `{"workspaces":[1]}`},
		{"package.json": `{"packageManager":"pnpm@9","scripts":{"test":"x"}}`},
		{"package.json": `{"packageManager":"yarn@1","scripts":{"test":"x"}}`},
		{"package.json": `{"packageManager":"yarn@2","scripts":{"test":"x"}}`},
		{"package.json": `{"packageManager":"pnpm@9.9.9","scripts":{"test":"x"}}`},
		{"package.json": `{"packageManager":"yarn@1.9.9","scripts":{"test":"x"}}`},
		{"package.json": `{"packageManager":"yarn@9.9.9","scripts":{"test":"x"}}`},
		{"package.json": `{"devDependencies":{"jest":"1"}}`}, {"package.json": `{"devDependencies":{"mocha":"1"}}`},
		{"package.json": `{"devDependencies":{"vitest":"1"}}`},
		{"Makefile": "test:"}, {"Makefile": "check:"}, {"go.mod": "require x"},
		{"go.mod": "replace x => ./y"},
	} {
		for _, line := range strings.SplitAfter(fmt.Sprintf("%+v", commands(look(files))), "}") {
			known[strings.Trim(line, "[ ]")] = true
		}
	}
	names := []string{"x", "test", "tests", "testing", "dev"}
	for _, begins := range []string{"[project]\n", "[tool.pytest]\n", "[build-system]\n"} {
		for i := range len(names) * len(names) {
			extra, group := names[i%len(names)], names[i/len(names)]
			for _, line := range strings.SplitAfter(fmt.Sprintf("%+v", commands(look(map[string]string{
				"pyproject.toml": begins + "[project.optional-dependencies]\n" + extra + "=1\n[dependency-groups]\n" + group +
					"=1\n"}))), "}") {
				known[strings.Trim(line, "[ ]")] = true
			}
		}
	}
	f.Fuzz(func(t *testing.T, name, text string) {
		if strings.Contains(name, "/") ||
			(name != "package.json" && name != "pyproject.toml" && name != "Makefile" && name != "go.mod") {
			return
		}
		for _, line := range strings.SplitAfter(fmt.Sprintf("%+v", commands(look(map[string]string{name: text}))), "}") {
			if line = strings.Trim(line, "[ ]"); !known[line] && !known[version.ReplaceAllString(line, "@${1}9.9.9")] &&
				!known[version.ReplaceAllString(line, "@${1}1.9.9")] {
				t.Errorf("%s %q: %s", name, text, line)
			}
		}
	})
}

// commands returns all commands of a project, without their reasons.
func commands(p project.Project) []struct{ Line string } {
	var all []struct{ Line string }
	for _, c := range append(append([]project.Command{p.Test}, p.Setup...), p.Others...) {
		all = append(all, struct{ Line string }{c.Line})
	}
	return all
}
