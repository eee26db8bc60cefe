package config

import (
	"fmt"
	"strings"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/invalid"
	"github.com/sia-bot/sia/sia/yamlfile"
)

// Parse parses a settings file. It returns sia.DefaultSettings overridden by the
// file's settings. name is used in messages. An error is always an *invalid.File
// with every problem found; the settings are then the defaults.
func Parse(name string, b []byte) (sia.Settings, error) {
	settings, _, err := parseFile(name, b)
	return settings, err
}

// parseFile is Parse, and also returns the lines of the settings in the file, by path.
func parseFile(name string, b []byte) (sia.Settings, map[string]int, error) {
	settings, lines, wants := sia.DefaultSettings(), map[string]int{}, map[string]yamlfile.Want{}
	for _, f := range Fields() {
		wants[f.Path] = f.want()
	}
	file := yamlfile.Parse(b, yamlfile.Form{Key: "setting", Most: maxFile})
	file.Into(&settings, func(path string) yamlfile.Want { return wants[path] })
	if len(file.Problems) == 0 {
		checkCombinations(settings, file)
	}
	if len(file.Problems) > 0 {
		return sia.DefaultSettings(), nil, &invalid.File{Name: name, Problems: file.Problems}
	}
	for path := range wants {
		if line, ok := file.Line(path); ok {
			lines[path] = line
		}
	}
	return settings, lines, nil
}

// want returns the constraints on the value of a setting.
func (f Field) want() yamlfile.Want {
	w := yamlfile.Want{Min: f.Min, Max: f.Max, Words: f.Words}
	switch f.Path {
	case "memory.branch":
		w.Wrong = wrongBranch
	case "checks.protected":
		w.Wrong = WrongGlob
	}
	return w
}

// wrongBranch applies the rules of git-check-ref-format(1).
func wrongBranch(s string) string {
	bad := strings.HasPrefix(s, "-") || strings.HasPrefix(s, "/") || strings.HasSuffix(s, "/") ||
		strings.HasSuffix(s, ".") ||
		s == "@" || strings.ContainsAny(s, " ~^:?*[\\\n\t") || strings.Contains(s, "..") || strings.Contains(s, "//") ||
		strings.Contains(s, "@{")
	for _, part := range strings.Split(s, "/") {
		bad = bad || strings.HasPrefix(part, ".") || strings.HasSuffix(part, ".lock")
	}
	if bad {
		return fmt.Sprintf("%q can't be the name of a branch", s)
	}
	return ""
}

// Format formats a setting's value as in a settings file.
func Format(value any) string { return yamlfile.Format(value) }
