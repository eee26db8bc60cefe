package secret

import (
	"slices"
	"strings"
)

// placeholders are values that documentation uses in the place of a secret, and that [isPlain] would take for one.
var placeholders = []string{"no-key-required", "sk-no-key-required", "your-api-key", "your-api-key-here",
	"your_api_key", "your_api_key_here", "mysecretpassword", "postgrespassword", "password123", "admin123", "changeme123"}

// Maximum lengths of a plain value, in bytes: of words, and of words in an address or a path. The former is short since
// a passphrase of several words is a good secret.
const (
	maxPlainWords = 15
	maxPlainPath  = 64
)

// Distinctive reports whether a value is distinctive enough for [Masker.Know]. It is not if it is shorter than
// [MinKnown] or occurs in ordinary text: a word such as postgres, some short ones such as us-east-1, an address or a
// path of words such as /webhook, or a placeholder.
func Distinctive(value string) bool {
	value = strings.TrimSpace(value)
	return len(value) >= MinKnown && !isPlain(value)
}

func isPlain(value string) bool {
	if slices.Contains(placeholders, strings.ToLower(value)) {
		return true
	}
	most := maxPlainWords
	if strings.ContainsAny(value, "/.") {
		most = maxPlainPath
	}
	words := strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune("-_./:", r) })
	return len(value) <= most && !slices.ContainsFunc(words, func(w string) bool { return !isPlainWord(w) })
}

// isPlainWord reports whether s is a number or a word, such as 5432, production, HOME, Bearer or v1.
func isPlainWord(s string) bool {
	const lower, upper, digits = "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789"
	letters := strings.TrimRight(s, digits)
	if number := len(s) - len(letters); number > 0 && letters != "" && (number > 2 || len(s) >= MinKnown) ||
		number > 5 || len(letters) > maxPlainWords {
		return false
	}
	if strings.Trim(letters, upper) == "" {
		letters = strings.ToLower(letters)
	}
	if rest := strings.TrimLeft(letters, upper); len(letters)-len(rest) > 1 || strings.Trim(rest, lower) != "" {
		return false
	}
	// Random letters seldom have a vowel every few letters.
	run := 0
	for _, c := range strings.ToLower(letters) {
		if run++; strings.ContainsRune("aeiouy", c) {
			run = 0
		}
		if run > 5 {
			return false
		}
	}
	return true
}
