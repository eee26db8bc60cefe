package failure

import (
	"context"
	"errors"
	"io"
)

// Line is one line of a log for display.
type Line struct {
	N        int    // 1-based
	Text     string // without timestamps and colours, at most 400 bytes
	Excerpt  bool   // it belongs to a span, not to the context around one
	AfterGap bool   // lines before it were left out
}

// ReadLines reads the lines of ascending spans from a log, with up to around lines before and after each.
func ReadLines(ctx context.Context, r io.Reader, spans []Span, around int) ([]Line, error) {
	var out []Line
	var c lineCleaner
	lines := newLineReader(newSource(ctx, r))
	for len(spans) > 0 {
		raw, n, err := lines.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return out, err
		}
		for len(spans) > 0 && n > spans[0].End+around {
			spans = spans[1:]
		}
		if len(spans) == 0 || n < spans[0].Start-around {
			continue
		}
		l := c.clean(raw, n)
		last := 0
		if len(out) > 0 {
			last = out[len(out)-1].N
		}
		if n == last {
			continue // a part of an endless line
		}
		in := n >= spans[0].Start && n <= spans[0].End || len(spans) > 1 && n >= spans[1].Start
		out = append(out, Line{N: n, Text: printableText(clipText(l.text)), Excerpt: in, AfterGap: n > last+1})
	}
	return out, nil
}
