package app

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"

	"github.com/sia-bot/sia/sia/diagnose"
	"github.com/sia-bot/sia/sia/technique"
)

// setupOf identifies the models and prompts with which techniques are chosen and applied: the coder's model, SIA's
// model, and a hash of SIA's prompts and shipped techniques. Outcomes with another setup are weaker evidence.
func setupOf(c Config) (string, error) {
	h := sha256.New()
	for _, files := range []fs.FS{diagnose.PromptFiles(), technique.ShippedFiles()} {
		err := fs.WalkDir(files, ".", func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			text, err := fs.ReadFile(files, path)
			fmt.Fprintf(h, "%s %d\n%s", path, len(text), text)
			return err
		})
		if err != nil {
			return "", fmt.Errorf("hash the prompts: %w", err)
		}
	}
	return fmt.Sprintf("coder=%s sia=%s prompts=%s", c.Models.Coder.Model, c.Models.SIA.Model,
		hex.EncodeToString(h.Sum(nil))[:12]), nil
}
