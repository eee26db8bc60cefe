package sia

// Temperature is how soon a task may change on GitHub without a webhook, and so how often it is swept.
type Temperature string

// The temperatures.
const (
	Hot  Temperature = "hot"  // an attempt or its checks are running
	Warm Temperature = "warm" // it waits for a person
	Cool Temperature = "cool" // it has passed, and a person has to mark its pull request ready for review
	Cold Temperature = "cold" // it has passed, and its pull request is open
)

// Temperature returns the task's temperature; empty if nothing on GitHub can change it any more.
func (t *Task) Temperature() Temperature {
	switch {
	case t.State == Stopped, t.State == Passed && (t.Pull.Number == 0 || t.Pull.Merged || t.Gone):
		return ""
	case t.State == Passed && t.Pull.StaysDraft():
		return Cool
	case t.State == Passed:
		return Cold
	case t.Waits():
		return Warm
	}
	return Hot
}
