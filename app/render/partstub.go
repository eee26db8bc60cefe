package render

import "github.com/sia-bot/sia/sia"

func PartMessage(t sia.Task, a sia.Attempt, number int) string { return CommitMessage(t, a) }
func PartsMergeMessage(t sia.Task, a sia.Attempt, over []int) string { return "Put parts together" }
