package render

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/gate"
	"github.com/sia-bot/sia/sia/lazyregexp"
	"github.com/sia-bot/sia/sia/tamper"
)

// CheckName is the name of the check run that SIA keeps on each head commit.
const CheckName = "SIA"

// CheckRunView is a check run as GitHub shows it. Fields and limits are those of
// "Create a check run" in the REST reference.
type CheckRunView struct {
	Status      string       // queued, in_progress or completed
	Conclusion  string       // success, failure, neutral, cancelled or action_required; only when completed
	Title       string       // plain text
	Summary     string       // Markdown, at most 65,535 characters
	Text        string       // Markdown, at most 65,535 characters
	Annotations []Annotation // at most 50, what one request takes
	Actions     []Action     // at most 3
}

// Annotation is a remark on a line of a file.
type Annotation struct {
	Path    string // from the repository's root
	Line    int    // 1-based
	Level   string // failure or warning
	Title   string // at most 255 characters
	Message string // at most 64 kB
}

// Action is a button. Its identifier comes back in check_run.requested_action.
type Action struct {
	Label       string // at most 20 characters
	Description string // at most 40 characters
	Identifier  string // at most 20 characters
}

// The identifiers of the buttons.
const (
	ActionPause       = "pause"
	ActionStop        = "stop"
	ActionRetry       = "retry"
	ActionResume      = "resume"
	ActionAcceptTests = "accept-tests"
)

const maxAnnotations = 50

// CheckRun is SIA's check run on the task's head. It is "success" only when the
// task has passed. A task that waits for people is completed as "neutral", which
// neither blocks a merge nor looks like work; only changes to tests that nobody
// has accepted yet are "action_required", because merging them is what SIA is
// there to prevent.
func CheckRun(t sia.Task, l Links) CheckRunView {
	v := CheckRunView{
		Title:       strings.TrimSpace(strings.TrimLeft(Headline(t), "⏳🛠️📝🔎🧭✋⏸✅⏹ ")),
		Text:        checkText(t, l),
		Annotations: annotations(t),
		Actions:     actions(t),
	}
	var p page
	p.add(nowText(t))
	p.add(partsProgress(t))
	p.add("**Credits:** " + credits(t.Credits))
	p.add(placeLine(t, l))
	p.add(commandLine(t))
	v.Summary = p.String()
	switch t.State {
	case sia.Queued:
		v.Status = "queued"
	case sia.Passed:
		v.Status, v.Conclusion = "completed", "success"
	case sia.Stopped:
		v.Status, v.Conclusion = "completed", "cancelled"
	case sia.Escalated, sia.OnHold:
		v.Status, v.Conclusion = "completed", "neutral"
	default:
		v.Status = "in_progress"
		if AwaitsTestAcceptance(t) {
			v.Status, v.Conclusion = "completed", "action_required"
		}
	}
	return v
}

// Superseded is SIA's check run on a commit that is no longer the task's head,
// so that no old commit says for ever that work goes on.
func Superseded(t sia.Task, l Links) CheckRunView {
	return CheckRunView{
		Status: "completed", Conclusion: "neutral", Title: "A newer commit took this one's place",
		Summary: "SIA's work went on in " + link(Code(t.Head.Short(), 0), l.Commit(t.Repo, t.Head)) + ". The newest " +
			"commit's check run says where it stands.\n",
	}
}

// checkText is the longer part: attempts and the gate's reasons.
func checkText(t sia.Task, l Links) string {
	var p page
	p.add(attemptList(t, l))
	if r := reasons(t); r != "" {
		p.add("**What the checks say**\n\n" + r)
	}
	if len(t.Checks) > 0 {
		p.add(validation(t))
	}
	if len(p.blocks) == 0 {
		return ""
	}
	return p.String()
}

func actions(t sia.Task) []Action {
	pause := Action{"Pause", "Hold the task where it is", ActionPause}
	stop := Action{"Stop", "End the task, keep what was done", ActionStop}
	switch t.State {
	case sia.Passed:
		return nil
	case sia.Stopped:
		return []Action{{"Retry", "Start the task again", ActionRetry}}
	case sia.OnHold:
		return []Action{{"Resume", "Go on where it stopped", ActionResume}, stop}
	case sia.Escalated:
		if waitsForYes(t) {
			return []Action{{"Another plan", "Have another plan made", ActionRetry}, stop}
		}
		return []Action{{"Retry", "Try once more without an answer", ActionRetry}, stop}
	case sia.Checking:
		if AwaitsTestAcceptance(t) {
			return []Action{{"Accept test changes", "These changes to tests are wanted", ActionAcceptTests}, pause, stop}
		}
		return []Action{pause, stop, {"Retry", "Read the checks again now", ActionRetry}}
	}
	return []Action{pause, stop}
}

// position is "path:line" as compilers and test runners print it.
var position = lazyregexp.New(
	`(?m)(?:^|[\s("'])([A-Za-z0-9_][A-Za-z0-9_./\-]*\.[A-Za-z0-9]+):([0-9]{1,6})(?:[:),\s]|$)`)

// annotations point at the lines that the head's failures name, where those are
// in files that the attempt changed; or at those that a person has to accept.
func annotations(t sia.Task) []Annotation {
	if AwaitsTestAcceptance(t) {
		return toAccept(t)
	}
	a := t.Attempt()
	if a == nil || a.Head == "" || a.Head != t.Head || t.State == sia.Passed {
		return nil
	}
	var out []Annotation
	seen := map[string]bool{}
	for _, f := range a.Failures {
		for _, m := range position.FindAllStringSubmatchIndex(f.Excerpt, -1) {
			path := changedPath(a.Diff.Paths, f.Excerpt[m[2]:m[3]])
			line, err := strconv.Atoi(f.Excerpt[m[4]:m[5]])
			key := fmt.Sprintf("%s:%d", path, line)
			if path == "" || err != nil || line < 1 || seen[key] {
				continue
			}
			seen[key] = true
			out = append(out, Annotation{
				Path: path, Line: line, Level: "failure", Title: cut(oneLine(f.Check), 255),
				Message: cut(oneLine(lineAround(f.Excerpt, m[2])), 1000),
			})
			if len(out) == maxAnnotations {
				return out
			}
		}
	}
	return out
}

// toAccept points at the changes of tests and protected paths that wait for a
// person. A line that is gone is pointed at where it was.
func toAccept(t sia.Task) []Annotation {
	var out []Annotation
	for _, reason := range t.Gate.Explain {
		finding, ok := gate.TamperingIn(reason)
		if !ok || len(out) == maxAnnotations {
			continue
		}
		path, line, what, ok := tamper.Located(finding)
		if !ok {
			continue
		}
		out = append(out, Annotation{
			Path: path, Line: line, Level: "warning", Title: "To be accepted by a person",
			Message: cut(sentenceCase(oneLine(what)), 1000),
		})
	}
	return out
}

// changedPath is the one changed path that a name in a log can mean, or "".
func changedPath(paths []string, name string) string {
	name = strings.TrimPrefix(name, "./")
	found := ""
	for _, p := range paths {
		if p == name {
			return p
		}
		if strings.HasSuffix(p, "/"+name) {
			if found != "" {
				return ""
			}
			found = p
		}
	}
	return found
}

// lineAround is the line of s that holds offset i.
func lineAround(s string, i int) string {
	from := strings.LastIndexByte(s[:i], '\n') + 1
	line, _, _ := strings.Cut(s[from:], "\n")
	return line
}
