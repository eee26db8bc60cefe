package policies

import (
	"path"
	"strings"
)

// languages maps file extensions to languages.
var languages = map[string]string{
	".go": "go", ".py": "python", ".js": "javascript", ".mjs": "javascript", ".cjs": "javascript", ".jsx": "javascript",
	".ts": "typescript", ".tsx": "typescript", ".java": "java", ".kt": "kotlin", ".rs": "rust", ".rb": "ruby",
	".php": "php", ".c": "c", ".h": "c", ".cc": "c++", ".cpp": "c++", ".hpp": "c++", ".cs": "c#", ".swift": "swift",
	".scala": "scala", ".ex": "elixir", ".exs": "elixir", ".hs": "haskell", ".lua": "lua", ".dart": "dart",
	".sh": "shell", ".sql": "sql",
}

// Language returns the language of most of the files, in lower case; "" for unknown extensions. Of languages with
// equally many files it is the first by name.
func Language(paths []string) string {
	count := map[string]int{}
	for _, p := range paths {
		if l, ok := languages[strings.ToLower(path.Ext(p))]; ok {
			count[l]++
		}
	}
	best := ""
	for l, n := range count {
		if m := count[best]; best == "" || n > m || n == m && l < best {
			best = l
		}
	}
	return best
}
