package diagnose

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/text"
)

// FinalPackage is everything that a reviewer sees of a change that is about to be marked ready.
type FinalPackage struct {
	Title, Body string        // title and text of the issue
	By          string        // its author and their trust level, from sia.IssueBy
	Files       []ChangedFile // changes from the base to the head
	Cut         bool          // Files is incomplete
	Read        Reader        // reads files at the head
	Failing     []string      // sentences about tests that fail at the head although the checks are green
}

const (
	finalTokens = 24_000
	// timeout of one review with all its calls: the pull request waits for it
	finalTimeout = 5 * time.Minute

	maxDemands = 12
	maxScope   = 5   // remarks on changes that no demand needs
	maxRemarks = 3   // remarks of each specialist
	maxClaims  = 40  // demands, and remarks, of an answer that are verified
	maxWhy     = 300 // characters
)

// finalAnswer is a reviewer's answer before it is verified against issue and change.
type finalAnswer struct {
	Demands []struct {
		Quote string          `json:"quote"`
		State sia.DemandState `json:"state"`
		Why   string          `json:"why"`
		claimed
	} `json:"demands"`
	Remarks []struct {
		About sia.RemarkKind `json:"about"`
		Why   string         `json:"why"`
		claimed
	} `json:"remarks"`
	Context []string `json:"context"`
}

// Final asks the model to compare a change with its issue. The review has no head yet. It contains only what was
// verified: demands that the issue contains verbatim, and remarks on lines of the change. If the model fails, the
// review is empty except for Why. The only error is that of ctx.
func (r *Reviewer) Final(ctx context.Context, p FinalPackage) (review sia.FinalReview, usage llm.Usage, err error) {
	why, err := askModel(ctx, r.Model, "", r.Log, "review the final change", "final change not reviewed",
		func() (err error) {
			review, err = r.askFinal(ctx, p, &usage)
			return err
		})
	if err != nil || why != "" {
		return sia.FinalReview{Why: why}, usage, err
	}
	return review, usage, nil
}

func (r *Reviewer) askFinal(
	ctx context.Context, p FinalPackage, usage *llm.Usage,
) (review sia.FinalReview, err error) {
	ctx, cancel := context.WithTimeout(ctx, finalTimeout)
	defer cancel()
	about := specialistsFor(p.Files)
	values := map[string]any{
		"Security": slices.Contains(about, sia.RemarkSecurity), "Tests": slices.Contains(about, sia.RemarkTests),
		"API": slices.Contains(about, sia.RemarkAPI),
	}
	cut := false
	c := conversation{model: r.Model, timeout: r.Timeout, usage: usage}
	c.open("final", values, finalTokens, func(room int) (evidence string) {
		evidence, cut = finalEvidence(p, room)
		return evidence
	})
	read := false // the first answer, which may request files, was read
	for mayAsk := p.Read != nil; ; mayAsk = false {
		var (
			answer []byte
			a      finalAnswer
		)
		err = c.ask(ctx, finalSchema(about, mayAsk), func(raw []byte) error {
			answer, a = raw, finalAnswer{}
			return readAnswer(lenientFinal, raw, &a)
		})
		if err != nil && read { // the first answer still holds
			return review, nil
		}
		if err != nil {
			return review, err
		}
		review, read = a.verified(p, about), true
		review.Cut = cut
		asked := requestedFiles(a.Context)
		if !mayAsk || len(asked) == 0 || review.Count(sia.DemandUnclear) == 0 {
			return review, nil
		}
		c.messages = withContext(c.messages, answer, asked, p.Read)
	}
}

// finalSchema returns the schema of an answer with remarks of the given specialists, which may request files if mayAsk
// is set.
func finalSchema(about []sia.RemarkKind, mayAsk bool) *llm.Schema {
	tree := loadSchema("final")
	properties := tree["properties"].(map[string]any)
	if !mayAsk {
		delete(properties, "context")
	}
	kinds := []any{string(sia.RemarkScope)}
	for _, a := range about {
		kinds = append(kinds, string(a))
	}
	remark := properties["remarks"].(map[string]any)["items"].(map[string]any)["properties"].(map[string]any)
	setEnum(remark["about"], kinds)
	return wireSchema("final", tree)
}

// finalEvidence formats the issue and the change, within room bytes; cut reports whether the change is incomplete.
func finalEvidence(p FinalPackage, room int) (evidence string, cut bool) {
	var s sheet
	s.add("The issue", cmp.Or(p.By, sia.IssueBy("", "", "")), visibleIssue(p.Title, p.Body), room*25/100)
	change := cleanText(changeText(p.Files))
	from := "From the coding agent. Each line has its number: that of the base where it was deleted, else " +
		"that of the head."
	if p.Cut {
		from += " It is not all of the change."
	}
	s.add("Tests that fail", "They fail where the agent works, with the change and, if they are not new, without it. The "+
		"checks are green: they may not run these tests, may ignore their failure, or may have what the tests need.",
		strings.Join(p.Failing, "\n"), room*5/100)
	s.add("The change", from, change, room*70/100)
	return s.String(), len(change) > room*70/100 || p.Cut
}

// verified returns the verified part of an answer. A demand must be in the issue; for a met one, the line that shows it
// must be found as well. The line of a remark must be found: in the change, or for a specialist in the file.
func (a finalAnswer) verified(p FinalPackage, about []sia.RemarkKind) (out sia.FinalReview) {
	issue := visibleIssue(p.Title, p.Body)
	lines := newFinder(p.Files, p.Read)
	seen := map[string]bool{}
	for _, d := range a.Demands[:min(len(a.Demands), maxClaims)] {
		quote, _ := quoteFrom(issue, d.Quote, atWord)
		why := reason(d.Why)
		at, found := lines.find(d.claimed)
		if quote == "" || seen[quote] || len(out.Demands) == maxDemands || d.State == sia.DemandMet && !found ||
			d.State != sia.DemandMet && why == "" {
			continue
		}
		seen[quote] = true
		out.Demands = append(out.Demands, sia.Demand{Quote: quote, State: d.State, Why: why, At: at})
	}
	said, places := map[sia.RemarkKind]int{}, map[sia.Remark]bool{}
	for _, m := range a.Remarks[:min(len(a.Remarks), maxClaims)] {
		most := maxRemarks
		if m.About == sia.RemarkScope {
			most = maxScope
		}
		at, found := lines.find(m.claimed)
		remark := sia.Remark{About: m.About, Why: reason(m.Why), At: at}
		known := m.About == sia.RemarkScope && at.Diff || slices.Contains(about, m.About)
		place := sia.Remark{About: m.About, At: at}
		if !known || !found || remark.Why == "" || places[place] || said[m.About] == most {
			continue
		}
		said[m.About]++
		places[place] = true
		out.Remarks = append(out.Remarks, remark)
	}
	return out
}

// reason returns a reviewer's explanation on one line, truncated to maxWhy characters.
func reason(why string) string { return text.Clip(text.OneLine(cleanText(why)), maxWhy) }
