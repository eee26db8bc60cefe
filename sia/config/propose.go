package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/sia-bot/sia/sia/project"
	"github.com/sia-bot/sia/sia/text"
)

// Proposal contains the inputs for proposing a repository's first settings.
type Proposal struct {
	Project project.Project
	// names of the checks that the rules of the base branch require
	Required []string
	// reports whether setup commands may fetch from a host; other commands are proposed as comments
	Allowed func(host string) bool
}

// maxProposed is the maximum number of check names in a proposal, so that the file stays readable.
const maxProposed = 50

// proposalHead is the beginning of a proposed file. Its statement must hold for all proposals.
const proposalHead = `# How SIA works on this repository. Only what differs from the defaults is here.
# All settings: https://github.com/sia-bot/sia/blob/main/docs/configuration.md
# Check this file with: sia config check .sia/config.yml
`

// File returns a settings file with the detected settings that differ from the defaults, each with the reason in a
// comment. [Parse] accepts it. differs is false if it has comments but no setting. Reasons may contain names of files,
// which are untrusted and can contain any characters: each reason is put on one line.
func (p Proposal) File() (file []byte, differs bool) {
	var b strings.Builder
	b.WriteString(proposalHead)
	b.WriteString("#\n# Found in the repository: " + found(p.Project) + ".\n")
	var agent strings.Builder
	on, off := p.setup()
	if len(on) > 0 {
		agent.WriteString("  setup: # prepares a fresh checkout, before each attempt\n")
		for _, c := range on {
			fmt.Fprintf(&agent, "    - %s # %s%s\n", strconv.Quote(c.Line), text.OneLine(c.Why), fetches(c))
		}
	}
	if test := p.Project.Test; test.Line != "" {
		fmt.Fprintf(&agent, "  test: %s # %s\n", strconv.Quote(test.Line), text.OneLine(test.Why))
	}
	for _, c := range p.Project.Others {
		fmt.Fprintf(&agent, "  # Found too: %s (%s)\n", c.Line, text.OneLine(c.Why))
	}
	if len(on) > 0 || p.Project.Test.Line != "" {
		b.WriteString("agent:\n" + agent.String())
		differs = true
	}
	if len(off) > 0 {
		b.WriteString("# Left out of agent.setup, because this server lets setup fetch nothing from there (--setup-hosts):\n")
		for _, c := range off {
			fmt.Fprintf(&b, "#   - %s # %s%s\n", strconv.Quote(c.Line), text.OneLine(c.Why), fetches(c))
		}
	}
	if names := p.required(); len(names) > 0 {
		b.WriteString("checks:\n  required: # the branch's rules name these today; SIA waits for them even where it can't " +
			"see the rules\n")
		for _, n := range names {
			b.WriteString("    - " + strconv.Quote(n) + "\n")
		}
		differs = true
	}
	return []byte(b.String()), differs
}

// setup returns the commands that may fetch from all of their hosts, and the others.
func (p Proposal) setup() (on, off []project.Command) {
	for _, c := range p.Project.Setup {
		if slices.ContainsFunc(c.Hosts, func(h string) bool { return !p.Allowed(h) }) {
			off = append(off, c)
		} else {
			on = append(on, c)
		}
	}
	return on, off
}

// required returns the distinct names of checks that a settings file can contain.
func (p Proposal) required() (names []string) {
	for _, n := range p.Required {
		if n != "" && utf8.RuneCountInString(n) <= maxText && utf8.ValidString(n) && !slices.Contains(names, n) &&
			len(names) < maxProposed && good(n) {
			names = append(names, n)
		}
	}
	return names
}

// good reports whether a settings file can contain the name of a check.
func good(name string) bool {
	s, err := Parse(Path, []byte("checks:\n  required:\n    - "+strconv.Quote(name)+"\n"))
	return err == nil && slices.Equal(s.Checks.Required, []string{name})
}

func found(p project.Project) string {
	var all []string
	for _, l := range p.Languages {
		all = append(all, l.Name+" ("+text.OneLine(l.Why)+")")
	}
	if len(all) == 0 {
		return "no language that SIA knows by its files"
	}
	return strings.Join(all, ", ")
}

func fetches(c project.Command) string {
	if len(c.Hosts) == 0 {
		return ""
	}
	return "; fetches from " + strings.Join(c.Hosts, " and ")
}
