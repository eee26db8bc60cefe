package web

import (
	"testing"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
)

// The cost of a solved task is shown before there is anything to compare it with.
func TestCostsWithNothingBefore(t *testing.T) {
	weeks := make([]weekLine, 12)
	if got := falling(weeks); got.Shown != "" || got.Badge().Word != "not measured yet" {
		t.Errorf("nothing was solved: %q, %s", got.Shown, got.Badge().Word)
	}
	weeks[11] = weekLine{Week: store.Week{Passed: 2, Spent: 11 * sia.Credit}}
	if got := falling(weeks); got.Shown != "5.5" || got.Badge().Word != "nothing earlier to compare with yet" {
		t.Errorf("the first are solved: %q, %s", got.Shown, got.Badge().Word)
	}
}
