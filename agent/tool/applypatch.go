package tool

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/bluekeyes/go-gitdiff/gitdiff"
)

// maxPatched is the maximum number of files in a patch.
const maxPatched = 100

// File modes in git's encoding, which is Unix's and not that of package fs.
const (
	gitType    = 0o170000
	gitRegular = 0o100000
)

// PatchTool applies a unified diff, completely or not at all.
func PatchTool() Tool {
	return newTool(NamePatch, patchArgs{}, callPatch, `{"type":"object","properties":{
"patch":{"type":"string"}},
"required":["patch"]}`)
}

type patchArgs struct {
	Patch string `json:"patch"`
}

// callPatch applies the patch in memory, then writes the files.
func callPatch(_ context.Context, env Env, a patchArgs) (Result, error) {
	diff, err := unwrapPatch(a.Patch)
	if err != nil {
		return Result{}, err
	}
	files, err := parsePatch(diff)
	if err != nil {
		return Result{}, err
	}
	p := patchRun{env: env, files: map[string]*patchedFile{}}
	for _, f := range files {
		if err := p.applyFile(f); err != nil {
			return Result{}, fmt.Errorf("nothing was changed: %w", err)
		}
	}
	if err := p.writeFiles(); err != nil {
		return Result{}, err
	}
	return Result{Text: cutResult(strings.Join(p.results, "\n")+"\n", MaxResult), Changed: p.order}, nil
}

// parsePatch parses a diff of 1 to maxPatched files.
func parsePatch(text string) ([]*gitdiff.File, error) {
	if strings.TrimSpace(text) == "" {
		return nil, errors.New("patch is empty; it is a unified diff")
	}
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	if allCRLF(text) { // otherwise names would include the CR
		text = strings.ReplaceAll(text, "\r\n", "\n")
	}
	text, err := recountHunks(text)
	if err != nil {
		return nil, err
	}
	files, _, err := gitdiff.Parse(strings.NewReader(text))
	switch {
	case err != nil:
		return nil, fmt.Errorf("the patch can't be read (%w); want for each file --- a/path, +++ b/path, then hunks that "+
			"begin with @@ -line,count +line,count @@", err)
	case len(files) == 0:
		return nil, errors.New("the patch changes no file; want for each file --- a/path, +++ b/path, then hunks that " +
			"begin with @@ -line,count +line,count @@")
	case len(files) > maxPatched:
		return nil, fmt.Errorf("the patch changes %d files; at most %d are taken at once", len(files), maxPatched)
	}
	return files, nil
}

// patchedFile is the state of a file after the patch.
type patchedFile struct {
	old  []byte // nil: new file
	text []byte // nil: deleted
	mode fs.FileMode
}

// patchRun is a patch being applied.
type patchRun struct {
	env     Env
	files   map[string]*patchedFile
	order   []string // changed paths, in order
	results []string
}

// applyFile applies one file of the patch in memory.
func (p *patchRun) applyFile(f *gitdiff.File) error {
	from, to := f.OldName, f.NewName
	switch {
	case f.IsBinary || f.BinaryFragment != nil:
		return fmt.Errorf("patch %s: binary files can't be patched", quotePath(to))
	case f.IsCopy:
		return fmt.Errorf("patch %s: copies can't be patched; use write", quotePath(to))
	case f.NewMode != 0 && f.NewMode&gitType != gitRegular:
		return fmt.Errorf("patch %s: links and submodules can't be patched, only regular files", quotePath(to))
	case len(f.TextFragments) == 0 && !f.IsNew && !f.IsDelete && !f.IsRename && f.NewMode == 0:
		return fmt.Errorf("patch %s: nothing in it is changed; want hunks that begin with @@", quotePath(to))
	case f.IsNew:
		from = ""
	case f.IsDelete:
		to = ""
	}
	for _, name := range []*string{&from, &to} {
		if *name == "" {
			continue
		}
		clean, err := localPath(*name)
		if err != nil {
			return err
		}
		*name = clean
	}
	old := &patchedFile{mode: 0o644}
	if from != "" {
		var err error
		if old, err = p.readFile(from); err != nil {
			return err
		}
	}
	text, err := applyHunks(string(old.text), f.TextFragments)
	if err != nil {
		return fmt.Errorf("patch %s: %w", quotePath(max(from, to)), err)
	}
	if len(text) > MaxFile {
		return fmt.Errorf("patch %s: the file would have %d bytes; at most %d are allowed", quotePath(to), len(text), MaxFile)
	}
	mode := old.mode
	if f.NewMode&0o111 != 0 {
		mode |= 0o111
	} else if f.NewMode != 0 {
		mode &^= 0o111
	}
	if to != from && to != "" {
		if err := p.checkAbsent(to); err != nil {
			return err
		}
	}
	if from != "" && from != to {
		if to == "" && text != "" {
			return fmt.Errorf("patch %s: the file has lines that the patch does not delete", quotePath(from))
		}
		p.keepFile(from, &patchedFile{old: old.old, mode: old.mode})
	}
	switch {
	case to == "":
		p.results = append(p.results, "deleted "+from)
		return nil
	case from == "":
		p.results = append(p.results, "created "+to)
	case from != to:
		p.results = append(p.results, "renamed "+from+" to "+to)
	default:
		p.results = append(p.results, fmt.Sprintf("patched %s (hunks: %d)", to, len(f.TextFragments)))
	}
	next := &patchedFile{text: []byte(text), mode: mode}
	if from == to {
		next.old = old.old
	}
	p.keepFile(to, next)
	return nil
}

// readFile reads a file with the changes so far.
func (p *patchRun) readFile(name string) (*patchedFile, error) {
	if f, ok := p.files[name]; ok {
		if f.text == nil {
			return nil, fmt.Errorf("patch %s: the patch deleted it before", quotePath(name))
		}
		return f, nil
	}
	b, st, err := readText(p.env.Root, name)
	if err != nil {
		return nil, err
	}
	if b == nil {
		b = []byte{}
	}
	return &patchedFile{old: b, text: b, mode: st.Mode()}, nil
}

// checkAbsent returns an error if the path exists.
func (p *patchRun) checkAbsent(name string) error {
	if f, ok := p.files[name]; ok && f.text == nil {
		return nil
	}
	if err := noLinks(p.env.Root, name); err != nil {
		return err
	}
	if _, err := p.env.Root.Lstat(name); err == nil {
		return fmt.Errorf("patch %s: there is such a file already", quotePath(name))
	} else if !errors.Is(err, fs.ErrNotExist) {
		return pathError("patch", name, err)
	}
	return nil
}

func (p *patchRun) keepFile(name string, f *patchedFile) {
	if before, ok := p.files[name]; ok {
		f.old = before.old
	} else {
		p.order = append(p.order, name)
	}
	p.files[name] = f
}

// writeFiles writes all files. On error, it restores those already written.
func (p *patchRun) writeFiles() error {
	for i, name := range p.order {
		f := p.files[name]
		var err error
		if f.text != nil {
			err = replaceFile(p.env.Root, name, f.text, f.mode)
		} else if f.old != nil {
			err = p.env.Root.Remove(name)
		}
		if err == nil {
			continue
		}
		err = pathError("patch", name, err)
		for _, done := range p.order[:i] {
			if before := p.files[done]; before.old != nil {
				err = errors.Join(err, replaceFile(p.env.Root, done, before.old, before.mode))
			} else {
				err = errors.Join(err, p.env.Root.Remove(done))
			}
		}
		return fmt.Errorf("nothing was changed: %w", err)
	}
	return nil
}
