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
		err = atomicfile.Replace(filepath.Join(i.Dir, recordName), append(b, '\n'), 0o644)
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
	return sum(improve.File{Text: string(b)}), nil
}

// layFile writes a file and the folders above it.
func layFile(path string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, content, 0o644)
}
