package failure

// automaton finds many keywords in a line in one pass, whatever the case of its
// ASCII letters (Aho and Corasick, "Efficient string matching", CACM 1975, with
// every transition computed beforehand). It is read-only and safe for
// concurrent use.
type automaton struct {
	class   [256]uint8 // byte → column; 0 for every byte that no keyword holds
	columns int
	next    []uint16   // state × column → state, with found set where keywords end
	ends    [][]uint16 // state → keywords that end there
}

// found marks a transition into a state in which keywords end.
const found = 1 << 15

// newAutomaton builds the automaton for keywords in lower case. Together they
// may hold at most 32,767 bytes.
func newAutomaton(keys []string) *automaton {
	a := &automaton{columns: 1}
	for _, k := range keys {
		for i := range len(k) {
			if c := k[i]; a.class[c] == 0 {
				a.class[c] = uint8(a.columns)
				if c >= 'a' && c <= 'z' {
					a.class[c-'a'+'A'] = uint8(a.columns)
				}
				a.columns++
			}
		}
	}
	a.grow()
	for id, k := range keys {
		s := 0
		for i := range len(k) {
			t := &a.next[s*a.columns+int(a.class[k[i]])]
			if *t == 0 {
				*t = uint16(len(a.ends))
				a.grow()
				t = &a.next[s*a.columns+int(a.class[k[i]])]
			}
			s = int(*t)
		}
		a.ends[s] = append(a.ends[s], uint16(id))
	}
	a.link()
	return a
}

// grow adds a state without transitions.
func (a *automaton) grow() {
	a.next = append(a.next, make([]uint16, a.columns)...)
	a.ends = append(a.ends, nil)
}

// link turns the tree of keywords into a complete automaton, breadth first.
func (a *automaton) link() {
	fail := make([]int, len(a.ends))
	var queue []int
	for c := range a.columns {
		if s := int(a.next[c]); s != 0 {
			queue = append(queue, s)
		}
	}
	for len(queue) > 0 {
		s := queue[0]
		queue = queue[1:]
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
		if len(a.ends[s]) > 0 {
			a.next[i] = s | found
		}
	}
}

// scan calls hit for each keyword in b with the index after its last byte.
func (a *automaton) scan(b []byte, hit func(key uint16, end int)) {
	s := 0
	for i, c := range b {
		t := a.next[s+int(a.class[c])]
		s = int(t&^found) * a.columns
		if t&found != 0 {
			for _, k := range a.ends[t&^found] {
				hit(k, i+1)
			}
		}
	}
}
