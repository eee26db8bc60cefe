package setup

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/sia-bot/sia/app/atomicfile"
	"github.com/sia-bot/sia/app/github"
)

// File is the name of the file, in the server's folder, with the app's data from GitHub, keys included.
const File = "github-app.json"

// maxFile bounds the file, in bytes; a key has two thousand.
const maxFile = 1 << 20

// Registered is a registered app. It contains secrets: it is stored with mode 0600, and logs show only its name.
type Registered struct {
	GitHub string `json:"github"`        // GitHub's address for people, such as https://github.com
	API    string `json:"api,omitempty"` // its REST API, if not the usual one
	github.Registration
	PublicURL string    `json:"public_url"` // address of this server for GitHub and people
	At        time.Time `json:"registered_at"`
}

// String omits secrets.
func (r Registered) String() string { return fmt.Sprintf("%s (%d) at %s", r.Name, r.ID, r.GitHub) }

// LogValue implements slog.LogValuer.
func (r Registered) LogValue() slog.Value { return slog.StringValue(r.String()) }

// ErrExists is returned where an app is stored already.
var ErrExists = errors.New("an app is stored already")

// Load reads the app stored in a folder. ok is false if there is none.
func Load(dir string) (r Registered, ok bool, err error) {
	path := filepath.Join(dir, File)
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return r, false, nil
	case err == nil && info.Size() > maxFile:
		err = errors.New("it is too large")
	}
	var b []byte
	if err == nil {
		b, err = os.ReadFile(path)
	}
	if err == nil {
		err = json.Unmarshal(b, &r)
	}
	if err == nil && (r.ID <= 0 || r.PrivateKey == "" || r.WebhookSecret == "" || r.GitHub == "") {
		err = errors.New("id, key, webhook secret or GitHub's address is missing in it")
	}
	if err != nil {
		return Registered{}, false, unusable(path, err)
	}
	return r, true, nil
}

// unusable returns why the file with the app can't be used, and what to do. Only a file that was read is broken.
func unusable(path string, err error) error {
	switch {
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("the stored app can't be read: %w; run this as the server's user", err)
	case errors.Is(err, syscall.ENOTDIR):
		return fmt.Errorf("the stored app can't be read: %w; name the server's folder with --dir", err)
	}
	return fmt.Errorf("the stored app, %s, can't be used: %w; restore it from a backup, or move it away and set SIA up "+
		"again", path, err)
}

// saveApp stores an app in a folder, atomically, readable only by the server's user. If an app is stored already, it
// returns ErrExists, or, with replace, keeps the old one next to it.
func saveApp(dir string, r Registered, replace bool) error {
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	path := filepath.Join(dir, File)
	f, err := atomicfile.Begin(path, 0o600)
	if err != nil {
		return err
	}
	defer f.Discard()
	if replace {
		if err := backUpApp(dir, path); err != nil {
			return err
		}
		return f.Replace(append(b, '\n'))
	}
	if err = f.Create(append(b, '\n')); errors.Is(err, fs.ErrExist) {
		return ErrExists
	}
	return err
}

// backUpApp gives the file of the stored app a second name, with its app's id. An unusable file gets an unused name.
func backUpApp(dir, path string) error {
	old, ok, err := Load(dir)
	if err != nil {
		for n := 1; ; n++ {
			linked := os.Link(path, filepath.Join(dir, fmt.Sprintf("github-app-unusable-%d.json", n)))
			if !errors.Is(linked, fs.ErrExist) {
				return linked
			}
		}
	}
	if !ok {
		return nil
	}
	aside := filepath.Join(dir, fmt.Sprintf("github-app-%d.json", old.ID))
	if err := os.Remove(aside); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.Link(path, aside)
}

// writable returns why nothing can be stored in a folder, before GitHub hands out keys, which it does only once.
func writable(dir string) error {
	f, err := atomicfile.Begin(filepath.Join(dir, File), 0o600)
	if err != nil {
		return err
	}
	f.Discard()
	return nil
}
