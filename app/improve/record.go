package improve

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/sia-bot/sia/sia/improve"
)

// phase is how far an iteration is.
type phase string

const (
	working   phase = "working"
	promoting phase = "promoting"
	done      phase = "done"
)

const (
	recordName = "iteration.json"
	maxRecord  = 64 << 10 // bytes
	absent     = "absent" // in the place of a content's sum
)

// record says how far an iteration is, for a process that comes after a killed one.
type record struct {
	Run    string `json:"run"`
	What   string `json:"what"` // that is improved, for people
	Phase  phase  `json:"phase"`
	Cycles int    `json:"cycles"` // that ended

	// While it is promoted:
	Target string `json:"target,omitempty"` // absolute
	Temp   string `json:"temp,omitempty"`   // beside the target; ours
	Before string `json:"before,omitempty"` // sum of the content, or absent
	After  string `json:"after,omitempty"`
}

// save writes the record, whole or not at all.
func (i *Iteration) save(r record) error {
	b, err := json.MarshalIndent(r, "", "  ")
	if err == nil {
		err = writeWhole(filepath.Join(i.Dir, recordName), append(b, '\n'))
	}
	if err != nil {
		return fmt.Errorf("save how far iteration %s is: %w", i.Name, err)
	}
	i.record = r
	return nil
}

func readRecord(dir string) (r record, err error) {
	b, err := os.ReadFile(filepath.Join(dir, recordName))
	if err != nil {
		return r, err
	}
	if len(b) > maxRecord {
		return r, errors.New("it is too large")
	}
	return r, json.Unmarshal(b, &r)
}

// sum tells contents apart.
func sum(f improve.File) string {
	if f.Absent {
		return absent
	}
	h := sha256.Sum256([]byte(f.Text))
	return hex.EncodeToString(h[:])
}

// sumOf is the sum of whatever is at a path now.
func sumOf(path string) (string, error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return absent, nil
	}
	if err != nil {
		return "", err
	}
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:]), nil
}

// writeWhole writes a file so that it is there with all of its content or as it was before,
// whenever the process or the machine stops.
func writeWhole(path string, content []byte) error {
	temp := path + ".new"
	if err := writeSynced(temp, content, 0o644); err != nil {
		return err
	}
	if err := os.Rename(temp, path); err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	return syncFolder(filepath.Dir(path))
}

// writeSynced writes a new file of ours and waits until it is on the disk.
func writeSynced(path string, content []byte, mode fs.FileMode) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// syncFolder waits until a folder's names are on the disk.
func syncFolder(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// layFile writes a file and the folders above it.
func layFile(path string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, content, 0o644)
}
