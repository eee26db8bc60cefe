package improve

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/sia-bot/sia/agent/sandbox"
	"github.com/sia-bot/sia/sia/improve"
)

// Tidy completes the iterations of killed processes in this place, and returns a sentence about each. Since the place
// is locked, none of them is running.
func (p *Place) Tidy() (found []string, err error) {
	all, err := os.ReadDir(p.dir)
	if err != nil {
		return nil, fmt.Errorf("tidy up: %w", err)
	}
	for _, d := range all {
		if !d.IsDir() || d.Name() == cacheFolder {
			continue
		}
		i := &Iteration{Name: d.Name(), Dir: filepath.Join(p.dir, d.Name()), step: func(string) {}}
		r, err := readRecord(i.Dir)
		switch {
		case errors.Is(err, fs.ErrNotExist): // killed before it began, or not SIA's
			_ = os.Remove(i.Dir) // succeeds only if empty
			continue
		case err != nil:
			found = append(found, fmt.Sprintf("The record of iteration %s can't be read (%v); it was left alone.", i.Name, err))
			continue
		case r.Phase == done:
			continue
		}
		i.record = r
		said, err := p.finish(i)
		if err != nil {
			return found, fmt.Errorf("tidy up iteration %s: %w", i.Name, err)
		}
		found = append(found, said)
	}
	return found, nil
}

// finish ends an iteration of a killed process.
func (p *Place) finish(i *Iteration) (said string, err error) {
	r := i.record
	said = fmt.Sprintf("An earlier run, %s, was killed in its cycle %d; %s is as it was.", i.Name, r.Cycles+1, r.What)
	if r.Phase == promoting {
		if !p.isOwnRecord(i) {
			return "", fmt.Errorf("its record names what is not its own (%s, %s); remove %s if you don't know it", r.Target,
				r.Temp, i.Dir)
		}
		if said, err = i.recoverPromotion(); err != nil {
			return "", err
		}
	}
	if err := sandbox.RemoveAll(filepath.Join(i.Dir, copyFolder)); err != nil {
		return "", err
	}
	if err := p.Append(Entry{Run: i.Name, Cycle: improve.Cycle{
		Number: r.Cycles + 1, File: r.What, Outcome: improve.Failed, Reason: said}}); err != nil {
		return "", err
	}
	r.Phase = done
	return said, i.save(r)
}

// recoverPromotion completes an interrupted promotion. The file is the previous version, the new one, or somebody
// else's. It is not changed, except to restore somebody else's version that was displaced.
func (i *Iteration) recoverPromotion() (said string, err error) {
	r := i.record
	now, err := fileSum(r.Target)
	if err != nil {
		return "", err
	}
	beside, err := fileSum(r.Temp)
	if err != nil {
		return "", err
	}
	killed := "An earlier run, " + i.Name + ", was killed while it promoted " + r.What + ": "
	switch {
	case now == r.After && beside != absent && beside != r.Before && beside != r.After:
		if _, err := exchange(r.Temp, r.Target); err != nil {
			return "", err
		}
		said = killed + "somebody had changed the file, and their version has its name again. What was kept lies in " +
			filepath.Join(i.Dir, keptName) + "."
	case now == r.After:
		said = killed + "the new version is in place. The version before lies in " + filepath.Join(i.Dir, fallbackName) + "."
	case now == r.Before:
		said = killed + "the file is as it was. What was kept lies in " + filepath.Join(i.Dir, keptName) + "."
	default:
		said = killed + "the file is as somebody else left it. Both versions lie in " + i.Dir + "."
	}
	if beside == r.Before || beside == r.After || now == r.After {
		return said, removeOwn(r.Temp)
	}
	if beside == absent {
		return said, nil
	}
	// It is incomplete, or somebody else's version.
	return said, os.Rename(r.Temp, filepath.Join(i.Dir, strayName))
}

// isOwnRecord reports whether an iteration's record names a file of this project, and the temporary file that a
// promotion in this iteration would create. This matters because files are replaced and removed according to the
// record.
func (p *Place) isOwnRecord(i *Iteration) bool {
	r := i.record
	folder := filepath.Dir(r.Target)
	if real, err := filepath.EvalSymlinks(folder); err == nil && real != folder {
		return false
	}
	root, err := filepath.EvalSymlinks(p.Root)
	if err != nil {
		return false
	}
	name, err := filepath.Rel(root, r.Target)
	return err == nil && filepath.IsLocal(name) && filepath.IsAbs(r.Target) &&
		r.Temp == filepath.Join(folder, "."+filepath.Base(r.Target)+".sia-"+i.Name) &&
		!strings.ContainsRune(i.Name, filepath.Separator)
}
