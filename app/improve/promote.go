package improve

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

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
		err = replace(s.Target, []byte(after.Text))
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

// replace replaces a file by one of the same mode, regardless of the umask.
func replace(path string, content []byte) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	mode := info.Mode().Perm()
	if err := atomicfile.Replace(path, content, mode); err != nil {
		return err
	}
	return os.Chmod(path, mode)
}
