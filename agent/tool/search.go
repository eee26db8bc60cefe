package tool

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"regexp"
	"strings"

	"github.com/sia-bot/sia/sia/glob"
)

// Limits of a search.
const (
	pageMatches  = 100
	maxShown     = 300       // shown bytes of a matching line
	maxSearched  = 256 << 20 // bytes read in total
	maxPattern   = 1000      // bytes of the pattern
	maxContext   = 10        // lines around a match
	maxSearchOne = MaxFile   // larger files are skipped
)

// errSearchLimit ends a search that read too much.
var errSearchLimit = fmt.Errorf("%w: 256 MiB were read; narrow the search with path or glob", errCut)

// SearchTool finds lines that match a regular expression.
func SearchTool() Tool {
	return newTool(NameSearch, searchArgs{}, callSearch, `{"type":"object","properties":{
"pattern":{"type":"string",
"description":"RE2 expression; (?i) at its beginning ignores case"},
"path":{"type":"string","description":"file or directory to search; default ."},
"glob":{"type":"string","description":"such as *.go or src/**/*.ts, from the root or from path"},
"context":{"type":"integer","minimum":0,"maximum":10,
"description":"lines before and after"},
"skip":{"type":"integer","minimum":0,"description":"for the next page"}},
"required":["pattern"]}`)
}

type searchArgs struct {
	Pattern string `json:"pattern"`
	Path    string `json:"path"`
	Glob    string `json:"glob"`
	Context int    `json:"context"`
	Skip    int    `json:"skip"`
}

// callSearch searches until a page is full.
func callSearch(ctx context.Context, env Env, a searchArgs) (Result, error) {
	switch {
	case a.Pattern == "" || len(a.Pattern) > maxPattern:
		return Result{}, fmt.Errorf("pattern must have 1 to %d bytes", maxPattern)
	case a.Skip < 0:
		return Result{}, errors.New("skip must not be negative")
	case a.Context < 0 || a.Context > maxContext:
		return Result{}, fmt.Errorf("context must be 0 to %d", maxContext)
	case len(a.Glob) > maxPattern:
		return Result{}, fmt.Errorf("glob must have at most %d bytes", maxPattern)
	}
	wanted, err := pathsOf(a.Glob)
	if err != nil {
		return Result{}, fmt.Errorf("glob %s: %w; want such as *.go or src/**/*.ts", quotePath(a.Glob), err)
	}
	re, err := regexp.Compile(a.Pattern)
	if err != nil {
		return Result{}, fmt.Errorf("pattern: %w; to search for the text itself, put \\ before special characters", err)
	}
	start, st, err := lookUp(env.Root, "search", a.Path)
	if err != nil {
		return Result{}, err
	}
	s := searchPage{re: re, contextLines: a.Context, page: page{skip: a.Skip, limit: pageMatches}}
	s.prefix, _ = re.LiteralPrefix()
	if !st.IsDir() {
		if err := checkRegular(start, st); err != nil {
			return Result{}, err
		}
		f, st, err := openRegular(env.Root, start)
		if err != nil {
			return Result{}, err
		}
		s.truncated = st.Size() > maxSearchOne
		s.addFile(start, f)
	} else {
		err = walkTree(ctx, env.Root, start, func(e treeEntry) (bool, error) {
			if !e.mode.IsRegular() || !wanted(e.path) && !wanted(strings.TrimPrefix(e.path, start+"/")) {
				return true, nil
			}
			if e.size > maxSearchOne {
				s.skippedFiles++
				return true, nil
			}
			if f, err := e.open(); err == nil { // unreadable files are skipped
				s.addFile(e.path, f)
			}
			switch {
			case s.full:
				return false, errStop
			case s.read > maxSearched:
				return false, errSearchLimit
			}
			return true, nil
		})
	}
	if err := s.end("matches", ", or narrow the search", err); err != nil {
		return Result{}, err
	}
	if s.out.Len() == 0 {
		s.out.WriteString("[no match]\n")
	}
	if s.truncated {
		s.out.WriteString("[only the file's first MiB was searched]\n")
	}
	if s.skippedFiles > 0 {
		fmt.Fprintf(&s.out, "[%d files larger than 1 MiB were passed over]\n", s.skippedFiles)
	}
	return Result{Text: cutResult(s.out.String(), MaxResult)}, nil
}

// searchPage is a search in progress.
type searchPage struct {
	page
	re           *regexp.Regexp
	prefix       string // literal prefix of every match
	contextLines int    // lines of context
	read         int64  // bytes
	skippedFiles int    // number of files skipped because of their size
	truncated    bool   // the only searched file is too large
}

// addFile searches one file, and closes it.
func (s *searchPage) addFile(p string, f *os.File) {
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxSearchOne))
	s.read += int64(len(b))
	if err != nil || len(b) == 0 || isBinary(b) || !bytes.Contains(b, []byte(s.prefix)) {
		return
	}
	name, _ := showHidden(p)
	all := bytes.Split(bytes.TrimSuffix(b, []byte("\n")), []byte("\n"))
	shown := 0 // lines before this index are on the page
	for i, line := range all {
		if !s.re.Match(bytes.TrimSuffix(line, []byte("\r"))) {
			continue
		}
		if !s.next((2*s.contextLines + 1) * (maxShown + len(name) + 16)) {
			continue
		}
		from := max(shown, i-s.contextLines)
		if s.contextLines > 0 && s.out.Len() > 0 && (from > shown || shown == 0) {
			s.out.WriteString("--\n")
		}
		for n := from; n < i; n++ {
			s.addLine(name, n, '-', all[n])
		}
		if i >= shown {
			s.addLine(name, i, ':', line)
		}
		shown = max(shown, i+1)
		for n := i + 1; n < len(all) && n <= i+s.contextLines; n++ {
			if s.re.Match(bytes.TrimSuffix(all[n], []byte("\r"))) {
				break // a match of its own
			}
			s.addLine(name, n, '-', all[n])
			shown = n + 1
		}
	}
}

// addLine adds the line with an index. A colon marks a match, a dash a line of context.
func (s *searchPage) addLine(name string, i int, mark byte, line []byte) {
	line = bytes.TrimSuffix(line, []byte("\r"))
	text, _ := showHidden(strings.ToValidUTF8(string(line[:min(len(line), maxShown)]), "\uFFFD"))
	if len(line) > maxShown {
		text += " […]"
	}
	fmt.Fprintf(&s.out, "%s%c%d%c %s\n", name, mark, i+1, mark, text)
}

// pathsOf returns the matcher of a glob. A glob without a slash matches the base name; an empty one matches every path.
func pathsOf(pattern string) (func(string) bool, error) {
	if pattern == "" {
		return func(string) bool { return true }, nil
	}
	g, err := glob.Compile(pattern)
	if strings.Contains(pattern, "/") {
		return g.Match, err
	}
	return func(p string) bool { return g.Match(path.Base(p)) }, err
}
