package probe

import "strings"

// docs is where paths of sources are beneath.
const docs = "https://docs.github.com/en/"

// address is the whole address of a source.
func address(source string) string {
	if source == "" || strings.HasPrefix(source, "https://") {
		return source
	}
	return docs + source
}
