package tamper

import (
	"path"
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia/lazyregexp"
)

var (
	// ignoresFailure matches text that hides the failure of a command.
	ignoresFailure = lazyregexp.New(`\|\|\s*(?:true|:|exit 0|echo|/bin/true|\()|;\s*(?:true|exit 0)\b|&&\s*exit 0|` +
		`^\s*exit 0\b|\bset \+e\b|continue-on-error['"]?\s*:\s*(?:true|\$)|allow[_-]failures?\b|--pass-?[wW]ith-?[nN]o-?[tT` +
		`]ests|--no-fail\b|--forceExit|passWithNoTests['"]?\s*[:=]\s*true|ignoreFailures|testFailureIgnore|test\.failure\.i` +
		`gnore>true|failOn\w+>\s*false|continueOnError:\s*true|catchError|soft_fail|--exit-zero|ignore_error\s*:\s*true|` +
		`\btrap\b.*\bexit 0|fail_ci_if_error:\s*false|^\t@?-\s?\w`)
	// checks matches a command that tests, checks or builds.
	checks = lazyregexp.New(`(?i)\b(?:\w*tests?|\w*spec|checks?|lint\w*|verify|tox|nox|jest|mocha|vitest|karma|cypress|` +
		`playwright|clippy|vet|rake|mypy|pyright|ruff|flake8|eslint|tsc|rubocop|phpstan|psalm|phpunit|pest|staticcheck|` +
		`golangci-lint|gradlew?|mvnw?|ctest|bazel|ava|tap|audit|coverage|fmt|make|miri|detekt|ktlint|pre-commit)\b`)
	// launchers match words that only start the program that follows.
	launchers = lazyregexp.New(`^(?:npm|pnpm|yarn|bun|npx|bunx|run|uv|uvx|poetry|pdm|pipenv|hatch|python[\d.]*|py|-m|` +
		`bundle|exec|sudo|time|env|xvfb-run|-a|--|\w+=(?:[^-]\S*)?|@\w*|[\d.]+|&&|-v+|--verbose|-q|--quiet|--color\S*|` +
		`--frozen|&)$`)
	keyed = lazyregexp.New(`^\s*(?:-\s+)?(?:["']?[\w.:-]+["']?\s*:\s+|@?-?)[>|'"]*`)
	// narrows matches an option that makes less run, or other code run before the tests; widens one that makes more run.
	narrows = lazyregexp.New(`^(?:-(?:run|skip|short|list|exec|toolexec|overlay|k|m|t|x|n|r|p)(?:=.*)?|--(?:ignore\S*|` +
		`deselect|skip\S*|exclude\S*|no-\S+|test\w*Pattern\S*|grep|fgrep|invert|co|collect-only|dry-run|lib|filter\S*|` +
		`only\S*|tests?-\S+|help|version|list\S*|tag\S*|pattern|max-?fail\S*|shard\S*|changed\S*|related\S*|` +
		`findRelatedTests|doc|bins?|spec|lf|last-failed|sw|if-present|passWithNoTests|require|import|loader|` +
		`bootstrap)(?:=.*)?|-D(?:skip|test=|maven\.test)\S*|\w+=-.*(?:import|require|loader)\S*)$`)
	widens = lazyregexp.New(`^(?:-race|--(?:all\S*|workspace|strict\S*|fail\S*|max-warnings\S*|cov\S*|check|tests|ci|` +
		`runInBand)|-[DW]\S*|-count\S*)$`)
)

// uncommented returns a line without its comment.
func uncommented(raw string) string {
	line, _, _ := strings.Cut(raw, " # ")
	if strings.HasPrefix(strings.TrimSpace(line), "#") {
		return ""
	}
	return line
}

// command returns the words of a command line that checks something, without its key, launchers and irrelevant options;
// nil for any other line.
func command(line string) []string {
	line = keyed.ReplaceAllString(uncommented(line), "")
	if !checks.MatchString(line) {
		return nil
	}
	var out []string
	for _, w := range strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" \t\"',\\", r) }) {
		if !launchers.MatchString(w) {
			out = append(out, strings.TrimPrefix(w, "./"))
		}
	}
	return out
}

// runsLess reports whether a command may run less than the one that it replaced.
func runsLess(was, is []string) bool {
	named := 0
	for _, w := range was {
		option := strings.HasPrefix(w, "-")
		if kept := slices.Contains(is, w); !kept && (!option || widens.MatchString(w)) {
			return true
		} else if kept && !option {
			named++
		}
	}
	return slices.ContainsFunc(is, func(w string) bool {
		// A path added to a command without one limits it to that path.
		return !slices.Contains(was, w) && (narrows.MatchString(w) ||
			named <= 1 && w[0] != '-' && strings.ContainsAny(w, "/.:"))
	})
}

// replaced reports whether one of the added commands checks at least as much as a removed one.
func replaced(was []string, came [][]string) bool {
	return slices.ContainsFunc(came, func(is []string) bool { return !runsLess(was, is) })
}

// shellScript matches the name of a script. Other files that a command names may be the code that it tests.
var shellScript = lazyregexp.New(`(?i)\.(?:sh|bash|zsh|bats|ps1)$|^[^.]+$`)

// RunBy reports whether commands name a script: by its path, or by the end of it, as after a change of folders. A bare
// word, such as a target of make, names no script in a folder.
func RunBy(commands, p string) bool {
	return shellScript.MatchString(path.Base(p)) && slices.ContainsFunc(strings.FieldsFunc(commands, func(c rune) bool {
		return strings.ContainsRune(" \t\n;&|()\"'", c)
	}), func(word string) bool {
		named := strings.TrimPrefix(path.Clean(word), "../")
		return p == named || strings.ContainsAny(word, "/.") && strings.HasSuffix(p, "/"+named)
	})
}
