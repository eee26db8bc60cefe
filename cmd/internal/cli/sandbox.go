package cli

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/sia-bot/sia/agent/sandbox"
)

// OpenSandbox returns this machine's sandbox. Its error contains the fix.
func OpenSandbox(ctx context.Context, o sandbox.Options) (*sandbox.Sandbox, error) {
	o.Self = ForwardCommand()
	found := sandbox.Probe(ctx, o)
	if !found.OK() {
		return nil, fmt.Errorf("%s; %s", found, found.Fix)
	}
	return sandbox.New(o, found)
}

// OpenTestSandbox returns the sandbox for the tests of a repository. compiling is called before a standard library is
// compiled.
func OpenTestSandbox(ctx context.Context, log *slog.Logger, compiling func()) (*sandbox.Sandbox, error) {
	box, err := OpenSandbox(ctx, sandbox.Options{Stdlib: StdlibDir(), Compiling: compiling, Logger: log})
	if err != nil {
		return nil, fmt.Errorf("tests of a repository are run in the sandbox only: %w", err)
	}
	return box, nil
}

// CompilingStdlib is the message before the standard library is compiled.
const CompilingStdlib = "Go's standard library is compiled, once for this version of Go; that can take 10 minutes"

// ReportCompiling prints [CompilingStdlib] to standard error.
func (e *Env) ReportCompiling() { e.Progressf(CompilingStdlib) }

// StdlibDir returns the folder in which this user's commands cache compiled standard libraries; "" if there is no cache
// folder.
func StdlibDir() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "sia", "stdlib")
}
