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

// Proposal is what a repository's first settings are proposed from.
type Proposal struct {
	Project project.Project
	// names of the checks that the rules of the base branch require
	Required []string
	// whether setup commands may fetch from a host; what may not be fetched is proposed as a comment
	Allowed func(host string) bool
}

// maxProposed bounds the names of checks that are proposed, so that the file stays one that is read.
const maxProposed = 50

// proposalHead is how a proposed file begins. It promises what Proposal holds to.
const proposalHead = `# How SIA works on this repository. Only what differs from the defaults is here.
# All settings: https://github.com/sia-bot/sia/blob/main/docs/configuration.md
# Check this file with: sia config check .sia/config.yml
`

// File is a settings file that says what was found, and only what differs from the defaults, each with the
// reason in a comment. It is always good, in the sense of [Parse]. differs is false when it has no setting, but
// comments alone. Reasons may have names of files, which are strangers' and can hold anything: each stays on its line.
func (p Proposal) File() (file []byte, differs bool) {
	var b strings.Builder
	b.WriteString(proposalHead)
	b.WriteString("#\n# Found at the top of the repository: " + found(p.Project) + ".\n")
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

// setup are the commands that the server lets fetch, and the others.
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

// required are the names of checks that settings can hold, each once.
func (p Proposal) required() (names []string) {
	for _, n := range p.Required {
		if n != "" && utf8.RuneCountInString(n) <= maxText && utf8.ValidString(n) && !slices.Contains(names, n) &&
			len(names) < maxProposed && good(n) {
			names = append(names, n)
		}
	}
	return names
}

// good reports whether a settings file can say the name of a check.
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
