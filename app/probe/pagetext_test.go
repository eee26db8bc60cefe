package probe

import (
	"fmt"
	"strings"
)

const pageIntro = `# GitHub as it is

<!-- Generated from app/probe by go test ./app/probe -update. -->

What SIA relies on of GitHub, beyond the plain reading of its reference, and the test that holds SIA to it. The paths
under “GitHub says” are pages of [docs.github.com](https://docs.github.com/en). The simulator in
` + "`sim/ghsim`" + ` does the same where a story needs it.

Each fact with a name is tried: do this, expect that. ` + "`make test`" + ` tries them on the simulator,
` + "`sia doctor github --repo OWNER/SCRATCH`" + ` on any GitHub
([operations.md](operations.md#does-github-do-what-sia-relies-on)). The others say what trying them would need.
`

// Page is docs/github.md.
func Page() string {
	var b strings.Builder
	b.WriteString(pageIntro)
	for _, s := range Sections() {
		fmt.Fprintf(&b, "\n## %s\n\n| fact | GitHub says | held by | tried as |\n|---|---|---|---|\n", s.Title)
		for _, f := range s.Facts {
			fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", f.Text, sourceCell(f.Source), f.HeldBy, triedCell(f))
		}
		if s.Prose != "" {
			b.WriteString("\n" + s.Prose)
		}
	}
	return b.String()
}

func sourceCell(source string) string {
	switch short, whole := strings.CutPrefix(source, "https://"); {
	case source == "":
		return "—"
	case whole:
		return "[" + short + "](" + source + ")"
	}
	return "`" + source + "`"
}

func triedCell(f Fact) string {
	if f.Probe == nil {
		return "— " + f.NotFor
	}
	return "`" + f.ID + "`"
}
