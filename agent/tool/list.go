package tool

import (
	"context"
	"fmt"
	"path"
)

// pageEntries is the number of entries on a page of list.
const pageEntries = 300

// ListTool lists the content of a directory.
func ListTool() Tool {
	return newTool(NameList, listArgs{Depth: 1}, callList, `{"type":"object","properties":{
"path":{"type":"string","description":"relative to the repository's root; default ."},
"depth":{"type":"integer","minimum":1,"maximum":6,"description":"levels to show; default 1"},
"skip":{"type":"integer","minimum":0,"description":"for the next page"}}}`)
}

type listArgs struct {
	Path  string `json:"path"`
	Depth int    `json:"depth"`
	Skip  int    `json:"skip"`
}

// callList lists one page.
func callList(ctx context.Context, env Env, a listArgs) (Result, error) {
	if a.Depth < 1 || a.Depth > 6 || a.Skip < 0 {
		return Result{}, fmt.Errorf("depth must be 1 to 6 and skip must not be negative")
	}
	dir, st, err := lookUp(env.Root, "list", a.Path)
	if err != nil {
		return Result{}, err
	}
	if !st.IsDir() {
		return Result{}, fmt.Errorf("%s is a file; use read to see it", quotePath(dir))
	}
	p := page{skip: a.Skip, limit: pageEntries}
	err = walkTree(ctx, env.Root, dir, func(e treeEntry) (bool, error) {
		if p.next(len(e.path) + 100) {
			p.out.WriteString(e.listLine() + "\n")
		}
		if p.full {
			return false, errStop
		}
		return e.depth < a.Depth, nil
	})
	if err := p.end("entries", "", err); err != nil {
		return Result{}, err
	}
	if p.out.Len() == 0 {
		fmt.Fprintf(&p.out, "[%s is empty]\n", path.Clean(dir))
	}
	return Result{Text: cutResult(p.out.String(), MaxResult)}, nil
}

// listLine returns an entry in the format of list.
func (e treeEntry) listLine() string {
	name, _ := showHidden(e.path)
	switch {
	case e.mode.IsDir():
		if e.ignored {
			return name + "/ (ignored by git; not shown)"
		}
		return name + "/"
	case !e.mode.IsRegular():
		return name + " (link or special file; not followed)"
	}
	return fmt.Sprintf("%s (%d bytes)", name, e.size)
}
