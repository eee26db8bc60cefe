package app

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/sia-bot/sia/app/atomicfile"
)

// serverName returns the unique name of a folder of mirrors. It is random, created with the folder and stored in it.
// Servers that share the folder have the same name.
func serverName(mirrors string) (string, error) {
	path := filepath.Join(mirrors, "server")
	name := strings.ToLower(rand.Text())
	err := atomicfile.Create(path, []byte(name+"\n"), 0o600)
	if errors.Is(err, fs.ErrExist) {
		var b []byte
		b, err = os.ReadFile(path)
		name = strings.TrimSpace(string(b))
	}
	if err != nil {
		return "", fmt.Errorf("name the folder of mirrors: %w", err)
	}
	if strings.Trim(name, "abcdefghijklmnopqrstuvwxyz234567") != "" || name == "" {
		return "", fmt.Errorf("%s holds no name of a server: delete it, and SIA makes another", path)
	}
	return name, nil
}
