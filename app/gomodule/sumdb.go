package gomodule

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"golang.org/x/mod/sumdb"
	"golang.org/x/mod/sumdb/note"

	"github.com/sia-bot/sia/app/atomicfile"
)

// goSumDB is the checksum database of the Go project, with its key as the go command has it.
const goSumDB = "sum.golang.org+033de0ae+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8"

// database is a checksum database as package sumdb asks it. What it signed last is kept in a file.
type database struct {
	Source
	ctx       context.Context // of one lookup: package sumdb passes none on
	name, key string
	base      string // address that is asked

	mu    sync.Mutex
	wrong error // what package sumdb found to be an attack
}

// database is that of GOSUMDB: a name or a key, and an address where that is not the name.
func (s Source) database(ctx context.Context) (*database, error) {
	key, address, _ := strings.Cut(strings.TrimSpace(s.sumdb), " ")
	if key == "sum.golang.org" {
		key = goSumDB
	}
	verifier, err := note.NewVerifier(key)
	if err != nil {
		return nil, fmt.Errorf("GOSUMDB is %.100q, and SIA knows the key of sum.golang.org only: give name+hash+key, and an "+
			"address", s.sumdb)
	}
	d := &database{Source: s, ctx: ctx, name: verifier.Name(), key: key}
	if d.base = strings.TrimSpace(address); d.base == "" {
		d.base = "https://" + d.name
	}
	// A proxy may stand in for the database, which is how it is reached where nothing else is.
	for _, proxy := range strings.FieldsFunc(s.proxies, func(r rune) bool { return r == ',' || r == '|' }) {
		if u, err := url.Parse(proxy); err == nil && (u.Scheme == "https" || u.Scheme == "http" || u.Scheme == "file") {
			base := u.JoinPath("sumdb", d.name).String()
			if _, err := s.ask(ctx, base, "supported", sumLimit); err == nil {
				d.base = base
				break
			}
		}
	}
	return d, nil
}

// ReadRemote asks the database.
func (d *database) ReadRemote(path string) ([]byte, error) {
	return d.ask(d.ctx, d.base, path, sumLimit)
}

// ReadConfig reads the key, or what was signed last.
func (d *database) ReadConfig(file string) ([]byte, error) {
	if file == "key" {
		return []byte(d.key), nil
	}
	b, err := os.ReadFile(d.file(file))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return b, err
}

func (d *database) file(name string) string {
	return filepath.Join(d.dir, "sumdb", filepath.FromSlash(name))
}

// WriteConfig keeps what was signed last, in the place of what was kept.
func (d *database) WriteConfig(file string, old, now []byte) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	kept, err := d.ReadConfig(file)
	if err != nil {
		return err
	}
	if !bytes.Equal(kept, old) {
		return sumdb.ErrWriteConflict
	}
	path := d.file(file)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return atomicfile.Replace(path, now, 0o600)
}

// ReadCache has nothing: a lookup asks for some ten small answers.
func (d *database) ReadCache(string) ([]byte, error) { return nil, errAbsent }

// WriteCache keeps nothing.
func (d *database) WriteCache(string, []byte) {}

// Log says nothing: what fails is an error.
func (d *database) Log(string) {}

// SecurityError keeps what package sumdb found to be an attack.
func (d *database) SecurityError(msg string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.wrong = errors.New(msg)
}

func (d *database) failed() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.wrong
}

// readFile reads a file: address, as GOPROXY=file:///… has it.
func readFile(u *url.URL, limit int64) ([]byte, error) {
	f, err := os.Open(filepath.FromSlash(u.Path))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read %s: %w", u, errAbsent)
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(fmt.Errorf("read %s: it is no file", u), err)
	}
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(b)) > limit {
		err = fmt.Errorf("read %s: it has more than %d bytes", u, limit)
	}
	return b, err
}
