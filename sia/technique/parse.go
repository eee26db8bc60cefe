package technique

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/lazyregexp"
)

// Limits of a technique's file. A technique is read by a model at each use, so
// a long one costs what it was meant to save.
const (
	maxFile   = 32 << 10 // bytes
	maxPrompt = 8000     // bytes of the body, about 2,000 tokens
	listRank  = 3        // rank of patterns written as a plain list
	maxRank   = 9
)

// FileError says which file of a technique is broken, and where. Line is
// 1-based; 0 when the fault belongs to the file as a whole.
type FileError struct {
	Path string
	Line int
	Err  error
}

// Error is "path:line: cause".
func (e *FileError) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("technique %s: %v", e.Path, e.Err)
	}
	return fmt.Sprintf("technique %s:%d: %v", e.Path, e.Line, e.Err)
}

// Unwrap returns the cause.
func (e *FileError) Unwrap() error { return e.Err }

// frontMatter is the YAML head of a technique's file.
type frontMatter struct {
	ID            string       `yaml:"id"`
	Name          string       `yaml:"name"`
	When          string       `yaml:"when"`
	Patterns      patternRanks `yaml:"patterns"`
	Preconditions []string     `yaml:"preconditions"`
	Changes       []string     `yaml:"changes"`
	Trial         bool         `yaml:"trial"`
}

// patternRanks reads patterns either as a mapping to ranks or as a plain list.
type patternRanks map[string]int

// UnmarshalYAML implements yaml.InterfaceUnmarshaler.
func (r *patternRanks) UnmarshalYAML(unmarshal func(any) error) error {
	var list []string
	if err := unmarshal(&list); err == nil {
		*r = make(patternRanks, len(list))
		for _, p := range list {
			(*r)[p] = listRank
		}
		return nil
	}
	m := map[string]int{}
	if err := unmarshal(&m); err != nil {
		return err
	}
	*r = m
	return nil
}

var validID = lazyregexp.New(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)

// ParseFile reads one technique's file. Every error is a *[FileError].
func ParseFile(path string, file []byte) (Technique, error) {
	fail := func(line int, format string, args ...any) (Technique, error) {
		return Technique{}, &FileError{Path: path, Line: line, Err: fmt.Errorf(format, args...)}
	}
	if len(file) > maxFile {
		return fail(0, "the file has %d bytes; at most %d are read", len(file), maxFile)
	}
	if !utf8.Valid(file) {
		return fail(0, "the file is not UTF-8 text")
	}
	head, body, ok := splitFile(file)
	if !ok {
		return fail(1, `want front matter between two lines "---" at the top of the file`)
	}
	var f frontMatter
	if err := decodeFrontMatter(head, &f); err != nil {
		line, cause := yamlFault(err)
		return fail(line, "front matter: %w", cause)
	}
	t := Technique{
		ID: sia.TechniqueID(f.ID), Name: strings.TrimSpace(f.Name), When: strings.TrimSpace(f.When),
		Ranks: map[sia.Pattern]int{}, Prompt: strings.TrimSpace(string(body)), Path: path,
		Trial: f.Trial,
	}
	switch {
	case !validID.MatchString(f.ID) || len(f.ID) > 64:
		return fail(keyLine(head, "id"), "id %q: want lower-case words joined by hyphens, such as contract-test", f.ID)
	case t.Name == "" || strings.ContainsAny(t.Name, "\r\n") || len(t.Name) > 80:
		return fail(keyLine(head, "name"), "name: want one line of at most 80 bytes")
	case t.When == "" || strings.ContainsAny(t.When, "\r\n") || len(t.When) > 300:
		return fail(keyLine(head, "when"), "when: want the situation it is for, one line of at most 300 bytes")
	case len(f.Patterns) == 0:
		return fail(keyLine(head, "patterns"), "patterns: name at least one pattern that it answers")
	case len(f.Changes) == 0:
		return fail(keyLine(head, "changes"), "changes: name at least one of %s", joinedList(Changes))
	case t.Prompt == "" || len(t.Prompt) > maxPrompt:
		return fail(0, "the body has %d bytes; want 1 to %d that tell the model what to do", len(t.Prompt), maxPrompt)
	}
	for p, rank := range f.Patterns {
		if !slices.Contains(sia.Patterns, sia.Pattern(p)) {
			return fail(keyLine(head, "patterns"), "patterns: %q is not one of %s", p, joinedList(sia.Patterns))
		}
		if rank < 1 || rank > maxRank {
			return fail(keyLine(head, "patterns"), "patterns: rank %d of %s is not between 1, a first choice, and %d", rank, p,
				maxRank)
		}
		t.Ranks[sia.Pattern(p)] = rank
	}
	for _, s := range f.Preconditions {
		if !slices.Contains(Preconditions, Precondition(s)) {
			return fail(keyLine(head, "preconditions"), "preconditions: %q is not one of %s", s, joinedList(Preconditions))
		}
		t.Preconditions = append(t.Preconditions, Precondition(s))
	}
	for _, s := range f.Changes {
		if !slices.Contains(Changes, Change(s)) {
			return fail(keyLine(head, "changes"), "changes: %q is not one of %s", s, joinedList(Changes))
		}
		t.Changes = append(t.Changes, Change(s))
	}
	return t, nil
}

// splitFile takes a file apart at its front matter. Line ends may be CRLF.
func splitFile(file []byte) (head, body []byte, ok bool) {
	file = bytes.ReplaceAll(bytes.TrimPrefix(file, []byte("\ufeff")), []byte("\r\n"), []byte("\n"))
	rest, ok := bytes.CutPrefix(file, []byte("---\n"))
	if !ok {
		return nil, nil, false
	}
	if body, ok := bytes.CutPrefix(rest, []byte("---\n")); ok {
		return nil, body, true
	}
	head, body, ok = bytes.Cut(rest, []byte("\n---\n"))
	return head, body, ok
}

// decodeFrontMatter reads the front matter strictly. The YAML library is given strangers'
// text here; should it panic, the file is broken, not the program.
func decodeFrontMatter(head []byte, into *frontMatter) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("unreadable YAML: %v", r)
		}
	}()
	if bytes.ContainsAny(head, "&*") && yamlAnchor.Match(head) {
		return errors.New("YAML anchors and aliases are not read here")
	}
	err = yaml.NewDecoder(bytes.NewReader(head), yaml.Strict()).Decode(into)
	if errors.Is(err, io.EOF) { // nothing stands there
		return nil
	}
	return err
}

var yamlAnchor = lazyregexp.New(`(?m)(^|[\s\[{,:-])[&*][A-Za-z0-9_]`)

// yamlFault takes the line in the file, counting the opening "---", and a
// message of one line out of a YAML error.
func yamlFault(err error) (line int, cause error) {
	var y yaml.Error
	if errors.As(err, &y) {
		if tk := y.GetToken(); tk != nil && tk.Position != nil {
			line = tk.Position.Line + 1
		}
		return line, errors.New(y.GetMessage())
	}
	return 0, err
}

// keyLine is the line of a front matter key in the file; 1 when it is missing.
func keyLine(head []byte, key string) int {
	for i, l := range bytes.Split(head, []byte("\n")) {
		if bytes.HasPrefix(l, []byte(key+":")) {
			return i + 2
		}
	}
	return 1
}

// joinedList is the list for an error message.
func joinedList[S ~string](list []S) string {
	words := make([]string, len(list))
	for i, s := range list {
		words[i] = string(s)
	}
	return strings.Join(words, ", ")
}
