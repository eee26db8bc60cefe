package apptest

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/lesson"
	"github.com/sia-bot/sia/sim/ghsim"
)

// Record is everything that people can see, and all decisions, as sections "want/…" without values that differ between
// runs.
func (s *Stage) Record() []txtar.File {
	s.t.Helper()
	var files []txtar.File
	add := func(name, text string) {
		if text = strings.TrimRight(text, "\n"); text != "" {
			files = append(files, txtar.File{Name: "want/" + name, Data: []byte(text + "\n")})
		}
	}
	add("task", s.recordTasks())
	issues, err := s.Sim.Issues(Repo)
	s.must(err)
	for _, i := range issues {
		add(fmt.Sprintf("%s-%d", map[bool]string{true: "pull", false: "issue"}[i.IsPull], i.Number), s.recordIssue(i))
	}
	add("branches", s.recordBranches())
	add("checks", s.recordChecks(Repo, s.heads(Repo, "sia/issue-")))
	add("owner-checks", s.recordChecks(OwnersRepo, s.heads(OwnersRepo, "")))
	for _, name := range s.memory() {
		if strings.HasPrefix(name, ".sia/metrics/") || strings.HasPrefix(name, ".sia/lessons.") {
			continue // memory shared by the repository's tasks has its own tests
		}
		text, err := s.Sim.File(Repo, MemoryBranch, name)
		s.must(err)
		if strings.Contains(name, "/transcripts/") {
			text = fmt.Sprintf("%d headings\n", strings.Count(text, "\n#"))
		}
		text = forPrograms.ReplaceAllString(text, "\n}")
		add("memory/"+strings.TrimPrefix(name, ".sia/"), text)
	}
	add("lessons", s.recordLessons())
	add("decisions", s.recordDecisions())
	n := normalizer{shas: map[string]string{}}
	n.learn(s.shas()...)
	for i := range files {
		files[i].Data = []byte(escape(n.text(string(files[i].Data))))
	}
	return files
}

// forPrograms matches the part of a task's JSON that only rebuilding reads; tests rebuild tasks from it.
var forPrograms = regexp.MustCompile(`(?s),\n  "record": \{.*\n\}`)

// recordLessons lists the lessons, if an attempt was given any or a person taught, rated or removed one.
func (s *Stage) recordLessons() string {
	if s.App == nil {
		return ""
	}
	var b strings.Builder
	matters := false
	for _, t := range s.tasks() {
		matters = matters || len(t.Ratings) > 0 ||
			slices.ContainsFunc(t.Attempts, func(a sia.Attempt) bool { return len(a.LessonsShown)+len(a.LessonsWithheld) > 0 })
	}
	repos, err := s.App.Store.LessonRepositories(context.Background())
	s.must(err)
	for _, r := range repos {
		all, err := s.App.Store.Lessons(context.Background(), r)
		s.must(err)
		for _, l := range all {
			matters = matters || l.From.Source == lesson.FromPerson
			fmt.Fprintf(&b, "%s %s, %g for, %g against, from %s: %s\n", l.State, l.Kind, l.Good, l.Bad, l.From.Source, l.Told())
		}
	}
	if !matters {
		return ""
	}
	return b.String()
}

// MemoryBranch is the branch of the stage's repository with its memory.
const MemoryBranch = "sia/memory"

// escape keeps lines of a text from being read as sections of an archive.
func escape(text string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, "-- ") && strings.HasSuffix(l, " --") {
			lines[i] = " " + l
		}
	}
	return strings.Join(lines, "\n")
}

func (s *Stage) tasks() []sia.Task {
	s.t.Helper()
	if s.App == nil {
		return nil
	}
	all, err := s.App.Store.Tasks(context.Background(), store.Filter{})
	s.must(err)
	slices.SortFunc(all, func(a, b sia.Task) int { return a.Issue - b.Issue })
	return all
}

func (s *Stage) recordTasks() string {
	var b strings.Builder
	for _, t := range s.tasks() {
		if _, err := s.App.Store.Replay(context.Background(), t.ID); err != nil {
			s.t.Errorf("the log does not give the task: %v", err)
		}
		fmt.Fprintf(&b, "#%d %s: %s\n", t.Issue, t.Title, t.State)
		if waiting := render.Waiting(t); waiting != "" {
			fmt.Fprintf(&b, "waiting: %s\n", waiting)
		}
		if strings.HasPrefix(t.SettingsFrom, OwnersRepo) {
			fmt.Fprintf(&b, "settings: %s\n", t.SettingsFrom)
		}
		if t.Warning != "" {
			fmt.Fprintf(&b, "warning: %s\n", t.Warning)
		}
		for _, a := range t.Attempts {
			fmt.Fprintf(&b, "attempt %d: %s", a.Number, a.Outcome)
			if a.Planning {
				b.WriteString(", a plan")
			}
			if a.Technique != "" {
				fmt.Fprintf(&b, ", %s", a.Technique)
			}
			if a.Reason != "" {
				fmt.Fprintf(&b, " (%s)", a.Reason)
			}
			fmt.Fprintf(&b, ", %d turns, %s credits", a.Turns, a.Cost)
			if n := len(a.LessonsShown); n > 0 {
				fmt.Fprintf(&b, ", told %d of what was learned", n)
			}
			for _, x := range a.Signals {
				fmt.Fprintf(&b, "; %s", x.Name)
			}
			b.WriteString("\n")
		}
		for _, v := range t.Interventions {
			fmt.Fprintf(&b, "intervention %d: %s, %s, review %s%s\n", v.Number, v.Diagnosis.Pattern, v.Diagnosis.Technique,
				v.Review.Verdict, resolved(v))
		}
		for _, a := range t.Answers {
			fmt.Fprintf(&b, "answer by %s: %s\n", a.By.Login, a.Text)
		}
		fmt.Fprintf(&b, "prompts %d of %d, credits %s spent, %s reserved, of %s\n", len(t.Prompts), t.Approaches,
			t.Credits.Spent, t.Credits.Reserved, t.Credits.Budget)
		if len(t.Pending) > 0 {
			fmt.Fprintf(&b, "pending: %v\n", t.Pending)
		}
	}
	return b.String()
}

func resolved(v sia.Intervention) string {
	switch {
	case v.Resolved == nil:
		return ""
	case *v.Resolved:
		return ", resolved"
	}
	return ", did not resolve"
}

// recordIssue is an issue or pull request with everything on it.
func (s *Stage) recordIssue(i ghsim.IssueView) string {
	var b strings.Builder
	fmt.Fprintf(&b, "title: %s\nauthor: %s\nstate: %s\n", i.Title, i.Author, i.State)
	if i.IsPull {
		p, err := s.Sim.Pull(Repo, i.Number)
		s.must(err)
		fmt.Fprintf(&b, "draft: %v, merged: %v\nhead: %s\nfiles: %s\n", p.Draft, p.Merged, p.HeadRef,
			strings.Join(p.Files, " "))
	}
	fmt.Fprintf(&b, "labels: %s\n", strings.Join(s.labels(i.Number), " "))
	if len(i.Assignees) > 0 {
		fmt.Fprintf(&b, "assignees: %s\n", strings.Join(i.Assignees, " "))
	}
	fmt.Fprintf(&b, "reactions: %s\n", reactions(i.Reactions))
	quote(&b, i.Body)
	for _, c := range i.Comments {
		fmt.Fprintf(&b, "\ncomment by %s%s\n", c.Author, reactions(c.Reactions))
		quote(&b, c.Body)
	}
	if i.IsPull {
		s.recordReviews(&b, i.Number)
	}
	return b.String()
}

// recordReviews is the reviews of a pull request, with comments on lines.
func (s *Stage) recordReviews(b *strings.Builder, pull int) {
	p, err := s.Sim.Pull(Repo, pull)
	s.must(err)
	for _, v := range p.Reviews {
		fmt.Fprintf(b, "\nreview by %s of %s: %s\n", v.Author, v.SHA, v.State)
		quote(b, v.Body)
	}
	for _, c := range p.OnLines {
		side := ""
		if c.Old {
			side = " of the base"
		}
		fmt.Fprintf(b, "\n%s on %s:%d%s\n", c.Author, c.Path, c.Line, side)
		quote(b, c.Body)
	}
}

func reactions(rs []ghsim.ReactionView) string {
	var all []string
	for _, r := range rs {
		all = append(all, " "+r.Content+"("+r.User+")")
	}
	slices.Sort(all) // they are added concurrently, in any order
	return strings.Join(all, "")
}

func quote(b *strings.Builder, text string) {
	for line := range strings.Lines(strings.TrimRight(text, "\n") + "\n") {
		b.WriteString(strings.TrimRight("  "+strings.TrimRight(line, "\r\n"), " ") + "\n")
	}
}

// labels is the history of an issue's labels: +added -removed.
func (s *Stage) labels(number int) []string {
	var all []string
	for _, e := range s.Sim.Timeline("issues.labeled", "issues.unlabeled", "pull_request.labeled",
		"pull_request.unlabeled") {
		if e.Number == number {
			all = append(all, map[bool]string{true: "-", false: "+"}[strings.HasSuffix(e.Kind, "unlabeled")]+e.Detail)
		}
	}
	return all
}

// recordBranches lists the commits of every branch except the base, oldest first, with their messages and files.
func (s *Stage) recordBranches() string {
	heads, err := s.Sim.Branches(Repo)
	s.must(err)
	var b strings.Builder
	for name := range heads {
		if name == MemoryBranch || name == "main" {
			delete(heads, name)
		}
	}
	for _, name := range sortedKeys(heads) {
		fmt.Fprintf(&b, "%s\n", name)
		log := s.git("log", "--reverse", "--name-status", "--format=commit %H by %an <%ae>%n%B", "main.."+heads[name])
		quote(&b, log)
	}
	return b.String()
}

// git runs git in the simulator's repository.
func (s *Stage) git(args ...string) string {
	s.t.Helper()
	repo, err := s.Sim.Repo(Repo)
	s.must(err)
	dir := filepath.Join(s.dir, "github", fmt.Sprintf("%d.git", repo.ID))
	cmd := exec.CommandContext(context.Background(), "git", append([]string{"-C", dir}, args...)...)
	out, err := cmd.Output()
	s.must(err)
	return string(out)
}

// recordChecks lists the check runs on commits of a repository: of SIA's only the newest of each name, as GitHub shows
// them.
func (s *Stage) recordChecks(repo string, shas []string) string {
	var b strings.Builder
	for _, sha := range shas {
		runs, err := s.Sim.CheckRuns(repo, sha)
		s.must(err)
		slices.SortStableFunc(runs, func(x, y ghsim.CheckView) int { return strings.Compare(x.Name, y.Name) })
		fmt.Fprintf(&b, "%s\n", sha)
		for i, r := range runs {
			if r.App == Slug && i+1 < len(runs) && runs[i+1].App == Slug && runs[i+1].Name == r.Name {
				continue
			}
			fmt.Fprintf(&b, "  %s by %s: %s %s", r.Name, r.App, r.Status, r.Conclusion)
			if r.App == Slug {
				fmt.Fprintf(&b, "; %s; buttons %s; %d annotations", r.Title, strings.Join(r.Buttons, " "), r.Annotations)
			}
			b.WriteString("\n")
			if r.App == Slug {
				quote(&b, "\n"+r.Summary+"\n\n"+r.Text)
			}
		}
	}
	return b.String()
}

// heads lists the former and present heads of a task's branch, oldest first.
func (s *Stage) heads(repo, branches string) []string {
	var shas []string
	for _, e := range s.Sim.Timeline() {
		if strings.HasPrefix(e.Kind, "push") && e.Repo == repo && strings.HasPrefix(e.Ref, branches) && e.SHA != "" &&
			!slices.Contains(shas, e.SHA) {
			shas = append(shas, e.SHA)
		}
	}
	return shas
}

// shas lists the commits in the order in which people saw them: of the base, of the task's branches, of memory.
func (s *Stage) shas() []string {
	shas := strings.Fields(s.git("log", "--reverse", "--format=%H", "main"))
	shas = append(shas, s.heads(Repo, "sia/issue-")...)
	for _, e := range s.Sim.Timeline() {
		if e.SHA != "" {
			shas = append(shas, e.SHA)
		}
	}
	for _, t := range s.tasks() {
		for _, a := range t.Attempts {
			for _, p := range a.Parts {
				shas = append(shas, string(p.Commit), string(p.Kept))
			}
		}
	}
	return append(shas,
		strings.Fields(s.git("log", "--branches=sia/issue-*", "--topo-order", "--reverse", "--format=%H"))...)
}

func (s *Stage) memory() []string {
	heads, err := s.Sim.Branches(Repo)
	s.must(err)
	if heads[MemoryBranch] == "" {
		return nil
	}
	names, err := s.Sim.Files(Repo, MemoryBranch)
	s.must(err)
	return names
}

// recordDecisions lists the reasons for each task's transitions, and the log of choices. Events that only report a
// completed effect are left out: such effects run concurrently and report in any order.
func (s *Stage) recordDecisions() string {
	var b strings.Builder
	for _, t := range s.tasks() {
		events, err := s.App.Store.Events(context.Background(), t.ID)
		s.must(err)
		fmt.Fprintf(&b, "#%d\n", t.Issue)
		for _, e := range inOrder(events) {
			kind := e.Event.Fact.Kind()
			if unordered[kind] || kind == sia.KMemoryCommitted && !strings.Contains(e.Why, ";") {
				continue // memory that nothing waited for
			}
			if f, ok := e.Event.Fact.(sia.Evidenced); ok && saysNothing(f.Evidence) {
				continue // it arrived during another effect
			}
			words := e.Why
			if e.Ignored != "" {
				words = "ignored: " + e.Ignored
			}
			fmt.Fprintf(&b, "%s → %s: %s%s: %s\n", from(e.From), e.To, kind, by(e.Event.By), words)
		}
		decisions, err := s.App.Store.Decisions(context.Background(), t.ID)
		s.must(err)
		for _, d := range decisions {
			fmt.Fprintf(&b, "%s after attempt %d: %s with probability %.3f by %s: %s (%s)%s\n",
				d.Type, d.Attempt, d.Choice, d.Propensity, d.Policy, d.Reason, or(d.Outcome, "open"), s.recordOutcome(d.ID))
		}
	}
	return b.String()
}

// saysNothing reports whether running the tests had no result against a change, or was not possible.
func saysNothing(e sia.TestEvidence) bool {
	firm, broken := e.Asks()
	return len(firm)+len(broken) == 0
}

// inOrder puts a task's events in an order that doesn't depend on timing. Events of concurrent parts are sorted by
// part, and making a pull request a draft comes before events of the same time.
func inOrder(events []store.EventRecord) []store.EventRecord {
	events = slices.Clone(events)
	for i := 1; i < len(events); i++ {
		for j := i; j > 0 && events[j].Event.Fact.Kind() == sia.KDrafted && events[j-1].From == sia.Working &&
			events[j-1].To == sia.Working; j-- {
			events[j-1], events[j] = events[j], events[j-1]
		}
	}
	of := func(e store.EventRecord) bool { return e.To == sia.Working && strings.HasPrefix(e.Why, "part ") }
	part := func(e store.EventRecord) string {
		words := strings.SplitN(e.Why, " ", 3)
		return strings.Trim(words[1], ":")
	}
	for i := 0; i < len(events); i++ {
		end := i
		for end < len(events) && of(events[end]) {
			end++
		}
		if end > i {
			slices.SortStableFunc(events[i:end], func(a, b store.EventRecord) int { return strings.Compare(part(a), part(b)) })
			i = end
		}
	}
	return events
}

// recordOutcome is the lesson from a decision; empty when there is none.
func (s *Stage) recordOutcome(decision string) (learned string) {
	outcomes, err := s.App.Store.OutcomesSince(context.Background(), 0)
	s.must(err)
	for _, o := range outcomes {
		if o.Decision == decision {
			learned += fmt.Sprintf(" learned: %s, %s, resolved %v, %d tried before, confidence %v, z %.2f", o.Pattern,
				o.Technique, o.Resolved, o.Attempt, o.Confidence, o.Z)
		}
	}
	return learned
}

func or(s, instead string) string {
	if s == "" {
		return instead
	}
	return s
}

var unordered = map[sia.Kind]bool{sia.KDone: true, sia.KSyncDone: true, sia.KCheckSeen: true, sia.KProgressed: true}

func from(s sia.State) string {
	if s == "" {
		return "(new)"
	}
	return string(s)
}

func by(a sia.Actor) string {
	if a.Login == "" {
		return ""
	}
	return " by " + a.Login
}
