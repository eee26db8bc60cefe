package failure

import "slices"

// Class says what kind of failure a log shows. Its values are stored and shown,
// so they never change their spelling.
type Class string

// The classes, from what a change to the code can mend to what it cannot.
const (
	CompileError       Class = "compile_error"
	SyntaxError        Class = "syntax_error"
	TypeError          Class = "type_error"
	TestFailure        Class = "test_failure"
	LintFormat         Class = "lint_format"
	RuntimeError       Class = "runtime_error" // an exception or exit of a program that is not a test
	Crash              Class = "crash"         // signal, panic of the runtime, sanitizer
	OutOfMemory        Class = "out_of_memory"
	Timeout            Class = "timeout"
	Dependency         Class = "dependency"   // a package could not be resolved, found or installed
	ConfigError        Class = "config_error" // of the build, the workflow or a tool
	Permission         Class = "permission_or_credentials"
	GitCheckout        Class = "git_checkout"        // the code could not be fetched, checked out or merged
	ExternalDependency Class = "external_dependency" // something outside the repository is missing or broken: artifact, image, service
	RateLimit          Class = "rate_limit"
	Network            Class = "network"
	Infrastructure     Class = "infrastructure" // runner lost, out of disk, the CI system itself
	Cancelled          Class = "cancelled"
	Unknown            Class = "unknown"
)

// Classes lists every class.
var classes = []Class{
	CompileError, SyntaxError, TypeError, TestFailure, LintFormat, RuntimeError, Crash, OutOfMemory,
	Timeout, Dependency, ConfigError, Permission, GitCheckout, ExternalDependency, RateLimit, Network,
	Infrastructure, Cancelled, Unknown,
}

// Classes lists every class, the unknown one last.
func Classes() []Class { return slices.Clone(classes) }

// Weather reports whether a failure of the class passes by itself, as weather
// does: a rate limit, the network, a lost runner or a full disk. The gate runs
// such checks again and blames nobody.
func (c Class) Weather() bool { return c == RateLimit || c == Network || c == Infrastructure }
