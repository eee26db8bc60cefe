package project

import (
	"bytes"
	"cmp"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/sia-bot/sia/sia/yamlfile"
)

// workflows is the folder of a repository's workflow files.
const workflows = ".github/workflows"

const (
	maxWorkflows = 40        // workflow files that are read: each may cost a request to GitHub
	maxWorkflow  = 128 << 10 // bytes of a workflow file
	maxText      = 512 << 10 // bytes of all of them
	maxScript    = 16 << 10  // bytes of a step's script
	maxScripts   = 512 << 10 // bytes of all scripts; one counts for each step that an alias repeats
	maxJobs      = 100
	maxSteps     = 1000 // steps of all workflows
	maxVariables = 100  // variables of an env section
	maxTested    = 4    // folders and kinds of projects whose tests are taken from workflows
	maxInstalls  = 20   // commands of a job that install packages
	maxLooks     = 20   // scripts that are looked for: each may cost a request to GitHub
	// maxWords is the maximum length of a command, and of its variables, in bytes; a settings file can contain both.
	maxWords = 900
)

// ciTest is a test command of a workflow's job.
type ciTest struct {
	dir      string   // folder in which it runs
	kind     string   // kind of project, such as "node"; "script": a script or a target that may test all
	words    []string // without what only starts the program, such as uv run
	start    []string // what does
	env      string   // variables that the workflow, the job and the step set for it, as assignments for a shell
	file     string   // name of the workflow
	installs []Command
	// the workflows run only parts of the tests here, by several commands
	parts bool
}

// workflowTests returns the test commands that workflows run for a change: one for each folder and kind, those at the
// top first.
func (t top) workflowTests() []ciTest {
	var files []string
	for _, name := range t.list(workflows) {
		if ext := path.Ext(name); (ext == ".yml" || ext == ".yaml") && plainPath.MatchString(name) {
			files = append(files, name)
		}
	}
	slices.Sort(files)
	found := ciTests{has: t.hasFile, looks: maxLooks, script: maxScripts, steps: maxSteps}
	left := maxText
	for _, name := range files[:min(len(files), maxWorkflows)] {
		text, _ := t.read(workflows + "/" + name)
		if left -= len(text); len(text) > maxWorkflow || left < 0 {
			continue
		}
		doc, _ := yamlfile.Values(text)
		root, _ := doc.(map[string]any)
		jobs, _ := root["jobs"].(map[string]any)
		if !forChanges(root["on"]) || len(jobs) > maxJobs {
			continue
		}
		keys := slices.Sorted(maps.Keys(jobs))
		slices.SortStableFunc(keys, func(a, b string) int { // as the owner ordered them
			return cmp.Compare(bytes.Index(text, []byte("\n  "+a+":")), bytes.Index(text, []byte("\n  "+b+":")))
		})
		for _, key := range keys {
			job, _ := jobs[key].(map[string]any)
			if needsMore.MatchString(key) {
				continue
			}
			found.addJob(job, root, name)
		}
	}
	return found.kept
}

// ciTests collects the test commands of workflows: one for each folder and kind.
type ciTests struct {
	kept   []ciTest // those at the top first
	script int      // bytes of scripts that may still be read
	steps  int      // steps that may still be read
	looks  int      // scripts that may still be looked for
	has    func(file string) bool
}

// hasScript reports whether the repository contains a script.
func (t *ciTests) hasScript(name string) bool {
	t.looks--
	return t.looks >= 0 && t.has(name)
}

// add adds a test command. One for all tests replaces one for a part of them; one for Node replaces one for Bun.
func (t *ciTests) add(c ciTest) {
	i := slices.IndexFunc(t.kept, func(o ciTest) bool { return o.dir == c.dir && o.kind == c.kind })
	switch {
	case i < 0:
		at := slices.IndexFunc(t.kept, func(o ciTest) bool { return o.depth() > c.depth() })
		if at < 0 {
			at = len(t.kept)
		}
		t.kept = slices.Insert(t.kept, at, c)
		t.kept = t.kept[:min(len(t.kept), maxTested)]
	case !t.kept[i].isPart() && (t.kept[i].words[0] != "bun" || c.words[0] == "bun"):
	case c.isPart():
		t.kept[i].parts = t.kept[i].parts || !slices.Equal(t.kept[i].words, c.words)
	default:
		t.kept[i] = c
	}
}

// depth returns how deep the folder of a test lies; 0: it is the top.
func (c ciTest) depth() int {
	if c.dir == "." {
		return 0
	}
	return 1 + strings.Count(c.dir, "/")
}

// isPart reports whether a command names files, packages, tests or a script for some tests.
func (c ciTest) isPart() bool {
	for i, w := range c.words[1:] {
		isValue := strings.HasPrefix(c.words[i], "-")
		switch {
		case w == "--" && c.kind == "rust": // what follows is for the test program
			return false
		case partOption.MatchString(w), partFile.MatchString(w) && !isValue,
			c.kind == "rust" && i > 0 && !isValue && !strings.HasPrefix(w, "-"), // a part of tests' names
			strings.HasPrefix(w, "test:") && !wholeScript.MatchString(w):
			return true
		}
	}
	return false
}

var (
	partOption = regexp.MustCompile(`^(?:-p|--package|--package=.*|--doc|--lib|--(?:test|bin|example)s?|-k|` +
		`--test(?:Path|Name)Pattern.*)$`)
	partFile    = regexp.MustCompile(`\.(?:py|rb|php|[cm]?[jt]sx?)(?:::.*)?$`)
	wholeScript = regexp.MustCompile(`^test:(?:all|ci|cov|coverage|run|unit)$`)
)

// forChanges reports whether a workflow with these triggers runs for pull requests, or for pushes to branches.
func forChanges(on any) bool {
	switch on := on.(type) {
	case string:
		return changeEvent.MatchString(on)
	case []any:
		return slices.ContainsFunc(on, forChanges)
	case map[string]any:
		for event, filter := range on {
			by, _ := filter.(map[string]any)
			if changeEvent.MatchString(event) && (by["tags"] == nil || by["branches"] != nil) {
				return true
			}
		}
	}
	return false
}

var changeEvent = regexp.MustCompile(`^(push|pull_request|merge_group|workflow_call)$`)

// workingFolder returns the default folder of the commands of a workflow or job.
func workingFolder(of map[string]any, otherwise string) string {
	defaults, _ := of["defaults"].(map[string]any)
	run, _ := defaults["run"].(map[string]any)
	dir, _ := run["working-directory"].(string)
	return cmp.Or(dir, otherwise)
}

// addJob adds the test commands of a workflow's job that runs on Linux.
func (t *ciTests) addJob(job, workflow map[string]any, file string) {
	if onOther(job["runs-on"]) || isApart(job) {
		return
	}
	steps, _ := job["steps"].([]any)
	folder, installs := workingFolder(job, workingFolder(workflow, "")), map[string][]Command{}
	for _, s := range steps {
		step, _ := s.(map[string]any)
		run, _ := step["run"].(string)
		dir, _ := step["working-directory"].(string)
		dir = cmp.Or(dir, folder)
		if with, _ := step["with"].(map[string]any); with["bundler-cache"] == "true" {
			run = "bundle install" // by ruby/setup-ruby, for which only its own folder counts
			dir, _ = with["working-directory"].(string)
		}
		t.steps--
		if t.steps < 0 || len(run) > min(maxScript, t.script) || isApart(step) {
			continue
		}
		t.script -= len(run)
		env := sync.OnceValue(func() string { return assignments(workflow["env"], job["env"], step["env"]) })
		for at, words := range simpleCommands(run, dir) {
			if len(at)+len(quoted(words)) > maxWords {
				continue
			}
			if kind, c := install(words); c.Line != "" && len(installs[kind]) < maxInstalls {
				c.Line, c.Why = within(at, c.Line), workflows+"/"+file+" runs it"
				installs[kind] = append(installs[kind], c)
			} else if c, ok := testCommand(at, words, len(installs["script"]) > 0); ok {
				if isTestScript(c.words[0]) && !t.hasScript(path.Join(c.dir, c.words[0])) {
					continue // such as a program that is built
				}
				c.env, c.file, c.installs = env(), file, installs[c.kind]
				t.add(c)
			}
		}
	}
}

// onOther reports whether the labels of a job's runner are of another system than Linux.
func onOther(runner any) bool {
	switch on := runner.(type) {
	case string:
		return otherSystem.MatchString(on)
	case []any:
		return slices.ContainsFunc(on, onOther)
	case map[string]any:
		return onOther(on["labels"])
	}
	return false
}

// isApart reports whether a job or step runs for no change: never, or only at times or by hand.
func isApart(of map[string]any) bool {
	condition, _ := of["if"].(string)
	condition = excluded.ReplaceAllString(condition, "")
	return never.MatchString(condition) || apartEvent.MatchString(condition) && !namesChange.MatchString(condition)
}

var (
	otherSystem = regexp.MustCompile(`(?i)^(?:windows|macos)`)
	never       = regexp.MustCompile(`^\s*(?:\$\{\{\s*)?false\s*(?:\}\}\s*|&&.*)?$`)
	// excluded matches the part of a condition that excludes an event.
	excluded    = regexp.MustCompile(`!=\s*'[^']*'`)
	apartEvent  = regexp.MustCompile(`\b(?:schedule|workflow_dispatch)\b`)
	namesChange = regexp.MustCompile(`\bpull_request\b|'(?:push|merge_group)'`)
)

// assignments returns the variables of some env sections of a workflow as assignments for a shell; later sections count
// more. It leaves out those with expressions, and those that are about the machine and not about the tests.
func assignments(sections ...any) string {
	values := map[string]string{}
	for _, s := range sections {
		section, _ := s.(map[string]any)
		if len(section) > maxVariables {
			continue
		}
		for name, v := range section {
			value, isText := v.(string)
			isPlain := isText && len(value) <= maxValue && !strings.Contains(value, "${{") &&
				!strings.ContainsFunc(value, func(r rune) bool { return r == '\'' || !unicode.IsPrint(r) })
			if delete(values, name); isPlain && variable.MatchString(name) && !ofMachine.MatchString(name) {
				values[name] = value
			}
		}
	}
	var out strings.Builder
	for _, name := range slices.Sorted(maps.Keys(values)) {
		out.WriteString(name + "=" + quoted([]string{values[name]}) + " ")
	}
	if out.Len() > maxWords {
		return ""
	}
	return out.String()
}

const maxValue = 200 // bytes of a variable's value

var (
	variable  = regexp.MustCompile(`^[A-Za-z_]\w*$`)
	ofMachine = regexp.MustCompile(`^(?:CI|PATH|HOME|(?:GITHUB|RUNNER|ACTIONS|LD|PIP)_\w*|\w*(?:_VERSION|COLOR))$`)
)

// within returns a command that runs another one in a folder.
func within(dir, line string) string {
	if dir == "." || line == "" {
		return line
	}
	return "(cd ./" + dir + " && " + line + ")"
}

// testers are the programs that test projects, by the kind of project; an empty kind is that of the program's name.
// Kinds whose files don't always tell what to install have a command that does.
var testers = []struct {
	kind    string
	program *regexp.Regexp
	install *regexp.Regexp
	hosts   []string
}{
	{kind: "go", program: regexp.MustCompile(`^(?:go|gotestsum)$`)},
	{kind: "node", program: regexp.MustCompile(`^(?:npm|pnpm|yarn|bun|node|vitest|jest|mocha|ava|turbo|nx)$`),
		install: regexp.MustCompile(`^bun (?:install|i)\b`), hosts: []string{"registry.npmjs.org"}},
	{kind: "python", program: regexp.MustCompile(`^(?:pytest|py\.test|unittest|tox|nox|hatch|manage\.py)$`),
		install: regexp.MustCompile(`^(?:python3? -m |uv )?pip3? install `), hosts: pypi()},
	{kind: "rust", program: regexp.MustCompile(`^cargo$`)},
	{kind: "java", program: regexp.MustCompile(`^mvnw?$`)},
	{kind: "php", program: regexp.MustCompile(`^(?:composer|artisan|phpunit|pest|paratest)$`),
		install: regexp.MustCompile(`^composer (?:install|update)\b`),
		hosts:   []string{"repo.packagist.org", "api.github.com", "codeload.github.com"}},
	{kind: "ruby", program: regexp.MustCompile(`^(?:rspec|rake|rails)$`),
		install: regexp.MustCompile(`^bundle install\b`), hosts: []string{"rubygems.org", "index.rubygems.org"}},
	{kind: "dotnet", program: regexp.MustCompile(`^dotnet$`),
		install: regexp.MustCompile(`^dotnet restore\b`), hosts: []string{"api.nuget.org"}},
	{kind: "flutter", program: regexp.MustCompile(`^flutter$`),
		install: regexp.MustCompile(`^flutter pub get\b`), hosts: []string{"pub.dev"}},
	{kind: "script", program: regexp.MustCompile(`^(?:make|just|task)$`),
		install: regexp.MustCompile(`^(?:\./(?:configure|autogen\.sh|bootstrap|buildconf)|autoreconf)\b`)},
	{program: regexp.MustCompile(`^(?:gradlew?|dart|melos|deno|mix|swift)$`)},
}

var (
	// starter matches a program that only starts another one, and the words that belong to it.
	starter = regexp.MustCompile(`^(?:(?:uv|poetry|pipenv|pdm|hatch|coverage) run|npx|bunx|` +
		`(?:pnpm|npm|yarn|bundle) exec|python3?|php|bash|sh)(?: -m)?$`)
	// managerThatStarts matches a package manager that also starts a program by its name alone.
	managerThatStarts = regexp.MustCompile(`^(?:pnpm|yarn|bun)$`)
	// runner matches a program that runs tests whatever its arguments are.
	runner = regexp.MustCompile(`^(?:pytest|py\.test|unittest|tox|nox|phpunit|pest|paratest|rspec|vitest|jest|mocha|` +
		`ava)$`)
	// testScript matches the name of a repository's own script for its tests, without and with an extension.
	testScript = regexp.MustCompile(`(?:^|/)(?:(?:run[-_]?)?tests?|(?:(?:all|ci|run|unit)[-_]?)*tests?\.sh|` +
		`tests?/run(?:\.sh)?)$`)
	// testWord matches an argument that makes a program run tests, and jvmWord one that makes Maven or Gradle do so.
	testWord = regexp.MustCompile(`^(?:test|[\w-]+:test|test[:_-][\w:-]+|nextest)$`)
	jvmWord  = regexp.MustCompile(`(?:^|:)(?:test\w*|verify|check|build|package|install)$`)
	jvm      = regexp.MustCompile(`^(?:mvnw?|gradlew?)$`)
	// otherWork matches arguments of commands that don't test.
	otherWork = regexp.MustCompile(`^(?:install|ci|i|add|build|publish|create|init|sync)$|lint`)
	// noRun matches options that make a program show or list something, build alone, or look for unknown failures. The
	// letter for such a list is -l of some programs, and the letter for a plan is -n.
	noRun = regexp.MustCompile(`^(?:--version|--help|-h|--co|--collect-only|--fixtures|--?list.*|--dry-run|--no-run|` +
		`--if-present|-fuzz(?:=.*)?)$`)
	listsByL = regexp.MustCompile(`^(?:tox|nox|just|task)$`)
	plansByN = regexp.MustCompile(`^(?:make|just|task)$`)
	// needsMore matches programs, arguments and jobs of tests that need more than a checkout.
	needsMore = regexp.MustCompile(`(?i)e2e|integration|smoke|playwright|cypress|bench`)
)

// kindOf returns the kind of project that a program tests; empty: none.
func kindOf(program string) string {
	if isTestScript(program) {
		return "script"
	}
	for _, t := range testers {
		if t.program.MatchString(path.Base(program)) {
			return cmp.Or(t.kind, path.Base(program))
		}
	}
	return ""
}

// isTestScript reports whether a program is a script of the repository that tests it.
func isTestScript(program string) bool {
	return (strings.Contains(program, "/") || path.Ext(program) == ".sh") && testScript.MatchString(program)
}

// testCommand returns a simple command of a workflow as a test command; not ok if it runs no tests. In a project that
// was configured before by a script of its own, the target check runs them.
func testCommand(dir string, words []string, isConfigured bool) (c ciTest, ok bool) {
	start, words := started(words)
	c = ciTest{dir: dir, kind: kindOf(words[0]), start: start, words: words}
	program := path.Base(words[0])
	args := []string{}
	for _, w := range words[1:] {
		if w == "--" || len(args) == 3 {
			break
		}
		if !strings.HasPrefix(w, "-") && !strings.Contains(w, " ") { // such as -m "not integration"
			args = append(args, w)
		}
	}
	switch {
	case slices.ContainsFunc(words[1:], func(w string) bool { return runsNothing(program, w) }):
		return c, false
	case jvm.MatchString(program):
		return c, slices.ContainsFunc(args, jvmWord.MatchString) && !slices.Contains(words, "-DskipTests")
	case c.kind == "", slices.ContainsFunc(args, otherWork.MatchString),
		slices.ContainsFunc(append(args, program), needsMore.MatchString):
		return c, false
	case program == "node":
		return c, slices.Contains(words, "--test")
	case c.kind != "node": // others name packages and folders first
		args = without(args, "run")
		args = args[:min(len(args), 1)]
	}
	isWhole := runner.MatchString(program) || isTestScript(words[0]) || program == "rake" && len(words) == 1
	return c, isWhole || slices.ContainsFunc(args, testWord.MatchString) ||
		c.kind == "ruby" && slices.Contains(args, "spec") ||
		c.kind == "script" && isConfigured && slices.Contains(words, "check")
}

// runsNothing reports whether an option makes a program run no test, or perhaps none.
func runsNothing(program, option string) bool {
	switch option {
	case "-V": // Maven and Gradle go on with their other arguments
		return !jvm.MatchString(program)
	case "-l": // of pytest, make and Maven it is another option
		return listsByL.MatchString(program)
	case "-n": // of pytest it is the number of processes
		return plansByN.MatchString(program)
	}
	return noRun.MatchString(option)
}

// started splits a command into the words of programs that only start another one, with their options, and the other
// one.
func started(words []string) (start, command []string) {
	for n := min(3, len(words)-1); n > 0; n-- {
		startsRunner := n == 1 && managerThatStarts.MatchString(words[0]) && runner.MatchString(words[1])
		if !startsRunner && !starter.MatchString(strings.Join(words[:n], " ")) {
			continue
		}
		isOption := func(i int) bool { return strings.HasPrefix(words[i], "-") && words[i] != "-m" }
		isProgram := func(i int) bool { return kindOf(words[i]) != "" || starter.MatchString(words[i]) }
		for n < len(words)-1 && (isOption(n) || isOption(n-1) && !isProgram(n)) {
			n++
		}
		start, command = started(words[n:])
		return append(words[:n:n], start...), command
	}
	return nil, words
}

// install returns a command that installs packages as a workflow's does, and for which kind; none if it installs none.
func install(words []string) (kind string, c Command) {
	for _, t := range testers {
		if t.install == nil || !t.install.MatchString(strings.Join(words, " ")) ||
			slices.ContainsFunc(words, noRun.MatchString) {
			continue
		}
		if t.kind == "python" {
			words = without(words[slices.Index(words, "install"):], "--system")
			if !slices.ContainsFunc(words[1:], func(w string) bool { return !pipTool.MatchString(w) }) {
				break
			}
			for i := len(words) - 1; i > 0; i-- { // a copy would be tested in place of the work tree
				if workTree.MatchString(words[i]) && !pipFile.MatchString(words[i]) && !pipPath.MatchString(words[i-1]) {
					words = slices.Insert(words, i, "-e")
				}
			}
			words = append([]string{"python3", "-m", "pip"}, words...)
		}
		return t.kind, Command{Line: quoted(words), Hosts: t.hosts}
	}
	return "", c
}

// command returns the command of a test for a shell. f is what the files in its folder say about its kind; their
// command is preferred where it runs the same, because it is made for a sandbox without a network.
func (c ciTest) command(f finding) Command {
	own := Command{Why: workflows + "/" + c.file + " runs it"}
	rest := c.words[1:]
	if f.test.Line != "" && (c.parts && c.kind != "node" || c.kind == "go" || c.kind == "java") {
		return f.test
	}
	switch c.kind {
	case "rust":
		if f.test.Line == "" || rest[0] != "test" {
			return f.test
		}
		own.Line = quoted(append([]string{"cargo", "test", "--offline"}, without(rest[1:], "--locked", "--offline")...))
		return own
	case "python":
		switch program := path.Base(c.words[0]); program {
		case "pytest", "py.test":
			own.Line = f.run + strings.TrimSuffix(pytestLine+" "+quoted(withoutReports(rest)), " ")
			return own
		case "unittest":
			own.Line = f.run + quoted(append([]string{"python3", "-m", program}, rest...))
			return own
		case "manage.py":
			own.Line = f.run + quoted(append([]string{"python3"}, c.words...))
			return own
		}
		if f.test.Line != "" { // else tox and the like would fetch packages
			return f.test
		}
	case "node":
		if words := without(c.words, "run"); f.test.Line != "" && len(words) == 2 && words[1] == "test" &&
			words[0] == f.language.Manager {
			return f.test
		}
	}
	start := c.start
	if len(start) > 1 && start[0] == "uv" {
		start = append([]string{"uv", "run", "--no-sync"}, without(start[2:], "--locked", "--frozen")...)
	}
	// what was built and fetched before is not there
	own.Line = quoted(append(slices.Clone(start), without(c.words, "--no-build", "--no-restore")...))
	return own
}

var (
	// reportOption matches options of pytest that change what it prints or writes, and not what it runs.
	reportOption = regexp.MustCompile(
		`^(?:--(?:cov|junit|html|tb|color|durations)[\w-]*(?:=.*)?|-[vqs]+|--verbose|--quiet)$`)
	// reportValue matches those whose value is the next word.
	reportValue = regexp.MustCompile(`^--(?:cov(?:-(?:report|config|fail-under|context|precision))?|` +
		`junit-?(?:xml|prefix)|html|tb|color|durations(?:-min)?)$`)
)

// withoutReports returns arguments of pytest without such options and their values.
func withoutReports(args []string) (kept []string) {
	for i := 0; i < len(args); i++ {
		if !reportOption.MatchString(args[i]) {
			kept = append(kept, args[i])
		} else if reportValue.MatchString(args[i]) && i+1 < len(args) && !strings.HasPrefix(args[i+1], "-") {
			i++
		}
	}
	return kept
}

var (
	// workTree matches an argument of pip install that is a path in the repository, and pipFile one of a file.
	workTree = regexp.MustCompile(`^\.(?:/[\w./-]*)?(?:\[[\w,.-]*\])?$`)
	pipFile  = regexp.MustCompile(`\.(?:whl|txt|zip|tar\.gz)$`)
)

// pipPath matches options of pip install that take a path.
var pipPath = regexp.MustCompile(`^(?:-[rctfe]|--(?:requirement|constraint|target|find-links|editable|prefix|root|` +
	`src))$`)

// pipTool matches arguments of pip install for tools that install or start something else, and options without value.
var pipTool = regexp.MustCompile(`^(?:(?:pip|setuptools|wheel|tox|nox|hatch)(?:\[[^\]]*\])?(?:[=<>!~].*)?|-[UqvI]+|` +
	`--(?:upgrade|quiet|user|pre|no-[\w-]+|break-system-packages|disable-pip-version-check))$`)

func without(words []string, some ...string) []string {
	return slices.DeleteFunc(slices.Clone(words), func(w string) bool { return slices.Contains(some, w) })
}
