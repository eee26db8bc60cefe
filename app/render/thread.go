package render

import (
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia"
)

// ThreadAnswer says how a thread of a review was handled.
type ThreadAnswer struct {
	Head    sia.SHA // the green commit that handles it; empty: none
	Why     string  // why no commit does
	Said    string  // the agent's words about it; may be empty
	Changed bool    // lines of the thread were changed
	Applied bool    // its suggestion was applied
}

// The most words of the agent's that an answer shows.
const (
	threadWords = 20
	askedQuote  = 8 // of the request
	askedWords  = 25
)

// Thread is the answer in a thread: at most forty words.
func Thread(t sia.Task, a ThreadAnswer, l Links) string {
	commit := link("`"+a.Head.Short()+"`", l.Commit(t.Repo, a.Head))
	said := ""
	if a.Said != "" {
		said = " The agent says: “" + few(a.Said, threadWords) + "”"
	}
	switch {
	case a.Head == "":
		return "Not dealt with: " + few(strings.TrimRight(a.Why, "."), threadWords) + ".\n"
	case a.Applied:
		return "Applied in " + commit + "; " + allGreenToo(t, "") + ".\n"
	case a.Changed:
		return "Changed in " + commit + "; " + allGreenToo(t, "") + "." + said + "\n"
	case said != "":
		return "Not changed here in " + commit + "." + said + "\n"
	}
	return "Not changed here in " + commit + ", and the agent did not say why. `/sia start` followed by words, as a " +
		"reply, asks again.\n"
}

// Asked answers requests outside threads in one comment on the pull request. said holds the agent's words about each,
// changed reports whether anything changed.
func Asked(t sia.Task, o sia.Owed, said []string, changed bool, l Links) string {
	commit := link("`"+o.Head.Short()+"`", l.Commit(t.Repo, o.Head))
	var people []string
	for _, w := range o.Words {
		if at := Code(w.By, 40); !slices.Contains(people, at) {
			people = append(people, at)
		}
	}
	var p page
	who := strings.Join(people, ", ")
	switch {
	case o.Head == "":
		p.add("What " + who + " asked for is not dealt with: " + few(strings.TrimRight(o.Why, "."), askedWords) + ".")
	case changed:
		p.add("What " + who + " asked for went into " + commit + "; " + allGreenToo(t, "") + ". Whether it is what was " +
			"meant is for you to say.")
	default:
		p.add("Nothing was changed for what " + who + " asked for; " + allGreenToo(t, " on "+commit) + ".")
	}
	var b strings.Builder
	for i, w := range o.Words {
		if said[i] != "" {
			b.WriteString("- “" + few(w.Text, askedQuote) + "” — the agent says: “" + few(said[i], askedWords) + "”\n")
		}
	}
	p.add(b.String())
	return p.String()
}
