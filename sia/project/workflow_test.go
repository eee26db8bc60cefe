package project_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/sia/project"
)

// job returns a workflow with one job of these steps.
func job(steps ...string) string {
	return "on: [push, pull_request]\njobs:\n  test:\n    runs-on: ubuntu-latest\n    steps:\n" +
		"      - uses: actions/checkout@v4\n" +
		"      - " + strings.Join(steps, "\n      - ") + "\n"
}

func TestLookAtWorkflows(t *testing.T) {
	const npm, py, script = "registry.npmjs.org", "pypi.org, files.pythonhosted.org", `{"scripts":{"test":"jest"}}`
	const uv = "command -v uv || python3 -m pip install uv, uv sync --frozen --offline || uv sync --frozen; "
	for _, c := range []struct {
		name, want, workflow string
		files                map[string]string
	}{
		{"the same as the files say", "JavaScript/npm; npm ci; npm test --silent; ; " + npm, job("run: npm run test"),
			map[string]string{"package.json": script, "package-lock.json": ""}},
		{"another script", "JavaScript/npm; npm ci; npm run test:unit; ; " + npm, job("run: npm run test:unit"),
			map[string]string{"package.json": script, "package-lock.json": ""}},
		{"folders", "JavaScript/npm, Python/pip; (cd ./web && npm ci), (cd ./api && python3 -m pip install -r " +
			"requirements.txt), (cd ./api && python3 -m pip install -r requirements.txt pytest); " +
			"(cd ./web && npm test --silent); (cd ./api && python3 -m pytest -q tests); " +
			npm + ", " + py,
			job("run: npm test\n        working-directory: ./web", "run: |\n          cd api\n          pip install -r "+
				"requirements.txt pytest\n          pytest --cov-report term --cov=x -v tests"),
			map[string]string{"web/package.json": script, "web/package-lock.json": "", "api/requirements.txt": ""}},
		{"an option that names the folder",
			"JavaScript/npm; (cd ./web && npm ci); (cd ./web && npm test --silent); ; " + npm,
			job("run: npm --prefix web test"),
			map[string]string{"web/package.json": script, "web/package-lock.json": ""}},
		{"a package of a workspace", "JavaScript/npm, JavaScript/npm; npm ci; (cd ./a && npm test --silent); ; " + npm,
			job("run: (cd a && npm test)"),
			map[string]string{"package.json": `{}`, "package-lock.json": "", "a/package.json": script}},
		{"tests that workflows don't run come last",
			"Go/go modules, JavaScript/npm; npm ci; go test ./...; npm test --silent; " + npm,
			job("run: go test -race ./..."),
			map[string]string{"go.mod": "module x\n", "package.json": script, "package-lock.json": ""}},
		{"a target", "Go/go modules, JavaScript/npm; npm ci; make -j2 test; ; " + npm, job("run: make -j2 test"),
			map[string]string{"go.mod": "module x\n", "package.json": script, "package-lock.json": "",
				"Makefile": "test:\n"}},
		{"uv", "Python/uv; " + uv + "uv run --no-sync python3 -m pytest -q -m 'not slow'; ; " + py,
			job(`run: uv run --group dev python -m pytest -m "not slow" ${{ matrix.args }}`),
			map[string]string{"pyproject.toml": "[project]\n", "uv.lock": ""}},
		{"tox, which fetches packages", "Python/uv; " + uv + "uv run --no-sync python3 -m pytest -q; ; " + py,
			job("run: tox -e py"),
			map[string]string{"pyproject.toml": "[project]\n[tool.pytest.ini_options]\n", "uv.lock": ""}},
		{"what files and a workflow install", "Python/pip; python3 -m pip install -e '.[test]', python3 -m pip install " +
			"coverage 'x>=2'; python3 -m pytest -q; ; " + py,
			job("run: python -m pip install --upgrade pip wheel 'setuptools>=60'", "run: pip install tox",
				"run: pip install -e .[test]", "run: pip install coverage 'x>=2'", "run: pytest"),
			map[string]string{"pyproject.toml": "[project]\nname='x'\n[project.optional-dependencies]\ntest=[]\n"}},
		{"what a workflow installs from the work tree can be edited", "Python/pip; python3 -m pip install -e '.[dev]'; " +
			"python3 -m pytest -q; ; " + py, job("run: pip install .[dev] && pytest"), map[string]string{
			"pyproject.toml": "[project]\nname='x'\n[project.optional-dependencies]\ndev=['pytest']\n"}},
		{"files and folders that are no work tree", "; python3 -m pip install -r ./ci.txt -c ./c -t ./x.d a, " +
			"python3 -m pip install ./x-1.whl, python3 -m pip install -U --no-deps --compile -e . -e './b[c]'; " +
			"python3 -m pytest -q; ; " + py, job("run: pip install -r ./ci.txt -c ./c -t ./x.d a",
			"run: pip install ./x-1.whl", "run: pip install -U --no-deps --compile . -e './b[c]'", "run: pytest"), nil},
		{"what only tox needs", "Python/pip; python3 -m pip install -e ., python3 -m pip install pytest; " +
			"python3 -m pytest -q; ; " + py, job("run: pip install coverage tox", "run: tox"), map[string]string{
			"pyproject.toml": "[project]\nname='x'\n", "tests/__init__.py": "",
			"tox.ini": "[testenv]\ndeps =\n  pytest\n  pytest-cov\n  flake8\ncommands = pytest --cov\n"}},
		{"a workflow that installs pytest", "Python/pip; python3 -m pip install -e ., " +
			"python3 -m pip install -r a.txt pytest; python3 -m pytest -q; ; " + py,
			job("run: pip install -r a.txt pytest", "run: pytest"),
			map[string]string{"setup.py": "", "tests/__init__.py": ""}},
		{"a list that may name pytest", "Python/pip; python3 -m pip install -e ., python3 -m pip install -r a.txt; " +
			"python3 -m pytest -q; ; " + py, job("run: pip install -r a.txt", "run: pytest"),
			map[string]string{"setup.py": "", "tests/__init__.py": ""}},
		{"another package manager", "JavaScript/npm; bun install; bun test; ; " + npm,
			job("run: bun install", "run: bun test"),
			map[string]string{"package.json": `{"dependencies":{"a":"1"}}`}},
		{"Node before another runtime", "JavaScript/npm; npm ci; npm test --silent; ; " + npm,
			job("run: bun test", "run: npm test"), map[string]string{"package.json": script, "package-lock.json": ""}},
		{"Django", "Python/pip; python3 -m pip install -r requirements.txt, python3 -m pip install Django; " +
			"python3 manage.py test; ; " + py,
			job("run: python3 -m pip install Django", "run: python manage.py test"),
			map[string]string{"requirements.txt": ""}},
		{"options of pytest without a value", "; ; python3 -m pytest -q tests/unit -x; ; ",
			job("run: pytest --cov-append --tb short --cov-report xml --durations 5 -vvvvv " +
				"--verbose tests/unit -x --cov"), nil},
		{"Rust", "Rust/cargo; cargo fetch; cargo test --offline --workspace --all-features; ; " +
			"index.crates.io, static.crates.io", job("run: cargo test --locked --workspace --all-features"),
			map[string]string{"Cargo.toml": "[workspace]\n"}},
		{"one for all tests, and others for parts", "JavaScript/npm; npm ci; npx vitest run --coverage; ; " + npm,
			job("run: node --test a.test.mjs b.test.mjs", "run: npm run test:a11y", "run: npx vitest run --coverage"),
			map[string]string{"package.json": script, "package-lock.json": ""}},
		{"parts alone", "Rust/cargo; cargo fetch; cargo test --offline; ; index.crates.io, static.crates.io",
			job("run: cargo test -p a", "run: cargo test -p b"), map[string]string{"Cargo.toml": "[workspace]\n"}},
		{"one part", "Rust/cargo; cargo fetch; cargo test --offline -p a; ; index.crates.io, static.crates.io",
			job("run: cargo test -p a", "run: cargo test -p a"), map[string]string{"Cargo.toml": "[workspace]\n"}},
		{"a runner that a package manager starts", "JavaScript/pnpm; " +
			"command -v pnpm || npm install --global --engine-strict pnpm, pnpm install --frozen-lockfile; " +
			"pnpm vitest --coverage; ; " + npm, job("run: pnpm test:types", "run: pnpm vitest --coverage"),
			map[string]string{"package.json": script, "pnpm-lock.yaml": ""}},
		{"parts by their tests' names", "Rust/cargo; cargo fetch; cargo test --offline; ; " +
			"index.crates.io, static.crates.io",
			job("run: cargo test --features x pass", "run: cargo test --lib"),
			map[string]string{"Cargo.toml": "[workspace]\n"}},
		{"features are no part", "Rust/cargo; cargo fetch; cargo test --offline --features x; ; " +
			"index.crates.io, static.crates.io", job("run: cargo test --features x", "run: cargo test y -- --nocapture"),
			map[string]string{"Cargo.toml": "[workspace]\n"}},
		{"a script, and a clean work tree after it", "; ; ./unittest.sh; ; ",
			job("run: |\n          ./unittest.sh\n          git diff --exit-code"), map[string]string{"unittest.sh": ""}},
		{"programs that are built", "; ; ; ; ", job("run: ./build/tests", "run: ./test", "run: cd bin && ../../test",
			"run: /usr/bin/test -f x", "run: (cd b && ./test)", "run: (cd x && ./tests)"),
			map[string]string{"test/a.c": "", "x/a": "", "b/usr/bin/test": ""}},
		{"fuzzing", "; ; ; ; ", job("run: go test ./a -fuzz=FuzzX -fuzztime=5s"), nil},
		{"scripts of other names", "; ; ./unittest.sh; (cd ./b && script/test --fast), (cd ./c && test/run); ",
			job("run: ./latest.sh", "run: ./report-tests.sh", "run: test -f x", "run: ./e2e-test.sh", "run: ./unittest.sh",
				"run: (cd b && script/test --fast)", "run: cd c && PATH=x test/run"),
			map[string]string{"unittest.sh": "", "b/script/test": "", "c/test/run": ""}},
		{"PHP", "; composer install --no-progress; vendor/bin/phpunit --testsuite unit; ; " +
			"repo.packagist.org, api.github.com, codeload.github.com",
			job("run: composer install --no-progress", "run: vendor/bin/phpunit --testsuite unit"), nil},
		{"Ruby", "; bundle install; bundle exec rake spec; ; rubygems.org, index.rubygems.org",
			job("uses: ruby/setup-ruby@v1\n        with: {ruby-version: 3.4, bundler-cache: true}",
				"run: bundle exec rake spec"), nil},
		{"folders of Ruby", "; (cd ./a && bundle install), bundle install; (cd ./b && bundle exec rspec); ; " +
			"rubygems.org, index.rubygems.org",
			strings.Replace(job("uses: ruby/setup-ruby@v1\n        with: {bundler-cache: true, working-directory: a}",
				"uses: ruby/setup-ruby@v1\n        working-directory: b\n        with: {bundler-cache: true}",
				"run: bundle exec rspec"), "    steps:", "    defaults: {run: {working-directory: b}}\n    steps:", 1),
			map[string]string{"b/Gemfile": ""}},
		{"the default task of rake", "; bundle install; bundle exec rake; ; rubygems.org, index.rubygems.org",
			job("run: bundle install", "run: bundle exec rake"), nil},
		{"a program that is configured first", "; ./autogen.sh, ./configure --enable-x; make check; ; ",
			job("run: ./autogen.sh", "run: ./configure --enable-x && make", "run: make check"), nil},
		{"make check that does nothing, or more", "; ; ; ; ", job("run: ./configure", "run: make -n check",
			"run: make check --dry-run", "run: make integration-check check", "run: make install check"), nil},
		{"a program that only shows how it can be configured", "; ; ; ; ",
			job("run: ./configure --help", "run: make check"), nil},
		{"specifications that are no tests", "; ; ; ; ", job("run: make spec", "run: npm run spec"), nil},
		{".NET", "; dotnet restore; dotnet test a.sln; ; api.nuget.org",
			job("run: dotnet restore && dotnet build --no-restore && dotnet test a.sln --no-build > out.txt"), nil},
		{"Gradle", "; ; ./gradlew :a:testDebug; ; ", job("run: ./gradlew :a:testDebug"), nil},
		{"an environment", "JavaScript/npm; (cd ./a && npm ci); " +
			"(cd ./a && B='x y' DATABASE_URL=postgres://a:b@localhost:5432/c npm test --silent); ; " + npm,
			strings.Replace(job("run: npm test\n        working-directory: a\n        env: "+
				"{B: x y, TOKEN: '${{ secrets.T }}', CI: true, PIP_A: 1, NODE_VERSION: 1, C: \"a'b\", x-y: 1}"), "    steps:",
				"    env: {DATABASE_URL: 'postgres://a:b@localhost:5432/c', B: z, TOKEN: x}\n    steps:", 1),
			map[string]string{"a/package.json": script, "a/package-lock.json": ""}},
		{"an environment of a workflow", "; ; A=1 B=2 C=3 make test; ; ",
			"env: {A: 1, B: 1, C: 1}\n" + strings.Replace(job("run: make test\n        env: {C: 3}"), "    steps:",
				"    env: {B: 2, C: 2}\n    steps:", 1), nil},
		{"variables, patterns and quotes", "; ; make test; ; ",
			job("run: |\n          # don't\n          A=b timeout make test F=\"$F\" \"x*\"'y z' $(go list) 2>&1 | tee out" +
				"\n          if true; then make test; fi"),
			map[string]string{"Makefile": "test:\n"}},
		{"one that no settings file can contain", "; ; A=b make test; ; ",
			job("run: make test"+strings.Repeat(" xxx", 300), "run: make test\n        env: "+
				"{A: b, C: "+strings.Repeat("c", 201)+"}"), nil},
		{"no tests", "JavaScript/npm; ; npm test --silent; ; ", job("run: npm install -g test", "run: echo npm test",
			"run: black tests", "run: npx playwright test", "run: cargo test --no-run",
			"run: |\n          pip install pytest"),
			map[string]string{"package.json": script}},
		{"no test is run", "; ; ; ; ", job("run: pytest --version", "run: pytest -V", "run: npx jest --version",
			"run: pytest --co -q", "run: pytest --collect-only", "run: pytest --fixtures", "run: npm test --if-present",
			"run: npm test -- --listTests", "run: cargo test --help", "run: cargo test --no-run", "run: make -n test",
			"run: make test --dry-run", "run: tox -l", "run: nox --list-sessions", "run: bundle exec rspec --dry-run",
			"run: python -m unittest -h", "run: go test -list . ./...", "run: ./gradlew test --dry-run",
			"run: mvn test --help"), nil},
		{"letters that mean something else", "; ; make test -l 4; mvn -V test, python3 -m pytest -q -l -n 4; ",
			job("run: make test -l 4", "run: mvn -V test", "run: pytest -l -n 4"), nil},
		{"a folder that can't be told", "; ; ; ; ",
			job("run: make test\n        working-directory: ${{ matrix.dir }}", "run: cd $X && make test",
				"run: cd ../x && make test", "run: make -C /x test"), nil},
		{"macOS", "; ; ; ; ", strings.Replace(job("run: swift test"), "ubuntu", "macos", 1), nil},
		{"labels of other systems", "; ; ; ; ",
			strings.Replace(job("run: make test"), "ubuntu-latest", "[self-hosted, macOS]", 1), nil},
		{"a group of other systems", "; ; ; ; ",
			strings.Replace(job("run: make test"), "ubuntu-latest", "{group: a, labels: [windows-2022]}", 1), nil},
		{"labels of Linux", "; ; make test; ; ",
			strings.Replace(job("run: make test"), "ubuntu-latest", "[self-hosted, linux]", 1), nil},
		{"conditions", "; ; make check:test; npm test, mix test; ", job("run: make test\n        if: false",
			"run: make test\n        if: ${{ false }}", "run: make test\n        if: github.event_name == 'schedule'",
			"run: make test\n        if: github.event_name == 'schedule' || github.event_name == 'workflow_dispatch'",
			"run: make check:test\n        if: github.event_name != 'schedule'",
			"run: npm test\n        if: github.event_name == 'push' || github.event_name == 'schedule'",
			"run: mix test\n        if: github.event_name == 'workflow_dispatch' || "+
				"github.event.pull_request.draft == false"),
			nil},
		{"a condition of a job", "; ; ; ; ", strings.Replace(job("run: make test"), "    steps:",
			"    if: github.event_name == 'workflow_dispatch'\n    steps:", 1), nil},
		{"here-documents", "; ; npm test; python3 -m pytest -q; ",
			job("run: |\n          cat > a <<'EOF'\n          don't\n          make test\n          EOF\n" +
				"          cat <<-A <<\"B\"\n          go test\n          A\n          cargo test\n          B\n" +
				"          npm test\n          cat <<< EOF\n          echo $((1<<C))\n          pytest"), nil},
		{"tags", "; ; ; ; ",
			strings.Replace(job("run: make test"), "[push, pull_request]", "{push: {tags: [v*]}}", 1), nil},
		{"a plan", "; ; ; ; ", strings.Replace(job("run: make test"), "[push, pull_request]", "schedule", 1), nil},
		{"a job that needs more", "; ; ; ; ", strings.Replace(job("run: make test"), "  test:", "  e2e:", 1), nil},
		{"no workflow", "; ; ; ; ", "jobs: [", nil},
		{"folders of a job", "Go/go modules; ; (cd ./b && go test ./...); ; ", strings.Replace(job("run: go test ./..."),
			"    steps:", "    defaults: {run: {working-directory: b}}\n    steps:", 1),
			map[string]string{"b/go.mod": "module x\n"}},
	} {
		files := map[string]string{".github/workflows/ci.yml": c.workflow, ".github/workflows/notes.txt": c.workflow}
		maps.Copy(files, c.files)
		if d := cmp.Diff(c.want, said(look(files))); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
	}
}

// The reason names the workflow.
func TestWorkflowIsTheReason(t *testing.T) {
	p := look(map[string]string{".github/workflows/ci.yml": job("run: make test"),
		".github/workflows/a b.yml": job("run: just test")})
	if want := ".github/workflows/ci.yml runs it"; p.Test.Why != want || len(p.Others) > 0 {
		t.Errorf("%+v", p)
	}
	p = look(map[string]string{"go.mod": "module x\n",
		".github/workflows/ci.yml": job("run: go test\n        env: {A: b}")})
	const want = "go.mod makes the whole folder one module, and .github/workflows/ci.yml sets the variables"
	if p.Test.Line != "A=b go test ./..." || p.Test.Why != want {
		t.Errorf("%+v", p.Test)
	}
}

// A script that aliases repeat is read only a few times.
func TestWorkflowThatRepeatsAScript(t *testing.T) {
	allocations := func(aliases int) float64 {
		line := "          make test # " + strings.Repeat("-", 30) + "\n"
		workflow := job("&step\n        run: |\n"+strings.Repeat(line, 350)) +
			strings.Repeat("      - *step\n", aliases)
		var p project.Project
		n := testing.AllocsPerRun(1, func() { p = look(map[string]string{".github/workflows/ci.yml": workflow}) })
		if p.Test.Line != "make test" {
			t.Errorf("%d aliases: %+v", aliases, p.Test)
		}
		return n
	}
	if few, many := allocations(28), allocations(54); many > 1.5*few { // 54 repeat almost what yamlfile.Values allows
		t.Errorf("%.0f allocations for 28 aliases, %.0f for 54", few, many)
	}
}

// Tests at the top come first, wherever the workflow has them, and no more than four are kept.
func TestWorkflowsInManyFolders(t *testing.T) {
	files := map[string]string{".github/workflows/ci.yml": job("run: |\n          (cd x/y && make test)\n          " +
		"(cd a && make test)\n          (cd b && make test)\n          (cd c && make test)\n          make test")}
	for _, dir := range []string{"a", "b", "c", "x/y"} {
		files[dir+"/Makefile"] = "test:\n"
	}
	const want = "; ; make test; (cd ./a && make test), (cd ./b && make test), (cd ./c && make test); "
	if d := cmp.Diff(want, said(look(files))); d != "" {
		t.Error(d)
	}
}

// A word of a workflow stays one word, and no shell replaces anything in it.
func FuzzWorkflow(f *testing.F) {
	for _, s := range []string{"make test 'a b' \"c d\" $e `f` g\\ h", "pytest -m 'x",
		"cargo test \"$(evil)\"", "cd a; (cd b && npm test);"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, script string) {
		workflow := "on: push\njobs:\n  a:\n    steps:\n      - run: |\n          " +
			strings.ReplaceAll(script, "\n", "\n          ")
		p := look(map[string]string{".github/workflows/a.yml": workflow})
		for _, c := range commands(p) {
			for i, part := range strings.Split(c.Line, "'") {
				if outside := i%2 == 0; outside && strings.Trim(strings.ReplaceAll(part, "&& ", ""), wordChars+" ()") != "" {
					t.Errorf("%q: %q", script, c.Line)
				}
			}
			if strings.Count(c.Line, "'")%2 != 0 {
				t.Errorf("%q: %q", script, c.Line)
			}
		}
	})
}

const wordChars = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=@,+%-"
