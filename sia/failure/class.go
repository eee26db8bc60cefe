package failure

// Class is the kind of failure that a log shows. Values are stored and shown, so a spelling never changes.
type Class string

// The classes. A change to the code can fix the first ones, not the last ones. The gate re-runs a check after
// RateLimit, Network and Infrastructure.
const (
	CompileError Class = "compile_error"
	SyntaxError  Class = "syntax_error"
	TypeError    Class = "type_error"
	TestFailure  Class = "test_failure"
	LintFormat   Class = "lint_format"
	RuntimeError Class = "runtime_error" // an exception or exit of a program that is not a test
	Crash        Class = "crash"         // signal, runtime panic or sanitizer report
	OutOfMemory  Class = "out_of_memory"
	Timeout      Class = "timeout"
	Dependency   Class = "dependency"   // a package could not be resolved, found or installed
	ConfigError  Class = "config_error" // of the build, the workflow or a tool
	Permission   Class = "permission_or_credentials"
	GitCheckout  Class = "git_checkout" // the code could not be fetched, checked out or merged
	// ExternalDependency: an artifact, image or service outside the repository is missing or broken.
	ExternalDependency Class = "external_dependency"
	RateLimit          Class = "rate_limit"
	Network            Class = "network"
	Infrastructure     Class = "infrastructure" // runner lost, out of disk, the CI system itself
	Cancelled          Class = "cancelled"
	// NotStarted: the CI system never started the job, for a reason that only the maintainers can fix, not a re-run.
	NotStarted Class = "not_started"
	Unknown    Class = "unknown"
)

// Classes lists every class.
var Classes = []Class{
	CompileError, SyntaxError, TypeError, TestFailure, LintFormat, RuntimeError, Crash, OutOfMemory,
	Timeout, Dependency, ConfigError, Permission, GitCheckout, ExternalDependency, RateLimit, Network,
	Infrastructure, Cancelled, NotStarted, Unknown,
}
