// Package keyword finds many keywords in a text in one pass. The log reader and the
// secret scanner use it as a fast first filter.
package keyword

// Automaton finds many keywords in one pass (Aho and Corasick,
// "Efficient string matching", CACM 1975, with every transition precomputed).
// It is read-only and safe for concurrent use.
type Automaton struct {
	class   [256]uint16 // byte → column; 0 for every byte that is in no keyword
	columns int
	next    []int32   // state × column → state × columns; negative where keywords end
	ends    [][]int32 // state → keywords that end there
}

// New returns the automaton for keywords, none of them empty. With fold, they must be in
// lower case and are found without regard to the case of ASCII letters.
func New(keys []string, fold bool) *Automaton {
	a := &Automaton{columns: 1}
	for _, k := range keys {
		for i := range len(k) {
			if c := k[i]; a.class[c] == 0 {
				a.class[c] = uint16(a.columns)
				if fold && c >= 'a' && c <= 'z' {
					a.class[c-'a'+'A'] = uint16(a.columns)
				}
				a.columns++
			}
		}
	}
	a.grow()
	for id, k := range keys {
		s := 0
		for i := range len(k) {
			at := s*a.columns + int(a.class[k[i]])
			if a.next[at] == 0 {
				a.next[at] = int32(len(a.ends))
				a.grow()
			}
			s = int(a.next[at])
		}
		a.ends[s] = append(a.ends[s], int32(id))
	}
	a.link()
	return a
}

// grow adds a state without transitions.
func (a *Automaton) grow() {
	a.next = append(a.next, make([]int32, a.columns)...)
	a.ends = append(a.ends, nil)
}

// link turns the tree of keywords into a complete automaton, breadth first.
func (a *Automaton) link() {
	fail := make([]int, len(a.ends))
	queue := make([]int, 0, len(a.ends))
	for c := range a.columns {
		if s := int(a.next[c]); s != 0 {
			queue = append(queue, s)
		}
	}
	for i := 0; i < len(queue); i++ {
		s := queue[i]
		a.ends[s] = append(a.ends[s], a.ends[fail[s]]...)
		for c := range a.columns {
			t, f := &a.next[s*a.columns+c], a.next[fail[s]*a.columns+c]
			if *t == 0 {
				*t = f
				continue
			}
			fail[*t] = int(f)
			queue = append(queue, int(*t))
		}
	}
	for i, s := range a.next {
		a.next[i] = s * int32(a.columns)
		if len(a.ends[s]) > 0 {
			a.next[i] = -a.next[i]
		}
	}
}

// Scan calls hit for each keyword in text, with its index in the argument of [New] and
// the index in text after its last byte, in the order of the ends.
func Scan[T string | []byte](a *Automaton, text T, hit func(key int32, end int)) {
	s := int32(0)
	for i := range len(text) {
		s = a.next[s+int32(a.class[text[i]])]
		if s < 0 {
			s = -s
			for _, k := range a.ends[int(s)/a.columns] {
				hit(k, i+1)
			}
		}
	}
}
