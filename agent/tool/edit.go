package tool

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// EditTool replaces one piece of text in a file.
func EditTool() Tool {
	return newTool(NameEdit, editArgs{}, callEdit, `{"type":"object","properties":{
"path":{"type":"string"},
"old":{"type":"string",
"description":"text to replace, without line numbers"},
"new":{"type":"string","description":"text in its place; empty deletes"},
"all":{"type":"boolean","description":"replace every occurrence; default false"}},
"required":["path","old","new"]}`)
}

type editArgs struct {
	Path string `json:"path"`
	Old  string `json:"old"`
	New  string `json:"new"`
	All  bool   `json:"all"`
}

// callEdit replaces the text.
func callEdit(_ context.Context, env Env, a editArgs) (Result, error) {
	switch a.Old {
	case "":
		return Result{}, errors.New("old is empty; to create a file use write, to insert text name a neighbouring line " +
			"in " +
			"old and new")
	case a.New:
		return Result{}, errors.New("old and new are the same")
	}
	p, err := localPath(a.Path)
	if err != nil {
		return Result{}, err
	}
	b, st, err := readText(env.Root, p)
	if err != nil {
		return Result{}, err
	}
	text := string(b)
	old, fresh := matchSpelling(text, a.Old, a.New)
	n := strings.Count(text, old)
	switch {
	case n == 0:
		return Result{}, fmt.Errorf("edit %s: old does not occur in the file%s", quotePath(p), nearestText(text, a.Old))
	case n > 1 && !a.All:
		return Result{}, fmt.Errorf("edit %s: old occurs %d times, at lines %s; add neighbouring lines until it occurs "+
			"once, or set all", quotePath(p), n, linesOf(text, old))
	}
	before, _, _ := strings.Cut(text, old)
	line := 1 + strings.Count(before, "\n")
	size := len(text) + n*(len(fresh)-len(old))
	if size > MaxFile {
		return Result{}, fmt.Errorf("edit %s: the file would have %d bytes; at most %d are allowed", quotePath(p), size,
			MaxFile)
	}
	if err := replaceFile(env.Root, p, []byte(strings.ReplaceAll(text, old, fresh)), st.Mode()); err != nil {
		return Result{}, err
	}
	at := fmt.Sprintf("at line %d", line)
	if n > 1 {
		at = fmt.Sprintf("in %d places", n)
	}
	return Result{Text: fmt.Sprintf("edited %s %s\n", p, at), Changed: []string{p}}, nil
}

// matchSpelling returns old in the spelling of the file, and new in the same spelling and the file's form: unchanged,
// with CRLF line ends, or with the hidden characters that read showed as visible marks.
func matchSpelling(text, old, fresh string) (string, string) {
	for _, spell := range []func(string) string{
		func(s string) string { return s },
		crlf,
		restoreHidden,
		func(s string) string { return crlf(restoreHidden(s)) },
	} {
		if o := spell(old); o != "" && strings.Contains(text, o) {
			return o, inFileForm(text, spell(fresh))
		}
	}
	return old, fresh
}

// linesOf lists the first ten lines at which old begins.
func linesOf(text, old string) string {
	var at []string
	line := 1
	for range 10 {
		before, after, ok := strings.Cut(text, old)
		if !ok {
			return strings.Join(at, ", ")
		}
		line += strings.Count(before, "\n")
		at = append(at, fmt.Sprint(line))
		line += strings.Count(old, "\n")
		text = after
	}
	return strings.Join(at, ", ") + ", …"
}
