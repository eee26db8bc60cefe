package tool

import (
	"fmt"
	"slices"
	"strings"
)

// Limits of the search for the nearest text.
const (
	nearLines   = 12   // compared lines of old
	minLikeness = 0.45 // minimum similarity, 0–1
)

// nearestText describes, for the end of an error message, which lines of text are most similar to old. Lines are
// compared without surrounding white space, by their common prefix and suffix. The time is linear in text.
func nearestText(text, old string) string {
	all := strings.Split(strings.Trim(old, "\n"), "\n")
	for i := range all {
		all[i] = strings.TrimSpace(all[i])
	}
	want := all[:min(len(all), nearLines)]
	lines := strings.Split(text, "\n")
	trimmed := make([]string, len(lines))
	for i, l := range lines {
		trimmed[i] = strings.TrimSpace(l)
	}
	at, best := -1, minLikeness
	for i := range trimmed {
		sum, weight := 0.0, 0.0
		for j, w := range want {
			have := ""
			if i+j < len(trimmed) {
				have = trimmed[i+j]
			}
			k := float64(1 + min(len(w), 80))
			weight += k
			sum += k * likeness(w, have)
		}
		if s := sum / weight; s > best {
			at, best = i, s
		}
	}
	if at < 0 {
		return "; read the file again and copy the text from it"
	}
	end := min(len(lines), at+min(len(all), 30))
	var b strings.Builder
	fmt.Fprintf(&b, "; nearest are lines %d–%d:\n", at+1, end)
	exact := at+len(all) <= len(lines) && slices.Equal(all, trimmed[at:at+len(all)])
	for i := at; i < end; i++ {
		l, _ := showHidden(strings.TrimSuffix(lines[i], "\r"))
		fmt.Fprintf(&b, "%6d\t%s\n", i+1, cutResult(strings.ToValidUTF8(l, "\uFFFD"), 400))
	}
	if exact {
		b.WriteString("They differ only in white space: copy the indentation exactly.")
	} else {
		b.WriteString("Copy the text exactly as it stands, without the line numbers.")
	}
	return b.String()
}

// likeness returns the common prefix and suffix of a and b as a share of the longer one, 0–1.
func likeness(a, b string) float64 {
	if a == b {
		return 1
	}
	n := min(len(a), len(b), 200)
	if n == 0 {
		return 0
	}
	front := 0
	for front < n && a[front] == b[front] {
		front++
	}
	back := 0
	for back < n-front && a[len(a)-1-back] == b[len(b)-1-back] {
		back++
	}
	return float64(front+back) / float64(max(len(a), len(b)))
}
