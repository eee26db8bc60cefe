package diagnose

import (
	"slices"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/lazyregexp"
)

// area is the area of a specialist, recognised by the paths of files. Paths only select the specialists: their remarks
// must refer to the change in any case.
type area struct {
	about sia.RemarkKind
	paths *lazyregexp.Regexp
}

// areas returns the specialists in the order of their remarks.
func areas() []area {
	return []area{
		{sia.RemarkSecurity, securityPaths},
		{sia.RemarkTests, testPaths},
		{sia.RemarkAPI, apiPaths},
	}
}

var (
	// permissions, secrets, untrusted input, and files that control builds and checks
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

// specialistsFor returns the specialists for a change.
func specialistsFor(files []ChangedFile) (about []sia.RemarkKind) {
	for _, a := range areas() {
		if slices.ContainsFunc(files, func(f ChangedFile) bool {
			return a.paths.MatchString(f.Path) || a.paths.MatchString(f.OldPath)
		}) {
			about = append(about, a.about)
		}
	}
	return about
}
