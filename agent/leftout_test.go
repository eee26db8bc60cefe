package agent_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/sia-bot/sia/agent"
)

func TestWithLeftOut(t *testing.T) {
	for _, c := range []struct {
		said    string
		folders []string
		want    string
	}{
		{"Done.", nil, "Done."},
		{"Done.", []string{"web/app"}, "Done.\n\nSIA left out what is a git repository of its own, with a `.git` in it " +
			"or as a submodule: `web/app`."},
		{"", []string{"a`\nb", "2", "3", "4", "5", "6", "7"}, "SIA left out what is a git repository of its own, with a " +
			"`.git` in it or as a submodule: `a' b`, `2`, `3`, `4`, `5` and 2 more."},
	} {
		left, _ := agent.LeftOutOf("", agent.LeftOut{Repositories: c.folders})
		if got := agent.WithLeftOut(c.said, left); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	left, built := agent.LeftOutOf("SIA left out `b`.", agent.LeftOut{Repositories: []string{"a"}, Built: []string{"c.o"},
		Before: []string{"Cargo.lock"}})
	if built != "SIA left out what commands built: `c.o`. SIA left out what setup changed and the attempt did not: "+
		"`Cargo.lock`." {
		t.Error(built)
	}
	if got := agent.WithLeftOut(strings.Repeat("x", 5000), left); utf8.RuneCountInString(got) > 4000 ||
		!strings.HasSuffix(got, "`a`.") {
		t.Errorf("%d bytes, %q", len(got), got[len(got)-20:])
	}
}
