package cli

import (
	"errors"
	"io/fs"
	"strings"
	"syscall"
)

// ErrorText returns the text of an error for users. Errors of the operating system about files become sentences.
func ErrorText(err error) string {
	said := err.Error()
	for _, p := range pathErrors(err) {
		if words := pathWords(p); words != "" {
			said = strings.ReplaceAll(said, p.Error(), words)
		}
	}
	return said
}

// pathErrors returns the errors about files that an error wraps.
func pathErrors(err error) []*fs.PathError {
	if p, ok := err.(*fs.PathError); ok { //nolint:errorlint // each of a tree, not the first
		return []*fs.PathError{p}
	}
	switch e := err.(type) { //nolint:errorlint // likewise
	case interface{ Unwrap() error }:
		if inner := e.Unwrap(); inner != nil {
			return pathErrors(inner)
		}
	case interface{ Unwrap() []error }:
		var all []*fs.PathError
		for _, inner := range e.Unwrap() {
			all = append(all, pathErrors(inner)...)
		}
		return all
	}
	return nil
}

// pathWords returns what is wrong with a file, and what to do; "" if the system's own message is used.
func pathWords(p *fs.PathError) string {
	switch {
	case errors.Is(p, fs.ErrNotExist):
		return "there is no file or folder " + p.Path
	case errors.Is(p, syscall.EISDIR):
		return p.Path + " is a folder; name a file"
	case errors.Is(p, syscall.ENOTDIR), p.Err.Error() == syscall.ENOTDIR.Error(): // os.Root returns another error value
		return p.Path + " can't be used, since it or a part of it is a file and no folder"
	case errors.Is(p, fs.ErrPermission):
		return "there is no permission to use " + p.Path + "; check its owner"
	case errors.Is(p, syscall.ENOSPC):
		return "the disk is full, so " + p.Path + " can't be written; make room"
	case errors.Is(p, syscall.EROFS):
		return p.Path + " can't be written, since its disk is read-only"
	}
	return ""
}
