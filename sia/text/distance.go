package text

// maxCompared is the maximum length of a text that [EditDistance] compares, in bytes.
const maxCompared = 64

// Nearest returns the word that a mistyped name may have meant: the first with the least edit
// distance, at most 2 and at most half of the name's length. It returns "" if there is none,
// because a suggestion that is no typo misleads people.
func Nearest(name string, words []string) string {
	best, least := "", min(2, len(name)/2)+1
	for _, w := range words {
		if d := EditDistance(name, w); d < least {
			best, least = w, d
		}
	}
	return best
}

// EditDistance returns the Levenshtein distance of two words in bytes, for suggestions to people.
// Texts of more than 64 bytes are not compared: their distance is that of texts with nothing in
// common.
func EditDistance(a, b string) int {
	if len(a) > maxCompared || len(b) > maxCompared {
		return max(len(a), len(b))
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			diagonal, row[j] = row[j], min(row[j]+1, row[j-1]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}
