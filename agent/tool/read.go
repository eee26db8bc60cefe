package tool

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Limits of a page of read.
const (
	pageLines = 400
	maxLine   = 2000 // shown bytes of a line
)

// ReadTool shows lines of a file.
func ReadTool() Tool {
	return newTool(NameRead, readArgs{Start: 1, Lines: pageLines}, callRead, `{"type":"object","properties":{
"path":{"type":"string","description":"relative to the repository's root"},
"start":{"type":"integer","minimum":1,"description":"first line; default 1"},
"lines":{"type":"integer","minimum":1,"maximum":400}},
"required":["path"]}`)
}

type readArgs struct {
	Path  string `json:"path"`
	Start int    `json:"start"`
	Lines int    `json:"lines"`
}

// callRead reads one page.
func callRead(ctx context.Context, env Env, a readArgs) (Result, error) {
	if a.Start < 1 || a.Lines < 1 || a.Lines > pageLines {
		return Result{}, fmt.Errorf("start must be at least 1, and lines 1 to %d", pageLines)
	}
	p, err := localPath(a.Path)
	if err != nil {
		return Result{}, err
	}
	f, st, err := openRegular(env.Root, p)
	if err != nil {
		return Result{}, err
	}
	defer f.Close()
	if st.Size() == 0 {
		return Result{Text: fmt.Sprintf("[%s is empty]\n", p)}, nil
	}
	in := bufio.NewReaderSize(f, 16<<10)
	if head, _ := in.Peek(8000); isBinary(head) {
		return Result{}, fmt.Errorf("%s is a binary file of %d bytes", quotePath(p), st.Size())
	}
	page, n, hidden, err := numberedLines(ctx, in, a.Start, a.Lines)
	switch {
	case ctx.Err() != nil:
		return Result{}, context.Cause(ctx)
	case err != nil:
		return Result{}, pathError("read", p, err)
	case page == "":
		return Result{}, fmt.Errorf("%s has %d lines; start %d is beyond its end", quotePath(p), n, a.Start)
	}
	if hidden {
		page += "[characters that can't be seen are shown as ⟦U+…⟧; edit understands them in this form]\n"
	}
	return Result{Text: cutResult(page, MaxResult)}, nil
}

// numberedLines returns up to limit lines of a text, from start; n is the number of lines read. hidden reports whether
// hidden characters are shown as visible marks.
func numberedLines(
	ctx context.Context, in *bufio.Reader, start, limit int,
) (page string, n int, hidden bool, err error) {
	var b strings.Builder
	for {
		if n%1000 == 0 && ctx.Err() != nil {
			return "", n, false, context.Cause(ctx)
		}
		line, cut, err := readLine(in)
		if errors.Is(err, io.EOF) {
			return b.String(), n, hidden, nil
		}
		if err != nil {
			return "", n, false, err
		}
		if n++; n < start {
			continue
		}
		text, h := showHidden(strings.ToValidUTF8(line, "\uFFFD"))
		if n >= start+limit || b.Len()+len(text) > MaxResult-400 {
			fmt.Fprintf(&b, "[more lines; go on with start %d]\n", n)
			return b.String(), n, hidden, nil
		}
		hidden = hidden || h
		if cut {
			text += " […]"
		}
		fmt.Fprintf(&b, "%6d\t%s\n", n, text)
	}
}

// readLine reads one line without its end, of which it keeps at most maxLine bytes.
func readLine(in *bufio.Reader) (line string, cut bool, err error) {
	var kept []byte
	for {
		part, err := in.ReadSlice('\n')
		room := max(0, maxLine-len(kept))
		kept = append(kept, part[:min(len(part), room)]...)
		cut = cut || len(strings.TrimRight(string(part[min(len(part), room):]), "\r\n")) > 0
		switch {
		case err == nil:
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && (len(kept) > 0 || len(part) > 0):
		default:
			return "", false, err
		}
		return strings.TrimSuffix(strings.TrimSuffix(string(kept), "\n"), "\r"), cut, nil
	}
}
