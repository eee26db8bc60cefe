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

	"github.com/sia-bot/sia/app/atomicfile"
	"github.com/sia-bot/sia/sia/improve"
)

// phase is the progress of an iteration.
type phase string

const (
	working   phase = "working"
	promoting phase = "promoting"
	done      phase = "done"
)

const (
	recordName = "iteration.json"
	maxRecord  = 64 << 10 // bytes
	absent     = "absent" // sum of a file that does not exist
)

// record is the progress of an iteration, for the recovery after a killed process.
type record struct {
	Run    string `json:"run"`
	What   string `json:"what"` // description of the subject, for users
	Phase  phase  `json:"phase"`
	Cycles int    `json:"cycles"` // completed cycles

	// During promotion:
	Target string `json:"target,omitempty"` // absolute
	Temp   string `json:"temp,omitempty"`   // SIA's own, next to the target
	Before string `json:"before,omitempty"` // sum of the content, or absent
	After  string `json:"after,omitempty"`
}

// save writes the record atomically.
func (i *Iteration) save(r record) error {
	b, err := json.MarshalIndent(r, "", "  ")
	if err == nil {
		err = atomicfile.Replace(filepath.Join(i.Dir, recordName), append(b, '\n'), 0o644)
	}
	if err != nil {
		return fmt.Errorf("save how far iteration %s is: %w", i.Name, err)
	}
	i.record = r
	return nil
}

func readRecord(dir string) (r record, err error) {
	path := filepath.Join(dir, recordName)
	info, err := statRegular(path)
	if err != nil {
		return r, err
	}
	if info.Size() > maxRecord {
		return r, errors.New("it is too large")
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return r, err
	}
	return r, json.Unmarshal(b, &r)
}

// statRegular returns the info of a regular file. Reading any other file may block.
func statRegular(path string) (fs.FileInfo, error) {
	info, err := os.Lstat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is no ordinary file (%s)", path, info.Mode().Type())
	}
	return info, err
}

// sum returns a hash of a file's content.
func sum(f improve.File) string {
	if f.Absent {
		return absent
	}
	h := sha256.Sum256([]byte(f.Text))
	return hex.EncodeToString(h[:])
}

// fileSum returns the sum of the regular file at a path.
func fileSum(path string) (string, error) {
	info, err := statRegular(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return absent, nil
	case err != nil:
		return "", err
	case info.Size() > improve.MaxFile:
		return "too large to be ours", nil
	}
	b, err := os.ReadFile(path)
	return sum(improve.File{Text: string(b)}), err
}

// writeFile writes a file and creates its parent folders.
func writeFile(path string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, content, 0o644)
}
