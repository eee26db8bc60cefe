package failure

// formBytes is how much of a line its form is made of, in bytes.
const formBytes = 28

// A line's form is how it begins, words and numbers aside: "(2.085 s) Bug #7" has the form
// "(#.# a) a ##". What a program prints in one form again and again, mostly without a word of an
// error, is a list or its progress, whatever a line of it says.
type formHash uint32

// formOf is the form of a line; 0 when the line is prose or code, which has none.
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
