package signin

import (
	"crypto/cipher"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
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

// makeKey writes a new key, or reads the one that another process wrote meanwhile. The file is there whole or not at all.
func makeKey(path string) ([]byte, error) {
	key := make([]byte, keySize)
	rand.Read(key)
	f, err := os.CreateTemp(filepath.Dir(path), keyFile+".*") // 0600
	if err != nil {
		return nil, err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(key)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return nil, err
	}
	if err := os.Link(f.Name(), path); errors.Is(err, fs.ErrExist) {
		return os.ReadFile(path)
	} else if err != nil {
		return nil, err
	}
	return key, nil
}
