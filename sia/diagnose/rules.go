package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/lazyregexp"
	"github.com/sia-bot/sia/sia/text"
)

// finding is one pattern that the evidence indicates.
type finding struct {
	pattern    sia.Pattern
	confidence float64 // probability of the pattern, below 1
	check      string  // failing check; empty when the evidence is elsewhere
	line       string  // quoted line that indicates it; may be empty
	ofIssue    bool    // line is of the issue
	subject    string  // its subject: a variable, a host, files; may be empty
	evidence   string  // the reason in one sentence, for display
}

// lineRule recognises a pattern by the words of one line of a failing check.
type lineRule struct {
	pattern    sia.Pattern
	confidence float64
	words      *lazyregexp.Regexp
	unless     *lazyregexp.Regexp // lines that match this as well do not count; nil: none
	subject    *lazyregexp.Regexp // matches the line's subject; nil: no subject
	because    string             // completes "the log says"
}

// lineRules are ordered from specific to general: a missing key explains a refused connection, but not vice versa. The
// words are those of compilers, test runners, package managers, databases and HTTP clients.
var lineRules = []lineRule{
	{
		pattern: sia.MissingCredentials, confidence: 0.75,
		words: lazyregexp.New(`(?i)((api[ _-]?key|access[ _-]?key|secret([ _-]?key)?|auth[ _-]?token|bearer|` +
			`credentials?|password|client[ _-]?(id|secret)|private key|\b[A-Z][A-Z0-9]*(_[A-Z0-9]+)*_(KEY|TOKEN|SECRET|` +
			`PASSWORD|PASSWD|CREDENTIALS|DSN)\b).{0,80}(not (set|found|configured|provided|defined|present)|unset|missing|` +
			`required|is empty|undefined|must be (set|provided)|no(t)? valid|invalid|cannot be (empty|blank|null|nil)|` +
			`KeyError)|(missing|no|invalid|requires?|without|set|provide|unable to load|could not (find|load|read)|` +
			`KeyError:?) .{0,40}(api[ _-]?key|access[ _-]?key|credentials?|auth[ _-]?token|` +
			`\b[A-Z][A-Z0-9]*(_[A-Z0-9]+)*_(KEY|TOKEN|SECRET|PASSWORD|CREDENTIALS)\b)|environment variable .{0,60}(not set|` +
			`unset|missing|required|empty)|NoCredentialProviders|\b401\b.{0,20}unauthori[sz]ed|` +
			`unauthori[sz]ed.{0,20}\b401\b|authentication (failed|required))`),
		// A test of a sign-in form mentions passwords without lacking one.
		unless: lazyregexp.New(`(?i)(want(ed)?|expected)\b.{0,40}\b(got|but|received)|\bsyntax|parse error|` +
			`unexpected token`),
		subject: lazyregexp.New(`\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b`),
		because: "it lacks credentials",
	},
	{
		pattern: sia.ExternalDependencyBlocker, confidence: 0.7,
		words: lazyregexp.New(`(?i)(connection (refused|reset|timed out|error)|connect time-?out|no such host|` +
			`name resolution|could not resolve host|getaddrinfo|\b(ENOTFOUND|ECONNREFUSED|ECONNRESET|ETIMEDOUT|EAI_AGAIN)\b|` +
			`dial tcp|network is unreachable|no route to host|i/o timeout|max retries exceeded|` +
			`certificate (signed by|verify)|tls handshake|\b(502|503|504)\b.{0,20}(bad gateway|unavailable|time-?out)|` +
			`failed to (fetch|connect)|could not connect to)`),
		subject: lazyregexp.New(`(?i)\b((?:https?|postgres(?:ql)?|redis|amqp|mongodb|mysql)://[^\s"'<>@]+|` +
			`[a-z0-9-]+(?:\.[a-z0-9-]+)+:\d{2,5}|(?:localhost|127\.0\.0\.1|\[::1\]):\d{2,5}|` +
			`[a-z0-9-]+(?:\.[a-z0-9-]+)*\.(?:com|org|net|io|dev|cloud|local))\b`),
		because: "something outside could not be reached",
	},
	{
		pattern: sia.Environment, confidence: 0.6,
		words: lazyregexp.New(`(?i)(command not found|executable file not found|not recognized as an internal|` +
			`no space left on device|permission denied|read-only file system|GLIBC|unsupported (version|engine)|` +
			`requires? (go|node|python|ruby|java|rust)\S* ?(>=|version)|go\.mod requires go|no required module provides|` +
			`missing go\.sum entry|ModuleNotFoundError|No module named|Cannot find module|Cannot find package|` +
			`Could not find gem|can't find crate|cannot find -l\w|shared (object|library).{0,30}(not found|cannot open)|` +
			`out of memory|OOMKilled|could not (find artifact|resolve dependencies))`),
		unless: lazyregexp.New(`(?:[Mm]odule|[Pp]ackage) ['"]\.{1,2}/`), // the repository's own file
		subject: lazyregexp.New(`(?:No module named|[Cc]annot find (?:module|package)|provides package|find gem|` +
			`find crate(?: for)?|file not found in \S+:|exec:)\s*["'` + "`" + `]?([\w@./-]+)|` +
			`([\w.-]+): (?:command )?not found`),
		because: "the environment lacks something",
	},
	{
		pattern: sia.WrongOrder, confidence: 0.5,
		words: lazyregexp.New(`(?i)(import cycle|circular (import|dependency)|no such table|` +
			`(relation|table|column) \S+ does not exist|unknown (table|column)|` +
			`before (initiali[sz]ation|it (is|was) (defined|declared|initiali[sz]ed))|used before|` +
			`must be (called|created|run|declared) before|migration .{0,40}(not applied|pending|missing)|` +
			`partially initialized module)`),
		subject: lazyregexp.New(`(?:table|relation|column|module):? ["'` + "`" + `]?([\w.]+)`),
		because: "something is used before it is there",
	},
	{
		pattern: sia.AccumulatedCruft, confidence: 0.5,
		words: lazyregexp.New(`(?i)(redeclared|already (declared|defined|been declared)|` +
			`duplicate (declaration|definition|symbol|identifier|case|key|class)|multiple definition|<<<<<<<|>>>>>>> |` +
			`conflict marker|has already been declared)`),
		subject: lazyregexp.New(`([\w.]+) (?:redeclared|already (?:declared|defined))|` +
			`(?:symbol|identifier|declaration|definition)(?: of)? ["'` + "`" + `]?([\w.]+)`),
		because: "two versions of the same thing are left from earlier tries",
	},
	{
		pattern: sia.WrongAbstractionLevel, confidence: 0.5,
		words: lazyregexp.New(`(?i)(does not implement|missing method|not assignable to|` +
			`cannot use .{1,80} as .{1,80} (value|type)|incompatible types|abstract (class|method)|` +
			`Can't instantiate abstract|no overload|wrong number of arguments|not enough arguments|too many arguments|` +
			`trait bound .{1,60} not satisfied|mismatched types)`),
		subject: lazyregexp.New(`(?:missing method|implement) ["'` + "`" + `]?([\w.]+)`),
		because: "the pieces don't fit at their border",
	},
	{
		pattern: sia.MissingExample, confidence: 0.45,
		words: lazyregexp.New(`(?i)(snapshot|golden file|does not match (the )?(schema|format|pattern|expected)|` +
			`unexpected (format|output|end of json)|(invalid|malformed) (format|json|yaml|toml|xml)|` +
			`\b(json|yaml|toml): (cannot|unknown|invalid|line|unsupported|did not)|schema validation|not formatted|` +
			`would reformat|not .?go(imports|fmt).?-ed|prettier/|missing (required )?(field|property|key|header)|` +
			`wrong format)`),
		because: "the output does not have the form that is wanted",
	},
	{
		pattern: sia.OverConstrained, confidence: 0.45,
		words: lazyregexp.New(`(?i)(exceeds? (the )?(maximum|limit|budget|threshold|size)|` +
			`too (complex|long|large|many)|line too long|coverage\b.{0,40}(below|less than|threshold|under)|cyclomatic|` +
			`cognitive complexity|is not allowed|disallowed|forbidden (import|dependency)|depguard|no-restricted|` +
			`bundle size|size-limit|peer dep|conflicting (requirements|dependencies|peer)|ERESOLVE|` +
			`unable to resolve dependency tree|version solving failed)`),
		because: "two demands can't both be met as they stand",
	},
	{
		pattern: sia.UnclearSpecification, confidence: 0.4,
		words: lazyregexp.New(`(?i)\b(not specified|unspecified|ambiguous (requirement|specification)|TBD|` +
			`to be decided|unclear (what|which|how))\b`),
		because: "what is wanted is not said",
	},
}

// flakyWords are words of a check that depends on time or chance.
var flakyWords = lazyregexp.New(`(?i)\b(flak(y|e)|DATA RACE|timed? ?out waiting|timeout of \d+ ?ms exceeded|` +
	`context deadline exceeded|eventually|intermittent|race condition|test timed out)\b`)

var (
	undefinedWords = lazyregexp.New(`(?i)(undefined: |undefined reference|undeclared (name|identifier)|` +
		`cannot find symbol|is not defined|has no (field|attribute|member|method|exported member)|` +
		`unresolved (reference|import)|cannot find name|unknown (field|symbol))`)
	editMissed = lazyregexp.New(`(?i)(no such file or directory|file not found|does not exist|` +
		`(old|search) (text|string) (was )?not found|no match(es)? (found )?for|not found in (the )?file|did not match|` +
		`ENOENT|could not (find|apply)|patch (does not apply|failed)|(does not occur|do not stand) in the file)`)
	toolWords = lazyregexp.New(`(?i)\b(edit|multiedit|replace|str_replace|patch|apply|insert)\w*\b`)
	// toolCall matches the first line of a call in a transcript, and whether it failed; see agent.Markdown.
	toolCall = lazyregexp.New("(?m)^\\*\\*`([^`\n]+)`\\*\\*( → error)?")
	// limitWords matches the reasons of SIA's own agent and of Step, and those of other agents.
	limitWords = lazyregexp.New(`(?i)(limit of \d+ turns|limits reached in a row|fits the model's window|` +
		`context (length|window)|token limit|too many tokens|maximum context|turn limit|ran out of turns)`)
	openWords = lazyregexp.New(`(?i)(\?|` +
		`\b(TBD|tbc|etc|some|various|appropriate|nice|better|somehow|or so|and so on|similar)\b)`)
	unsureWords = lazyregexp.New(`(?i)\b(unclear|ambiguous|not specified|does(n't| not) say|assum(e|ed|ing|ption)|` +
		`unspecified|which (one|of))\b`)
)

// examine returns the patterns that the evidence indicates, most likely first; the unknown pattern is always last.
func examine(in Input) []finding {
	var all []finding
	add := func(f finding) {
		if !slices.ContainsFunc(all, func(o finding) bool { return o.pattern == f.pattern }) {
			all = append(all, f)
		}
	}
	for _, r := range lineRules {
		if f, ok := r.find(in.Attempt.Failures); ok {
			add(f)
		}
	}
	for _, rule := range []func(Input) (finding, bool){
		findFlaky, findWrongTool, findInterdependent, findRepeated, findOverload, findCruft, findUnclear,
	} {
		if f, ok := rule(in); ok {
			add(f)
		}
	}
	slices.SortStableFunc(all, func(a, b finding) int { return cmp.Compare(b.confidence, a.confidence) })
	add(finding{pattern: sia.UnknownPattern, confidence: 0.25, check: firstCheck(in), line: errorLine(in.Attempt),
		evidence: "no rule recognises the failure"})
	return all
}

// find searches the failures for a rule's words, line by line.
func (r lineRule) find(fs []sia.CheckFailure) (finding, bool) {
	for _, f := range fs {
		for l := range strings.Lines(cleanText(f.Excerpt)) {
			l = text.Clip(strings.TrimSpace(l), 500)
			if !r.words.MatchString(l) || r.unless != nil && r.unless.MatchString(l) {
				continue
			}
			found := finding{pattern: r.pattern, confidence: r.confidence, check: text.OneLine(f.Check), line: l}
			if r.subject != nil {
				for _, s := range r.subject.FindStringSubmatch(l) {
					if s != "" {
						found.subject = s // the last group that matched
					}
				}
			}
			found.evidence = fmt.Sprintf("the log of check %s says that %s: `%s`", found.check, r.because, l)
			return found, true
		}
	}
	return finding{}, false
}

// findFlaky: the same change had another failure before, or the log has words of flakiness.
func findFlaky(in Input) (finding, bool) {
	for _, a := range in.Task.Attempts {
		if a.Number < in.Attempt.Number && len(a.Hunks) > 0 && slices.Equal(a.Hunks, in.Attempt.Hunks) &&
			len(a.Failures) > 0 && len(in.Attempt.Failures) > 0 && !sharesSignature(a, in.Attempt) {
			return finding{pattern: sia.FlakyCheck, confidence: 0.55, check: firstCheck(in), line: errorLine(in.Attempt),
				evidence: fmt.Sprintf("attempt %d made the same change and failed in another way", a.Number)}, true
		}
	}
	r := lineRule{pattern: sia.FlakyCheck, confidence: 0.4, words: flakyWords, because: "time or chance plays a part"}
	return r.find(in.Attempt.Failures)
}

// missNear is the maximum distance between a tool's name and its error in a transcript without calls, in lines.
const missNear = 5

// findWrongTool: edits in the transcript repeatedly missed their target. In a transcript with calls only failed ones
// count, because commands, tests and files also mention missing things.
func findWrongTool(in Input) (finding, bool) {
	misses, last, near := 0, "", 0 // near: number of lines in which a miss belongs to a tool
	calls := toolCall.MatchString(in.Transcript)
	for l := range strings.Lines(in.Transcript) {
		near--
		if m := toolCall.FindStringSubmatch(l); m != nil {
			near = 0
			if m[2] != "" && toolWords.MatchString(m[1]) {
				near = len(in.Transcript)
			}
		} else if !calls && toolWords.MatchString(l) {
			near = missNear
		}
		if near > 0 && editMissed.MatchString(l) {
			misses, near = misses+1, 0
			last = text.Clip(strings.TrimSpace(cleanText(l)), 300)
		}
	}
	if misses < 2 {
		return finding{}, false
	}
	return finding{pattern: sia.WrongTool, confidence: 0.6, line: last, subject: firstPath(last),
		evidence: fmt.Sprintf("%d uses of a tool missed their target, the last with `%s`", misses, last)}, true
}

// findInterdependent: symbols are undefined in several files, or a check that passed before fails now.
func findInterdependent(in Input) (finding, bool) {
	var files []string
	line, check := "", ""
	for _, f := range in.Attempt.Failures {
		for l := range strings.Lines(cleanText(f.Excerpt)) {
			if l = strings.TrimSpace(l); !undefinedWords.MatchString(l) {
				continue
			}
			if p := firstPath(l); p != "" && !slices.Contains(files, p) {
				files = append(files, p)
				line, check = text.Clip(l, 500), text.OneLine(f.Check)
			}
		}
	}
	if len(files) >= 2 {
		names := strings.Join(files[:min(len(files), 5)], ", ")
		return finding{pattern: sia.InterdependentComponents, confidence: 0.6, check: check, line: line, subject: names,
				evidence: fmt.Sprintf("names are undefined in %d files (%s): changing one broke the others", len(files), names)},
			true
	}
	for _, a := range in.Task.Attempts {
		for _, name := range a.Passing {
			if a.Number < in.Attempt.Number && len(in.Attempt.Failures) > 0 &&
				slices.ContainsFunc(in.Attempt.Failures, func(f sia.CheckFailure) bool { return f.Check == name }) {
				return finding{pattern: sia.InterdependentComponents, confidence: 0.55, check: text.OneLine(name),
					line: errorLine(in.Attempt), subject: text.OneLine(name),
					evidence: fmt.Sprintf("check %s passed after attempt %d and fails now: mending one part broke another",
						text.OneLine(name), a.Number)}, true
			}
		}
	}
	return finding{}, false
}

// findRepeated: the failure's signature equals an earlier attempt's.
func findRepeated(in Input) (finding, bool) {
	for i := len(in.Task.Attempts) - 1; i >= 0; i-- {
		a := in.Task.Attempts[i]
		if a.Number < in.Attempt.Number && sharesSignature(a, in.Attempt) {
			return finding{pattern: sia.RepeatedError, confidence: 0.65, check: firstCheck(in), line: errorLine(in.Attempt),
				evidence: fmt.Sprintf("attempt %d failed with the same error: `%s`", a.Number, errorLine(in.Attempt))}, true
		}
	}
	for _, s := range in.Attempt.Signals {
		if s.Name == sia.AboutToStick || s.Name == sia.SameError {
			return finding{pattern: sia.RepeatedError, confidence: 0.55, check: firstCheck(in), line: errorLine(in.Attempt),
				evidence: text.Clip(text.OneLine(s.Evidence), 300)}, true
		}
	}
	return finding{}, false
}

// findOverload: the attempt ended at the limit of its window or turns.
func findOverload(in Input) (finding, bool) {
	a := in.Attempt
	if limitWords.MatchString(a.Reason) {
		return finding{pattern: sia.ContextOverload, confidence: 0.55, line: text.Clip(text.OneLine(a.Reason), 300),
			evidence: "the attempt ran into a limit of its window or turns: " + text.Clip(text.OneLine(a.Reason), 300)}, true
	}
	if len(in.Transcript) > 400_000 && a.Diff.Files <= 1 {
		return finding{pattern: sia.ContextOverload, confidence: 0.4,
				evidence: fmt.Sprintf("the transcript has %d kB for a change of %d files", len(in.Transcript)/1000, a.Diff.Files)},
			true
	}
	return finding{}, false
}

// findCruft: the change has grown to several times what it was.
func findCruft(in Input) (finding, bool) {
	for _, a := range in.Task.Attempts {
		if n := a.Diff.Added + a.Diff.Deleted; a.Number+2 <= in.Attempt.Number && n > 0 &&
			in.Attempt.Diff.Added+in.Attempt.Diff.Deleted >= max(3*n, 200) {
			return finding{pattern: sia.AccumulatedCruft, confidence: 0.5, check: firstCheck(in), line: errorLine(in.Attempt),
				evidence: fmt.Sprintf("the change has grown from %d lines in attempt %d to %d", n, a.Number,
					in.Attempt.Diff.Added+in.Attempt.Diff.Deleted)}, true
		}
	}
	return finding{}, false
}

// findUnclear: the task's text is ambiguous, or too long.
func findUnclear(in Input) (finding, bool) {
	body := strings.TrimSpace(in.Task.Body)
	all := in.Task.Title + " " + body
	words := len(strings.Fields(all))
	switch {
	case unsureWords.MatchString(in.Attempt.Summary) && (words < 60 || openWords.MatchString(all)):
		return finding{pattern: sia.UnclearSpecification, confidence: 0.5, ofIssue: true,
			line:     text.Clip(text.OneLine(in.Task.Title), 200),
			evidence: "the agent had to guess what is meant, and the issue leaves it open"}, true
	case words < 25 && openWords.MatchString(all):
		return finding{pattern: sia.UnclearSpecification, confidence: 0.42, ofIssue: true,
			line:     text.Clip(text.OneLine(all), 300),
			evidence: fmt.Sprintf("the issue has %d words and leaves open what is wanted", words)}, true
	case in.Attempt.Diff.Files == 0 && len(in.Attempt.Failures) == 0:
		evidence := "the attempt changed nothing"
		if in.Attempt.LeftOut != "" {
			evidence = "all that the attempt changed was left out"
		}
		return finding{pattern: sia.UnclearInstructions, confidence: 0.45,
			line: text.Clip(text.OneLine(in.Attempt.Reason), 300), evidence: evidence}, true
	case words > 1500:
		return finding{pattern: sia.UnclearInstructions, confidence: 0.35,
			evidence: fmt.Sprintf("the issue has %d words", words)}, true
	}
	return finding{}, false
}

// sharesSignature reports whether two attempts have a failure in common.
func sharesSignature(a, b sia.Attempt) bool {
	for _, f := range a.Failures {
		for _, g := range b.Failures {
			if f.Signature != "" && f.Signature == g.Signature {
				return true
			}
		}
	}
	return false
}
