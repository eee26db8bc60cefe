package tool

import (
	"context"
	"errors"
	"fmt"
	"path"
	"regexp"
	"strings"

	"github.com/sia-bot/sia/agent/locate"
	"github.com/sia-bot/sia/agent/tool/symbol"
)

// Limits of an outline.
const (
	pageSymbols = 300
	maxOutlined = 5000 // files
)

// errOutlineLimit ends an outline of too many files.
var errOutlineLimit = fmt.Errorf("%w: there are more than %d files of code; name a smaller directory", errCut,
	maxOutlined)

// OutlineTool lists the definitions in files.
func OutlineTool() Tool {
	return newTool(NameOutline, outlineArgs{}, callOutline, `{"type":"object","properties":{
"path":{"type":"string","description":"file or directory; default ."},
"match":{"type":"string","description":"RE2 expression; only names that match"},
"skip":{"type":"integer","minimum":0,"description":"for the next page"}}}`)
}

type outlineArgs struct {
	Path  string `json:"path"`
	Match string `json:"match"`
	Skip  int    `json:"skip"`
}

// callOutline shows one page.
func callOutline(ctx context.Context, env Env, a outlineArgs) (Result, error) {
	switch {
	case a.Skip < 0:
		return Result{}, errors.New("skip must not be negative")
	case len(a.Match) > maxPattern:
		return Result{}, fmt.Errorf("match must have at most %d bytes", maxPattern)
	}
	match, err := regexp.Compile(a.Match)
	if err != nil {
		return Result{}, fmt.Errorf("match: %w", err)
	}
	start, st, err := lookUp(env.Root, "outline", a.Path)
	if err != nil {
		return Result{}, err
	}
	o := outlinePage{match: match, page: page{skip: a.Skip, limit: pageSymbols}}
	if !st.IsDir() {
		if !symbol.Knows(start) {
			return Result{}, fmt.Errorf("outline does not know the language of %s; use read or search", quotePath(start))
		}
		b, _, err := readText(env.Root, start)
		if err != nil {
			return Result{}, err
		}
		o.addFile(start, b)
	} else {
		err = walkTree(ctx, env.Root, start, func(e treeEntry) (bool, error) {
			switch {
			case o.full:
				return false, errStop
			case !e.mode.IsRegular():
				return !locate.IsThirdParty(path.Base(e.path)), nil
			case !symbol.Knows(e.path) || e.size > MaxFile:
				return true, nil
			}
			if o.files++; o.files > maxOutlined {
				return false, errOutlineLimit
			}
			if b, _, err := readText(e.folder, path.Base(e.path)); err == nil { // unreadable files are skipped
				o.addFile(e.path, b)
			}
			return true, nil
		})
	}
	if err := o.end("definitions", ", or name a file or a smaller directory", err); err != nil {
		return Result{}, err
	}
	if o.out.Len() == 0 {
		o.out.WriteString("[no definition found]\n")
	}
	return Result{Text: cutResult(o.out.String(), MaxResult)}, nil
}

// outlinePage is an outline in progress.
type outlinePage struct {
	page
	match       *regexp.Regexp
	files       int
	headingFile string
}

// addFile adds the symbols of a file.
func (o *outlinePage) addFile(p string, b []byte) {
	for _, s := range symbol.Of(p, string(b)) {
		if !o.match.MatchString(s.Name) {
			continue
		}
		if !o.next(len(p) + len(s.Text) + 100) {
			continue
		}
		if o.headingFile != p {
			name, _ := showHidden(p)
			o.out.WriteString(name + "\n")
			o.headingFile = p
		}
		text, _ := showHidden(strings.ToValidUTF8(s.Text, "\uFFFD"))
		fmt.Fprintf(&o.out, "%6d: %s%s\n", s.Line, strings.Repeat("  ", s.Depth), text)
	}
}
