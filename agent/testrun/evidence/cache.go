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
	Log   string          `json:"log,omitempty"` // end of the output of a failed build
	Ran   bool            `json:"ran"`           // a run started and ended
	End   testrun.End     `json:"end"`
	Tests testrun.Results `json:"tests,omitempty"` // results that were equal in every run
	Flaky []string        `json:"flaky,omitempty"` // tests with differing results
}

// resultCache caches results in a folder that may be deleted at any time. No file in it came from the network;
// unreadable files are ignored.
type resultCache struct {
	dir     string
	imports map[string][]string // imports of Go files, by the ID of their content
	more    bool                // imports has unsaved entries
}

func newResultCache(dir string) resultCache {
	k := resultCache{dir: dir, imports: map[string][]string{}}
	if b, err := os.ReadFile(k.importsFile()); err == nil && len(b) < maxImports {
		if json.Unmarshal(b, &k.imports) != nil || k.imports == nil {
			k.imports = map[string][]string{}
		}
	}
	return k
}

// Limits of the cache.
const (
	maxKept    = 200      // result files
	maxImports = 32 << 20 // bytes of the imports file; a larger one is dropped
)

func (k *resultCache) importsFile() string { return filepath.Join(k.dir, "all-imports") }

// importsOf returns the imports of a file's content. It calls read if they are not cached.
func (k *resultCache) importsOf(id string, read func() []string) []string {
	if have, ok := k.imports[id]; ok {
		return have
	}
	k.imports[id], k.more = read(), true
	return k.imports[id]
}

func (k *resultCache) saveImports() error {
	if !k.more {
		return nil
	}
	b, _ := json.Marshal(k.imports) // strings only
	k.more = false
	return k.write(k.importsFile(), b)
}

func (k *resultCache) write(name string, b []byte) error {
	if err := os.MkdirAll(k.dir, 0o700); err != nil {
		return fmt.Errorf("keep results: %w", err)
	}
	return atomicfile.Replace(name, b, 0o600)
}

// key returns the file name of a batch, by a hash of everything that its results depend on.
func (k *resultCache) key(parts ...any) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%q\n", p)
	}
	return filepath.Join(k.dir, hex.EncodeToString(h.Sum(nil)[:16])+".json")
}

// load reads the results of a batch; nil: not cached.
func (k *resultCache) load(key string) map[string]groupRun {
	b, err := os.ReadFile(key)
	if err != nil {
		return nil
	}
	var out map[string]groupRun
	if json.Unmarshal(b, &out) != nil {
		return nil
	}
	now := time.Now() // marks the file as recently used
	if err := os.Chtimes(key, now, now); err != nil {
		return nil
	}
	return out
}

func (k *resultCache) save(key string, runs map[string]groupRun) error {
	b, _ := json.Marshal(runs) // strings, numbers and booleans
	return k.write(key, b)
}

// prune removes the oldest results.
func (k *resultCache) prune() error {
	return sandbox.Prune(k.dir, "*.json", time.Now(), func(newer int, _ time.Duration) bool { return newer >= maxKept })
}
