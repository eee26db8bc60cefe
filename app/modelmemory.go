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
	"sync"
	"time"

	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/app/atomicfile"
)

// ModelsFile is the file in the server's folder that keeps what was learned of models: which
// dialect each is spoken to in, what its endpoint refuses, and what a conversation with it
// showed. It may be deleted; then all of it is learned again.
const ModelsFile = "models.json"

// ModelMemory is what was learned of models, by [llm.Client.Key]. It is safe for concurrent
// use.
type ModelMemory struct {
	*llm.Memory
	path string // "": nothing is kept
	log  *slog.Logger

	mu    sync.Mutex
	known modelsFile
}

// modelsFile is what is kept.
type modelsFile struct {
	Learned map[string]llm.Learned `json:"learned"`
	Probed  map[string]llm.Probed  `json:"probed"`
}

// NewModelMemory is what was learned of models, kept in the folder; "" keeps nothing. A file
// that can't be read counts as none.
func NewModelMemory(dir string, log *slog.Logger) *ModelMemory {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	m := &ModelMemory{log: log}
	if dir != "" {
		m.path = filepath.Join(dir, ModelsFile)
		b, err := os.ReadFile(m.path)
		if err == nil {
			err = json.Unmarshal(b, &m.known)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			log.Warn("what was learned of models can't be read, and is learned again", "file", m.path, "error", err)
			m.known = modelsFile{}
		}
	}
	m.Memory = llm.NewMemory(m.known.Learned, func(all map[string]llm.Learned) {
		m.change(func(f *modelsFile) { f.Learned = all })
	})
	return m
}

// Probed is what a conversation with each model showed, by its key.
func (m *ModelMemory) Probed() map[string]llm.Probed {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.known.Probed)
}

// keepProbed keeps what a conversation with a model showed.
func (m *ModelMemory) keepProbed(key string, p llm.Probed) {
	m.change(func(f *modelsFile) {
		if f.Probed == nil {
			f.Probed = map[string]llm.Probed{}
		}
		f.Probed[key] = p
	})
}

func (m *ModelMemory) change(f func(*modelsFile)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f(&m.known)
	if m.path == "" {
		return
	}
	b, err := json.MarshalIndent(m.known, "", "  ")
	if err != nil {
		err = fmt.Errorf("encode what was learned of models: %w", err)
	} else if err = os.MkdirAll(filepath.Dir(m.path), 0o700); err == nil {
		err = atomicfile.Replace(m.path, append(b, '\n'), 0o600)
	}
	if err != nil {
		m.log.Warn("what was learned of models is not kept", "file", m.path, "error", err)
	}
}

// probedFor is how long what a conversation with a model showed is believed, so that a server
// that is started again and again does not pay for it each time.
const probedFor = 24 * time.Hour
