package app

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/app/atomicfile"
)

// ModelsFile is the file in the server's folder that keeps what was learned of models: which
// dialect each is spoken to in, and what its endpoint refuses. It may be deleted; then all
// of it is learned again.
const ModelsFile = "models.json"

// ModelMemory is what was learned of models, kept in the folder; "" keeps nothing. A file
// that can't be read counts as none.
func ModelMemory(dir string, log *slog.Logger) *llm.Memory {
	if dir == "" {
		return llm.NewMemory(nil, nil)
	}
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	path := filepath.Join(dir, ModelsFile)
	known := map[string]llm.Learned{}
	b, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(b, &known)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		log.Warn("what was learned of models can't be read, and is learned again", "file", path, "error", err)
		known = nil
	}
	return llm.NewMemory(known, func(all map[string]llm.Learned) {
		if err := saveModels(path, all); err != nil {
			log.Warn("what was learned of models is not kept", "file", path, "error", err)
		}
	})
}

func saveModels(path string, all map[string]llm.Learned) error {
	b, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return fmt.Errorf("encode what was learned of models: %w", err)
	}
	return atomicfile.Replace(path, append(b, '\n'), 0o600)
}
