package demo

import (
	"fmt"
	"time"

	"github.com/sia-bot/sia/app"
	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sim/ghsim"
	"github.com/sia-bot/sia/sim/stage"
)

// narrator acts as the story's people, waits for each expected step, and prints it.
type narrator struct {
	*cli.Env
	stage.Watcher
	began time.Time
}

func (n *narrator) opening(models app.ModelsConfig) {
	model := models.Coder
	fmt.Fprintf(n.Out, "%s — a GitHub simulator, real git, real test runs, and the production app.\n",
		n.Style.Bold("SIA demo"))
	if model.URL == "" {
		fmt.Fprintf(n.Out, "The model is %s: it plays back answers written beforehand. Whether they are right is decided "+
			"by checks that really run.\n", n.Style.Amber("scripted"))
	} else {
		limit := ""
		if !priced(models) {
			limit = ", with no budget, since its price is not known"
		}
		fmt.Fprintf(n.Out, "The model is %s at %s%s.\n", n.Style.Bold(model.Model), model.URL, limit)
	}
	fmt.Fprintf(n.Out, "Look on while it runs: %s\n", n.Style.Bold(n.Sim.URL()+"/"+repo))
	fmt.Fprintf(n.Out, "SIA's own pages, to which its comments link: %s (sign in as %s)\n",
		n.Style.Bold(n.Pages()), user)
}

func (n *narrator) heading(format string, args ...any) {
	fmt.Fprintf(n.Out, "\n%s\n", n.Style.Bold(fmt.Sprintf(format, args...)))
}

func (n *narrator) tell(format string, args ...any) {
	fmt.Fprintf(n.Out, "  %s %s\n", n.Style.Green("✓"), fmt.Sprintf(format, args...))
}

// await waits for a step as [stage.Watcher.Await] does, and prints a step that did not happen.
func (n *narrator) await(what string, match func(ghsim.Entry) bool) (ghsim.Entry, error) {
	entry, err := n.Await(n.Ctx, what, match)
	if err != nil && n.Ctx.Err() == nil {
		fmt.Fprintf(n.Out, "  %s %s\n", n.Style.Red("✗"), what)
	}
	return entry, err
}

// keep keeps the demo running until its context ends, and prints why tasks are paused.
func (n *narrator) keep() {
	fmt.Fprintf(n.Out, "\nStill up at %s — label an issue there. Ctrl-C ends it.\n", n.Style.Bold(n.Sim.URL()))
	if n.Model != nil {
		fmt.Fprintf(n.Out, "The scripted model knows the issues of this story only. For others, start `sia demo --keep "+
			"--model-url URL --model NAME`.\n")
	}
	for {
		issue, why, err := n.AwaitPause(n.Ctx)
		if err != nil {
			return // the context has ended
		}
		fmt.Fprintf(n.Out, "  %s #%d is paused: %s\n", n.Style.Amber("!"), issue, why)
	}
}

// step is an expected step, and how it is printed.
type step struct {
	what  string
	match func(ghsim.Entry) bool
	told  func(ghsim.Entry) string // nil: print what
}

// expect waits for steps in the given order and prints each.
func (n *narrator) expect(steps ...step) error {
	for _, s := range steps {
		entry, err := n.await(s.what, s.match)
		if err != nil {
			return err
		}
		text := s.what
		if s.told != nil {
			text = s.told(entry)
		}
		n.tell("%s", text)
	}
	return nil
}

// ofKind matches an entry of this kind.
func ofKind(kind string) func(ghsim.Entry) bool {
	return func(e ghsim.Entry) bool { return e.Kind == kind }
}

// link returns the address of a page of the repository.
func (n *narrator) link(path string, args ...any) cli.Styled {
	return n.Style.Dim(n.Sim.URL() + "/" + repo + fmt.Sprintf(path, args...))
}

// open opens an issue and labels it.
func (n *narrator) open(title, body string) (int, error) {
	number, err := n.Sim.OpenIssue(repo, user, title, body)
	if err != nil {
		return 0, err
	}
	n.tell("@%s opens #%d and labels it `sia`  %s", user, number, n.link("/issues/%d", number))
	return number, n.Sim.Label(repo, number, user, sia.DefaultSettings().Label)
}
