package diagnose

import (
	"slices"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/lazyregexp"
)

// area is what a specialist looks at, known by the paths of files. Paths only choose who
// looks: what is said has to be found in the change in any case.
type area struct {
	about sia.RemarkKind
	paths *lazyregexp.Regexp
}

// areas are the specialists, in the order in which they speak.
func areas() []area {
	return []area{
		{sia.RemarkSecurity, securityPaths},
		{sia.RemarkTests, testPaths},
		{sia.RemarkAPI, apiPaths},
	}
}

var (
	// who may do what, secrets, what strangers send, and what decides what builds and checks run
	securityPaths = lazyregexp.New(`(?i)auth|login|sign-?in|session|token|passw|credential|secret|crypt|hash|permission|` +
		`polic|acl|cors|csrf|saniti|escap|parse|decod|unmarshal|deserial|upload|webhook|query|sql|exec|shell|sandbox|` +
		`(^|/)\.github/|(^|/)dockerfile|\.ya?ml$|(^|/)(go\.(mod|sum)|package(-lock)?\.json|yarn\.lock|pnpm-lock\.yaml|` +
		`cargo\.(toml|lock)|requirements[^/]*\.txt|pyproject\.toml|poetry\.lock|gemfile(\.lock)?|pom\.xml|` +
		`build\.gradle(\.kts)?|composer\.(json|lock))$`)
	testPaths = lazyregexp.New(`(?i)(^|/)(tests?|specs?|__tests__|testdata|fixtures)/|` +
		`(^|/)test_[^/]*$|[._-](test|spec)s?\.[^/]*$`)
	apiPaths = lazyregexp.New(`(?i)(^|/)` +
		`(api|apis|proto|protos|schema|schemas|migrations?|public|include|routes?)(/|\.)|` +
		`openapi|swagger|\.(proto|graphql|gql|avsc|thrift|d\.ts)$`)
)

// touched are the specialists that a change is shown to.
func touched(files []ChangedFile) (about []sia.RemarkKind) {
	for _, a := range areas() {
		if slices.ContainsFunc(files, func(f ChangedFile) bool {
			return a.paths.MatchString(f.Path) || a.paths.MatchString(f.OldPath)
		}) {
			about = append(about, a.about)
		}
	}
	return about
}
