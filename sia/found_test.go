package sia

import "testing"

// After a push, some of GitHub's servers still report the previous head, which is not
// another push.
func TestAFormerHeadIsNoPushForAWhile(t *testing.T) {
	task := Task{Head: "c2", State: Checking, Attempts: []Attempt{{Number: 1, Head: "c1"}, {Number: 2, Head: "c2"}}}
	updating := task
	updating.Pending = map[string]EffectKind{"k": DoUpdate}
	for _, c := range []struct {
		name   string
		task   Task
		head   SHA
		lagged bool
		want   bool
	}{
		{"the present head", task, "c2", true, false},
		{"the head of before, just now", task, "c1", true, false},
		{"the head of before, still", task, "c1", false, true},
		{"somebody else's", task, "c3", true, true},
		{"none", task, "", false, false},
		{"while SIA merges the base itself", updating, "c3", false, false},
	} {
		if got := c.task.MovedTo(c.head, c.lagged); got != c.want {
			t.Errorf("%s: got %v", c.name, got)
		}
	}
}
