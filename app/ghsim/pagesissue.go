package ghsim

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

type issuePage struct {
	issueCard
	Body      string
	Boxes     []boxCard // that can be ticked
	Reactions string
	Timeline  []happening
	AllLabels []string
	Pull      *pullCard
}

func (p issuePage) title() string { return fmt.Sprintf("%s · #%d", p.Title, p.Number) }

type boxCard struct {
	Index int
	Text  string
}

// unmarked drops Markdown's emphasis.
func unmarked(r rune) rune {
	if strings.ContainsRune("*_`", r) {
		return -1
	}
	return r
}

type pullCard struct {
	Head, Base, SHA    string
	Draft              bool
	Files              int
	Additions, Deleted int
	Checks             []checkCard
}

type checkCard struct {
	ID                      int64
	Name, App, State, Title string
}

// happening is one entry of a page's timeline: a comment, or one line.
type happening struct {
	At        time.Time
	By        string
	Text      string
	SHA       string
	Comment   string // Markdown
	ID        int64  // of the comment
	Edits     int
	Reactions string
	Check     int64
	State     string
}

func (st *site) issuePage(r *http.Request) (string, any, error) {
	repo, err := st.repo(r)
	if err != nil {
		return "", nil, err
	}
	i := repo.issue(atoi(r.PathValue("number")))
	if i == nil {
		return "", nil, fmt.Errorf("issue %s: %w", r.PathValue("number"), errNoPage)
	}
	p := issuePage{issueCard: cardOfIssue(i), Body: i.body, Reactions: tally(i.reactions), Timeline: st.timeline(repo, i)}
	for n, b := range boxLine.FindAllStringSubmatch(i.body, -1) {
		if b[2] == " " {
			p.Boxes = append(p.Boxes, boxCard{n, strings.Map(unmarked, b[4])})
		}
	}
	for _, l := range repo.labels {
		if !slices.Contains(i.labels, l) {
			p.AllLabels = append(p.AllLabels, l.name)
		}
	}
	if i.pull != nil {
		p.Pull = st.pullCard(repo, i)
	}
	return "issue", p, nil
}

func (st *site) pullCard(r *repository, i *issue) *pullCard {
	cmp := st.s.git.compare(r.dir, i.pull.baseSHA, i.pull.headSHA)
	c := &pullCard{Head: i.pull.head, Base: i.pull.base, SHA: i.pull.headSHA, Draft: i.pull.draft, Files: len(cmp.files)}
	c.Additions, c.Deleted = cmp.totals()
	seen := map[string]bool{}
	for _, k := range slices.Backward(r.checks) {
		key := fmt.Sprint(k.suite.id, k.name)
		if k.sha == i.pull.headSHA && !seen[key] {
			seen[key] = true
			c.Checks = append(c.Checks, checkCardOf(k))
		}
	}
	for _, s := range statusesOf(r, i.pull.headSHA) {
		if !seen[s.context] {
			seen[s.context] = true
			c.Checks = append(c.Checks, checkCard{Name: s.context, App: s.by.login, State: s.state, Title: s.description})
		}
	}
	slices.SortFunc(c.Checks, func(a, b checkCard) int { return strings.Compare(a.Name, b.Name) })
	return c
}

func checkCardOf(k *checkRun) checkCard {
	c := checkCard{ID: k.id, Name: k.name, App: k.suite.app.slug, State: k.status}
	if k.status == "completed" {
		c.State = k.conclusion
	}
	if k.title != nil {
		c.Title = *k.title
	}
	return c
}

// timeline is what happened to an issue in order: comments as they are now,
// everything else as one line. A pull request's has its checks too.
func (st *site) timeline(r *repository, i *issue) []happening {
	var hs []happening
	shas := map[string]bool{}
	for _, e := range st.s.entries {
		if e.Repo != r.fullName() {
			continue
		}
		h := happening{At: e.At, By: e.Actor}
		kind, action, _ := strings.Cut(e.Kind, ".")
		switch {
		case e.Number == i.number && kind == "issue_comment":
			if action != "created" {
				continue
			}
			c := r.comment(int64(atoi(e.Ref)))
			if c == nil {
				h.Text = "wrote a comment that was deleted"
				break
			}
			h.Comment, h.ID, h.Edits, h.Reactions = c.body, c.id, c.edits, tally(c.reactions)
		case e.Number == i.number && kind == "reaction":
			continue
		case e.Number == i.number && kind == "pull_request_review":
			h.Text, h.Comment = "reviewed: "+strings.ReplaceAll(e.Ref, "_", " "), e.Detail
		case e.Number == i.number && kind == "pull_request_review_comment":
			h.Text, h.Comment = "commented on "+e.Ref, e.Detail
		case e.Number == i.number && kind != "installation":
			h.Text, h.SHA = sentence(action, e.Detail), e.SHA
			shas[e.SHA] = e.SHA != ""
		case i.pull != nil && e.Kind == "check_run.completed" && shas[e.SHA]:
			h.Text, h.State, h.SHA = "check "+e.Ref, e.Detail, e.SHA
		default:
			continue
		}
		hs = append(hs, h)
	}
	return hs
}

// sentence says an event's action in words.
func sentence(action, detail string) string {
	switch action {
	case "opened":
		return "opened this"
	case "labeled":
		return "added the label " + detail
	case "unlabeled":
		return "removed the label " + detail
	case "assigned":
		return "assigned " + detail
	case "synchronize":
		return "pushed"
	case "edited":
		return "edited the " + detail
	case "ready_for_review":
		return "marked this ready for review"
	case "converted_to_draft":
		return "made this a draft"
	}
	return strings.ReplaceAll(action, "_", " ") + " this"
}

var emoji = map[string]string{"+1": "👍", "-1": "👎", "laugh": "😄", "confused": "😕", "heart": "❤️", "hooray": "🎉", "rocket": "🚀", "eyes": "👀"}

func tally(rs []*reaction) string {
	n := map[string]int{}
	for _, r := range rs {
		n[r.content]++
	}
	var out []string
	for _, k := range reactionKinds {
		if n[k] > 0 {
			out = append(out, emoji[k]+" "+strconv.Itoa(n[k]))
		}
	}
	return strings.Join(out, "  ")
}
