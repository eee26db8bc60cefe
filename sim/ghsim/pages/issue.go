package pages

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/sia-bot/sia/sim/ghsim/model"
	"github.com/sia-bot/sia/sim/ghsim/people"
)

type issuePage struct {
	issueCard
	Body      string
	Boxes     []boxCard // that can be ticked
	Reactions string
	Timeline  []timelineEntry
	AllLabels []string
	Pull      *pullCard
}

func (p issuePage) title() string { return fmt.Sprintf("%s · #%d", p.Title, p.Number) }

type boxCard struct {
	Index int
	Text  string
}

// unmarked removes Markdown's emphasis.
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

func (st *site) issuePage(repo *model.Repository, r *http.Request) (string, any, error) {
	i := repo.Issue(number(r.PathValue("number")))
	if i == nil {
		return "", nil, fmt.Errorf("issue %s: %w", r.PathValue("number"), errNoPage)
	}
	p := issuePage{issueCard: cardOfIssue(i), Body: i.Body, Reactions: tally(i.Reactions), Timeline: st.timeline(repo, i)}
	for n, b := range people.Boxes(i.Body) {
		if !b.Ticked {
			p.Boxes = append(p.Boxes, boxCard{n, strings.Map(unmarked, b.Text)})
		}
	}
	for _, l := range repo.Labels {
		if !slices.Contains(i.Labels, l) {
			p.AllLabels = append(p.AllLabels, l.Name)
		}
	}
	if i.Pull != nil {
		p.Pull = st.pullCard(repo, i)
	}
	return "issue", p, nil
}

func (st *site) pullCard(r *model.Repository, i *model.Issue) *pullCard {
	cmp := st.git.Compare(r.Dir, i.Pull.BaseSHA, i.Pull.HeadSHA)
	c := &pullCard{Head: i.Pull.Head, Base: i.Pull.Base, SHA: i.Pull.HeadSHA, Draft: i.Pull.Draft, Files: len(cmp.Files)}
	c.Additions, c.Deleted = cmp.Totals()
	seen := map[string]bool{}
	for _, k := range slices.Backward(r.Checks) {
		key := fmt.Sprint(k.Suite.ID, k.Name)
		if k.SHA == i.Pull.HeadSHA && !seen[key] {
			seen[key] = true
			c.Checks = append(c.Checks, checkCardOf(k))
		}
	}
	for _, s := range r.StatusesOf(i.Pull.HeadSHA) {
		if !seen[s.Context] {
			seen[s.Context] = true
			c.Checks = append(c.Checks, checkCard{Name: s.Context, App: s.By.Login, State: s.State, Title: s.Description})
		}
	}
	slices.SortFunc(c.Checks, func(a, b checkCard) int { return strings.Compare(a.Name, b.Name) })
	return c
}

func checkCardOf(k *model.CheckRun) checkCard {
	c := checkCard{ID: k.ID, Name: k.Name, App: k.Suite.App.Slug, State: k.Status}
	if k.Status == "completed" {
		c.State = k.Conclusion
	}
	if k.Title != nil {
		c.Title = *k.Title
	}
	return c
}

var emoji = map[string]string{"+1": "👍", "-1": "👎", "laugh": "😄", "confused": "😕", "heart": "❤️",
	"hooray": "🎉", "rocket": "🚀", "eyes": "👀"}

func tally(rs []*model.Reaction) string {
	n := map[string]int{}
	for _, r := range rs {
		n[r.Content]++
	}
	var out []string
	for _, k := range model.ReactionKinds() {
		if n[k] > 0 {
			out = append(out, emoji[k]+" "+strconv.Itoa(n[k]))
		}
	}
	return strings.Join(out, "  ")
}
