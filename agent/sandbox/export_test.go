//go:build linux

package sandbox

// KernelHasLandlock reports whether this kernel supports a sufficient version of Landlock.
func KernelHasLandlock() bool { return landlockVersion() >= minLandlock }

// FixFor is [fixFor].
var FixFor = fixFor

// SetSystemProfile makes the system one with its programs in a store, until the returned function is called.
func SetSystemProfile(store, profile string) (reset func()) {
	wasStore, wasProfile := stores[0], systemProfiles[0]
	stores[0], systemProfiles[0] = store, profile
	return func() { stores[0], systemProfiles[0] = wasStore, wasProfile }
}
