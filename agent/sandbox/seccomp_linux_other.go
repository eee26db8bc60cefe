//go:build linux && !amd64

package sandbox

// legacyCalls are allowed calls that newer architectures don't have.
var legacyCalls []uint32
