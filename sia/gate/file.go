package gate

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia/yamlfile"
)

// File describes a workflow file: when it runs, and what its jobs do.
type File struct {
	Path     string
	Gone     bool // the file does not exist
	Unread   bool // it could not be parsed: it may run for any event and do anything
	Triggers []Trigger
	Jobs     []Job
}

// Trigger is an event that starts a workflow.
type Trigger struct {
	Event    string
	Paths    Paths // filter of paths
	Base     Paths // filter of branches, which for pull requests is one of the base branch
	Narrow   bool  // a filter of activity types may keep a commit of the pull request from starting it
	Branches bool  // a filter of branches or tags may keep a commit from starting it
	Ready    bool  // marking a draft ready for review starts it
}

// Job describes a job of a workflow file.
type Job struct {
	Name string // as in check runs, but without the values of expressions and matrices
	Code bool   // it checks out a repository, or runs a command that may judge its code
	Head bool   // it explicitly checks out the head of the pull request
	// names of the jobs that it needs, without those that may fail
	Needs  []string
	Calls  string // path of the reusable workflow that it calls, if that was not expanded; else empty
	Inputs bool   // its condition uses the inputs of a reusable workflow
	Part   bool   // its condition uses the changed files or the activity on the pull request
	Draft  bool   // its condition skips drafts
	Guard  bool   // its condition uses only whether it is a draft and who opened it
	// its condition limits it to merge queues
	Queue bool
	Runs  bool // it checks out a repository, and runs a command that does more than inspect it
}

// ReadFile parses a workflow file
// (https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-syntax).
func ReadFile(path string, text []byte) File {
	unread := File{Path: path, Unread: true}
	doc, err := yamlfile.Values(text)
	root, ok := doc.(map[string]any)
	if err != nil || !ok || root["on"] == nil {
		return unread
	}
	f := File{Path: path, Triggers: triggers(root["on"])}
	jobs, _ := root["jobs"].(map[string]any)
	for key, j := range jobs {
		job := readJob(key, j)
		job.Needs = needs(jobs, key)
		f.Jobs = append(f.Jobs, job)
	}
	if len(f.Triggers) == 0 || len(f.Jobs) == 0 {
		return unread
	}
	slices.SortFunc(f.Jobs, func(a, b Job) int { return strings.Compare(a.Name, b.Name) })
	return f
}

// ByPaths reports whether it depends on the paths that a pull request changes whether its commits start the workflow.
func (f File) ByPaths() bool {
	return slices.ContainsFunc(f.Triggers, func(t Trigger) bool { return t.Paths.isSet() && t.Event != "push" })
}

func fileAt(files []File, path string) (File, bool) {
	i := slices.IndexFunc(files, func(f File) bool { return f.Path == path })
	if i < 0 {
		return File{}, false
	}
	return files[i], true
}

// triggers parses `on`: an event, a list of events, or events with their filters. The result is sorted.
func triggers(on any) []Trigger {
	var out []Trigger
	switch on := on.(type) {
	case string:
		out = []Trigger{{Event: on}}
	case []any:
		for _, e := range texts(on) {
			out = append(out, Trigger{Event: e})
		}
	case map[string]any:
		for event, filter := range on {
			out = append(out, trigger(event, filter))
		}
	}
	slices.SortFunc(out, func(a, b Trigger) int { return strings.Compare(a.Event, b.Event) })
	return out
}

func trigger(event string, filter any) Trigger {
	out := Trigger{Event: event}
	filters, _ := filter.(map[string]any)
	for key, value := range filters {
		switch key {
		case "paths":
			out.Paths.Wanted = texts(value)
		case "paths-ignore":
			out.Paths.Ignored = texts(value)
		case "branches":
			out.Branches, out.Base.Wanted = true, texts(value)
		case "branches-ignore":
			out.Branches, out.Base.Ignored = true, texts(value)
		case "tags", "tags-ignore":
			out.Branches = true
		case "types": // a push to a pull request's branch is the activity synchronize
			out.Narrow = out.Narrow || event != "push" && !slices.Contains(texts(value), "synchronize")
			out.Ready = slices.Contains(texts(value), "ready_for_review")
		}
	}
	return out
}

var (
	// fetches matches a command that fetches a repository's code.
	fetches = regexp.MustCompile(`\bgit\b.*\b(clone|fetch|pull)\b|\bgh\b.*\b(repo clone|pr checkout)\b`)
	// ofHead matches the head of a pull request, as in `github.event.pull_request.head.sha`, or its merge.
	ofHead = regexp.MustCompile(`(?i)head|\brefs/(remotes/)?pull\b|\bpull/|\bpr checkout\b|merge_commit_sha`)
	// ofForm matches metadata of a pull request, rather than its changes.
	ofForm = regexp.MustCompile(`(?i)pull_request\.(title|body|labels|user|assignees|milestone|` +
		`requested_reviewers|draft)|event\.(label|sender)|github\.(actor|triggering_actor)|\bgh (pr|issue|label)\b|` +
		`github\.rest\.(issues|pulls)`)
	// onlyPrints matches a script that only prints, and the empty script.
	onlyPrints = regexp.MustCompile(`^(?:\s*(?:(?:echo|printf)\b(?:\\\n|[^|&;$(\n])*|exit( \d+)?|#.*)?(?:\n|$))*$`)
	// ofResults matches the use of the needed jobs' results, and ofOutcome of their outputs.
	ofResults = regexp.MustCompile(`(?i)\bneeds(\.[\w*-]+|\[[^\]]*\])\.result\b|\(\s*needs\s*\)`)
	ofOutcome = regexp.MustCompile(`(?i)\bneeds(\.[\w*-]+|\[[^\]]*\])\.outputs\b|\bdownload-artifact@`)
	// checksOut matches the name of an action that checks out a repository.
	checksOut = regexp.MustCompile(`(?i)\bcheckout\b`)
	// ofPart matches the use of another job's outputs, such as the changed files, or of the activity on the pull request.
	ofPart = regexp.MustCompile(`(?i)\bneeds(\.[\w*-]+|\[[^\]]*\])\.outputs\b|\bgithub\.event\.action\b`)
	// contexts matches the contexts in a condition, forPulls tests that hold for every pull request, ofDraft whether it is
	// a draft, and ofGuard that or who opened it.
	contexts = regexp.MustCompile(`(?i)\b(github|needs|vars|inputs|env|secrets|matrix)\s*[.\[][\w.-]*`)
	forPulls = regexp.MustCompile(`(?i)\bgithub\.event_name\s*(!=\s*'pull_request'|==\s*'pull_request(_target)?')`)
	ofDraft  = regexp.MustCompile(`(?i)\bgithub\.event\.pull_request\.draft\b`)
	ofGuard  = regexp.MustCompile(`(?i)^github\.(actor|triggering_actor|event\.(sender|pull_request\.user)\.\w+|` +
		`event\.pull_request\.(draft|author_association))$`)
	ofInputs = regexp.MustCompile(`(?i)\binputs\s*[.\[]`)
	// keys matches the keys of jobs in a list of any format.
	keys = regexp.MustCompile(`[\w-]+`)
)

// readJob parses a job. A reusable workflow, and an action of the repository, may do anything with its code. So may a
// command that does more than print, because it may start anything, unless the job's steps read metadata of the pull
// request, or the results but not the outputs of the needed jobs.
func readJob(key string, job any) Job {
	says, _ := job.(map[string]any)
	out := Job{Name: nameOf(key, says)}
	if uses, _ := says["uses"].(string); uses != "" {
		out.Code, out.Head, out.Calls = true, ofHead.MatchString(fmt.Sprint(says["with"])), externalCall
		if path, own := strings.CutPrefix(uses, "./"); own {
			out.Calls = path
		}
	}
	if cond, _ := says["if"].(string); cond != "" {
		out.Queue = queueOnly.MatchString(cond)
		out.Inputs = ofInputs.MatchString(cond)
		out.Part, out.Draft = ofPart.MatchString(cond), ofDraft.MatchString(cond)
		asks := contexts.FindAllString(forPulls.ReplaceAllString(cond, ""), -1)
		out.Guard = len(asks) > 0 && !slices.ContainsFunc(asks, func(c string) bool { return !ofGuard.MatchString(c) })
	}
	steps, _ := says["steps"].([]any)
	out.Runs = runsCommand(steps)
	reads := fmt.Sprint(says["steps"], says["env"])
	sums := ofResults.MatchString(reads) && !ofOutcome.MatchString(reads)
	aside, scans := sums || ofForm.MatchString(fmt.Sprint(says)), onlyScans(steps)
	for _, s := range steps {
		step, _ := s.(map[string]any)
		uses, _ := step["uses"].(string)
		run, _ := step["run"].(string)
		gets := checksOut.MatchString(uses) && ofHead.MatchString(fmt.Sprint(step["with"]))
		out.Head = out.Head || gets || fetches.MatchString(run) && ofHead.MatchString(run+fmt.Sprint(step["env"]))
		out.Code = out.Code || checksOut.MatchString(uses) && !scans || strings.HasPrefix(uses, "./") ||
			fetches.MatchString(run) || !aside && !onlyPrints.MatchString(run)
	}
	return out
}

var (
	// scanner matches an action that reads the code and does not run it. It is not known what CodeQL's autobuild runs.
	scanner = regexp.MustCompile(`(?i)^(github/codeql-action/|actions/dependency-review-action@|gitleaks/` +
		`gitleaks-action@|trufflesecurity/trufflehog@|ossf/scorecard-action@|sonarsource/|snyk/actions/|` +
		`codecov/codecov-action@)`)
	// preparer matches an action that only prepares for other steps.
	preparer = regexp.MustCompile(`(?i)^actions/(checkout|cache|setup-[\w-]+)@`)
)

// queueOnly matches a condition that holds only in merge queues.
var queueOnly = regexp.MustCompile(`^\s*(?:\$\{\{)?\s*github\.event_name\s*==\s*'merge_group'\s*` +
	`(?:&&[^|]*)?(?:\}\})?\s*$`)

// looks matches a script that only inspects commits, files and texts, and runs no code of the repository.
var looks = regexp.MustCompile(`^(?:\s*(?:(?:if|then|else|elif|fi|for|while|do|done|!|\[\[?|echo|printf|exit|git|gh|` +
	`grep|curl|jq|cat|set|test|[A-Za-z_]+=)(?:[^\w\n].*)?|#.*)?(?:\n|$))*$`)

// runsCommand reports whether steps check out a repository and run a command that does more than inspect it.
func runsCommand(steps []any) bool {
	has, runs := false, false
	for _, s := range steps {
		step, _ := s.(map[string]any)
		uses, _ := step["uses"].(string)
		run, _ := step["run"].(string)
		has = has || checksOut.MatchString(uses)
		runs = runs || !looks.MatchString(run)
	}
	return has && runs
}

// onlyScans reports whether a job's steps use a scanner, and all other actions only prepare for it.
func onlyScans(steps []any) bool {
	scans := false
	for _, s := range steps {
		step, _ := s.(map[string]any)
		uses, _ := step["uses"].(string)
		switch {
		case scanner.MatchString(uses):
			scans = true
		case uses != "" && !preparer.MatchString(uses):
			return false
		}
	}
	return scans
}

// needs returns the sorted names of the jobs that a job needs and that may not fail, neither by their own settings nor
// by those of https://github.com/re-actors/alls-green.
func needs(jobs map[string]any, key string) []string {
	says, _ := jobs[key].(map[string]any)
	var may []string
	steps, _ := says["steps"].([]any)
	for _, s := range steps {
		step, _ := s.(map[string]any)
		with, _ := step["with"].(map[string]any)
		allowed, _ := with["allowed-failures"].(string)
		may = append(may, keys.FindAllString(allowed, -1)...)
	}
	var out []string
	for _, need := range texts(says["needs"]) {
		of, there := jobs[need].(map[string]any)
		goesOn, _ := of["continue-on-error"].(string)
		if there && (goesOn == "" || goesOn == "false") && !slices.Contains(may, need) {
			out = append(out, nameOf(need, of))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// nameOf returns a job's name, as in its check runs.
func nameOf(key string, says map[string]any) string {
	name, _ := says["name"].(string)
	return cmp.Or(name, key)
}

// needs returns the names of the jobs that a check run's job needs, directly or indirectly.
func (f File) needs(name string) (out []string) {
	next := f.named(name)
	if !slices.ContainsFunc(next, func(j Job) bool { return len(j.Needs) > 0 }) {
		return nil
	}
	byName, seen := map[string][]Job{}, map[string]bool{}
	for _, j := range f.Jobs {
		byName[j.Name] = append(byName[j.Name], j)
	}
	for ; len(next) > 0; next = next[1:] {
		for _, need := range next[0].Needs {
			if !seen[need] {
				seen[need] = true
				out = append(out, need)
				next = append(next, byName[need]...)
			}
		}
	}
	return out
}

// named returns the jobs to which a check run may belong, by its name.
func (f File) named(name string) (out []Job) {
	exact := func(j Job) bool { return j.Name == name }
	like := func(j Job) bool { return j.matches(name) }
	for _, is := range []func(Job) bool{exact, like} {
		for _, j := range f.Jobs {
			if is(j) {
				out = append(out, j)
			}
		}
		if len(out) > 0 {
			return out
		}
	}
	return nil
}

// job returns the properties of a check run's job; those of all jobs of the file together if the name
// matches none.
func (f File) job(name string) Job {
	candidates := f.named(name)
	if len(candidates) == 0 {
		candidates = f.Jobs
	}
	out := Job{Name: name}
	for _, j := range candidates {
		out.Code, out.Head, out.Runs = out.Code || j.Code, out.Head || j.Head, out.Runs || j.Runs
	}
	return out
}

// texts returns the strings of a list, or a single string as a list.
func texts(v any) []string {
	list, isList := v.([]any)
	if !isList {
		list = []any{v}
	}
	var out []string
	for _, x := range list {
		if s, ok := x.(string); ok {
			out = append(out, s)
		}
	}
	return out
}
