package config_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/config"
	"github.com/sia-bot/sia/sia/project"
)

func anyHost(string) bool { return true }

// atTop lists names at the top, and no other folder.
func atTop(names ...string) func(string) []string {
	return func(dir string) []string {
		if dir == "." {
			return names
		}
		return nil
	}
}

func TestProposal(t *testing.T) {
	p := project.Look(atTop("go.mod", "package.json", "package-lock.json"), func(name string) ([]byte, bool) {
		text, ok := map[string]string{"go.mod": "require x", "package.json": `{"scripts":{"test":"x"}}`}[name]
		return []byte(text), ok
	})
	file, differs := config.Proposal{Project: p,
		Required: []string{"test", "yes", "1", "test", "a: b # c", strings.Repeat("x", 201)},
		Allowed:  func(h string) bool { return h != "registry.npmjs.org" }}.File()
	const want = `
agent:
  setup: # prepares a fresh checkout, before each attempt
    - "go mod download" # go.mod requires other modules; fetches from proxy.golang.org and sum.golang.org
  test: "go test ./..." # go.mod makes the whole folder one module
  # Found too: npm test --silent (package.json has the script test)
# Left out of agent.setup, because this server lets setup fetch nothing from there (--setup-hosts):
#   - "npm ci" # package-lock.json is there; fetches from registry.npmjs.org
checks:
  required: # the branch's rules name these today; SIA waits for them even where it can't see the rules
    - "test"
    - "yes"
    - "1"
    - "a: b # c"
`
	_, settings, _ := strings.Cut(string(file), "(package.json).")
	if d := cmp.Diff(want, settings); d != "" || !differs {
		t.Errorf("differs %t: %s", differs, d)
	}
	got, err := config.Parse(config.Path, file)
	set := sia.DefaultSettings()
	set.Agent.Setup, set.Agent.Test = []string{"go mod download"}, "go test ./..."
	set.Checks.Required = []string{"test", "yes", "1", "a: b # c"}
	if d := cmp.Diff(set, got); d != "" || err != nil {
		t.Error(d, err)
	}
}

// An empty proposal gives a valid file without settings.
func TestProposalOfNothing(t *testing.T) {
	file, differs := config.Proposal{Allowed: anyHost}.File()
	if got, err := config.Parse(config.Path, file); differs || err != nil || !cmp.Equal(got, sia.DefaultSettings()) {
		t.Errorf("differs %t, %v, %s", differs, err, file)
	}
}

// The name of a file can't inject a setting.
func TestProposalOfHostileNames(t *testing.T) {
	for _, end := range []string{"\n", "\r", "\u2028"} {
		name := "test_a" + end + "label: theirs #.py"
		p := project.Look(atTop(name), func(string) ([]byte, bool) { return []byte("import unittest"), true })
		file, _ := config.Proposal{Project: p, Allowed: anyHost}.File()
		want := sia.DefaultSettings()
		want.Agent.Test = "python3 -m unittest discover"
		if got, err := config.Parse(config.Path, file); err != nil || !cmp.Equal(got, want) {
			t.Errorf("%q: %v\n%s", name, err, file)
		}
	}
}

// For any names of checks, the file is valid and contains those that a settings file can contain.
func TestProposalIsAlwaysGood(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfN(rapid.OneOf(rapid.String(),
			rapid.SampledFrom([]string{"~", "- a", "#", "a\nb: c", "\x00", "null",
				"1", "\u2028", "\xff", strings.Repeat("ä", 200)})), 0, 120).Draw(t, "names")
		file, _ := config.Proposal{Required: names, Allowed: anyHost}.File()
		got, err := config.Parse(config.Path, file)
		if err != nil {
			t.Fatalf("%v\n%s", err, file)
		}
		for _, n := range got.Checks.Required {
			if !slices.Contains(names, n) {
				t.Fatalf("%q is none of them", n)
			}
		}
	})
}
