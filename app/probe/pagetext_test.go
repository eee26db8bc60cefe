package probe

import (
	"cmp"
	_ "embed"
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

// Page returns docs/github.md.
func Page() string {
	var b strings.Builder
	b.WriteString(pageIntro)
	held, was := HeldBy(), ""
	for _, f := range Facts() {
		section, _, _ := strings.Cut(f.ID, "/")
		if section != was {
			b.WriteString(belowSection[was])
			fmt.Fprintf(&b, "\n## %s\n\n| fact | GitHub says | held by | tried as |\n|---|---|---|---|\n",
				cmp.Or(sectionTitles[section], strings.ToUpper(section[:1])+section[1:]))
			was = section
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", f.Text, sourceCell(f.Source), held[f.ID], triedCell(f))
	}
	return b.String()
}

// sectionTitles are titles that differ from the section's name.
var sectionTitles = map[string]string{"graphql": "GraphQL", "pulls": "Pull requests"}

// belowSection is the text below a section's facts.
var belowSection = map[string]string{"addresses": `
| what people see | REST | GraphQL |
|---|---|---|
| ` + "`https://github.com` | `https://api.github.com/` | `https://api.github.com/graphql`" + ` |
| ` + "`https://TENANT.ghe.com` | `https://api.TENANT.ghe.com/` | `https://api.TENANT.ghe.com/graphql`" + ` |
| ` + "`https://HOST` (GitHub Enterprise Server) | `https://HOST/api/v3/` | `https://HOST/api/graphql`" + ` |
`}

//go:embed testdata/held.txt
var heldText string

// HeldBy returns the tests and stories of SIA's handling of each fact, by the fact's id, in Markdown.
func HeldBy() map[string]string {
	held := map[string]string{}
	for line := range strings.Lines(heldText) {
		id, by, _ := strings.Cut(strings.TrimSpace(line), ": ")
		held[id] = by
	}
	return held
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
