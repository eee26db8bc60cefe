package tool

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

// WriteTool creates a file, or replaces all of it.
func WriteTool() Tool {
	return newTool(NameWrite, writeArgs{}, callWrite, `{"type":"object","properties":{
"path":{"type":"string"},
"content":{"type":"string","description":"the whole text"}},
"required":["path","content"]}`)
}

type writeArgs struct {
	Path    string  `json:"path"`
	Content *string `json:"content"`
}

// callWrite writes the file.
func callWrite(_ context.Context, env Env, a writeArgs) (Result, error) {
	switch {
	case a.Content == nil:
		return Result{}, errors.New("content is missing; it is the whole text of the file, and may be empty")
	case len(*a.Content) > MaxFile:
		return Result{}, fmt.Errorf("content is larger than %d bytes", MaxFile)
	}
	p, err := localPath(a.Path)
	if err != nil {
		return Result{}, err
	}
	content, mode, did := *a.Content, fs.FileMode(0o644), "created"
	st, err := env.Root.Lstat(p)
	switch {
	case err == nil && st.Mode()&fs.ModeSymlink != 0:
		return Result{}, noLinks(env.Root, p)
	case err == nil:
		if err := checkRegular(p, st); err != nil {
			return Result{}, err
		}
		mode, did = st.Mode(), "replaced"
		if was, _, err := readText(env.Root, p); err == nil { // other files have no form to preserve
			content = withByteOrderMark(string(was), inFileForm(string(was), content))
		}
	case !errors.Is(err, fs.ErrNotExist):
		return Result{}, pathError("write", p, err)
	case strings.HasSuffix(a.Path, "/"):
		return Result{}, fmt.Errorf("%s is a directory; name the file", quotePath(a.Path))
	}
	if err := replaceFile(env.Root, p, []byte(content), mode); err != nil {
		return Result{}, err
	}
	return Result{Text: fmt.Sprintf("%s %s, %d lines\n", did, p, len(splitEnds(content))), Changed: []string{p}}, nil
}

// withByteOrderMark adds the byte order mark of the old content to the new content. A model that rewrites a file rarely
// includes it; edit can remove it.
func withByteOrderMark(was, content string) string {
	const mark = "\ufeff"
	if strings.HasPrefix(was, mark) && content != "" && !strings.HasPrefix(content, mark) {
		return mark + content
	}
	return content
}
