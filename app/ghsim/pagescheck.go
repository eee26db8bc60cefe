package ghsim

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"
)

type checkPage struct {
	checkCard
	SHA               string
	Summary, Text     string
	Started, Finished time.Time
	Annotations       []annotation
	Buttons           []buttonCard
	Steps             []stepCard
	Log               []logLine
	Earlier           int // log lines left out
}

func (p checkPage) title() string { return p.Name + " · check" }

type buttonCard struct{ Label, Description, Identifier string }

type stepCard struct{ Name, State string }

// logLine is one line of a log; Class marks sections and errors.
type logLine struct{ Class, Text string }

func (st *site) checkPage(r *http.Request) (string, any, error) {
	repo, err := st.repo(r)
	if err != nil {
		return "", nil, err
	}
	k := repo.check(int64(atoi(r.PathValue("check"))))
	if k == nil {
		return "", nil, fmt.Errorf("check run %s: %w", r.PathValue("check"), errNoPage)
	}
	p := checkPage{checkCard: checkCardOf(k), SHA: k.sha, Started: k.started, Finished: k.completed, Annotations: k.annotations}
	if k.summary != nil {
		p.Summary = *k.summary
	}
	if k.text != nil {
		p.Text = *k.text
	}
	for _, a := range k.actions {
		p.Buttons = append(p.Buttons, buttonCard{fmt.Sprint(a["label"]), fmt.Sprint(a["description"]), fmt.Sprint(a["identifier"])})
	}
	if k.job != nil {
		for _, s := range k.job.steps {
			p.Steps = append(p.Steps, stepCard{s.name, s.conclusion})
		}
		p.Log, p.Earlier = logLines(string(k.job.log))
	}
	return "check", p, nil
}

// maxLogLines is how many lines of a log a page shows: the last ones.
const maxLogLines = 3000

var (
	ansi     = regexp.MustCompile(`\x1b\[[0-9;]*[A-Za-z]`)
	logStamp = regexp.MustCompile(`^\d{4}-\d\d-\d\dT[\d:.]+Z `)
)

func logLines(log string) (lines []logLine, earlier int) {
	all := strings.Split(strings.TrimRight(log, "\n"), "\n")
	earlier = max(0, len(all)-maxLogLines)
	for _, l := range all[earlier:] {
		l = ansi.ReplaceAllString(logStamp.ReplaceAllString(l, ""), "")
		class := ""
		for _, c := range []string{"group", "error", "warning", "endgroup"} {
			if rest, is := strings.CutPrefix(l, "##["+c+"]"); is {
				l, class = rest, c
			}
		}
		if class != "endgroup" {
			lines = append(lines, logLine{class, l})
		}
	}
	return lines, earlier
}

type actionsPage struct{ Runs []runCard }

func (actionsPage) title() string { return "Workflow runs" }

type runCard struct {
	ID, Number          int64
	Attempt             int
	Name, Title, Branch string
	SHA, State, Event   string
	At                  time.Time
	Jobs                []checkCard
}

func (st *site) actionsPage(r *http.Request) (string, any, error) {
	repo, err := st.repo(r)
	if err != nil {
		return "", nil, err
	}
	var p actionsPage
	for _, w := range slices.Backward(repo.runs) {
		if id := r.PathValue("run"); id != "" && id != itoa(w.id) {
			continue
		}
		c := runCard{ID: w.id, Number: w.number, Attempt: w.attempt, Name: w.name, Title: firstLine(st.s.git.facts(repo.dir, w.sha).message),
			Branch: w.branch, SHA: w.sha, State: w.status, Event: w.event, At: w.made}
		if w.status == "completed" {
			c.State = w.conclusion
		}
		for _, j := range w.latest() {
			c.Jobs = append(c.Jobs, checkCardOf(j.check))
		}
		p.Runs = append(p.Runs, c)
	}
	return "actions", p, nil
}

type diffPage struct {
	Heading string
	Message string
	Commits []commitCard
	Files   []fileCard
}

func (p diffPage) title() string { return p.Heading }

type commitCard struct {
	SHA, Title, By string
	At             time.Time
}

type fileCard struct {
	Path, From, Status string
	Additions, Deleted int
	Lines              []logLine
}

func (st *site) pullDiff(r *http.Request) (string, any, error) {
	repo, err := st.repo(r)
	if err != nil {
		return "", nil, err
	}
	i := repo.issue(atoi(r.PathValue("number")))
	if i == nil || i.pull == nil {
		return "", nil, fmt.Errorf("pull request %s: %w", r.PathValue("number"), errNoPage)
	}
	return "diff", diffOf(fmt.Sprintf("%s · #%d", i.title, i.number), "", st.s.git.compare(repo.dir, i.pull.baseSHA, i.pull.headSHA)), nil
}

func (st *site) compareDiff(r *http.Request) (string, any, error) {
	repo, err := st.repo(r)
	if err != nil {
		return "", nil, err
	}
	a, b, _ := strings.Cut(r.PathValue("range"), "...")
	base, okBase := st.s.commitOf(repo, a)
	head, okHead := st.s.commitOf(repo, b)
	if !okBase || !okHead {
		return "", nil, fmt.Errorf("%s: %w", r.PathValue("range"), errNoPage)
	}
	return "diff", diffOf(a+"…"+b, "", st.s.git.compare(repo.dir, base, head)), nil
}

func (st *site) commitDiff(r *http.Request) (string, any, error) {
	repo, err := st.repo(r)
	if err != nil {
		return "", nil, err
	}
	sha, found := st.s.commitOf(repo, r.PathValue("sha"))
	if !found {
		return "", nil, fmt.Errorf("commit %s: %w", r.PathValue("sha"), errNoPage)
	}
	f := st.s.git.facts(repo.dir, sha)
	from := emptyTree
	if len(f.parents) > 0 {
		from = f.parents[0]
	}
	files, err := st.s.git.diff(repo.dir, from, sha)
	if err != nil {
		return "", nil, err
	}
	return "diff", diffOf(firstLine(f.message), f.message, comparison{commits: []commitFacts{f}, files: files}), nil
}

func diffOf(heading, message string, c comparison) diffPage {
	p := diffPage{Heading: heading, Message: message}
	for _, x := range c.commits {
		p.Commits = append(p.Commits, commitCard{x.sha, firstLine(x.message), x.author.name, x.committer.at})
	}
	for _, f := range c.files {
		card := fileCard{Path: f.path, From: f.from, Status: f.status, Additions: f.additions, Deleted: f.deleted}
		for l := range strings.SplitSeq(f.patch, "\n") {
			class := ""
			switch {
			case strings.HasPrefix(l, "@@"):
				class = "hunk"
			case strings.HasPrefix(l, "+"):
				class = "add"
			case strings.HasPrefix(l, "-"):
				class = "del"
			}
			card.Lines = append(card.Lines, logLine{class, l})
		}
		p.Files = append(p.Files, card)
	}
	return p
}
