package replay

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/sia-bot/sia/app/atomicfile"
)

// Candidate is the record of a judged commit.
type Candidate struct {
	Commit   string    `json:"commit"`
	Language string    `json:"language"`
	Verdict  Verdict   `json:"verdict"`
	Endings  int       `json:"endings,omitempty"` // how often a limit ended it
	Why      string    `json:"why,omitempty"`     // for people
	Seconds  float64   `json:"seconds"`           // duration of judging
	At       time.Time `json:"at"`
}

// mostEndings is the number of times that a limit ends a candidate before it is final: the machine may have been busy.
const mostEndings = 3

// again reports whether another try may have another result, because the machine was the cause.
func (c Candidate) again() bool {
	switch c.Verdict {
	case Unprepared, Absent:
		return true
	case Ended:
		return c.Endings < mostEndings
	default:
		return false
	}
}

// Folder stores one repository's candidates, tasks and runs, in a folder of SIA's data:
//
//	candidates/<commit>.json  each commit that was judged
//	tasks/<id>.json           each task
//	output/<id>.log           the end of its tests' output on the parent
//	runs.jsonl                each run of a task, a line each
//	cache/                    fetched and built files, and work trees; it may be deleted at any time
//
// Files are written atomically, and a task before its candidate, so that a kill loses at most the
// candidate that was being judged. Several processes may use one folder; they may judge a candidate
// twice.
type Folder struct{ dir string }

// OpenFolder opens the folder of a repository below data, or creates it. The name is owner/name, or another
// unique name of the repository.
func OpenFolder(data, repository string) (*Folder, error) {
	f := folderOf(data, repository)
	for _, sub := range []string{"candidates", "tasks", "cache"} {
		if err := os.MkdirAll(filepath.Join(f.dir, sub), 0o700); err != nil {
			return nil, fmt.Errorf("open replay folder: %w", err)
		}
	}
	return f, nil
}

func folderOf(data, repository string) *Folder {
	return &Folder{dir: filepath.Join(data, "replay", url.PathEscape(repository))}
}

// Path returns the folder's path.
func (f *Folder) Path() string { return f.dir }

func (f *Folder) cache() string { return filepath.Join(f.dir, "cache") }

// Tasks returns the tasks, in the order of their ids. broken are files that can't be read, with the reason; they
// stay unchanged.
func (f *Folder) Tasks() (tasks []Task, broken []string, err error) {
	broken, err = f.each("tasks", func(b []byte) error {
		t, err := ReadTask(b)
		if err == nil {
			tasks = append(tasks, t)
		}
		return err
	})
	slices.SortStableFunc(tasks, func(a, b Task) int { return strings.Compare(a.ID, b.ID) })
	return tasks, broken, err
}

// SaveTask stores a task.
func (f *Folder) SaveTask(t Task) error {
	b, err := t.Encode()
	if err != nil {
		return err
	}
	return writeFile(filepath.Join(f.dir, "tasks", t.ID+".json"), b)
}

// Output returns the end of the output of a task's tests on its parent, unchanged: strangers' text. "" if not stored.
func (f *Folder) Output(id string) (string, error) {
	b, err := readBounded(filepath.Join(f.dir, "output", id+".log"))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return string(b), err
}

func (f *Folder) saveOutput(id, output string) error {
	return writeFile(filepath.Join(f.dir, "output", id+".log"), []byte(output))
}

// Candidates returns the judged candidates, by commit. A file that can't be read is ignored, and its commit
// is judged again.
func (f *Folder) Candidates() (map[string]Candidate, error) {
	out := map[string]Candidate{}
	_, err := f.each("candidates", func(b []byte) error {
		var c Candidate
		if err := json.Unmarshal(b, &c); err != nil {
			return err
		}
		out[c.Commit] = c
		return nil
	})
	return out, err
}

func (f *Folder) saveCandidate(c Candidate) error {
	b, err := json.Marshal(c)
	if err != nil {
		return fmt.Errorf("encode candidate %s: %w", c.Commit, err)
	}
	return writeFile(filepath.Join(f.dir, "candidates", c.Commit+".json"), append(b, '\n'))
}

// maxKept limits a file of the folder, in bytes.
const maxKept = 4 << 20

// each reads the JSON files of a subfolder.
func (f *Folder) each(sub string, read func([]byte) error) (broken []string, err error) {
	names, err := fs.Glob(os.DirFS(f.dir), sub+"/*.json") // the folder's own name is not a pattern
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", sub, err)
	}
	for _, name := range names {
		name = filepath.Join(f.dir, filepath.FromSlash(name))
		b, err := readBounded(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // somebody removed it meanwhile
		}
		if err == nil {
			err = read(b)
		}
		if err != nil {
			broken = append(broken, fmt.Sprintf("%s: %v", name, err))
		}
	}
	return broken, nil
}

func readBounded(name string) ([]byte, error) {
	in, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	b, err := io.ReadAll(io.LimitReader(in, maxKept+1))
	if err == nil && len(b) > maxKept {
		err = fmt.Errorf("it has more than %d MiB", maxKept>>20)
	}
	return b, err
}

// AppendRun adds a run to the log of runs, with one write and a sync.
func (f *Folder) AppendRun(r Result) error {
	b, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("encode run of %s: %w", r.Task, err)
	}
	out, err := os.OpenFile(filepath.Join(f.dir, "runs.jsonl"), os.O_APPEND|os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("log run: %w", err)
	}
	b = append(b, '\n')
	if st, err := out.Stat(); err == nil && st.Size() > 0 {
		last := make([]byte, 1)
		if _, err := out.ReadAt(last, st.Size()-1); err == nil && last[0] != '\n' {
			b = append([]byte{'\n'}, b...) // a kill truncated the previous line
		}
	}
	_, err = out.Write(b)
	if err := errors.Join(err, out.Sync(), out.Close()); err != nil {
		return fmt.Errorf("log run: %w", err)
	}
	return nil
}

// Runs returns the logged runs, oldest first. It skips a line that a kill truncated.
func (f *Folder) Runs() (out []Result, err error) {
	in, err := os.Open(filepath.Join(f.dir, "runs.jsonl"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read runs: %w", err)
	}
	defer in.Close()
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxKept)
	for lines.Scan() {
		var r Result
		if json.Unmarshal(bytes.TrimSpace(lines.Bytes()), &r) == nil && r.Task != "" {
			out = append(out, r)
		}
	}
	if err := lines.Err(); err != nil {
		return out, fmt.Errorf("read runs: %w", err)
	}
	return out, nil
}

// writeFile writes a file and the folders above it.
func writeFile(name string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return atomicfile.Replace(name, content, 0o600)
}
