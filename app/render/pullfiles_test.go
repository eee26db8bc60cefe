package render_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/sia"
)

// walked is a task that passed, was followed up, and says file by file why.
func walked() sia.Task {
	t := passed()
	t.Attempts[1].Summary = "An interface with a recorder takes the provider's place.\n\n" +
		"- `mail/mail.go`: an interface, so that tests can see the message\n" +
		"- `web/web.go`: confirms through it\n" +
		"- `mail/queue.go`: repeats what could not be sent\n"
	t.Attempts = append(t.Attempts, sia.Attempt{Number: 3, StartedAt: clock(40), EndedAt: clock(44), From: t.Head,
		Head: "3333333333333333333333333333333333333333", Outcome: sia.AttemptPass, Asked: true,
		Diff:    sia.DiffStat{Files: 1, Added: 2},
		Summary: "The reviewer's wish is met.\n- `web/web.go`: confirms through it, in the background"})
	t.Head = t.Attempts[2].Head
	return t
}

func changedFiles() []render.ChangedFile {
	return []render.ChangedFile{
		{Path: "go.sum", Status: "modified", Added: 40, Deleted: 2},
		{Path: "mail/hosted.go", Status: "deleted", Deleted: 31},
		{Path: "mail/mail.go", OldPath: "mail/provider.go", Status: "renamed", Added: 30, Deleted: 4},
		{Path: "mail/mock.go", Status: "added", Added: 90, Generated: true},
		{Path: "web/logo.png", Status: "modified"},
		{Path: "web/web.go", Status: "modified", Added: 12, Deleted: 1},
		{Path: "web/web_test.go", Status: "added", Added: 44},
	}
}

// A pull request tells its whole change file by file, follow-ups included. What an attempt says of a file that is not
// in the change is not told.
func TestWalkThrough(t *testing.T) {
	body := render.PullBody(walked(), changedFiles(), links)
	golden(t, "pull/walkthrough.md", body)
	if strings.Contains(body, "mail/queue.go") {
		t.Error("it tells of a file that is not in the change")
	}
}

// However many files there are and whatever they are called, the text stays within bounds and its table whole.
func TestWalkThroughIsBounded(t *testing.T) {
	task := walked()
	var files []render.ChangedFile
	for i := range 4000 {
		path := fmt.Sprintf("a|b/`%d`/<!-- sia:end -->/%s.go", i, strings.Repeat("x", 180))
		files = append(files, render.ChangedFile{Path: path, Status: "added", Added: 1})
		task.Attempts[1].Summary += fmt.Sprintf("\n- `x%d.go`: %s", i, strings.Repeat("why ", 100))
	}
	body := render.PullBody(task, files, links)
	if len(body) > render.MaxBody || strings.Contains(body, "<!--") || !strings.Contains(body, "And 3700 more files.") {
		t.Errorf("%d bytes:\n%.2000s", len(body), body)
	}
	for line := range strings.Lines(body) {
		if strings.HasPrefix(line, "| [") && strings.Count(strings.ReplaceAll(line, `\|`, ""), "|") != 3 &&
			strings.Contains(line, ".go") {
			t.Fatalf("a row is torn: %s", line)
		}
	}
}
