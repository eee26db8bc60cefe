//go:build linux && !amd64

package sandbox

// legacyCalls are those of allowedCalls that younger architectures don't have.
var legacyCalls []uint32
