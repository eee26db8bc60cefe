package improve

import (
	"cmp"
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

// Steps of a promotion, for tests.
const (
	stepRecorded = "recorded" // the intended change is recorded
	stepWritten  = "written"  // the new version is next to the file
	stepSwapped  = "swapped"  // it has the file's name
	stepChecked  = "checked"  // the replaced file was the expected version
)

// Promote replaces the subject's file with the kept content. The file must be unchanged since it was read. The previous
// and the new version are also stored in the iteration's folder. If it returns an error, the file is as somebody else
// left it, or unchanged.
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
	if err := os.MkdirAll(filepath.Dir(s.Target), 0o755); err != nil {
		return p, err
	}
	r := i.record
	r.Phase, r.Target, r.Before, r.After = promoting, s.Target, sum(s.File), sum(after)
	r.Temp = filepath.Join(filepath.Dir(s.Target), "."+filepath.Base(s.Target)+".sia-"+i.Name)
	if err := i.save(r); err != nil {
		return p, err
	}
	i.step(stepRecorded)
	if p.Notes, err = i.replace(s, after); err != nil {
		r.Phase = working
		return p, errors.Join(err, i.save(r))
	}
	p.Promoted, p.File = true, s.Target
	if s.Link {
		p.Notes = append(p.Notes, "the path is a link; what it leads to was replaced: "+s.Target)
	}
	r.Phase = done
	return p, i.save(r)
}

// replace writes the new version next to the file, swaps the two, and checks the replaced version: if it is not the
// expected one, it swaps them back.
func (i *Iteration) replace(s Subject, after improve.File) (notes []string, err error) {
	r := i.record
	made := false
	defer func() {
		if err != nil && made && !errors.Is(err, errNotOurs) {
			err = errors.Join(err, removeOwn(r.Temp))
		}
	}()
	var owner ownership
	mode := fs.FileMode(0o644)
	if !s.File.Absent {
		info, err := os.Stat(s.Target)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, ErrChanged
		}
		if err != nil {
			return nil, err
		}
		mode, owner = info.Mode().Perm(), ownershipOf(info)
		if owner.links > 1 {
			notes = append(notes, fmt.Sprintf("the file has %d names (hard links); the others keep the old content",
				owner.links))
		}
	}
	if made, err = writeNew(r.Temp, after.Text, mode); err != nil {
		return nil, err
	}
	if err := owner.apply(r.Temp); err != nil {
		notes = append(notes, "the file has another owner now: "+cause(err).Error())
	}
	i.step(stepWritten)
	if now, err := fileSum(s.Target); err != nil || now != r.Before {
		return nil, cmp.Or(err, ErrChanged)
	}
	if s.File.Absent {
		// Unlike a rename, a link fails if there is a file by now.
		if err := os.Link(r.Temp, s.Target); err != nil {
			if errors.Is(err, fs.ErrExist) {
				err = ErrChanged
			}
			return nil, err
		}
		i.step(stepSwapped)
		return notes, errors.Join(removeOwn(r.Temp), atomicfile.SyncFolder(filepath.Dir(s.Target)))
	}
	exchanged, err := exchange(r.Temp, s.Target)
	if err != nil {
		return nil, err
	}
	i.step(stepSwapped)
	if exchanged {
		if err := i.verifySwap(s.Target); err != nil {
			return nil, err
		}
	}
	return notes, atomicfile.SyncFolder(filepath.Dir(s.Target))
}

// errNotOurs means that the temporary file is somebody else's and must not be removed.
var errNotOurs = errors.New("it lies beside the file")

// verifySwap checks the version that the new one replaced, and removes it if it is the expected one.
func (i *Iteration) verifySwap(target string) error {
	r := i.record
	got, err := fileSum(r.Temp)
	i.step(stepChecked)
	if err == nil && got == r.Before {
		return removeOwn(r.Temp)
	}
	if _, back := exchange(r.Temp, target); back != nil {
		return errors.Join(err, ErrChanged, fmt.Errorf("%w: %s (%w)", errNotOurs, r.Temp, back))
	}
	return cmp.Or(err, ErrChanged)
}

// writeNew creates a file that must not exist, syncs it to disk, and reads it back. made reports whether the file was
// created, complete or not.
func writeNew(path, content string, mode fs.FileMode) (made bool, err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return false, err
	}
	_, err = f.WriteString(content)
	if err == nil {
		err = errors.Join(f.Chmod(mode), f.Sync()) // regardless of the umask
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return true, err
	}
	got, err := fileSum(path)
	if err == nil && got != sum(improve.File{Text: content}) {
		err = errors.New("the disk gives back something else than was written to it")
	}
	return true, err
}

// removeOwn removes a file that SIA created, if it exists.
func removeOwn(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
