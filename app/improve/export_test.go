//test:plain
package improve

// OnStep sets the function that is called for each step of a promotion.
func (i *Iteration) OnStep(f func(string)) { i.step = f }

// Steps are the steps of a promotion.
func Steps() []string { return []string{stepRecorded, stepWritten, stepSwapped, stepChecked} }
