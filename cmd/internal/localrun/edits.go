package localrun

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sia-bot/sia/cmd/internal/localgit"
	"github.com/sia-bot/sia/sia/lazyregexp"
	"github.com/sia-bot/sia/sia/tamper"
	"github.com/sia-bot/sia/sia/text"
)

// editFindings returns what [run.testEdits] found about a head, which it did before the head's check ended.
func (r *run) editFindings(head string) []string {
	if found, ok := r.edits.Load(head); ok {
		return []string{found.(string)}
	}
	return nil
}

// testEdits runs the test command on a head that passes once more, with the base's versions of the files by which it is
// tested, if the change edits any. A failure means that the code alone does not make the command pass. Unlike the runs
// of single tests, this works for every language. A command that fails only once is no evidence.
//
// An edit that the issue asks for fails as well. So the finding asks as a failing base test does: the reviewer first,
// who has to quote the issue, else a person.
func (r *run) testEdits(ctx context.Context, head string) error {
	entries, names, err := r.baseEntries(ctx, head)
	if err != nil || len(names) == 0 {
		return err
	}
	r.progress("The change edits how it is tested, so %s runs once more, without the change to %s.", r.job.check,
		text.List(names))
	over, err := r.bare.CommitEntries(ctx, filepath.Join(r.Dir, "edits-index"), head, entries, "With the base's tests")
	if err != nil {
		return err
	}
	for range 2 {
		if res := r.check(ctx, over); res.err != nil || res.passed {
			return res.err
		}
	}
	r.edits.Store(head, fmt.Sprintf("`%s` fails on the head without the change to %s",
		r.job.settings.Agent.Test, text.List(names)))
	return nil
}

// maxNamedEdits is the maximum number of files that a finding names.
const maxNamedEdits = 3

// baseEntries returns the entries that give a head the base's versions of the files by which it is tested, without
// those that are new, and the names of those that the change edits. There are no names if it edits none: a new test
// is no edit, but a new makefile may be, since makefiles include others.
func (r *run) baseEntries(ctx context.Context, head string) (entries string, names []string, err error) {
	raw, err := r.bare.Run(ctx, "diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", r.job.base, head)
	if err != nil {
		return "", nil, err
	}
	var removed, restored strings.Builder // a folder can be in the place of a file
	fields := strings.Split(string(raw), "\x00")
	for ; len(fields) > 1; fields = fields[2:] {
		of, p := strings.Fields(fields[0]), fields[1] // :mode mode id id status
		if len(of) < 5 {
			return "", nil, fmt.Errorf("git diff-tree: %q", fields[0])
		}
		mode, was, now, isNew := strings.TrimPrefix(of[0], ":"), of[2], of[3], of[4] == "A"
		switch isMake := isMakefile.MatchString(path.Base(p)); {
		case path.Base(p) == "package.json" && of[4] == "M":
			if was, err = withScripts(ctx, r.bare, was, now); err != nil {
				return "", nil, err
			}
			if was == "" {
				continue
			}
		case !isMake && !isTestFile(p) && !tamper.RunBy(r.job.settings.Agent.Test, p):
			continue
		case isNew:
			fmt.Fprintf(&removed, "0 %s\t%s\x00", was, p)
			if !isMake {
				continue
			}
		}
		if !isNew {
			fmt.Fprintf(&restored, "%s %s\t%s\x00", mode, was, p)
		}
		names = append(names, "`"+strings.ReplaceAll(p, "`", "'")+"`")
	}
	if more := len(names) - maxNamedEdits; more > 0 {
		names = append(names[:maxNamedEdits], fmt.Sprintf("%d more", more))
	}
	return removed.String() + restored.String(), names, nil
}

// isMakefile matches the names of files that make reads.
var isMakefile = lazyregexp.New(`(?i)^(?:(?:gnu)?makefile|.*\.mk)$`)

// isTestFile reports whether a file is part of tests. Rust's sources are not, although they can contain tests: with the
// base's code a change can't pass.
func isTestFile(p string) bool {
	return tamper.IsTest(p) && (path.Ext(p) != ".rs" || slices.Contains(strings.Split(path.Dir(p), "/"), "tests"))
}

// withScripts stores a package.json with the scripts of an earlier version, apart from new ones, and returns its id; ""
// if they are the same. The rest, such as dependencies, is needed by the code as it is now.
func withScripts(ctx context.Context, git localgit.Repo, was, now string) (id string, err error) {
	files, scripts := [2]map[string]json.RawMessage{}, [2]map[string]string{}
	for i, blob := range []string{was, now} {
		b, err := git.Run(ctx, "cat-file", "blob", blob)
		if err != nil {
			return "", err
		}
		if json.Unmarshal(b, &files[i]) != nil || files[i]["scripts"] != nil &&
			json.Unmarshal(files[i]["scripts"], &scripts[i]) != nil {
			return was, nil //nolint:nilerr // npm can't read one of them either, so all of it is the base's
		}
	}
	edited := false
	for name, script := range scripts[0] {
		if scripts[1] == nil {
			scripts[1] = map[string]string{}
		}
		edited = edited || scripts[1][name] != script
		scripts[1][name] = script
	}
	if !edited {
		return "", nil
	}
	if files[1]["scripts"], err = json.Marshal(scripts[1]); err != nil {
		return "", err
	}
	b, err := json.MarshalIndent(files[1], "", "  ")
	if err != nil {
		return "", err
	}
	blob, err := git.RunWith(ctx, nil, string(b), "hash-object", "-w", "--stdin")
	return strings.TrimSpace(string(blob)), err
}
