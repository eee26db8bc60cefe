package render_test

import (
	"strings"
	"testing"
	"time"

	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/sia"
)

// Texts about reviews, and about the progress of a long attempt.
func TestReviewsAndProgress(t *testing.T) {
	asked := queued()
	asked.BeginsAt = now
	asked.Wishes = []sia.Wish{{ID: "review/1", By: sia.Actor{Login: "ada"}, Review: 1},
		{ID: "review/2", By: sia.Actor{Login: "bob"}, Review: 2}, {ID: "review/3", By: sia.Actor{Login: "ada"}, Review: 3}}
	golden(t, "status/changes-asked.md", render.Status(asked, links, now))
	long := working()
	long.Attempts[len(long.Attempts)-1].Progress = &sia.Progress{At: now, Turn: 17,
		Tests: "The tests fail: go test ./..., after <!-- 12 s -->", TestsAt: now.Add(-time.Minute)}
	golden(t, "status/long.md", render.Status(long, links, now))
}

// An answer in a thread has at most forty words, whatever the agent and strangers wrote, and links the commit.
func TestThreadAnswers(t *testing.T) {
	task := passed()
	long := strings.Repeat("very <!-- @everyone --> long ", 60)
	var all strings.Builder
	for _, c := range []struct {
		name string
		came render.ThreadAnswer
	}{
		{"applied", render.ThreadAnswer{Head: task.Head, Changed: true, Applied: true}},
		{"changed", render.ThreadAnswer{Head: task.Head, Changed: true}},
		{"changed, with words", render.ThreadAnswer{Head: task.Head, Changed: true, Said: "It is called `Greeting` now."}},
		{"not changed", render.ThreadAnswer{Head: task.Head, Said: "check.sh compares the whole line."}},
		{"not changed, no words", render.ThreadAnswer{Head: task.Head}},
		{"many words", render.ThreadAnswer{Head: task.Head, Changed: true, Said: long}},
		{"not dealt with", render.ThreadAnswer{Why: "@ada said `/sia stop`"}},
		{"not dealt with, many words", render.ThreadAnswer{Why: long}},
	} {
		body := render.Thread(task, c.came, links)
		if n := len(strings.Fields(body)); n > 40 {
			t.Errorf("%s: %d words: %s", c.name, n, body)
		}
		if strings.Contains(body, "<!--") {
			t.Errorf("%s: a stranger's marker is alive: %s", c.name, body)
		}
		all.WriteString("## " + c.name + "\n\n" + body + "\n")
	}
	golden(t, "reply/threads.md", all.String())
	o := sia.Owed{Head: task.Head,
		Words: []sia.Said{{By: "ada", Text: "Name it."}, {By: "bob", Text: long}, {By: "ada", Text: "And test it."}}}
	golden(t, "reply/asked.md", render.Asked(task, o, []string{"It has a name.", long, ""}, true, links))
	golden(t, "reply/asked-nothing-changed.md", render.Asked(task, o, []string{"", "", ""}, false, links))
	o.Head, o.Why = "", "@ada said `/sia stop`"
	golden(t, "reply/asked-in-vain.md", render.Asked(task, o, []string{"", "", ""}, false, links))
}
