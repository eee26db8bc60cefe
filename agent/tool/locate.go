package tool

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"time"

	"github.com/sia-bot/sia/agent/locate"
	"github.com/sia-bot/sia/sia/text"
)

// Limits of locating.
const (
	maxQuery      = 32 << 10 // bytes
	locateTimeout = 10 * time.Second
	coverTimeout  = 20 * time.Second // to run failing tests, in addition
	maxWhy        = 240              // characters of the reasons for one file
)

// LocateTool ranks the files in which a change probably belongs.
func LocateTool() Tool {
	return newTool(NameLocate, locateArgs{}, callLocate,
		`{"type":"object","properties":{"query":{"type":"string"}},"required":["query"]}`)
}

type locateArgs struct {
	Query string `json:"query"`
}

// callLocate ranks files.
func callLocate(ctx context.Context, env Env, a locateArgs) (Result, error) {
	if strings.TrimSpace(a.Query) == "" || len(a.Query) > maxQuery {
		return Result{}, fmt.Errorf("query must have 1 to %d bytes: words, identifiers, names of tests, or failing output",
			maxQuery)
	}
	q := locate.Query{Text: a.Query}
	if strings.Contains(a.Query, "\n") {
		q.Output = []string{a.Query}
	}
	places, whole, left, err := Locate(ctx, env, q)
	if err != nil {
		return Result{}, err
	}
	if left != "" {
		left = "[" + text.OneLine(left) + "]\n"
	}
	if len(places) == 0 {
		return Result{Text: left + "[nothing points to any file; use search]\n"}, nil
	}
	list := PlaceList(places, MaxResult-400)
	if !whole {
		list += "[not all files were read: others may fit as well; use search]\n"
	}
	return Result{Text: cutResult(list+left, MaxResult)}, nil
}

// Locate ranks the files of the work tree for a fault, including the coverage of its failing tests if available; see
// [locate.Rank]. left describes missing evidence and the reason.
func Locate(ctx context.Context, env Env, q locate.Query) (places []locate.Place, whole bool, left string, err error) {
	tree := &workTree{env: env}
	if q.Ran, err = cover(ctx, env, tree, q); err != nil {
		left = text.Clip("which lines the failing tests run is not known: "+err.Error(), maxWhy)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, locateTimeout, errLocating)
	defer cancel()
	places, whole, err = locate.Rank(ctx, tree, env.Past, q)
	return places, whole && !tree.cut, left, err
}

// cover runs the failing tests of a query that are in the work tree.
func cover(ctx context.Context, env Env, tree *workTree, q locate.Query) ([]locate.Run, error) {
	if env.Cover == nil {
		return nil, nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, coverTimeout, errCovering)
	defer cancel()
	tests, err := locate.FindTests(ctx, tree, q)
	if err != nil || len(tests) == 0 {
		return nil, err
	}
	return env.Cover(ctx, tests)
}

var errCovering = errors.New("running them took more than " + coverTimeout.String())

var errLocating = errors.New("this took more than " + locateTimeout.String() + "; use search")

// PlaceList returns a list for a model, best first, with one line per place and at most limit bytes.
func PlaceList(places []locate.Place, limit int) string {
	var b strings.Builder
	for i, p := range places {
		path, _ := showHidden(text.OneLine(p.Path))
		line := fmt.Sprintf("%d. %s: %s", i+1, path, text.Clip(text.OneLine(strings.Join(p.Why, "; ")), maxWhy))
		if len(p.Tests) > 0 {
			line += ". Tests: " + text.Clip(text.OneLine(strings.Join(p.Tests, ", ")), maxWhy)
		}
		line, _ = showHidden(strings.ToValidUTF8(line, "\uFFFD"))
		if b.Len()+len(line)+1 > limit {
			break
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

// workTree implements the work tree for package locate.
type workTree struct {
	env Env
	cut bool // there are more files than listed
}

// Files lists the regular files that are not ignored by git.
func (w *workTree) Files(ctx context.Context) (out []locate.File, err error) {
	err = walkTree(ctx, w.env.Root, ".", func(e treeEntry) (bool, error) {
		if e.mode.IsRegular() {
			out = append(out, locate.File{Path: e.path, Size: e.size})
		}
		return !e.mode.IsDir() || !locate.IsThirdParty(path.Base(e.path)), nil
	})
	if w.cut = errors.Is(err, errTooMany); w.cut { // enough for a ranking
		err = nil
	}
	return out, err
}

// Read reads the first limit bytes of a text file.
func (w *workTree) Read(_ context.Context, p string, limit int64) ([]byte, error) {
	f, _, err := openRegular(w.env.Root, p)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, limit))
	if err == nil && isBinary(b) {
		err = fmt.Errorf("%s is a binary file", quotePath(p))
	}
	return b, err
}
