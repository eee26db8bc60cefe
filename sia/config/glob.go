package config

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/sia-bot/sia/sia/glob"
)

// WrongGlob returns what is wrong with a file pattern; "" if it is valid.
func WrongGlob(s string) string {
	if strings.HasPrefix(s, "/") {
		return fmt.Sprintf("%q begins with a slash; patterns are relative to the repository's root", s)
	}
	switch _, err := glob.Compile(s); {
	case errors.Is(err, path.ErrBadPattern):
		return fmt.Sprintf("%q is not a pattern; an example is \"**/*_test.go\"", s)
	case err != nil:
		return err.Error()
	}
	return ""
}
