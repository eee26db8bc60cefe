package sia

// Temperature says how soon something may change about a task on GitHub that no webhook has told of.
type Temperature string

// The temperatures.
const (
	Hot  Temperature = "hot"  // it works, or its checks run
	Warm Temperature = "warm" // it waits for a person
	Cold Temperature = "cold" // it has passed, and its pull request is neither merged nor closed
)

// Temperature is the task's; empty where nothing on GitHub concerns it any more.
func (t *Task) Temperature() Temperature {
	switch {
	case t.State == Stopped, t.State == Passed && (t.Pull.Number == 0 || t.Pull.Merged || t.Gone):
		return ""
	case t.State == Passed:
		return Cold
	case t.Waits():
		return Warm
	}
	return Hot
}
