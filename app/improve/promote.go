package improve

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/sia-bot/sia/app/atomicfile"
	"github.com/sia-bot/sia/sia/improve"
)

// Promotion is the result of promoting a kept version.
type Promotion struct {
	Promoted bool   `json:"promoted"`
	Why      string `json:"why,omitempty"`      // why it was not promoted
	File     string `json:"file,omitempty"`     // the replaced or created file
	Fallback string `json:"fallback,omitempty"` // path of the previous version
	Kept     string `json:"kept,omitempty"`     // path of another copy of the kept version
	Branch   string `json:"branch,omitempty"`
	Commit   string `json:"commit,omitempty"`
	Pull     string `json:"pull_request,omitempty"` // its URL
	// RestartRequired reports that running processes use the old version until they are rebuilt or restarted.
	RestartRequired bool     `json:"restart_required"`
	Notes           []string `json:"notes,omitempty"`
}

// ErrChanged means that somebody else changed the file while it was improved.
var ErrChanged = errors.New("somebody changed it meanwhile, and their version stays")

// Promote replaces the subject's file with the kept content, atomically. The file must be unchanged since it was read.
// The previous and the new version are also stored in the iteration's folder. If it returns an error, the file is as
// somebody else left it, or unchanged.
func (i *Iteration) Promote(s Subject, after improve.File) (p Promotion, err error) {
	defer func() {
		if err != nil {
			p.Why = err.Error()
			err = fmt.Errorf("promote %s: %w", s.Name, err)
		}
	}()
	if p.Kept, err = i.saveVersion(keptName, s.Name, after); err != nil {
		return p, err
	}
	if !s.File.Absent {
		if p.Fallback, err = i.saveVersion(fallbackName, s.Name, s.File); err != nil {
			return p, err
		}
	}
	if now, err := readFile(s.Target); err != nil || now != s.File {
		return p, errors.Join(ErrChanged, err)
	}
	if s.File.Absent {
		err = create(s.Target, []byte(after.Text))
	} else {
		p.Notes, err = i.replace(s, after.Text, os.Rename)
	}
	if err != nil {
		return p, err
	}
	p.Promoted, p.File = true, s.Target
	if s.Link {
		p.Notes = append(p.Notes, "the path is a link; what it leads to was replaced: "+s.Target)
	}
	return p, nil
}

// create creates a file and its parent folders. It returns ErrChanged if there is a file by now.
func create(path string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	err := atomicfile.Create(path, content, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return ErrChanged
	}
	return err
}

// replace replaces a file by one of the same mode, owner and group. It returns ErrChanged if the file is not the one
// that was read. rename is [os.Rename], except in tests.
func (i *Iteration) replace(s Subject, text string, rename func(from, to string) error) (notes []string, err error) {
	dir := filepath.Dir(s.Target)
	fresh, old := filepath.Join(dir, ".sia-new-"+i.Name), filepath.Join(dir, ".sia-old-"+i.Name)
	info, err := os.Stat(s.Target)
	if err != nil {
		return nil, err
	}
	mode := info.Mode().Perm()
	if err := atomicfile.Create(fresh, []byte(text), mode); err != nil {
		return nil, err
	}
	defer func() { _ = os.Remove(fresh) }() // it is gone if it was renamed
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		if err := os.Lchown(fresh, int(st.Uid), int(st.Gid)); err != nil {
			notes = append(notes, "the file has another owner or group now: "+cause(err).Error())
		}
		if st.Nlink > 1 {
			notes = append(notes, fmt.Sprintf("the file has %d names (hard links); the others keep the old content",
				st.Nlink))
		}
	}
	if err := os.Chmod(fresh, mode); err != nil { // regardless of the umask
		return nil, err
	}
	linked := os.Link(s.Target, old) == nil // not every file system has hard links
	defer func() {
		if linked {
			_ = os.Remove(old) // it is gone if it was put back
		}
	}()
	if now, err := readFile(s.Target); err != nil || now != s.File {
		return nil, errors.Join(ErrChanged, err)
	}
	if err := rename(fresh, s.Target); err != nil {
		return nil, err
	}
	if now, err := readFile(old); linked && (err != nil || now != s.File) { // somebody wrote to it at the last moment
		if err := os.Rename(old, s.Target); err != nil {
			linked = false
			return nil, fmt.Errorf("somebody changed it meanwhile, and their version is now %s: %w", old, err)
		}
		return nil, ErrChanged
	}
	return notes, atomicfile.SyncFolder(dir)
}
