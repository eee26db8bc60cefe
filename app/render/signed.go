package render

import "fmt"

// NotSigned says that a branch accepts only signed commits, and that the task's last one is not signed, with the
// reason.
func NotSigned(base, reason string) string {
	return fmt.Sprintf("The rules of `%s` want signed commits, and GitHub did not sign the last one (%s), so it will not "+
		"be "+
		"merged as it is. Somebody who signs commits can check the branch out, run `git commit --amend --no-edit -S` and "+
		"push it again.", Line(base, 100), Line(reason, 300))
}
