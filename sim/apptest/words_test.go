package apptest_test

import (
	"testing"

	"github.com/sia-bot/sia/sim/apptest"
)

func TestVisibleWords(t *testing.T) {
	for _, c := range []struct {
		markdown string
		want     int
	}{
		{"", 0},
		{"<!-- sia:v1 task=1-2 kind=status key=k -->\nTwo words", 2},
		{"<!-- never closed\n\nwords", 0},
		{"### ✅ Every *required* check — is **green**", 5},
		{"[the log, from line 3](https://github.test/a/b) · [`x`](https://github.test/c)", 6},
		{"![a picture of it](https://github.test/i.png) words", 1},
		{"- [ ] **A** — one provider *(fastest)*", 4},
		{"```text\nhello.txt:1: error: wrong\n```", 4}, // "text" is the code's language, and is counted all the same
		{"| check | result |\n|---|---|\n| `test` | ✅ green |", 4},
		{"a <details><summary>more</summary>\n\nb c <details>d</details> e\n\n</details> f", 2},
		{"a <DETAILS open>b</DETAILS> c </details> d", 3},
		{"a <details> never closed", 1},
		{"<sub>small words</sub>", 2},
		{"日本語 で", 2},
		{"`<details>` and ``a `[b](c d)` `` here", 6},
		{"one ` unpaired <details> two", 2},
		{"one `\n\n<details>two ` three</details>", 1},
		{"````\n```\n<details>\n````\none", 2},
		{"```` ``` ```` one\n\n<details>two</details>", 1}, // a span, no fence
	} {
		if got := apptest.VisibleWords(c.markdown); got != c.want {
			t.Errorf("%q: %d words, want %d", c.markdown, got, c.want)
		}
	}
}
