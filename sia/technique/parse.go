package technique

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/invalid"
	"github.com/sia-bot/sia/sia/lazyregexp"
	"github.com/sia-bot/sia/sia/text"
	"github.com/sia-bot/sia/sia/yamlfile"
)

// Limits on a technique's file. A model reads a technique at each use, so a long one is expensive.
const (
	maxHead   = 24 << 10 // bytes
	maxPrompt = 8000     // bytes of the body, about 2,000 tokens
	listRank  = 3        // rank of patterns written as a plain list
	maxRank   = 9
)

var validID = lazyregexp.New(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)

// ParseFile parses one technique's file. Every error is an *[invalid.File].
func ParseFile(path string, file []byte) (Technique, error) {
	head, body, ok := splitFile(file)
	if !ok {
		return Technique{}, &invalid.File{Name: path, Problems: []invalid.Problem{{Line: 1, Column: 1,
			Message: `want front matter between two lines "---" at the top of the file`}}}
	}
	f := yamlfile.Parse(head, yamlfile.Form{Key: "key", Most: maxHead})
	t := Technique{Ranks: map[sia.Pattern]int{}, Prompt: strings.TrimSpace(string(body)), Path: path}
	if len(f.Problems) == 0 {
		t.read(f)
	}
	if len(f.Problems) > 0 {
		return Technique{}, &invalid.File{Name: path, Problems: f.Problems}
	}
	return t, nil
}

// read decodes a technique's front matter and records problems of it and of the body in f.
func (t *Technique) read(f *yamlfile.File) {
	keys := map[string]any{"id": &t.ID, "name": &t.Name, "when": &t.When, "patterns": &t.Ranks,
		"preconditions": &t.Preconditions, "changes": &t.Changes, "trial": &t.Trial}
	var listed []sia.Pattern
	wants := map[string]yamlfile.Want{"patterns": {Min: 1, Max: maxRank},
		"preconditions": {Words: stringsOf(Preconditions)}, "changes": {Words: stringsOf(Changes)}}
	if f.IsList("patterns") {
		keys["patterns"], wants["patterns"] = &listed, yamlfile.Want{Words: stringsOf(sia.Patterns)}
	}
	f.Into(keys, func(key string) yamlfile.Want { return wants[key] })
	for p := range t.Ranks {
		if !slices.Contains(sia.Patterns, p) {
			patterns := stringsOf(sia.Patterns)
			f.Note("patterns."+string(p), text.Nearest(string(p), patterns), "want one of %s", strings.Join(patterns, ", "))
		}
	}
	for _, p := range listed {
		t.Ranks[p] = listRank
	}
	t.Name, t.When = strings.TrimSpace(t.Name), strings.TrimSpace(t.When)
	for _, need := range []struct {
		key  string
		met  bool
		want string
	}{
		{"id", validID.MatchString(string(t.ID)) && len(t.ID) <= 64,
			"want lower-case words joined by hyphens, such as contract-test"},
		{"name", oneLine(t.Name, 80), "want one line of at most 80 bytes"},
		{"when", oneLine(t.When, 300), "want the situation it is for, one line of at most 300 bytes"},
		{"patterns", len(t.Ranks) > 0, "name at least one pattern that it answers"},
		{"changes", len(t.Changes) > 0, "name at least one of " + strings.Join(stringsOf(Changes), ", ")},
		{"", t.Prompt != "" && len(t.Prompt) <= maxPrompt && utf8.ValidString(t.Prompt), fmt.Sprintf(
			"the body has %d bytes; want 1 to %d of UTF-8 text that tell the model what to do", len(t.Prompt), maxPrompt)},
	} {
		if !need.met {
			f.Note(need.key, "", "%s", need.want)
		}
	}
}

func oneLine(s string, most int) bool {
	return s != "" && len(s) <= most && !strings.ContainsAny(s, "\r\n")
}

// splitFile splits a file into front matter and body. Line ends may be CRLF.
func splitFile(file []byte) (head, body []byte, ok bool) {
	file = bytes.ReplaceAll(bytes.TrimPrefix(file, []byte("\ufeff")), []byte("\r\n"), []byte("\n"))
	if !bytes.HasPrefix(file, []byte("---\n")) {
		return nil, nil, false
	}
	i := bytes.Index(file[3:], []byte("\n---\n"))
	if i < 0 {
		return nil, nil, false
	}
	return file[:3+i+1], file[3+i+len("\n---\n"):], true
}
