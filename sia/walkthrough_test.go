package sia_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/sia"
)

func TestFileReasons(t *testing.T) {
	const report = "The provider goes; a recorder takes its place. See https://example.com/why: it explains.\n" +
		"- `web/web.go`: confirms through the interface\n" +
		"- **mail/mail.go** — an interface,  and a recorder\n" +
		"* go.mod: the client is no longer needed\r\n" +
		"./Makefile.am - builds it\n" +
		"- `Makefile`: builds it, too\n" +
		"Not done: deliveries are not repeated.\n" +
		"Part 2: see above\n" +
		"1. web/web.go:12 is what to look at\n" +
		"[1] Not needed because it is so already.\n" +
		"`go test ./...`: passes\n"
	got, rest := sia.FileReasons(report)
	want := []sia.FileReason{{Path: "web/web.go", Why: "confirms through the interface"},
		{Path: "mail/mail.go", Why: "an interface, and a recorder"}, {Path: "go.mod", Why: "the client is no longer needed"},
		{Path: "Makefile.am", Why: "builds it"}, {Path: "Makefile", Why: "builds it, too"}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if want := "The provider goes; a recorder takes its place. See https://example.com/why: it explains.\n" +
		"Not done: deliveries are not repeated.\nPart 2: see above\n1. web/web.go:12 is what to look at\n" +
		"[1] Not needed because it is so already.\n`go test ./...`: passes"; rest != want {
		t.Errorf("the rest is %q", rest)
	}
}

// What an attempt starts from has nothing of the attempts that began there, also if a person pushed it.
func TestInStart(t *testing.T) {
	attempts := []sia.Attempt{{Number: 1, Head: "a"}, {Number: 2, Head: "b", From: "a"},
		{Number: 3, Head: "c", From: "b"},
		{Number: 4, Head: "e", From: "theirs"}, {Number: 5, Head: "f", From: "e"}, {Number: 6}}
	for name, c := range map[string]struct {
		task sia.Task
		want []int
	}{
		"the branch's head": {sia.Task{Head: "f"}, []int{1, 2, 3, 4, 5}},
		"what had passed":   {sia.Task{Head: "c", Kept: "a", Brief: sia.Brief{FromKept: true}}, []int{1}},
		"what a person had pushed": {
			sia.Task{Head: "f", Kept: "theirs", Brief: sia.Brief{FromKept: true}}, []int{1, 2, 3}},
		"what a person has pushed":   {sia.Task{Head: "mine", Kept: "mine"}, []int{1, 2, 3, 4, 5}},
		"the base":                   {sia.Task{Head: "f", Brief: sia.Brief{FromBase: true}}, nil},
		"the base, without a branch": {sia.Task{}, nil},
	} {
		c.task.BaseSHA, c.task.Attempts = "base", attempts
		var got []int
		for _, a := range c.task.InStart() {
			got = append(got, a.Number)
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// InHead contains the attempts that build on one another, and not those before a new start at the base.
func TestInHead(t *testing.T) {
	attempts := []sia.Attempt{{Number: 1, Head: "a"}, {Number: 2, Head: "b"}, {Number: 3},
		{Number: 4, Head: "d", From: "b"}, {Number: 5, Head: "e", From: "b"}, {Number: 6, Head: "f", From: "theirs"}}
	for _, c := range []struct {
		head sia.SHA
		want []int
	}{{"", nil}, {"a", []int{1}}, {"b", []int{2}}, {"d", []int{2, 4}}, {"e", []int{2, 5}}, {"f", []int{2, 5, 6}},
		{"person", []int{2, 5, 6}}} {
		var got []int
		for _, a := range (sia.Task{Head: c.head, Attempts: attempts}).InHead() {
			got = append(got, a.Number)
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s: %s", c.head, d)
		}
	}
}
