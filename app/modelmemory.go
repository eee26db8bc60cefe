package app

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"sync"
	"time"

	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/app/atomicfile"
)

// ModelsFile is the file in the server's folder that stores what was learned about models: the protocol of each, what
// its endpoint rejects, and the result of a test conversation. It may be deleted; everything in it is learned again.
const ModelsFile = "models.json"

// ModelMemory is what was learned about models, by [llm.Client.Key]. It is safe for concurrent use.
type ModelMemory struct {
	*llm.Memory
	path string // "": not stored
	log  *slog.Logger

	mu        sync.Mutex
	known     modelsFile
	unwritten modelsFile // learned by this process; other processes use the same file
}

// modelsFile is the content of the file.
type modelsFile struct {
	Learned map[string]llm.Learned `json:"learned"`
	Probed  map[string]llm.Probed  `json:"probed"`
}

// NewModelMemory reads what was learned about models from the folder; "": it is not stored. A file that can't be read
// is ignored.
func NewModelMemory(dir string, log *slog.Logger) *ModelMemory {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	m := &ModelMemory{log: log}
	if dir != "" {
		m.path = filepath.Join(dir, ModelsFile)
		var err error
		if m.known, err = m.read(); err != nil {
			log.Warn("what was learned of models can't be read, and is learned again", "file", m.path, "error", err)
		}
	}
	m.Memory = llm.NewMemory(m.known.Learned, func(all map[string]llm.Learned) {
		m.change(func() {
			for key, l := range all {
				if !reflect.DeepEqual(l, m.known.Learned[key]) {
					put(&m.unwritten.Learned, key, l)
				}
			}
			m.known.Learned = all
		})
	})
	return m
}

// read reads the file; it may be missing.
func (m *ModelMemory) read() (f modelsFile, err error) {
	b, err := os.ReadFile(m.path)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err == nil {
		err = json.Unmarshal(b, &f)
	}
	if err != nil {
		return modelsFile{}, err
	}
	return f, nil
}

func put[V any](in *map[string]V, key string, v V) {
	if *in == nil {
		*in = map[string]V{}
	}
	(*in)[key] = v
}

// Probed returns the results of test conversations by model key.
func (m *ModelMemory) Probed() map[string]llm.Probed {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.known.Probed)
}

// saveProbed stores the result of a test conversation.
func (m *ModelMemory) saveProbed(key string, p llm.Probed) {
	m.change(func() {
		put(&m.known.Probed, key, p)
		put(&m.unwritten.Probed, key, p)
	})
}

func (m *ModelMemory) change(f func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f()
	if m.path == "" {
		return
	}
	if err := m.write(); err != nil {
		m.log.Warn("what was learned of models is not kept", "file", m.path, "error", err)
		return
	}
	m.unwritten = modelsFile{}
}

// write merges the unwritten data into the file. If two processes do that in the same moment, the data of one is lost,
// and learned again.
func (m *ModelMemory) write() error {
	if err := os.MkdirAll(filepath.Dir(m.path), 0o700); err != nil {
		return err
	}
	kept, err := m.read()
	if err != nil { // replace it
		kept = m.known
	}
	for key, l := range m.unwritten.Learned {
		put(&kept.Learned, key, l)
	}
	for key, p := range m.unwritten.Probed {
		put(&kept.Probed, key, p)
	}
	b, err := json.MarshalIndent(kept, "", "  ")
	if err != nil {
		return fmt.Errorf("encode what was learned of models: %w", err)
	}
	return atomicfile.Replace(m.path, append(b, '\n'), 0o600)
}

// probeValidity is the time for which the result of a test conversation is reused, so that a server that restarts
// repeatedly does not pay each time.
const probeValidity = 24 * time.Hour
