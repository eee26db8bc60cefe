package lesson

import (
	"slices"

	"github.com/sia-bot/sia/sia"
)

// ForTools chooses, among a repository's lessons, those that an attempt meets when it first calls a tool: of
// [Tool]'s kind, and about that tool. For each tool [Choose] picks at most want.Most, the surest first, and
// withholds as it does elsewhere, so that a lesson is given in all attempts of a task or in none. Lessons among
// known are met otherwise and are left out. The tools come in the order of their names.
func ForTools(lessons []Lesson, known []ID, want ChooseOptions) (out []sia.ToolLesson) {
	about := map[string][]SearchHit{}
	var tools []string
	for _, l := range lessons {
		if l.Kind != Tool || slices.Contains(known, l.ID) {
			continue
		}
		for _, tool := range l.Tools {
			if about[tool] == nil {
				tools = append(tools, tool)
			}
			about[tool] = append(about[tool], SearchHit{Lesson: l, Rank: 1, Shared: minShared}) // the tool is what fits
		}
	}
	slices.Sort(tools)
	for _, tool := range tools {
		told, kept := Choose(about[tool], want)
		for _, l := range told {
			out = append(out, sia.ToolLesson{Tool: tool, ID: string(l.ID), Text: l.Told()})
		}
		for _, l := range kept {
			out = append(out, sia.ToolLesson{Tool: tool, ID: string(l.ID), Withheld: true})
		}
	}
	return out
}
