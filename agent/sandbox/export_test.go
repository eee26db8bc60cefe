//go:build linux

package sandbox

// KernelHasLandlock reports whether this kernel has a Landlock that is used.
func KernelHasLandlock() bool { return landlockVersion() >= minLandlock }
