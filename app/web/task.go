package web

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/app/web/viewer"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/secret"
	"github.com/sia-bot/sia/sia/text"
	"github.com/sia-bot/sia/sia/visible"
)

// taskPage is everything known about one task.
type taskPage struct {
	sia.Task  `json:"task"`
	Headline  string          `json:"headline"`
	Waiting   string          `json:"waits,omitempty"`
	Changes   []string        `json:"-"`                  // the first changes of tests that a person has to accept
	More      int             `json:"-"`                  // the number of further ones
	Halted    string          `json:"halted,omitempty"`   // the pause that includes this task, as a sentence
	Retries   []retriedStep   `json:"retries,omitempty"`  // steps that failed or had to wait
	Question  *sia.Escalation `json:"question,omitempty"` // the open one
	Issue     string          `json:"issue_url"`          // addresses on GitHub
	PullURL   string          `json:"pull_url,omitempty"`
	Memory    string          `json:"memory_url"`
	Timeline  []moment        `json:"timeline"`
	Decisions []sia.Decision  `json:"decisions"`
	Diffs     map[int]string  `json:"diff_urls"` // of attempts with a commit, by number
	Story     []chapter       `json:"-"`         // the timeline, noise folded
	Buttons   []render.Offer  `json:"-"`         // the viewer's possible actions
	Axis      timeAxis        `json:"-"`
	Account   account         `json:"-"`
	Said      []moment        `json:"-"` // people's comments before the first attempt
	Loud      []sia.Check     `json:"-"` // checks shown unfolded
	Green     []sia.Check     `json:"-"` // folded checks, if there are many
	Earlier   []round         `json:"-"` // folded attempts, if there are many
	Rounds    []round         `json:"-"`
}

// retriedStep is a step of a task that is tried again.
type retriedStep struct {
	Step  sia.EffectKind `json:"step"`
	Tries int            `json:"tries"`          // that failed
	Error string         `json:"error"`          // of the last
	Next  *time.Time     `json:"next,omitempty"` // nil: now
}

// How many attempts, the last ones, and how many checks a task's page shows unfolded. If there are more checks, only
// those that are not green are shown.
const (
	shownRounds = 10
	shownChecks = 8
)

// round is an attempt with SIA's reaction to it.
type round struct {
	sia.Attempt
	Task  sia.TaskID
	Name  string            // which attempt, of how many
	URL   string            // of its diff on GitHub; empty: it pushed nothing
	After *sia.Intervention // nil: SIA did not intervene after it
	Said  []moment          // people's comments from its start to that of the next
}

func (s *site) task(r *http.Request) (frame, error) {
	t, err := s.theTask(r, viewer.Reads)
	if err != nil {
		return frame{}, err
	}
	p := taskPage{Task: t, Headline: render.Headline(t), Waiting: render.Waiting(t), Question: openQuestion(t),
		Issue: s.Links.Issue(t.Repo, t.Issue), Memory: s.Links.Memory(t), Diffs: map[int]string{}}
	p.Changes, p.More = render.ChangesToAccept(t)
	if p.Halted, err = s.pauseOf(r, t); err != nil {
		return frame{}, err
	}
	if t.Pull.Number != 0 {
		p.PullURL = s.Links.Pull(t.Repo, t.Pull.Number)
	}
	retries, err := s.From.Retries(r.Context(), t.ID)
	if err != nil {
		return frame{}, err
	}
	for _, f := range retries {
		step := retriedStep{Step: f.Kind, Tries: f.Tries,
			Error: visible.Text(secret.Mask(text.OneLine(f.Error)))}
		if !f.Next.IsZero() {
			step.Next = &f.Next
		}
		p.Retries = append(p.Retries, step)
	}
	for _, a := range t.Attempts {
		if a.Head != "" && t.BaseSHA != "" {
			p.Diffs[a.Number] = s.Links.Compare(t.Repo, t.BaseSHA, a.Head)
		}
	}
	events, err := s.From.EventsInBrief(r.Context(), t.ID)
	if err != nil {
		return frame{}, err
	}
	p.Timeline = moments(events)
	p.Story = chapters(p.Timeline)
	p.Axis = axis(t, p.Timeline, s.Now())
	p.Account = accountOf(t, events)
	for _, a := range t.Attempts {
		r := round{Attempt: a, Task: t.ID, Name: attemptOf(t, a.Number), URL: p.Diffs[a.Number]}
		for i := range t.Interventions {
			if t.Interventions[i].After == a.Number {
				r.After = &t.Interventions[i]
			}
		}
		p.Rounds = append(p.Rounds, r)
	}
	for _, m := range p.Timeline {
		if m.By == "" || m.Ignored != "" {
			continue
		}
		to := &p.Said
		for i := range p.Rounds {
			if !m.At.Before(p.Rounds[i].StartedAt) {
				to = &p.Rounds[i].Said
			}
		}
		*to = append(*to, m)
	}
	many := max(0, len(p.Rounds)-shownRounds)
	p.Earlier, p.Rounds = p.Rounds[:many], p.Rounds[many:]
	p.Loud, p.Green = t.Checks, nil
	if len(t.Checks) > shownChecks {
		green := func(c sia.Check) bool { return c.Colour == sia.Green }
		p.Loud = slices.DeleteFunc(slices.Clone(t.Checks), green)
		p.Green = slices.DeleteFunc(slices.Clone(t.Checks), func(c sia.Check) bool { return !green(c) })
	}
	if p.Decisions, err = s.From.Decisions(r.Context(), t.ID); err != nil {
		return frame{}, err
	}
	if viewer.From(r.Context()).May(t.Repo.ID, viewer.Writes) {
		p.Buttons = render.PageOffers(t)
	} else {
		p.Question = nil // it is shown in the timeline, and can't be answered here
	}
	return frame{Title: fmt.Sprintf("%s#%d", t.Repo, t.Issue), Live: !t.State.Final(), About: t.ID, Body: p}, nil
}

// sayToTask gives a task the command of a button or a form.
func (s *site) sayToTask(r *http.Request) (note, error) {
	t, err := s.theTask(r, viewer.Writes)
	if err != nil {
		return note{}, err
	}
	own := "/tasks/" + string(t.ID)
	if why := refusalOf(t, r.PostForm); why != "" {
		return note{text: why, back: back(r, own)}, nil
	}
	line, err := commandText(r.PostForm.Get("do"), r.PostForm.Get("letter"), r.PostForm.Get("words"))
	if err != nil {
		return note{}, err
	}
	answer, err := s.Do.Say(r.Context(), viewer.From(r.Context()).By(), t.ID, line, sia.SHA(r.PostForm.Get("head")))
	return note{text: answer, back: back(r, own)}, err
}

// refusalOf says why a form is refused, for the page with the form: it contains no answer, or its subject was replaced
// since the page was made, that is, the question or the commit with changes of tests. Empty: it is accepted.
func refusalOf(t sia.Task, form url.Values) string {
	question, head := form.Get("question"), form.Get("head")
	switch e := openQuestion(t); {
	case form.Get("do") == "answer" && form.Get("letter") == "" && strings.TrimSpace(form.Get("words")) == "":
		return "Nothing was done. Choose one of the answers, or write your own; then send it again."
	case form.Get("do") == "answer" && question != "" && e != nil && question != strconv.Itoa(e.Number):
		return "Nothing was done: SIA has another question by now. It stands here."
	case form.Get("do") == "accept-tests" && head != "" && head != string(t.Head):
		return "Nothing was done: there is another commit by now. Look at its changes first."
	}
	return ""
}

// back is the page of a form, unless it is the subject's own page.
func back(r *http.Request, own string) string {
	if r.PostForm.Get("back") == "/escalations" {
		return "/escalations"
	}
	return own
}

// commandText is a form's command, as in a comment.
func commandText(do, letter, words string) (string, error) {
	if do == "answer" {
		switch {
		case strings.TrimSpace(words) != "":
			return "/sia answer " + words, nil
		case slices.Contains([]string{"A", "B", "C", "D"}, letter):
			return "/sia answer " + letter, nil
		}
		return "", badRequest("There is no such answer. Load the page again.")
	}
	if !slices.Contains([]string{"pause", "resume", "stop", "retry", "accept-tests"}, do) {
		return "", badRequest("There is no such button. Load the page again.")
	}
	return "/sia " + do, nil
}
