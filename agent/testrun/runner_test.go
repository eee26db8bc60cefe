package testrun

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestCachesAreFilledOnce: while one run fills empty build caches the others wait, as long as they are wanted.
func TestCachesAreFilledOnce(t *testing.T) {
	b := &Runner{dir: t.TempDir(), first: make(chan struct{}, 1)}
	done, err := b.begin(t.Context(), Suite{})
	if err != nil {
		t.Fatal(err)
	}
	errNeedless := errors.New("needless")
	unwanted, cancel := context.WithCancelCause(t.Context())
	cancel(errNeedless)
	if _, err := b.begin(unwanted, Suite{}); !errors.Is(err, errNeedless) {
		t.Errorf("began beside the first: %v", err)
	}
	if err := os.MkdirAll(filepath.Join(b.build(), "go"), 0o700); err != nil {
		t.Fatal(err)
	}
	done()
	for range 2 { // at the same time
		done, err := b.begin(t.Context(), Suite{})
		if err != nil {
			t.Fatal(err)
		}
		defer done()
	}
}
