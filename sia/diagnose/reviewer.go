package diagnose

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"

	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/text"
)

// Reviewer reviews proposed interventions in model calls without the context of the diagnosis.
type Reviewer struct {
	Model   Model         // nil: reviews are unavailable
	Log     *slog.Logger  // nil: no logging
	Timeout time.Duration // timeout of one model call; 0: eight minutes
}

// ReviewPackage is everything that a reviewer sees.
type ReviewPackage struct {
	Title, Body string             // the task's text
	By          string             // the text's author and their trust level, from sia.IssueBy
	Failures    []sia.CheckFailure // failures of the attempt
	Technique   sia.TechniqueID
	Prompt      string // the proposed instructions, in full
	Diff        string // only when the attempt touched tests or protected paths; else empty

	// reads files that the reviewer requests, at the failed attempt's commit or else the base; nil: no requests
	Read Reader
}

const (
	reviewTokens = 12_000
	maxPoints    = 6
	maxPoint     = 400 // characters
)

// reviewAnswer is the reviewer's answer.
type reviewAnswer struct {
	Verdict sia.Verdict `json:"verdict"`
	Points  []string    `json:"points"`
	Context []string    `json:"context"` // requested files, with the verdict unclear
}

// unclear is the verdict of a reviewer that requests files. It is allowed once and is never returned by the package.
const unclear sia.Verdict = "unclear"

// Review asks the model for a verdict. When the verdict is minor or major and has points, amended is the prompt with
// the points appended; otherwise it is "". If the model fails, the verdict is sia.ReviewFailed with the reason as its
// point. The only error is that of ctx.
func (r *Reviewer) Review(
	ctx context.Context, p ReviewPackage,
) (review sia.Review, amended string, usage llm.Usage, err error) {
	var v reviewAnswer
	why, err := askModel(ctx, r.Model, "", r.Log, "review technique "+string(p.Technique), "intervention not reviewed",
		func() error { return r.ask(ctx, p, &v, &usage) })
	switch {
	case err != nil:
		return sia.Review{}, "", usage, err
	case why != "":
		return sia.Review{Verdict: sia.ReviewFailed, Points: []string{why}}, "", usage, nil
	}
	review = sia.Review{Verdict: v.Verdict, Points: v.Points}
	if len(v.Points) > 0 && (v.Verdict == sia.Minor || v.Verdict == sia.Major) {
		amended = amendedPrompt(p.Prompt, v.Points)
	}
	return review, amended, usage, nil
}

// amendedPrompt returns instructions with a reviewer's points appended.
func amendedPrompt(instructions string, points []string) string {
	var b strings.Builder
	b.WriteString(strings.TrimSpace(instructions))
	b.WriteString("\n\nAn independent review of these instructions adds; where the two differ, this holds:\n")
	for _, p := range points {
		b.WriteString("\n- " + text.OneLine(p))
	}
	return b.String()
}

// ask asks the reviewer. If the verdict is unclear, it asks once more with the requested files.
func (r *Reviewer) ask(ctx context.Context, p ReviewPackage, v *reviewAnswer, usage *llm.Usage) error {
	mayAsk := p.Read != nil
	c := conversation{model: r.Model, timeout: r.Timeout, usage: usage}
	c.open("review", map[string]any{"MayAsk": mayAsk}, reviewTokens,
		func(room int) string { return reviewEvidence(p, room) })
	var answer []byte
	for {
		err := c.ask(ctx, reviewSchema(mayAsk), func(raw []byte) (err error) {
			answer = raw
			*v, err = parseVerdict(raw, mayAsk)
			return err
		})
		if err != nil || v.Verdict != unclear {
			return err
		}
		c.messages, mayAsk = withContext(c.messages, answer, v.Context, p.Read), false
	}
}

// reviewSchema returns the schema of an answer, which may request files if mayAsk is set.
func reviewSchema(mayAsk bool) *llm.Schema {
	tree := loadSchema("review")
	if !mayAsk {
		properties := tree["properties"].(map[string]any)
		delete(properties, "context")
		setEnum(properties["verdict"],
			[]any{string(sia.Approved), string(sia.Minor), string(sia.Major), string(sia.Rejected)})
	}
	return wireSchema("review", tree)
}

// reviewEvidence formats the proposal, within room bytes. The verdict is about the instructions, so they get up to two
// thirds of the space, and their context gets the rest.
func reviewEvidence(p ReviewPackage, room int) string {
	var s sheet
	const around = 300 // bytes of a heading, an origin and a fence
	instructions := min(len(p.Prompt)+around, room*2/3)
	rest := room - instructions
	s.add("The task", cmp.Or(p.By, sia.IssueBy("", "", "")), visibleIssue(p.Title, p.Body), rest*25/100)
	s.add("What failed", fromLogs, failuresText(Input{Attempt: sia.Attempt{Number: 1, Failures: p.Failures}}),
		rest*40/100)
	s.add("The technique proposed", "From who proposes.", string(p.Technique), rest*5/100)
	s.add("The instructions proposed for the next attempt", "From who proposes, who read the issue and the logs: what is "+
		"in them may have got into these.", p.Prompt, instructions)
	s.add("What the failed attempt did to tests or protected paths", "From the coding agent.", p.Diff, rest*30/100)
	return s.String()
}

// parseVerdict parses a reviewer's answer. An error tells the model what to fix.
func parseVerdict(raw []byte, mayAsk bool) (reviewAnswer, error) {
	var v reviewAnswer
	if err := readAnswer(lenientReview, raw, &v); err != nil {
		return reviewAnswer{}, err
	}
	var points []string
	for _, p := range v.Points {
		if p = text.Clip(text.OneLine(cleanText(p)), maxPoint); p != "" && len(points) < maxPoints {
			points = append(points, p)
		}
	}
	v.Points, v.Context = points, requestedFiles(v.Context)
	switch {
	case v.Verdict == unclear && !mayAsk:
		return reviewAnswer{}, errors.New("verdict is unclear: nothing more can be shown to you, so decide")
	case v.Verdict == unclear && len(v.Context) == 0:
		return reviewAnswer{}, errors.New("context is empty: name the files that decide it, or decide")
	}
	if len(points) == 0 && (v.Verdict == sia.Major || v.Verdict == sia.Rejected) {
		return reviewAnswer{}, errors.New("points is empty: a verdict of major or rejected needs its objections")
	}
	return v, nil
}
