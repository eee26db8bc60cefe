//go:build linux

package sandbox

// KernelHasLandlock reports whether this kernel supports a sufficient version of Landlock.
func KernelHasLandlock() bool { return landlockVersion() >= minLandlock }

// FixFor is [fixFor].
var FixFor = fixFor
