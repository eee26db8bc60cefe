package improve

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia/text"
	"github.com/sia-bot/sia/sia/visible"
)

// maxPast is the number of earlier cycles that a model sees; maxSample the maximum number of bytes that it sees of each
// file to choose from.
const (
	maxPast   = 12
	maxSample = 1200
)

// plan is one specific improvement proposed by a model.
type plan struct {
	file    string
	Nothing bool   `json:"nothing"`
	File    string `json:"file"`
	Goal    string `json:"goal"`
	Why     string `json:"why"`
	How     string `json:"how"`
}

// analyse asks the model for one improvement. why is the reason for a missing answer, for display.
func (r *run) analyse(ctx context.Context, c *Cycle) (p plan, why string) {
	r.Say(fmt.Sprintf("cycle %d: analyse", c.Number))
	v := &evidence{left: room(r.Author)}
	if err := r.showSubject(v, c); err != nil {
		return p, r.Mask(err.Error())
	}
	v.add("What is asked for", "From the person who runs this.", visible.Text(r.Mask(r.order.Context)), 40, text.Head)
	r.showFailure(v)
	for _, log := range r.order.Logs {
		v.add("Log "+text.OneLine(log.Name), "From a program; whoever it ran wrote it.", visible.Text(r.Mask(log.Text)), 40,
			text.Tail)
	}
	v.add("What earlier cycles did, newest last", "From a record in the project, in a model's words. Whoever made the "+
		"project may have written it.", r.past(), 60, text.Tail)
	q := question{name: "analyse", prompt: map[string]any{"Several": len(r.order.Files) > 1}, files: names(r.order.Files),
		evidence: v.String()}
	why = ask(ctx, r.Author, q, &c.Usage, func(raw []byte) error {
		p = plan{}
		if err := decode(raw, &p); err != nil {
			return err
		}
		p.file = p.File
		p.Goal, p.Why = r.sentence(p.Goal), r.sentence(p.Why)
		switch {
		case !slices.Contains(r.order.Files, p.file):
			return fmt.Errorf("file: %q is none of the files", text.Clip(p.File, 200))
		case p.Nothing:
			return nil
		case p.Goal == "" || strings.TrimSpace(p.How) == "":
			return errors.New("goal and how must say something, unless nothing is true")
		}
		return nil
	})
	return p, why
}

// showSubject adds the file to the evidence, or with several files, the beginning of each.
func (r *run) showSubject(v *evidence, c *Cycle) error {
	limit := v.left * 60 / 100
	if n := len(r.order.Files); n > 1 {
		limit = min(maxSample, max(200, v.left*70/100/n))
	}
	for _, name := range r.order.Files {
		f, err := r.Files.Read(name)
		if err != nil {
			return fmt.Errorf("read %s: %w", name, err)
		}
		s := r.show(f, limit)
		content := s.text
		if f.Absent || content == "" {
			content = "(empty)"
		}
		if len(r.order.Files) == 1 {
			c.File, c.FileBytes, c.ShownBytes = name, len(f.Text), s.bytes
		}
		v.add("File "+name, strings.TrimSpace("From the project. "+s.note(f)), content, 100, text.Head)
	}
	return nil
}

// showFailure adds the output of a failed self-test of the unchanged files.
func (r *run) showFailure(v *evidence) {
	b := r.result.Baseline
	if b == nil || b.OK || len(r.result.Changes) > 0 { // kept changes have passed it
		return
	}
	v.add("The self-test fails as things are", fmt.Sprintf("What `%s` printed (%s). The improvement has to make it pass.",
		text.OneLine(b.Command), b.Ending), visible.Text(b.Output), 50, text.Tail)
}

// past describes earlier cycles, about one line each.
func (r *run) past() string {
	all := append(slices.Clone(r.order.Past), r.result.Cycles...)
	var b strings.Builder
	for _, c := range all[max(0, len(all)-maxPast):] {
		goal := strings.TrimSuffix(r.sentence(c.Goal), ".")
		fmt.Fprintf(&b, "- %s: %s. It was %s: %s\n", c.File, goal, c.Outcome, r.sentence(c.Reason))
		if critique := c.Evaluation.Critique; critique != nil && c.Outcome == Reverted {
			fmt.Fprintf(&b, "  The critique: %s\n", r.sentence(strings.Join(critique.Reasons, " ")))
		}
		if t := c.Evaluation.SelfTest; t != nil && !t.OK {
			fmt.Fprintf(&b, "  The self-test: %s\n", r.sentence(text.Fit(t.Output, 500, text.Tail)))
		}
	}
	return b.String()
}
