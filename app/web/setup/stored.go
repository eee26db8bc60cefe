package setup

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"
)

// File is the name of the file, in the server's folder, that holds what GitHub said of the app, keys included.
const File = "github-app.json"

// maxFile bounds the file, in bytes; a key has two thousand.
const maxFile = 1 << 20

// Registered is an app as it was registered. It holds secrets: it is stored with mode 0600, and logs show its name alone.
type Registered struct {
	GitHub string `json:"github"`        // where people meet GitHub, such as https://github.com
	API    string `json:"api,omitempty"` // its REST API, where it is not the usual one
	ID     int64  `json:"id"`
	Slug   string `json:"slug"`
	Name   string `json:"name"`
	Owner  string `json:"owner"` // the person or organisation
	Page   string `json:"page"`  // of the app, for people

	ClientID      string `json:"client_id,omitempty"`
	ClientSecret  string `json:"client_secret,omitempty"`
	WebhookSecret string `json:"webhook_secret"`
	PrivateKey    string `json:"pem"`

	PublicURL string    `json:"public_url"` // where GitHub and people reach this server
	At        time.Time `json:"registered_at"`
}

// String is what may be shown of it.
func (r Registered) String() string { return fmt.Sprintf("%s (%d) at %s", r.Name, r.ID, r.GitHub) }

// LogValue implements slog.LogValuer.
func (r Registered) LogValue() slog.Value { return slog.StringValue(r.String()) }

// ErrExists is returned where an app is stored already.
var ErrExists = errors.New("an app is stored already")

// Load reads the app that is stored in a folder. ok is false where there is none.
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
		return Registered{}, false, fmt.Errorf("the stored app, %s, can't be used: %w; restore it from a backup, or move it "+
			"away and set SIA up again", path, err)
	}
	return r, true, nil
}

// keep stores an app in a folder, whole or not at all, and readable by the server's user alone. What is stored there
// already is ErrExists, unless it is to be replaced: then it is kept beside it, under its app's id.
func keep(dir string, r Registered, replace bool) error {
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	path := filepath.Join(dir, File)
	f, err := os.CreateTemp(dir, File+".*") // 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(append(b, '\n'))
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if replace {
		return replaceFile(dir, f.Name(), path)
	}
	if err := os.Link(f.Name(), path); errors.Is(err, fs.ErrExist) {
		return ErrExists
	} else if err != nil {
		return err
	}
	return syncFolder(dir)
}

// replaceFile puts a new file in the place of one, which is kept under another name.
func replaceFile(dir, with, path string) error {
	if old, ok, err := Load(dir); err == nil && ok {
		aside := filepath.Join(dir, fmt.Sprintf("github-app-%d.json", old.ID))
		if err := os.Remove(aside); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := os.Link(path, aside); err != nil {
			return err
		}
	}
	return errors.Join(os.Rename(with, path), syncFolder(dir))
}

// syncFolder has a folder's entries outlive a power cut.
func syncFolder(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// writable says why nothing can be stored in a folder, before GitHub hands out keys only once.
func writable(dir string) error {
	f, err := os.CreateTemp(dir, File+".*")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}
