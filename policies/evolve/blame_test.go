package evolve_test

import (
	"fmt"
	"testing"

	"github.com/sia-bot/sia/policies/evolve"
)

func TestBlame(t *testing.T) {
	for _, tt := range []struct {
		with, without evolve.Arm
		want          evolve.Whose
	}{
		{evolve.Arm{Resolved: 10, Tried: 40}, evolve.Arm{Resolved: 6, Tried: 10}, evolve.TheChanges},
		{evolve.Arm{Resolved: 16, Tried: 40}, evolve.Arm{Resolved: 2, Tried: 10}, evolve.Everyones},
		{evolve.Arm{Resolved: 12, Tried: 40}, evolve.Arm{Resolved: 3, Tried: 10}, evolve.Unclear},
		{evolve.Arm{Resolved: 0, Tried: 40}, evolve.Arm{}, evolve.TheChanges}, // against nothing known
		{evolve.Arm{}, evolve.Arm{}, evolve.Unclear},
	} {
		if got := evolve.Blame(tt.with, tt.without); got != tt.want {
			t.Errorf("%v with, %v without: %s, want %s", tt.with, tt.without, got, tt.want)
		}
	}
}

func TestHeldBackShare(t *testing.T) {
	held, stay := [2]int{}, 0
	for i := range 20_000 {
		task := fmt.Sprint("acme/app#", i)
		for k, since := range []int{0, 300} {
			if evolve.HeldBack("recover/2", task, since) {
				held[k]++
			}
		}
		if evolve.HeldBack("recover/2", task, 0) == evolve.Assign("recover/2", task) {
			stay++
		}
	}
	if held[0] < 3800 || held[0] > 4200 || held[1] < 880 || held[1] > 1120 || stay < 9500 || stay > 10_500 {
		t.Errorf("%v held back, %d as the other lot has it", held, stay)
	}
}
