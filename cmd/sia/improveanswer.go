package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/sia-bot/sia/agent/llm"
	improving "github.com/sia-bot/sia/app/improve"
	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/sia/improve"
	"github.com/sia-bot/sia/sia/secret"
)

// Values of [improveAnswer].Status.
const (
	statusSuccess = "SUCCESS"
	statusFailure = "FAILURE"
)

// improveAnswer is the one object that `sia improve --output json` prints. Fields are only added.
type improveAnswer struct {
	Status  string      `json:"status"` // SUCCESS: something was promoted
	Message string      `json:"message"`
	Data    improveData `json:"data"`

	changes []improve.Change
	mask    *secret.Masker // masks the models' keys
}

// improveData is the record of the run.
type improveData struct {
	Run             string              `json:"run,omitempty"`  // folder of the iteration
	File            string              `json:"file,omitempty"` // relative to its project; the last one changed
	SelfTestBefore  *improve.TestRun    `json:"self_test_before"`
	Cycles          []improve.Cycle     `json:"cycles"`
	Diffs           []cycleDiff         `json:"diffs"`
	Evaluations     []cycleEvaluation   `json:"evaluations"`
	Promotion       improving.Promotion `json:"promotion"`
	RestartRequired bool                `json:"restart_required"`
	Usage           llm.Usage           `json:"usage"`
	Notes           []string            `json:"notes"`
}

// cycleDiff is the change of a cycle.
type cycleDiff struct {
	Cycle int    `json:"cycle"`
	File  string `json:"file"`
	Diff  string `json:"diff"` // unified
}

// cycleEvaluation is the evaluation of a cycle's change.
type cycleEvaluation struct {
	Cycle int `json:"cycle"`
	improve.Evaluation
}

// prepare returns the models and the order of the flags. It fails if this process is part of an iteration.
func (a *improveAnswer) prepare(
	e *cli.Env, m modelFlags, f improveFlags, places ...string,
) (models improvers, order improve.Order, err error) {
	if err = checkNotNested(places...); err != nil {
		return models, order, err
	}
	if models, err = m.improvers(e); err != nil {
		return models, order, err
	}
	a.mask = models.secrets
	order, err = f.order(e)
	return models, order, err
}

// iterate calls f in a new iteration.
func (a *improveAnswer) iterate(e *cli.Env, p *improving.Place, f func(*improving.Iteration) error) (err error) {
	i, err := p.Begin(e.Ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, i.End()) }()
	a.Data.Run = i.Dir
	for _, left := range i.Left {
		a.Data.Notes = append(a.Data.Notes, "not copied: "+left)
	}
	return f(i)
}

// run executes an order in an iteration and records its result, also on failure.
func (a *improveAnswer) run(
	e *cli.Env, p *improving.Place, i *improving.Iteration, c improve.Config, order improve.Order,
) error {
	c.Mask = a.mask.Mask
	c.Say = func(line string) { fmt.Fprintln(e.Err, line) }
	c.Done = func(cycle improve.Cycle) error {
		return errors.Join(p.Append(improving.Entry{Run: i.Name, Cycle: cycle}), i.Cycle(cycle))
	}
	engine, err := improve.New(c)
	if err != nil {
		return err
	}
	result, err := engine.Run(e.Ctx, order)
	a.changes = result.Changes
	d := &a.Data
	d.Cycles, d.SelfTestBefore, d.Usage = result.Cycles, result.Baseline, result.Usage
	for _, c := range result.Cycles {
		d.File = c.File
		if c.Truncated() {
			d.Notes = append(d.Notes, fmt.Sprintf("cycle %d: the model was shown %d of the %d bytes of %s; the rest stays "+
				"as it is", c.Number, c.ShownBytes, c.FileBytes, c.File))
		}
		if c.Diff != "" {
			d.Diffs = append(d.Diffs, cycleDiff{c.Number, c.File, c.Diff})
			d.Evaluations = append(d.Evaluations, cycleEvaluation{c.Number, c.Evaluation})
		}
	}
	if result.Ended != "" {
		d.Notes = append(d.Notes, result.Ended)
	}
	return err
}

// end prints the result as text or as one JSON object.
func (a *improveAnswer) end(e *cli.Env, output string, err error) error {
	a.Data.RestartRequired = a.Data.Promotion.RestartRequired
	a.Status, a.Message = statusFailure, a.failure(e.Ctx, err)
	if a.Data.Promotion.Promoted {
		a.Status, a.Message = statusSuccess, a.success()
		if err != nil { // an error after the promotion, such as in cleaning up
			a.Data.Notes = append(a.Data.Notes, err.Error())
		}
	}
	if output != "json" {
		a.show(e)
	} else if err := a.write(e.Out); err != nil {
		return err
	}
	if a.Status == statusFailure {
		return cli.ErrShown // the answer contains the error
	}
	return nil
}

func (a *improveAnswer) success() string {
	kept := 0
	for _, c := range a.Data.Cycles {
		if c.Outcome == improve.Kept {
			kept++
		}
	}
	where := a.Data.File
	if p := a.Data.Promotion; p.Pull != "" {
		where = p.Pull
	} else if p.Branch != "" {
		where = "the branch " + p.Branch
	}
	return fmt.Sprintf("%d of %d cycles kept; promoted to %s", kept, len(a.Data.Cycles), where)
}

func (a *improveAnswer) failure(ctx context.Context, err error) string {
	said := ""
	if n := len(a.Data.Cycles); n > 0 {
		said = a.Data.Cycles[n-1].Reason
	}
	switch {
	case ctx.Err() != nil:
		said = "stopped before it was done; nothing was promoted"
		if len(a.changes) > 0 {
			said += ", and what was kept lies in " + a.Data.Run
		}
	case err != nil:
		said = err.Error()
	case said == "":
		said = "nothing was improved"
	}
	return a.mask.Mask(said)
}

// write prints the object, masked.
func (a *improveAnswer) write(w io.Writer) error {
	d := &a.Data
	d.Cycles, d.Diffs, d.Evaluations = nonNil(d.Cycles), nonNil(d.Diffs), nonNil(d.Evaluations)
	d.Notes = nonNil(d.Notes)
	b, err := json.MarshalIndent(a, "", "  ")
	if err != nil {
		return err
	}
	_, err = w.Write(append(a.mask.MaskJSON(b), '\n'))
	return err
}

// show prints the result as text. A reason that is also the message is printed once, at the end.
func (a *improveAnswer) show(e *cli.Env) {
	mask := a.mask.Mask // masks the models' keys, too
	for _, c := range a.Data.Cycles {
		e.Linef("%s  %s", e.Style.Bold(fmt.Sprintf("cycle %d: %s", c.Number, c.Outcome)), mask(c.Goal))
		if c.Reason != a.Message {
			e.Linef("  %s", mask(c.Reason))
		}
		for _, d := range a.Data.Diffs {
			if d.Cycle == c.Number {
				e.Linef("%s", strings.TrimSuffix(mask(d.Diff), "\n"))
			}
		}
		if critique := c.Evaluation.Critique; critique != nil {
			e.Linef("  critique %.2f: %s", critique.Score, mask(strings.Join(critique.Reasons, " ")))
		}
	}
	for _, n := range slices.Concat(a.Data.Notes, a.Data.Promotion.Notes) {
		if n != a.Message {
			e.Linef("%s %s", e.Style.Amber("note:"), mask(n))
		}
	}
	if f := a.Data.Promotion.Fallback; f != "" && a.Data.Promotion.Promoted {
		e.Linef("the version before lies in %s", mask(f))
	}
	if u := a.Data.Usage; u.Input > 0 {
		e.Linef("%d tokens read, %d written, %.4f USD", u.Input, u.Output, u.USD)
	}
	status := e.Style.Green(a.Status)
	if a.Status == statusFailure {
		status = e.Style.Red(a.Status)
	}
	e.Linef("%s: %s", status, mask(a.Message))
}

// asksForImproveJSON reports whether a command line is `sia improve` with --output json, even if it is otherwise
// invalid.
func asksForImproveJSON(args []string) bool {
	command := slices.IndexFunc(args, func(a string) bool { return !strings.HasPrefix(a, "-") })
	if command > 0 && args[command-1] == "--log-level" {
		return asksForImproveJSON(args[command+1:])
	}
	if command < 0 || args[command] != "improve" {
		return false
	}
	for i, a := range args[command:] {
		next := append(slices.Clone(args[command:]), "")[i+1]
		if a == "--output=json" || a == "--output" && next == "json" || a == "--output-json" {
			return true
		}
	}
	return false
}

// answerInJSON runs a command that prints exactly one object in every case: after a wrong command line, after a panic,
// and for --help. All other output goes to stderr. It returns 0 or 1.
func answerInJSON(ctx context.Context, args []string, stdout, stderr io.Writer) (code int) {
	var out, said bytes.Buffer
	defer func() {
		var a improveAnswer
		p := recover()
		if p == nil && json.Unmarshal(out.Bytes(), &a) == nil && a.Status != "" {
			_, _ = stdout.Write(out.Bytes()) // a write error can't be reported
			code = min(code, cli.ExitFailed)
			return
		}
		_, _ = io.Copy(stderr, &out)
		a = improveAnswer{Status: statusFailure, Message: lastMessage(said.String())}
		switch {
		case p != nil:
			fmt.Fprintf(stderr, "sia: panic: %v\n%s", p, debug.Stack())
			a.Message = fmt.Sprintf("a fault of SIA: %v; please report it with what stands on standard error", p)
		case code == cli.ExitDone:
			a.Status, a.Message = statusSuccess, "see standard error"
		}
		code = cli.ExitFailed
		if a.Status == statusSuccess {
			code = cli.ExitDone
		}
		if err := a.write(stdout); err != nil {
			code = cli.ExitFailed
		}
	}()
	return runArgs(ctx, args, &out, io.MultiWriter(stderr, &said))
}

// lastMessage returns the last message of a command, without the program's name.
func lastMessage(said string) string {
	said, _, _ = strings.Cut(strings.TrimSpace(said), "\nTry `sia ")
	if i := strings.LastIndex(said, "sia: "); i >= 0 {
		said = said[i+len("sia: "):]
	}
	return cmp.Or(said, "it ended without a word")
}
