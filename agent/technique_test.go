package agent_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/agent"
	"github.com/sia-bot/sia/agent/tool"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/technique"
)

// seen describes a request independent of its prose: the offered tools, and the parts of the first message.
type seen struct {
	Tools    []string // missing from the usual ones
	Steps    int
	Files    []string // in the context instead of the listing
	Examples []string // with text that the file really contains
	Quotes   int
	History  bool
	Listing  bool
	Fresh    bool
	Relaxed  bool
	Restored bool // the last step restores the lifted constraint
}

var (
	stepLine = regexp.MustCompile(`(?m)^\d+\. .*$`)
	fileHead = regexp.MustCompile(`(?m)^## File (\S+)`)
	example  = regexp.MustCompile(`(?s)## Example from this repository: (\S+)\n.*?<untrusted ` +
		`source="file">\n(.+?)\n</untrusted>`)
)

// look reads a request; dir is the work tree.
func look(t *testing.T, dir, prompt string, tools, usual []string) seen {
	t.Helper()
	s := seen{
		History: strings.Contains(prompt, "## Attempt 1, which did not pass"),
		Listing: strings.Contains(prompt, "## What is in the repository"),
		Fresh:   strings.Contains(prompt, "fresh start from the base branch"),
		Relaxed: strings.Contains(prompt, "## A constraint that is lifted for now"),
	}
	for _, n := range usual {
		if !slices.Contains(tools, n) {
			s.Tools = append(s.Tools, n)
		}
	}
	if _, steps, ok := strings.Cut(prompt, "## Steps"); ok {
		steps, _, _ = strings.Cut(steps, "\n## ")
		lines := stepLine.FindAllString(steps, -1)
		s.Steps = len(lines)
		s.Restored = s.Relaxed && strings.Contains(lines[len(lines)-1], "ut the constraint back") &&
			strings.Count(steps, "constraint back") == 1
	}
	for _, m := range fileHead.FindAllStringSubmatch(prompt, -1) {
		s.Files = append(s.Files, m[1])
	}
	for _, m := range example.FindAllStringSubmatch(prompt, -1) {
		b, err := os.ReadFile(filepath.Join(dir, m[1]))
		if err != nil {
			t.Fatalf("an example that is no file: %v", err)
		}
		if strings.Contains(string(b), m[2]) {
			s.Examples = append(s.Examples, m[1])
		}
	}
	if _, quotes, ok := strings.Cut(prompt, "## Errors of earlier attempts"); ok {
		quotes, _, _ = strings.Cut(quotes, "\n## ")
		s.Quotes = strings.Count(quotes, "<untrusted source=")
	}
	return s
}

// TestEveryTechniqueReachesTheRequest tests that each technique, with the files of a repository and a failure, changes
// the request in more than its prose.
func TestEveryTechniqueReachesTheRequest(t *testing.T) {
	plain := seen{History: true, Listing: true}
	with := func(change func(*seen)) seen { s := plain; change(&s); return s }
	want := map[sia.TechniqueID]seen{
		sia.Decomposition:       with(func(s *seen) { s.Steps = 4 }),
		sia.ToolChange:          with(func(s *seen) { s.Tools = []string{"edit"} }),
		sia.PromptRestructuring: with(func(s *seen) { s.History, s.Quotes = false, 1 }),
		sia.ContextPruning: with(func(s *seen) {
			s.History, s.Listing, s.Files = false, false,
				[]string{"booking/handler.go", "main.go"}
		}),
		sia.ExampleInjection:      with(func(s *seen) { s.Examples = []string{"booking/store.go"} }),
		sia.ConstraintRelaxation:  with(func(s *seen) { s.Steps, s.Relaxed, s.Restored = 2, true, true }),
		sia.DependencyReordering:  with(func(s *seen) { s.Steps = 3 }),
		sia.AbstractionLevelShift: with(func(s *seen) { s.Steps, s.Examples = 4, []string{"booking/store.go"} }),
		sia.ErrorPattern:          with(func(s *seen) { s.Quotes = 1 }),
		sia.FreshStart:            with(func(s *seen) { s.History, s.Fresh = false, true }),
	}
	library, _ := technique.LoadLibrary(nil)
	if n := len(library.All()); n != len(want) {
		t.Fatalf("%d techniques ship, %d are looked at", n, len(want))
	}
	for _, x := range library.All() {
		t.Run(string(x.ID), func(t *testing.T) {
			b := newBench(t, turns(done))
			files := map[string]string{
				"booking/handler.go": "package booking\n\nfunc Handle() {}\n",
				"booking/store.go":   "package booking\n\n// Store keeps bookings.\ntype Store interface {\n\tSave() error\n}\n",
				"main.go":            "package main\n\nfunc main() {}\n",
			}
			for p, text := range files {
				b.write(p, text)
			}
			b.in.Title = "Store a confirmation when a booking is made"
			b.in.Body = "- make the sender\n- call it in the handler\n- say so in the log\n\nThe response must never take " +
				"more than a second.\n"
			b.in.Attempt = 2
			b.in.Previous = []agent.PreviousAttempt{{Number: 1, Summary: "I tried."}}
			b.in.Failures = []tool.FailedCheck{{Name: "test", Text: "booking/handler.go:3: error: boom"}}
			b.in.Brief = technique.Apply(sia.Brief{}, x, technique.Input{
				Title: b.in.Title, Body: b.in.Body, Prompt: "Do it.", Tools: b.agent.Tools(),
				Failures: []sia.CheckFailure{{Check: "test", Excerpt: "booking/handler.go:3: error: boom"}},
				Touched:  []string{"booking/handler.go", "main.go"},
				Files:    []string{"booking/handler.go", "booking/store.go", "main.go"},
				Read:     func(p string) ([]byte, error) { return os.ReadFile(filepath.Join(b.in.Dir, p)) },
				Examples: []string{"booking/store.go"}, Context: []string{"booking/handler.go"},
			})
			b.run()
			got := look(t, b.in.Dir, b.prompt(), b.model.Requests()[0].ToolNames(), b.agent.Tools())
			if d := cmp.Diff(want[x.ID], got); d != "" {
				t.Errorf("-want +got:\n%s\n%s", d, b.prompt())
			}
		})
	}
}
