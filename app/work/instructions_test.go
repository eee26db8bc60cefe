package work

import (
	"context"
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sia-bot/sia/agent"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/store/storetest"
	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/sia"
)

// files is a commit: texts by path; a text with the prefix "->" is a link.
type files map[string]string

func (f files) Files(_ context.Context, _, prefix string) ([]gitops.File, error) {
	text, ok := f[prefix]
	switch {
	case !ok:
		return nil, nil
	case strings.HasPrefix(text, "->"):
		return []gitops.File{{Path: prefix, Mode: fs.ModeSymlink | 0o777}}, nil
	}
	return []gitops.File{{Path: prefix, Mode: 0o644}}, nil
}

func (f files) ReadFile(_ context.Context, _, name string, limit int64) ([]byte, error) {
	text, ok := f[name]
	switch {
	case !ok:
		return nil, fs.ErrNotExist
	case int64(len(text)) > limit:
		return nil, gitops.ErrTooLarge
	}
	return []byte(strings.TrimPrefix(text, "->")), nil
}

func TestInstructions(t *testing.T) {
	is := func(path, text string) agent.Instruction { return agent.Instruction{Path: path, Text: text} }
	for name, tt := range map[string]struct {
		files   files
		found   []agent.Instruction
		leftOut []string
	}{
		"none": {files{"README.md": "x"}, nil, nil},
		"all, SIA's own first": {
			files{"CLAUDE.md": "c", "AGENTS.md": "a", ".github/copilot-instructions.md": "g", ".sia/instructions.md": "s"},
			[]agent.Instruction{is(".sia/instructions.md", "s"), is("AGENTS.md", "a"), is("CLAUDE.md", "c"),
				is(".github/copilot-instructions.md", "g")}, nil},
		"the same text twice": {files{"AGENTS.md": "a", "CLAUDE.md": "a"}, []agent.Instruction{is("AGENTS.md", "a")},
			[]string{"CLAUDE.md was left out: it says the same as AGENTS.md"}},
		"a link to the other": {files{"AGENTS.md": "a", "CLAUDE.md": "->AGENTS.md"},
			[]agent.Instruction{is("AGENTS.md", "a")},
			[]string{"CLAUDE.md was left out: it says the same as AGENTS.md"}},
		"a link elsewhere": {files{".github/copilot-instructions.md": "->../docs/agents.md", "docs/agents.md": "d"},
			[]agent.Instruction{is(".github/copilot-instructions.md", "d")}, nil},
		"a link out":        {files{"AGENTS.md": "->../../etc/passwd", "CLAUDE.md": "->/etc/passwd"}, nil, nil},
		"a link to a link":  {files{"AGENTS.md": "->a", "a": "->b", "b": "x"}, nil, nil},
		"a link to nothing": {files{"AGENTS.md": "->gone"}, nil, nil},
		"empty":             {files{"AGENTS.md": " \n"}, nil, nil},
		"too large": {files{"AGENTS.md": strings.Repeat("x", instructionLimit+1)}, nil,
			[]string{"AGENTS.md was left out: it has more than 256 KiB"}},
		"as large as it may be": {files{"AGENTS.md": strings.Repeat("x", instructionLimit)},
			[]agent.Instruction{is("AGENTS.md", strings.Repeat("x", instructionLimit))}, nil},
		"a directory of the name": {files{"AGENTS.md/x": "x"}, nil, nil},
	} {
		found, leftOut, err := instructions(t.Context(), tt.files, "")
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if d := cmp.Diff(tt.found, found, cmpopts.EquateEmpty()); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
		if d := cmp.Diff(tt.leftOut, leftOut, cmpopts.EquateEmpty()); d != "" {
			t.Errorf("%s: left out (-want +got):\n%s", name, d)
		}
	}
}

// An attempt gets what failed when the checks last decided; after a pass nothing, whatever had failed before.
func TestLastFailures(t *testing.T) {
	w := &attemptWorker{common: &common{Deps: Deps{Store: storetest.Open(t, store.Config{})}}}
	red := []sia.CheckFailure{{Check: "test", Excerpt: "no room"}}
	failed := sia.Attempt{Number: 1, Outcome: sia.AttemptFail, Failures: red}
	for name, tt := range map[string]struct {
		earlier []sia.Attempt
		want    int
	}{
		"red":               {[]sia.Attempt{failed}, 1},
		"red, then a limit": {[]sia.Attempt{failed, {Number: 2, Outcome: sia.AttemptCheckpoint}}, 1},
		"red, then no change": {[]sia.Attempt{failed,
			{Number: 2, Outcome: sia.AttemptFail, Reason: "it changed nothing"}}, 1},
		"red, then green":      {[]sia.Attempt{failed, {Number: 2, Outcome: sia.AttemptPass}}, 0},
		"green when run again": {[]sia.Attempt{{Number: 1, Outcome: sia.AttemptPass, Failures: red}}, 0},
		"red, then left green": {[]sia.Attempt{failed, {Number: 2, Outcome: sia.AttemptUnchanged}}, 0},
		"green, then stopped":  {[]sia.Attempt{failed, {Number: 2, Outcome: sia.AttemptPass}, {Number: 3}}, 0},
	} {
		task := sia.Task{ID: "9-1", Attempts: append(tt.earlier, sia.Attempt{})}
		if got, err := w.lastFailures(t.Context(), task); err != nil || len(got) != tt.want {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}
