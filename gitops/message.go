package gitops

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// Trailer is a line "Key: Value" at the end of a commit message
// (https://git-scm.com/docs/git-interpret-trailers).
type Trailer struct{ Key, Value string }

// CommitSpec describes a commit. The same spec with the same files makes the same commit.
type CommitSpec struct {
	Message   string
	Trailers  []Trailer // appended to the message
	Author    Signature // name, email and time are required
	Committer Signature // zero means the author
	// Parents replace the default parent, the commit that the files were changed from. With Parents, unchanged files make
	// a commit too.
	Parents []string
}

var trailerLine = regexp.MustCompile(`^([A-Za-z0-9][A-Za-z0-9-]*)\s*:\s*(.*)$`)

// message is the spec's message with its trailers.
func (s CommitSpec) message() (string, error) {
	text := strings.TrimSpace(strings.ReplaceAll(s.Message, "\r\n", "\n"))
	if text == "" {
		return "", errors.New("commit message is empty")
	}
	if strings.Contains(text, "\x00") {
		return "", errors.New("commit message holds a NUL byte")
	}
	var b strings.Builder
	b.WriteString(text + "\n")
	if len(s.Trailers) > 0 {
		b.WriteString("\n")
	}
	for _, t := range s.Trailers {
		line := t.Key + ": " + strings.Join(strings.Fields(t.Value), " ")
		if !trailerLine.MatchString(line) || strings.Contains(line, "\x00") {
			return "", fmt.Errorf("trailer key %q: want letters, digits and hyphens", cleanText(t.Key, 60))
		}
		b.WriteString(line + "\n")
	}
	return b.String(), nil
}

// encode makes the commit object.
func (s CommitSpec) encode(tree plumbing.Hash, parents []plumbing.Hash) (o newObject, err error) {
	message, err := s.message()
	if err != nil {
		return o, err
	}
	committer := s.Committer
	if committer == (Signature{}) {
		committer = s.Author
	}
	for _, who := range []Signature{s.Author, committer} {
		if who.Name == "" || who.Email == "" || who.When.IsZero() {
			return o, errors.New("commit needs the name, email and time of its author and committer")
		}
	}
	c := object.Commit{TreeHash: tree, ParentHashes: parents, Message: message, Author: s.Author.object(),
		Committer: committer.object()}
	m := &plumbing.MemoryObject{}
	if err := c.Encode(m); err != nil {
		return o, fmt.Errorf("encode commit: %w", err)
	}
	r, err := m.Reader()
	if err != nil {
		return o, err
	}
	b, err := io.ReadAll(r)
	return inMemory(plumbing.CommitObject, b), err
}

// object returns the signature as go-git writes it, without the characters that end a name in git.
func (s Signature) object() object.Signature {
	plain := func(v string) string {
		return cleanText(strings.NewReplacer("<", "", ">", "").Replace(v), 200)
	}
	return object.Signature{Name: plain(s.Name), Email: plain(s.Email), When: s.When}
}
