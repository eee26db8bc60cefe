package config

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/sia-bot/sia/sia"
)

// File is a settings file as it was found somewhere.
type File struct {
	Name    string // where it is, for people: "acme/shop@main:.sia/config.yml"
	Content []byte
}

// Effective are the settings in force, with the origin of each.
type Effective struct {
	Settings sia.Settings
	File     string         // the name of the file that was read; "" when there is none
	Lines    map[string]int // path of a setting → 1-based line in File; absent: the default
}

// Resolve reads the first of the files, which come in the order of precedence: the repository's own
// on its base branch, then the one of the owner's .github repository. A nil entry is a file that
// does not exist. What the file leaves out has its default; files are not mixed. An error is an
// *invalid.File.
func Resolve(files ...*File) (Effective, error) {
	for _, f := range files {
		if f == nil {
			continue
		}
		s, set, err := parseFile(f.Name, f.Content)
		if err != nil {
			return Effective{Settings: s}, err
		}
		return Effective{Settings: s, File: f.Name, Lines: set}, nil
	}
	return Effective{Settings: sia.DefaultSettings()}, nil
}

// Source says where a setting's value comes from: "default" or the file's name
// and line.
func (e Effective) Source(path string) string {
	if line, ok := e.Lines[path]; ok {
		return fmt.Sprintf("%s:%d", e.File, line)
	}
	return "default"
}

// Explain says to people which file is in force. A table has each setting with its value and where
// it came from.
func (e Effective) Explain() string {
	var b strings.Builder
	if e.File == "" {
		b.WriteString("There is no settings file, so the defaults are in force.\n\n")
	} else {
		fmt.Fprintf(&b, "In force is %s; what it leaves out has its default.\n\n", e.File)
	}
	w := tabwriter.NewWriter(&b, 0, 4, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "SETTING\tVALUE\tFROM") // a strings.Builder takes everything
	for _, f := range Fields() {
		_, _ = fmt.Fprintf(w, "%s\t%s\t%s\n", f.Path, Format(f.Value(e.Settings)), e.Source(f.Path))
	}
	_ = w.Flush()
	return b.String()
}
