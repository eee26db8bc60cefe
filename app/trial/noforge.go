package trial

import (
	"context"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/policies/evolve"
)

// NoForge is the [Forge] of a command without an app's key. All methods fail with Why.
type NoForge struct{ Why error }

// NoForgeError means that an operation on GitHub is impossible without a key.
type NoForgeError struct{ Why error }

// Error implements error.
func (e NoForgeError) Error() string { return e.Why.Error() }

// Open implements Forge.
func (f NoForge) Open(context.Context, store.Experiment, string) (OpenedPull, error) {
	return OpenedPull{}, NoForgeError(f)
}

// Look implements Forge.
func (f NoForge) Look(context.Context, store.Experiment) (PullState, error) {
	return PullState{}, NoForgeError(f)
}

// UpsertComment implements Forge.
func (f NoForge) UpsertComment(context.Context, store.Experiment, evolve.Standing) (int64, error) {
	return 0, NoForgeError(f)
}

// Merge implements Forge.
func (f NoForge) Merge(context.Context, store.Experiment) (bool, string, error) {
	return false, "", NoForgeError(f)
}

// Close implements Forge.
func (f NoForge) Close(context.Context, store.Experiment) error { return NoForgeError(f) }

// Revert implements Forge.
func (f NoForge) Revert(context.Context, store.Experiment, string) (string, bool, error) {
	return "", false, NoForgeError(f)
}
