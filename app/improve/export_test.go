//test:plain
package improve

// Replace calls replace.
func (i *Iteration) Replace(s Subject, text string, rename func(from, to string) error) ([]string, error) {
	return i.replace(s, text, rename)
}
