package tool

import (
	"errors"
	"fmt"
	"strings"
)

// unwrapPatch converts the patch format of OpenAI's models to a unified diff. Files are named in separate lines and
// hunks have no line numbers:
//
//	*** Begin Patch
//	*** Update File: a.go
//	@@ func f()
//	 context
//	-old
//	+new
//	*** End Patch
//
// Other text is returned unchanged. https://developers.openai.com/cookbook/examples/gpt4-1_prompting_guide#apply-patch
func unwrapPatch(text string) (string, error) {
	body, is := strings.CutPrefix(strings.TrimSpace(text), "*** Begin Patch")
	if !is {
		return text, nil
	}
	var b strings.Builder
	inHunk, creates := false, false
	lines := strings.Split(strings.TrimPrefix(body, "\n"), "\n")
	for i, line := range lines {
		line = strings.TrimRight(line, "\r")
		next := func(prefix string) (string, bool) { return strings.CutPrefix(line, prefix) }
		switch {
		case line == "*** End Patch", line == "*** End of File":
			inHunk = false
		case strings.HasPrefix(line, "*** Delete File: "):
			return "", errors.New("a file can't be deleted in a patch of this form; use delete")
		case strings.HasPrefix(line, "*** Move to: "):
			continue // handled with the file
		case strings.HasPrefix(line, "*** Add File: "):
			name, _ := next("*** Add File: ")
			fmt.Fprintf(&b, "--- /dev/null\n+++ b/%s\n@@ -0,0 +1 @@\n", name)
			inHunk, creates = true, true
		case strings.HasPrefix(line, "*** Update File: "):
			name, _ := next("*** Update File: ")
			to := name
			if i+1 < len(lines) {
				if moved, is := strings.CutPrefix(strings.TrimRight(lines[i+1], "\r"), "*** Move to: "); is {
					to = moved
				}
			}
			if to != name {
				fmt.Fprintf(&b, "diff --git a/%[1]s b/%[2]s\nrename from %[1]s\nrename to %[2]s\n", name, to)
			}
			fmt.Fprintf(&b, "--- a/%s\n+++ b/%s\n", name, to)
			inHunk, creates = false, false
		case strings.HasPrefix(line, "@@"):
			b.WriteString("@@\n")
			inHunk = true
		case line == "" && i == len(lines)-1:
		case creates || inHunk:
			b.WriteString(line + "\n")
		default: // the first hunk may lack a header
			b.WriteString("@@\n" + line + "\n")
			inHunk = true
		}
	}
	return b.String(), nil
}
