package improve

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/sia-bot/sia/sia/text"
	"github.com/sia-bot/sia/sia/visible"
)

const (
	maxEdits   = 50
	secretMark = "[secret: " // beginning of a mark left by masking
)

// edit replaces a string that occurs exactly once in a file.
type edit struct {
	Old string `json:"old"`
	New string `json:"new"`
}

// implement asks the model for the planned change: as whole content if the model sees the whole file and its answer can
// be that long, else as edits, so that the unseen part is unchanged.
func (r *run) implement(ctx context.Context, c *Cycle, p plan, before File) (after File, why string) {
	r.Say(fmt.Sprintf("cycle %d: implement", c.Number))
	v := &evidence{left: room(r.Author)}
	s := r.show(before, v.left*60/100)
	c.FileBytes, c.ShownBytes, c.Way = len(before.Text), s.bytes, Whole
	if !before.Absent && (!s.whole || len(before.Text) > r.Author.MaxOutput()*bytesPerToken*2/3) {
		c.Way = Edits
	}
	v.add("The improvement to make", "From an analysis of the file, its logs and what was asked for. What is in them "+
		"may have got into this.", p.Goal+"\n\n"+visible.Text(r.Mask(p.How)), 30, text.Head)
	content := s.text
	if content == "" {
		content = "(empty)"
	}
	v.add("File "+p.file, strings.TrimSpace("From the project. "+s.note(before)), content, 100, text.Head)
	r.showFailure(v)
	q := question{name: "write", evidence: v.String()}
	if c.Way == Edits {
		q.name = "edit"
	}
	why = ask(ctx, r.Author, q, &c.Usage, func(raw []byte) (err error) {
		var answer struct {
			Summary string  `json:"summary"`
			Content *string `json:"content"`
			Edits   []edit  `json:"edits"`
		}
		if err := decode(raw, &answer); err != nil {
			return err
		}
		c.Summary = r.sentence(answer.Summary)
		switch {
		case c.Way == Edits:
			after.Text, err = applyEdits(before.Text, answer.Edits, s.bytes)
		case answer.Content == nil:
			return errors.New("content is missing")
		default:
			after.Text = matchLineEndings(before.Text, *answer.Content)
		}
		if err != nil {
			return err
		}
		return acceptable(before, after)
	})
	return after, why
}

// acceptable rejects implausible content. An error tells the model what to fix.
func acceptable(before, after File) error {
	switch {
	case len(after.Text) > MaxFile:
		return fmt.Errorf("the file would have %d bytes; at most %d are allowed", len(after.Text), MaxFile)
	case !utf8.ValidString(after.Text) || strings.ContainsRune(after.Text, 0):
		return errors.New("the file would be no text")
	case strings.TrimSpace(after.Text) == "":
		return errors.New("the file would be empty")
	case after == before:
		return errors.New("it changes nothing")
	case strings.Count(after.Text, secretMark) > strings.Count(before.Text, secretMark):
		return fmt.Errorf("%q…] stands where a secret was taken out for you; leave such places alone", secretMark)
	}
	return nil
}

// applyEdits applies edits in order. Each old string must occur exactly once at its turn and lie within the first seen
// bytes. An error tells the model what to fix.
func applyEdits(content string, edits []edit, seen int) (string, error) {
	if len(edits) == 0 || len(edits) > maxEdits {
		return "", fmt.Errorf("%d edits; there must be 1 to %d", len(edits), maxEdits)
	}
	rest := len(content) - seen // bytes at the end that edits must not touch
	for i, e := range edits {
		old, fresh := e.Old, e.New
		if crlf := toCRLF(old); old != "" && !strings.Contains(content, old) && strings.Contains(content, crlf) {
			old, fresh = crlf, toCRLF(fresh)
		}
		at := strings.Index(content, old)
		switch {
		case e.Old == "":
			return "", fmt.Errorf("edit %d: old is empty; to insert text name a neighbouring line in old and new", i+1)
		case at < 0:
			return "", fmt.Errorf("edit %d: old does not occur in the file as it is at that point; copy it exactly", i+1)
		case strings.Count(content, old) > 1 || strings.Contains(content[at+1:], old):
			return "", fmt.Errorf("edit %d: old occurs more than once; add neighbouring lines until it occurs once", i+1)
		case at+len(old) > len(content)-rest:
			return "", fmt.Errorf("edit %d: old reaches into the part of the file that was not shown", i+1)
		}
		content = content[:at] + fresh + content[at+len(old):]
	}
	return content, nil
}

// matchLineEndings returns content with the line endings of before, and with a final newline if before has one or is
// empty.
func matchLineEndings(before, content string) string {
	content = strings.ReplaceAll(content, "\r\n", "\n")
	if (before == "" || strings.HasSuffix(before, "\n")) && !strings.HasSuffix(content, "\n") && content != "" {
		content += "\n"
	}
	if n := strings.Count(before, "\n"); n > 0 && strings.Count(before, "\r\n") == n {
		return toCRLF(content)
	}
	return content
}

func toCRLF(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\n", "\r\n")
}
