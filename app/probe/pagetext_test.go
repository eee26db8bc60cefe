package probe

import (
	"cmp"
	_ "embed"
	"fmt"
	"maps"
	"slices"
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
	was := ""
	for _, r := range Rows() {
		section, _, _ := strings.Cut(r.ID, "/")
		if section != was {
			b.WriteString(belowSection[was])
			fmt.Fprintf(&b, "\n## %s\n\n| fact | GitHub says | held by | tried as |\n|---|---|---|---|\n",
				cmp.Or(sectionTitles[section], strings.ToUpper(section[:1])+section[1:]))
			was = section
		}
		tried := "`" + r.ID + "`"
		if r.Untried != "" {
			tried = "— " + r.Untried
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", r.Text, sourceCell(r.Source), r.HeldBy, tried)
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

// Row is a row of docs/github.md.
type Row struct {
	ID, Text, Source string
	HeldBy           string // tests and stories of SIA's handling of it, in Markdown
	Untried          string // what a probe would need, if it can't be tried
}

var (
	//go:embed testdata/held.txt
	heldText string
	//go:embed testdata/untried.txt
	untriedText string
)

// Rows returns the rows in the order of testdata/held.txt, and then those that it lacks. If it names what is no fact,
// that row has no text.
func Rows() (rows []Row) {
	known := map[string]Row{}
	for _, f := range Facts() {
		known[f.ID] = Row{ID: f.ID, Text: f.Text, Source: f.Source}
	}
	for line := range strings.Lines(untriedText) {
		cells := strings.Split(strings.TrimSpace(line), " | ")
		known[cells[0]] = Row{ID: cells[0], Text: cells[1], Source: cells[2], Untried: cells[3]}
	}
	for line := range strings.Lines(heldText) {
		id, by, _ := strings.Cut(strings.TrimSpace(line), ": ")
		r := known[id]
		r.ID, r.HeldBy = id, by
		rows = append(rows, r)
		delete(known, id)
	}
	return slices.AppendSeq(rows, maps.Values(known))
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
