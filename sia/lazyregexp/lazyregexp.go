// Package lazyregexp compiles regular expressions at their first use. Some commands need none of SIA's several
// hundred, and compiling them all took longer than the rest of a start; a server compiles each once, as before.
// It is like Go's internal/lazyregexp, with the methods that SIA uses.
package lazyregexp

import (
	"regexp"
	"sync"
)

// Regexp is a regular expression that is compiled at its first use. It is safe for concurrent use. Its methods
// are those of [regexp.Regexp].
type Regexp struct{ get func() *regexp.Regexp }

// New returns a regular expression for a package variable. An invalid one panics at its first use; [Compile]
// detects it earlier.
func New(expr string) *Regexp {
	r := &Regexp{sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })}
	mu.Lock()
	defer mu.Unlock()
	made = append(made, r)
	return r
}

var (
	mu   sync.Mutex
	made []*Regexp
)

// Compile compiles every expression of this program, for a test that they are valid. It returns their number,
// and panics if one is invalid.
func Compile() int {
	mu.Lock()
	defer mu.Unlock()
	for _, r := range made {
		r.get()
	}
	return len(made)
}

func (r *Regexp) String() string                       { return r.get().String() }
func (r *Regexp) Match(b []byte) bool                  { return r.get().Match(b) }
func (r *Regexp) MatchString(s string) bool            { return r.get().MatchString(s) }
func (r *Regexp) Find(b []byte) []byte                 { return r.get().Find(b) }
func (r *Regexp) FindIndex(b []byte) []int             { return r.get().FindIndex(b) }
func (r *Regexp) FindSubmatch(b []byte) [][]byte       { return r.get().FindSubmatch(b) }
func (r *Regexp) FindSubmatchIndex(b []byte) []int     { return r.get().FindSubmatchIndex(b) }
func (r *Regexp) FindAll(b []byte, n int) [][]byte     { return r.get().FindAll(b, n) }
func (r *Regexp) FindAllIndex(b []byte, n int) [][]int { return r.get().FindAllIndex(b, n) }
func (r *Regexp) FindAllSubmatch(b []byte, n int) [][][]byte {
	return r.get().FindAllSubmatch(b, n)
}
func (r *Regexp) FindString(s string) string             { return r.get().FindString(s) }
func (r *Regexp) FindStringIndex(s string) []int         { return r.get().FindStringIndex(s) }
func (r *Regexp) FindStringSubmatch(s string) []string   { return r.get().FindStringSubmatch(s) }
func (r *Regexp) FindStringSubmatchIndex(s string) []int { return r.get().FindStringSubmatchIndex(s) }
func (r *Regexp) FindAllString(s string, n int) []string { return r.get().FindAllString(s, n) }
func (r *Regexp) FindAllStringIndex(s string, n int) [][]int {
	return r.get().FindAllStringIndex(s, n)
}
func (r *Regexp) FindAllStringSubmatch(s string, n int) [][]string {
	return r.get().FindAllStringSubmatch(s, n)
}
func (r *Regexp) FindAllStringSubmatchIndex(s string, n int) [][]int {
	return r.get().FindAllStringSubmatchIndex(s, n)
}
func (r *Regexp) ReplaceAll(b, by []byte) []byte       { return r.get().ReplaceAll(b, by) }
func (r *Regexp) ReplaceAllString(s, by string) string { return r.get().ReplaceAllString(s, by) }
func (r *Regexp) ReplaceAllLiteralString(s, by string) string {
	return r.get().ReplaceAllLiteralString(s, by)
}
func (r *Regexp) ReplaceAllStringFunc(s string, by func(string) string) string {
	return r.get().ReplaceAllStringFunc(s, by)
}
func (r *Regexp) SubexpIndex(name string) int    { return r.get().SubexpIndex(name) }
func (r *Regexp) SubexpNames() []string          { return r.get().SubexpNames() }
func (r *Regexp) NumSubexp() int                 { return r.get().NumSubexp() }
func (r *Regexp) Split(s string, n int) []string { return r.get().Split(s, n) }
