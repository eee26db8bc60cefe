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

// maxCountedFile is the maximum size of a file with counted lines, in bytes.
const maxCountedFile = 1 << 20

// locateFailures finds the files of the head that contain the lines named by its failures. A name that matches several
// files means one that the attempt changed, or none. If the head can't be read, it returns nil.
func (w *surfaceWorker) locateFailures(ctx context.Context, t sia.Task) render.Placed {
	named := render.NamedLines(t)
	if len(named) == 0 {
		return nil
	}
	files, err := w.mirror(t).Files(ctx, string(t.Head), "")
	if err != nil {
		w.Logger.WarnContext(ctx, "no lines are annotated", "task", t.ID, "head", t.Head.Short(), "error", err)
		return nil
	}
	byName := map[string][]string{} // paths by base name
	for _, f := range files {
		if f.Mode&(fs.ModeSymlink|fs.ModeDir) == 0 {
			byName[path.Base(f.Path)] = append(byName[path.Base(f.Path)], f.Path)
		}
	}
	in, lines := render.Placed{}, map[string]int{}
	for _, n := range named {
		p := matchFile(n.Name, byName[path.Base(n.Name)], t.Attempt().Diff.Paths)
		if p == "" {
			continue
		}
		if _, counted := lines[p]; !counted {
			content, err := w.mirror(t).ReadFile(ctx, string(t.Head), p, maxCountedFile)
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

// matchFile returns the file that a name in a log means. All files have the same base name. It prefers a file that is a
// suffix of name, as in a path on the machine that ran the check, to one that name is a suffix of. Among several it
// returns the one that was changed.
func matchFile(name string, files, changed []string) string {
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
	if longest != "" && name == longest { // in the root, or in any folder
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
