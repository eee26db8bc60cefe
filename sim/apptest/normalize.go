package apptest

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"io"
)

// normalizer replaces values that differ between runs by names.
type normalizer struct {
	shas map[string]string // commit → name
}

// Normal is text without values that differ between runs.
func Normal(text string) string { return (&normalizer{}).text(text) }

// learn names commits in the given order.
func (n *normalizer) learn(shas ...string) {
	for _, sha := range shas {
		if sha != "" && n.shas[sha] == "" {
			n.shas[sha] = fmt.Sprintf("<sha%d>", len(n.shas)+1)
		}
	}
}

var volatile = []struct {
	of *regexp.Regexp
	by string
}{
	// The list of all commands has its golden copy in app/render.
	{regexp.MustCompile(`(?s)(<summary>Every command</summary>\n).*?\n( *</details>)`), "${1}  …\n${2}"},
	{regexp.MustCompile(`http://127\.0\.0\.1:\d+`), "https://github.test"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z| UTC)?`), "<time>"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d( UTC)?`), "<time>"},
	{regexp.MustCompile(`\b\d\d:\d\d:\d\d\b`), "<clock>"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\d`), "<date>"},
	{regexp.MustCompile(`issuecomment-\d+`), "issuecomment-<id>"},
	{regexp.MustCompile(`pullrequestreview-\d+`), "pullrequestreview-<id>"},
	{regexp.MustCompile(`/runs/\d+/job/\d+`), "/runs/<id>/job/<id>"},
	{regexp.MustCompile(`/runs/\d+`), "/runs/<id>"},
	{regexp.MustCompile(`task=\d+-`), "task=<repo>-"},
	{regexp.MustCompile(`key=\d+-`), "key=<repo>-"},
	{regexp.MustCompile(`key=(comment/|delivery/)[0-9a-f-]+`), "key=${1}<id>"},
	{regexp.MustCompile(`key=(<repo>-[^ ]*-v)\d+`), "key=${1}<n>"},
	{regexp.MustCompile(`key=(<repo>-[^ ]*-(?:comment|thread|review|delivery)/)[0-9a-f-]+`), "key=${1}<n>"},
	{regexp.MustCompile(`\b\d+-(\d+/\d+/(?:diagnose|decide-[a-z]+)-v)\d+`), "<repo>-${1}<n>"},
	{regexp.MustCompile(`"task_id": "\d+-`), `"task_id": "<repo>-`},
	{regexp.MustCompile(`\b\d+\+([a-z-]+(\[bot\])?)@users\.noreply`), "<id>+$1@users.noreply"},
	{regexp.MustCompile(`\b[0-9a-f]{64}\b`), "<hash>"},
	{regexp.MustCompile(`@[0-9a-f]{12}\b`), "@<policy>"},
	{regexp.MustCompile(`\b[0-9a-f]{12}\b`), "<lesson>"},
}

// short is the shortest prefix of a commit hash that is replaced.
const short = 7

func (n *normalizer) text(s string) string {
	for _, sha := range slices.Sorted(maps.Keys(n.shas)) {
		s = strings.ReplaceAll(s, sha, n.shas[sha])
	}
	abbreviated := regexp.MustCompile(`\b[0-9a-f]{7,39}\b`)
	s = abbreviated.ReplaceAllStringFunc(s, func(part string) string {
		for sha, name := range n.shas {
			if strings.HasPrefix(sha, part) && len(part) >= short {
				return name
			}
		}
		return part
	})
	for _, v := range volatile {
		s = v.of.ReplaceAllString(s, v.by)
	}
	return s
}

var durations = []*regexp.Regexp{
	regexp.MustCompile(`\b\d+(\.\d+)? (seconds?|minutes?|hours?|days?)\b`),
	regexp.MustCompile(`\b(\d+h)?(\d+m)?\d+(\.\d+)?(ms|s|m)\b`),
	regexp.MustCompile(`"duration_minutes": [0-9.]+`),
}

// timeless is a text without durations.
func timeless(s string) string {
	for _, d := range durations {
		s = d.ReplaceAllString(s, "<duration>")
	}
	return s
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// synced serialises writes.
type synced struct {
	mu sync.Mutex
	w  io.Writer
}

// String is the content of a buffer.
func (s *synced) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return fmt.Sprint(s.w)
}

// end drops the content, and all later writes.
func (s *synced) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.w = io.Discard
}

// Write implements io.Writer.
func (s *synced) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.w.Write(b)
}
