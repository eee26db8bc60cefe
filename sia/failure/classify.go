package failure

import (
	"slices"

	"github.com/sia-bot/sia/sia/lazyregexp"
)

// classCue is a pattern that indicates a class.
type classCue struct {
	re    *lazyregexp.Regexp
	class Class
}

// causeCues are cues that take precedence over what failed.
var causeCues = []classCue{
	{lazyregexp.New(`(?i)(permission to \S+ denied|authentication failed|403 forbidden|401 unauthorized|` +
		`unauthorized: |(incorrect|invalid) username or password|could not read username|bad credentials|` +
		`dubious ownership|publickey)`), Permission},
}

// neededCues match wordings for a dependency that a build needs and does not get: a noun and its problem, in either
// order. They also cover tools without a rule of their own.
var neededCues = []classCue{
	{lazyregexp.New(`(?i)\b(lock ?files?|packages?|dependenc(y|ies)|requirements?|crates?|gems?|pods?|formula|` +
		`librar(y|ies)|providers?)([^.\w]|$).{0,80}\b(not (be )?(found|located|resolved|available|installed|met|` +
		`satisfied|up[- ]to[- ]date|in sync|in place|compatible)|no installation candidate|unmet|incompatible|` +
		`conflicting|out of (sync|date)|needs? to be updated|absent|inconsistent|frozen|modified by this install)\b`),
		Dependency},
	{lazyregexp.New(`(?i)\b(no|cannot find|can't find|could ?n[o']t (find|locate|resolve|install|load|download)|` +
		`unable to (find|locate|resolve|install)|failed to (resolve|install|find|query)|missing|incompatible|` +
		`conflicting|unmet|unresolved|unchecked)\b.{0,40}\b(imports?|packages?|dependenc(y|ies)|` +
		`requirements?|crates?|gems?|pods?|formula|librar(y|ies)|lock ?files?|wheels?)([^.\w]|$)`), Dependency},
	{lazyregexp.New(`(?i)\bversion solving|dependency resolution|no module named|unable to find \w+ version|` +
		`\bversion '?[\d.x]+'? .{0,40}not found|\b(requires|needs) (rustc|a different \w+)\b|` +
		`\bnpm (ERR!|error) code E(404|RESOLVE|TARGET|USAGE|BADENGINE|BADPLATFORM|` +
		`NOTCACHED|NOVERSIONS|INTEGRITY|PEERINVALID)\b|frozen[- ]lockfile|--locked|` +
		`(package-lock\.json|npm-shrinkwrap\.json|pnpm-lock\.yaml|` +
		`(yarn|poetry|uv|Cargo|Gemfile|composer|Podfile|mix)\.lock)\b|go\.(sum|mod) needed|\bpkg-config\b|` +
		`(?-i:Could NOT find \w)|does not contain package|\bengine "\w+" is|building wheel`), Dependency},
}

// compileCues match messages of compilers and linkers about a missing package or library, and rule names of linters
// that print in a compiler's format.
var compileCues = []classCue{
	{lazyregexp.New(`\berror NU\d{4}\b|\bcannot find -l|\blibrary not found for -l|` +
		`\bcannot open input file '\S+\.lib'`), Dependency},
	{lazyregexp.New(`[a-z.] (\([a-z]+(_[a-z]+)+\)|\[[a-z]+(-[a-z]+)+\])$`), LintFormat},
}

// deniedCues match wordings for missing permissions and failed authentication.
var deniedCues = []classCue{
	{lazyregexp.New(`(?i)\b(credentials?|password|api[- _]?key|secret( key)?|host key|` +
		`(access|auth|api|github|npm|deploy|bearer|oauth)[- _]token|\w+_TOKEN|input required: token)\b.{0,60}\b(` +
		`denied|required|missing|invalid|not (found|supplied|be loaded|set)|failed|expired|incorrect|found)\b`),
		Permission},
	{lazyregexp.New(`(?i)\b(missing|invalid|no|bad|expired|incorrect|wrong|required|non-existent)\b.{0,40}\b(` +
		`credentials?|password|api[- _]?key|secrets?( key)?|authentication|` +
		`(access|auth|api|github|npm|deploy|bearer|oauth)[- _]token|\w+_TOKEN)\b`), Permission},
	{lazyregexp.New(`(?i)\bENEEDAUTH\b|\b(failed|unable|could not) to (authenticate|log ?in|sign in)\b|` +
		`\b\w+_TOKEN environment variable\b|\b(requested )?access .{0,30}\bdenied\b|\bnot (logged|signed) in\b|` +
		`\bun(authenticated|authorized)\b|\bnot authorized\b|\bhost key verification`), Permission},
}

// settingCues match wordings for a setting, configuration file or flag that is wrong or missing.
var settingCues = []classCue{
	{lazyregexp.New(`(?i)(\b(environment variable|options?|flag|setting|config(uration)? ?(file)?|file or directory|` +
		`working directory|dockerfile|makefile|script|workflow|test files?)\b|\w\.(toml|json|ya?ml|mod|cfg|ini)\b)` +
		`.{0,80}\b(not (be )?(set|found|defined|provided|recogni[sz]ed|supported|enabled|exist)|no such file|` +
		`does ?n[o']t exist)\b`), ConfigError},
	{lazyregexp.New(`(?i)\b(missing|unknown|unexpected|unrecogni[sz]ed|unsupported|invalid|no|` +
		`could ?n[o']t (find|read|lock)|can('t|not) (open|read|find)|failed to (read|open)|deprecated)\b.{0,40}(` +
		`\benvironment variables?\b|\boptions?\b|arguments?:? '?-|\bflags?\b|\bconfig|\btest files found|` +
		`\btarget release|\bclass file|\bdockerfile|\bversion of .?actions/|` +
		`\w\.(toml|json|ya?ml|mod|cfg|ini)\b)`), ConfigError},
	{lazyregexp.New(`(?i)\bno tests (ran|found|were (found|run))\b|` +
		`\bunsupported argument\b|\bconfiguration file provided: not found|\bImproperlyConfigured\b|` +
		`does not appear to be a \w+ project|paths were not resolved|` +
		`\b(ya?ml|toml): |\b(ya?ml|toml) (parse|syntax) |failed to (compute cache key|calculate checksum)`), ConfigError},
	{lazyregexp.New(`(?i)\bnot (defined|set|enabled|configured): |\b(is|are) not (set|enabled|configured)\b|` +
		`\bhas \w+ enabled and configured\b`), ConfigError},
}

// outageCues are cues that a test failed for lack of a network or disk space. Tests of network errors rarely print
// these words themselves.
var outageCues = []classCue{
	{lazyregexp.New(`(Max retries exceeded with url|NewConnectionError|Temporary failure in name resolution|` +
		`Network is unreachable|nodename nor servname provided)`), Network},
	{lazyregexp.New(`(?i)no space left on device`), Infrastructure},
}

// detailCues are cues for the subject of a general block.
var detailCues = []classCue{
	{lazyregexp.New(`\b(SyntaxError|IndentationError|Parse error|[Ss]yntax error|Invalid CSS)\b|` +
		`\b[Ee]xpected (one of )?["'‘\x60][;:,=(){}\[\]]["'’\x60]`), SyntaxError},
	{lazyregexp.New(`\bTS(5\d{3}|18003)\b`), ConfigError},
	{lazyregexp.New(`\bTS\d{4}\b|\b[Tt]ype error: |\(ts\)$|\bType '.*' is not assignable to type\b|` +
		`\bProperty '.*' does not exist on type\b|\[incompatible-[a-z]+\]$`), TypeError},
	{lazyregexp.New(`\b(ModuleNotFoundError|ImportError|PackageNotFound\w*|DependencyResolution\w*)\b|` +
		`cannot open shared object|Library not loaded|Can't locate \S+ in @INC|Cannot find module|Can't resolve|` +
		`LoadError|ClassNotFoundException|NoClassDefFoundError|` +
		`[Cc]ould not (resolve|find) (\S+ )?(dependenc|artifact|gem|package)|[Cc]ould not resolve`), Dependency},
	{lazyregexp.New(`\b(OutOfMemory|MemoryError|Cannot allocate memory|heap out of memory|OOMKilled)`), OutOfMemory},
	{lazyregexp.New(`\bAssertionError\b`), TestFailure},
	{lazyregexp.New(`(?i)(TimeoutError|timeoutexpired|timed out|timeout of \d+)`), Timeout},
	{lazyregexp.New(`(?i)(segmentation fault|SIGSEGV|SIGABRT|core dumped)`), Crash},
	{lazyregexp.New(`(?i:failing tests|tests in error|tests? failed|failed tests|test failures?|` +
		`there (was|were) \d+ failure|assert(ion)?(error| failed)|regression|` +
		`coverage\b.{0,60}\b(threshold|not (met|reached)|below))|\bFAIL:? |\bFAILED: |^\W*FAILED `),
		TestFailure},
	{lazyregexp.New(`(?i)\b(could ?n[o']t|can('t|not)|unable to) (find|load|read) .{0,20}\bconfig\b`), ConfigError},
	{lazyregexp.New(`(?i)(checkstyle|spotless|ktlint|detekt|formatting violations|lint|code style|pmd|spotbugs|` +
		`findbugs|codenarc|prettier|clippy|shellcheck|gofmt|must be formatted|` +
		`\bviolations?\b| \[[a-z]+(-[a-z]+)+\]$|license header|checkformat|rubocop|javadoc|(project|build)health)`),
		LintFormat},
	{lazyregexp.New(`(?i)(compilation (failure|error|failed)|compile(java|kotlin|scala|testjava)\S*'|` +
		`cannot find symbol|compileerror|undefined reference|does not compile|could not compile|linking with .* failed)`),
		CompileError},
	{lazyregexp.New(`(pathspec .* did not match|not our ref|bad object|unable to find current revision|cannot pull with|` +
		`failed to push some refs|would be overwritten by|unrelated histories)`), GitCheckout},
	{lazyregexp.New(`(PermissionError|AccessDenied|Permission denied|EACCES)`), Permission},
	{lazyregexp.New(`(?i)(unknown (option|command|flag)|invalid (configuration|option)|no such task|missing script|` +
		`command not found|not found in path|exit(ed with)?( code)? 127|not installed|` +
		`no rule to make target|no rakefile|misconfigur|could not find .*config|configuration)`), ConfigError},
	{lazyregexp.New(`(?i)(\b404\b|unavailable|(artifact|image|registry)\b.*(not found|does not exist)|` +
		`unable to (find|download) .{0,20}artifacts?\b)`),
		ExternalDependency},
}

// syntaxCues are cues that a file does not parse. unloadedCues are cues for why a script could not be loaded: a syntax
// error, a type error or a missing dependency.
var syntaxCues, unloadedCues = detailCues[:1], detailCues[:4]

// detailsOf lists the cues for the subject of a general block, the most reliable first.
var detailsOf = [][]classCue{causeCues, detailCues[:13], deniedCues, neededCues, detailCues[13:], settingCues}

// containerClasses are classes that give the place of a failure but not its cause.
var containerClasses = map[Class]bool{Unknown: true, RuntimeError: true}

// nameCues are words in a check's name that indicate its purpose.
var nameCues = []classCue{
	{lazyregexp.New(`(?i)\b(lint|format|style|prettier|eslint|rubocop|clippy|fmt|golangci)`), LintFormat},
	{lazyregexp.New(`(?i)(type-?check|mypy|tsc|pyright)`), TypeError},
	{lazyregexp.New(`(?i)\b(unit|integration|e2e|test|spec|jest|pytest|rspec)`), TestFailure},
}

// commandCues are words in the commands of a step that indicate its purpose.
var commandCues = []classCue{
	{lazyregexp.New(`(?i)(^|[\s/:"'])([\w-]*lint(er|ing)?(:\w+)?|format([:-]check)?|check:\w+|fmt|prettier|` +
		`rubocop|clippy|black|isort|flake8|ruff|shellcheck|biome|pre-commit|phpcs|analyze)(\s|["'.]|$)`), LintFormat},
	{lazyregexp.New(`(?i)(^|[\s/:"'])(type-?check|mypy|(vue-)?tsc|pyright)(\s|["'.]|$)`), TypeError},
	{lazyregexp.New(`(?i)(^|[\s/:"'])(test(:\w+)?|jest|vitest|mocha|pytest|rspec|phpunit|nextest)(\s|["'.]|$)`),
		TestFailure},
}

// lastCues are used when nothing else names a class.
var lastCues = []classCue{
	{lazyregexp.New(`(?i)\bno such file or directory\b`), ConfigError},
	{lazyregexp.New(`^\s*\*\* \(|\b[A-Z]\w*(Error|Exception)\b(: |\)?$)`), RuntimeError},
}

// classifyChoice returns the class of a choice. The best block's rule decides. Where it leaves the class open, the
// block's words decide, then the check's name and the commands of its step. byRule reports whether a rule decided.
func classifyChoice(c choice, name string) (class Class, byRule bool) {
	if c.best == nil {
		return Unknown, false
	}
	class = c.best.class()
	said := c.best.lines()
	if built := c.built(); built != "" {
		return built, true
	}
	if !slices.ContainsFunc(c.places[0].blocks, func(b *block) bool { return !b.unloaded() }) {
		for _, cues := range detailsOf {
			if d := refineClass(class, c.best.reasons(), cues); d != class {
				return d, true
			}
		}
	}
	switch class {
	case Dependency, ExternalDependency, GitCheckout:
		return refineClass(class, said, causeCues), true
	case ConfigError:
		return refineClass(class, said, neededCues), true
	case CompileError:
		return refineClass(class, said, compileCues), true
	case LintFormat:
		if c.best.rule.errs {
			return refineClass(class, said, syntaxCues), true
		}
	case TestFailure:
		return outageClass(c.places[0].blocks), true
	}
	if !containerClasses[class] {
		return class, true
	}
	// Inside a block, a line that looks like a linter's finding only because of its location is a stack frame.
	if in := c.best.inner; in != nil && !containerClasses[in.class] && !in.errs {
		return in.class, true
	}
	for _, said := range [][]*block{c.bestBlocks(), c.verdicts()} {
		for _, b := range said {
			if d := b.class(); !containerClasses[d] {
				return d, true
			}
			for _, cues := range detailsOf {
				if d := refineClass(class, b.reasons(), cues); d != class {
					return d, false
				}
			}
		}
		if slices.ContainsFunc(said, func(b *block) bool { return b.class() == RuntimeError }) {
			return RuntimeError, false
		}
	}
	for _, guess := range []struct {
		said []textLine
		cues []classCue
	}{{[]textLine{{text: name}}, nameCues}, {c.command, commandCues}, {c.bestLines(), lastCues}} {
		if class == Unknown {
			class = refineClass(class, guess.said, guess.cues)
		}
	}
	return class, false
}

// bestLines returns the lines of [choice.bestBlocks].
func (c choice) bestLines() (said []textLine) {
	for _, b := range c.bestBlocks() {
		said = append(said, b.lines()...)
	}
	return said
}

// unloadedWords matches how test runners report that a file could not be loaded, so that none of its tests ran.
var unloadedWords = lazyregexp.New(`^(_+ ERROR collecting |ImportError while loading conftest )|` +
	`\bTest suite failed to run$|\ban error occurred while loading \S`)

// unloaded reports whether the block is about a file that could not be loaded. The reason then decides the class: a
// missing package, or code that does not parse.
func (b *block) unloaded() bool {
	return slices.ContainsFunc(b.first[:min(2, len(b.first))], func(l textLine) bool {
		return unloadedWords.MatchString(l.text)
	})
}

// bestBlocks returns the best blocks of the places in the same step as the best block.
func (c choice) bestBlocks() (all []*block) {
	for _, p := range c.places {
		if p.best.step == c.best.step {
			all = append(all, p.best)
		}
	}
	return all
}

// verdicts returns the blocks of that step that are not shown and report its failure: they indicate the kind of
// failure.
func (c choice) verdicts() (all []*block) {
	for _, b := range c.ranked {
		if b.result && b.step == c.best.step && !c.isBest(b) {
			all = append(all, b)
		}
	}
	return all
}

// buildClasses are the classes of compiler errors.
var buildClasses = map[Class]bool{CompileError: true, SyntaxError: true, TypeError: true}

// scriptName matches a script as JavaScript test runners list one that ran no tests.
var scriptName = lazyregexp.New(`^\S+\.[cm]?[jt]sx?( \[ .* \]| exited with .*)?$`)

// built returns the class of the compiler error inside a failed item, or next to items without details: the item is a
// file or a package then, not a test. It is empty without such an error. The reason why a script could not be loaded is
// often printed above the item.
func (c choice) built() Class {
	bare, files := true, true
	for _, b := range c.places[0].blocks {
		if !b.rule.item {
			return ""
		}
		if b.inner != nil && buildClasses[b.inner.class] {
			return b.inner.class
		}
		bare = bare && b.size() == 1
		files = files && (b.inner == nil || !b.inner.item) && scriptName.MatchString(b.item())
	}
	for _, b := range c.ranked {
		if d := refineClass("", b.lines(), unloadedCues); files && b.step == c.best.step && d != "" {
			return d
		}
	}
	for _, p := range c.places[1:] {
		if bare && buildClasses[p.best.class()] {
			return p.best.class()
		}
	}
	return ""
}

// outageClass returns the class of failed tests. It is transient when every test met a transient failure that no test
// expected.
func outageClass(tests []*block) Class {
	met := TestFailure
	for _, b := range tests {
		said := slices.DeleteFunc(slices.Clone(b.lines()), func(l textLine) bool {
			return assertedError.MatchString(l.text) || isLocal(l.text)
		})
		met = refineClass(TestFailure, said, outageCues)
		if met == TestFailure || refineClass("", said, permanentCues) != "" {
			return TestFailure
		}
	}
	return met
}

// refineClass returns the class of the first cue that matches any of the lines, else c.
func refineClass(c Class, ls []textLine, cues []classCue) Class {
	for _, q := range cues {
		for i := len(ls) - 1; i >= 0; i-- {
			if q.re.MatchString(ls[i].text) {
				return q.class
			}
		}
	}
	return c
}
