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
		{evolve.Arm{Resolved: 10, Tried: 40}, evolve.Arm{Resolved: 12, Tried: 20}, evolve.TheChanges},
		{evolve.Arm{Resolved: 12, Tried: 40}, evolve.Arm{Resolved: 6, Tried: 20}, evolve.Everyones},
		{evolve.Arm{Resolved: 12, Tried: 40}, evolve.Arm{Resolved: 8, Tried: 20}, evolve.Unclear},
		{evolve.Arm{Resolved: 30, Tried: 40}, evolve.Arm{Resolved: 3, Tried: 9}, evolve.Unclear}, // too few were held back
		{evolve.Arm{}, evolve.Arm{}, evolve.Unclear},
	} {
		if got := evolve.Blame(tt.with, tt.without); got != tt.want {
			t.Errorf("%v with, %v without: %s, want %s", tt.with, tt.without, got, tt.want)
		}
	}
}

func TestHeldBackShare(t *testing.T) {
	held, stay := [3]int{}, 0
	for i := range 20_000 {
		task := fmt.Sprint("acme/app#", i)
		for k, since := range []int{0, 100, 300} {
			if evolve.HeldBack("recover/2", task, since) {
				held[k]++
			}
		}
		if evolve.HeldBack("recover/2", task, 0) == evolve.Assign("recover/2", task) {
			stay++
		}
	}
	if held[0] < 6450 || held[0] > 6900 || held[1] < 3800 || held[1] > 4200 || held[2] < 880 || held[2] > 1120 || stay < 9500 || stay > 10_500 {
		t.Errorf("%v held back, %d as the other lot has it", held, stay)
	}
}
