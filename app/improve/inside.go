package improve

import (
	"fmt"
	"os"
	"path/filepath"
)

// Environment is the variable that is set to the iteration's name in all processes of an iteration.
const Environment = "SIA_IMPROVE_ITERATION"

// markFile marks the copy of an iteration, in its folder .sia/improve.
const markFile = "ITERATION"

// InsideIteration returns why a process with the environment env that works in or on the given places is part of an
// iteration; "" if it is not. Either sign is sufficient: the environment, or a mark in a parent folder.
func InsideIteration(env func(string) string, places ...string) string {
	if name := env(Environment); name != "" {
		return fmt.Sprintf("%s is set: this runs within the iteration %s", Environment, name)
	}
	for _, place := range places {
		if at := findMark(place); at != "" {
			return fmt.Sprintf("%s lies in the copy of an iteration, %s", place, at)
		}
	}
	return ""
}

// findMark returns the nearest marked folder that contains place; "" if there is none.
func findMark(place string) string {
	dir, err := filepath.Abs(place)
	if err != nil {
		return ""
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	for {
		if _, err := os.Lstat(filepath.Join(dir, placeFolder, markFile)); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			return ""
		}
		dir = up
	}
}
