package config

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/sia-bot/sia/sia"
)

// File is the name and content of a settings file.
type File struct {
	Name    string // its location, for people: "acme/shop@main:.sia/config.yml"
	Content []byte
}

// Effective contains the settings in force, with the source of each.
type Effective struct {
	Settings sia.Settings
	File     string         // the name of the file that was read; "": none
	Lines    map[string]int // path of a setting → 1-based line in File; absent: the default
}

// Resolve parses the first existing file. The files are in order of precedence: the repository's own
// on its base branch, then the one of the owner's .github repository. A nil entry is a file that
// does not exist. A setting that the file omits has its default; files are not merged. An error is an
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

// Source returns the source of a setting's value: "default" or the file's name
// and line.
func (e Effective) Source(path string) string {
	if line, ok := e.Lines[path]; ok {
		return fmt.Sprintf("%s:%d", e.File, line)
	}
	return "default"
}

// Explain returns a text for people with the name of the file in force, and a table of each setting
// with its value and source.
func (e Effective) Explain() string {
	var b strings.Builder
	if e.File == "" {
		b.WriteString("There is no settings file, so the defaults are in force.\n\n")
	} else {
		fmt.Fprintf(&b, "In force is %s; what it leaves out has its default.\n\n", e.File)
	}
	w := tabwriter.NewWriter(&b, 0, 4, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "SETTING\tVALUE\tFROM") // a strings.Builder returns no error
	for _, f := range Fields() {
		_, _ = fmt.Fprintf(w, "%s\t%s\t%s\n", f.Path, Format(f.Value(e.Settings)), e.Source(f.Path))
	}
	_ = w.Flush()
	return b.String()
}
