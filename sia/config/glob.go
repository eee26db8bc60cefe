package config

import (
	"fmt"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// wrongGlob says what is wrong with a pattern of files, "" when nothing is.
func wrongGlob(s string) string {
	switch {
	case strings.HasPrefix(s, "/"):
		return fmt.Sprintf("%q begins with a slash; patterns are relative to the repository's root", s)
	case !doublestar.ValidatePattern(s):
		return fmt.Sprintf("%q is not a pattern; an example is \"**/*_test.go\"", s)
	}
	return ""
}
