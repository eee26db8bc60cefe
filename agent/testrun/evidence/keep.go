package evidence

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/sia-bot/sia/agent/sandbox"
	"github.com/sia-bot/sia/agent/testrun"
	"github.com/sia-bot/sia/app/atomicfile"
)

// groupRun is the result of one group in one tree.
type groupRun struct {
	Built bool            `json:"built"`
	Log   string          `json:"log,omitempty"` // of a build that failed, its end
	Ran   bool            `json:"ran"`           // a run began and ended
	End   testrun.End     `json:"end"`
	Tests testrun.Results `json:"tests,omitempty"` // what came out alike in every run
	Flaky []string        `json:"flaky,omitempty"` // what did not
}

// kept is what was run, in a folder that may be deleted at any time. Nothing in it came from the network; a file that
// can't be read counts for nothing.
type kept struct {
	dir     string
	imports map[string][]string // of Go files, by the id of their content
	more    bool                // imports has more than the file
}

func newKept(dir string) kept {
	k := kept{dir: dir, imports: map[string][]string{}}
	if b, err := os.ReadFile(k.importsFile()); err == nil && len(b) < maxImports {
		if json.Unmarshal(b, &k.imports) != nil || k.imports == nil {
			k.imports = map[string][]string{}
		}
	}
	return k
}

// Bounds of what is kept.
const (
	maxKept    = 200      // files of results
	maxImports = 32 << 20 // bytes of what Go files import, after which it is read anew
)

func (k *kept) importsFile() string { return filepath.Join(k.dir, "all-imports") }

// importsOf are the imports of a file's content, which read reads.
func (k *kept) importsOf(id string, read func() []string) []string {
	if have, ok := k.imports[id]; ok {
		return have
	}
	k.imports[id], k.more = read(), true
	return k.imports[id]
}

func (k *kept) saveImports() error {
	if !k.more {
		return nil
	}
	b, _ := json.Marshal(k.imports) // texts
	k.more = false
	return k.write(k.importsFile(), b)
}

func (k *kept) write(name string, b []byte) error {
	if err := os.MkdirAll(k.dir, 0o700); err != nil {
		return fmt.Errorf("keep results: %w", err)
	}
	return atomicfile.Replace(name, b, 0o600)
}

// key names a batch by everything that it depends on.
func (k *kept) key(parts ...any) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%q\n", p)
	}
	return filepath.Join(k.dir, hex.EncodeToString(h.Sum(nil)[:16])+".json")
}

// load reads a batch; nil: it was not run.
func (k *kept) load(key string) map[string]groupRun {
	b, err := os.ReadFile(key)
	if err != nil {
		return nil
	}
	var out map[string]groupRun
	if json.Unmarshal(b, &out) != nil {
		return nil
	}
	now := time.Now() // of the file, so that what is used stays
	if err := os.Chtimes(key, now, now); err != nil {
		return nil
	}
	return out
}

func (k *kept) save(key string, runs map[string]groupRun) error {
	b, _ := json.Marshal(runs) // texts, numbers and booleans
	return k.write(key, b)
}

// prune removes the oldest results.
func (k *kept) prune() error {
	return sandbox.Prune(k.dir, "*.json", time.Now(), func(newer int, _ time.Duration) bool { return newer >= maxKept })
}
