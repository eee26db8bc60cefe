package failure

// formBytes is the length of the prefix of a line that its form covers, in bytes.
const formBytes = 28

// A formHash is the hash of a line's form: its beginning with words and numbers replaced by placeholders. "(2.085 s)
// Bug #7" has the form "(#.# a) a ##". Lines of one form that repeat, mostly without words of an error, are a list or
// progress output.
type formHash uint32

// formOf returns the form of a line; 0 for prose and code, which have none.
func formOf(b []byte) formHash {
	const offset, prime = 2166136261, 16777619
	h := uint32(offset)
	var last byte
	marks, words := 0, 0
	for i := 0; i < len(b) && i < formBytes; i++ {
		c := b[i]
		switch {
		case isLower(c), isUpper(c):
			c = 'a'
		case c >= 0x80:
			c = 'u' // a sign, or another script
		case c >= '0' && c <= '9':
			c = '#'
		case c == '\t':
			c = ' '
		}
		if c == last && (c == 'a' || c == 'u' || c == '#' || c == ' ') {
			continue
		}
		if c == 'a' {
			words++
		} else if c != ' ' {
			marks++
		}
		last = c
		h = (h ^ uint32(c)) * prime
		if words == 4 {
			break
		}
	}
	if marks == 0 || h == 0 {
		return 0
	}
	return formHash(h)
}
