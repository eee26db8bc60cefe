package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

type priorsCmd struct {
	Export    priorsExportCmd    `cmd:"" help:"Show, or write and sign, counts of what worked here, for others to learn from."`
	Aggregate priorsAggregateCmd `cmd:"" help:"Put the counts of many installations together, for whoever runs a collection."`
	Import    priorsImportCmd    `cmd:"" help:"Learn from other installations: from a file, or a version of a Go module."`
	Show      priorsShowCmd      `cmd:"" help:"What was imported, and what it was worth here."`
	Remove    priorsRemoveCmd    `cmd:"" help:"Decide without what was imported again."`
}

// outFile is a file in the making, beside where it is going to be.
type outFile struct {
	*os.File
	path string
}

// createOut begins to write a file, so that it is known that it can be written before what can't be undone
// is done.
func createOut(path string, mode os.FileMode) (*outFile, error) {
	f, err := os.CreateTemp(filepath.Dir(path), ".sia-new-*")
	if err != nil {
		return nil, fmt.Errorf("write %s: %w", path, err)
	}
	out := &outFile{f, path}
	if err := f.Chmod(mode); err != nil {
		out.discard()
		return nil, fmt.Errorf("write %s: %w", path, err)
	}
	return out, nil
}

// finish writes all of it, and puts it in its place. Until then the file is what it was.
func (o *outFile) finish(b []byte) error {
	_, err := o.Write(b)
	if err = errors.Join(err, o.Sync(), o.Close()); err == nil {
		err = os.Rename(o.Name(), o.path)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", o.path, err)
	}
	return nil
}

// discard takes away what was begun; after finish it does nothing.
func (o *outFile) discard() {
	_ = o.Close()           // it may be closed already
	_ = os.Remove(o.Name()) // and in its place
}

// readLimited reads a file of at most so many bytes, which may be a pipe or a device.
func readLimited(path string, read func(io.Reader) ([]byte, error)) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := read(f)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return b, nil
}
