package improve

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/sia-bot/sia/sia/improve"
)

const (
	historyName = "history.jsonl"
	maxHistory  = 4 << 20 // bytes read from the end of the history
)

// Entry is one line of the history: one cycle.
type Entry struct {
	Time time.Time `json:"time"`
	Run  string    `json:"run"` // the iteration's name
	improve.Cycle
	Evaluation improve.Evaluation `json:"evaluation"`
}

// Append adds a line. If an earlier process was killed while writing, it completes that line first, so that only that
// one is invalid.
func (p *Place) Append(e Entry) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("write the history of improvements: %w", err)
		}
	}()
	e.Time, e.Evaluation = p.now().UTC(), e.Cycle.Evaluation
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(p.dir, historyName), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	last := []byte{'\n'}
	if size > 0 {
		if _, err := f.ReadAt(last, size-1); err != nil {
			return err
		}
	}
	if last[0] != '\n' {
		line = append([]byte{'\n'}, line...)
	}
	if _, err = f.Write(append(line, '\n')); err != nil {
		return err
	}
	return f.Sync()
}

// History returns the entries of the last 4 MiB, oldest first. It skips invalid lines, such as truncated ones.
func (p *Place) History() (all []Entry, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("read the history of improvements: %w", err)
		}
	}()
	f, err := os.Open(filepath.Join(p.dir, historyName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(io.NewSectionReader(f, max(0, size-maxHistory), maxHistory))
	if err != nil {
		return nil, err
	}
	for line := range bytes.Lines(b) {
		var e Entry
		if json.Unmarshal(line, &e) == nil && e.Run != "" {
			e.Cycle.Evaluation = e.Evaluation
			all = append(all, e)
		}
	}
	return all, nil
}
