package lesson

import (
	"slices"

	"github.com/sia-bot/sia/sia"
)

// ForTools chooses, among a repository's lessons, those that an attempt gets when it first calls a tool: lessons of
// kind [Tool] about that tool. For each tool [Choose] picks at most want.Most, highest confidence first, and withholds
// some, so that a lesson is given in all attempts of a task or in none. Lessons among known are given otherwise and are
// left out. The result is sorted by tool.
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
			about[tool] = append(about[tool], SearchHit{Lesson: l, Rank: 1, Shared: minShared}) // matched by the tool
		}
	}
	slices.Sort(tools)
	for _, tool := range tools {
		told, withheld := Choose(about[tool], want)
		for _, l := range told {
			out = append(out, sia.ToolLesson{Tool: tool, ID: string(l.ID), Text: l.Told()})
		}
		for _, l := range withheld {
			out = append(out, sia.ToolLesson{Tool: tool, ID: string(l.ID), Withheld: true})
		}
	}
	return out
}
