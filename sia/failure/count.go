package failure

import "bytes"

// countedWords begin the words that a result counts: "2 failed", "Errors: 3", "1 file could not be parsed".
var countedWords = [][]byte{
	[]byte("fail"), []byte("error"), []byte("problem"), []byte("issue"), []byte("violation"), []byte("offense"),
	[]byte("unable"), []byte("broken"), []byte("could not"),
}

// failureCount returns the largest number of failures that a line counts, and whether it counts any. A line that counts
// failures does not explain them; one with all counts zero reports success.
func failureCount(b []byte) (most int, counts bool) {
	for i := 0; i < len(b); {
		if b[i] < '0' || b[i] > '9' {
			i++
			continue
		}
		start := i
		for i < len(b) && b[i] >= '0' && b[i] <= '9' {
			i++
		}
		if start > 0 && joinsWord(b[start-1]) || i < len(b) && joinsWord(b[i]) || i-start > 6 {
			continue
		}
		if countedAfter(b[i:]) || countedBefore(b[:start]) {
			counts = true
			most = max(most, parseDecimal(b[start:i]))
		}
	}
	return most, counts
}

// countedAfter reports whether one of the next three words is a counted word: " tests failed".
func countedAfter(b []byte) bool {
	for range 3 {
		if len(b) < 4 || b[0] != ' ' {
			return false
		}
		b = b[1:]
		if isCounted(b) {
			return true
		}
		if hasPrefix(b, "no ") || hasPrefix(b, "not ") {
			return false
		}
		end := 0
		for end < len(b) && (isLower(b[end]) || isUpper(b[end])) {
			end++
		}
		if end == 0 {
			return false
		}
		b = b[end:]
	}
	return false
}

// countedBefore reports whether the number follows a counted word: "Failures: ".
func countedBefore(b []byte) bool {
	end := len(bytes.TrimRight(b, " :=("))
	if end == len(b) {
		return false
	}
	start := end
	for start > 0 && (isLower(b[start-1]) || isUpper(b[start-1])) {
		start--
	}
	return start < end && isCounted(b[start:end])
}

func isCounted(b []byte) bool {
	for _, w := range countedWords {
		if len(b) >= len(w) && bytes.EqualFold(b[:len(w)], w) {
			return true
		}
	}
	return false
}
