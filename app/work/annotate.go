package work

import (
	"bytes"
	"context"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/sia"
)

// longestFile is the longest file in which lines are counted, in bytes.
const longestFile = 1 << 20

// placed finds out in which files of the head the lines are that its failures name. A name that several files may mean
// is one of the files that the attempt changed, or none. Where the head can't be read, nothing is placed.
func (w *surfaceWorker) placed(ctx context.Context, t sia.Task) render.Placed {
	named := render.NamedLines(t)
	if len(named) == 0 {
		return nil
	}
	files, err := w.mirror(t).Files(ctx, string(t.Head), "")
	if err != nil {
		w.Logger.WarnContext(ctx, "no lines are annotated", "task", t.ID, "head", t.Head.Short(), "error", err)
		return nil
	}
	byName := map[string][]string{} // paths by their last part
	for _, f := range files {
		if f.Mode&(fs.ModeSymlink|fs.ModeDir) == 0 {
			byName[path.Base(f.Path)] = append(byName[path.Base(f.Path)], f.Path)
		}
	}
	in, lines := render.Placed{}, map[string]int{}
	for _, n := range named {
		p := meant(n.Name, byName[path.Base(n.Name)], t.Attempt().Diff.Paths)
		if p == "" {
			continue
		}
		if _, counted := lines[p]; !counted {
			content, err := w.mirror(t).ReadFile(ctx, string(t.Head), p, longestFile)
			if lines[p] = bytes.Count(content, []byte("\n")); err != nil {
				lines[p] = -1
			} else if len(content) > 0 && !bytes.HasSuffix(content, []byte("\n")) {
				lines[p]++
			}
		}
		if n.Line <= lines[p] {
			in[n] = p
		}
	}
	return in
}

// meant is the file that a name in a log means, of the files with the same last part: the one that the name ends with,
// as a path of the machine where the check ran does, or else the one that ends with the name. Of several it is the one
// that was changed.
func meant(name string, files, changed []string) string {
	longest := ""
	var fits []string
	for _, f := range files {
		switch {
		case name == f, strings.HasSuffix(name, "/"+f):
			if len(f) > len(longest) {
				longest = f
			}
		case strings.HasSuffix(f, "/"+name):
			fits = append(fits, f)
		}
	}
	if longest != "" && (strings.Contains(longest, "/") || name == longest && len(fits) == 0) {
		return longest
	}
	if longest != "" && name == longest { // at the root, or anywhere below
		fits = append(fits, longest)
	}
	if len(fits) > 1 {
		fits = slices.DeleteFunc(fits, func(f string) bool { return !slices.Contains(changed, f) })
	}
	if len(fits) != 1 {
		return ""
	}
	return fits[0]
}
