package signin

import (
	"crypto/cipher"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/sia-bot/sia/app/atomicfile"
)

// keyFile holds the key that seals cookies, keySize bytes. Deleting it signs everybody out.
const (
	keyFile = "session.key"
	keySize = 32
)

// openSeal is what cookies are sealed with: the key is read from a folder, or made there at the first start.
func openSeal(dir string) (cipher.AEAD, error) {
	path := filepath.Join(dir, keyFile)
	key, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		key, err = makeKey(path)
	}
	if err != nil {
		return nil, fmt.Errorf("read the key of sign-ins: %w; SIA has to be able to read and write its folder", err)
	}
	if len(key) != keySize {
		return nil, fmt.Errorf("the key of sign-ins, %s, has %d bytes and not %d: delete it, and SIA makes another; "+
			"everybody then signs in again", path, len(key), keySize)
	}
	return newSeal(key)
}

// makeKey writes a new key, or reads the one that another process wrote meanwhile.
func makeKey(path string) ([]byte, error) {
	key := make([]byte, keySize)
	rand.Read(key)
	if err := atomicfile.Create(path, key, 0o600); errors.Is(err, fs.ErrExist) {
		return os.ReadFile(path)
	} else if err != nil {
		return nil, err
	}
	return key, nil
}
