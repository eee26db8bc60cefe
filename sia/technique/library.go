package technique

import (
	"cmp"
	"embed"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"sync"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/invalid"
)

//go:embed library/*.md
var shippedFiles embed.FS

// ShippedFiles returns the files of the built-in techniques.
func ShippedFiles() fs.FS { return shippedFiles }

// shippedOrder is the display order; it breaks ties.
var shippedOrder = []sia.TechniqueID{
	sia.Decomposition, sia.ToolChange, sia.PromptRestructuring, sia.ContextPruning, sia.ExampleInjection,
	sia.ConstraintRelaxation, sia.DependencyReordering, sia.AbstractionLevelShift, sia.ErrorPattern, sia.FreshStart,
}

// Library is a set of techniques. It is immutable.
type Library struct {
	ordered []Technique // built-in ones in shippedOrder, then a repository's by id
	byID    map[sia.TechniqueID]int
}

// shipped returns the built-in techniques in their order. It panics on a parse error; a test loads them.
var shipped = sync.OnceValue(func() (all []Technique) {
	for _, id := range shippedOrder {
		name := "library/" + string(id) + ".md"
		file, err := shippedFiles.ReadFile(name)
		if err != nil {
			panic("technique: " + err.Error())
		}
		t, err := ParseFile(name, file)
		if err != nil {
			panic(err.Error())
		}
		t.Shipped = true
		all = append(all, t)
	}
	return all
})

// LoadLibrary returns a library of the built-in techniques and a repository's own, keyed by path. A repository's file
// with the id of a built-in technique replaces it. Files that don't end in ".md" and READMEs are ignored. The library
// is always usable; the errors, each an *[invalid.File], name the files that were left out.
func LoadLibrary(repository map[string][]byte) (*Library, []error) {
	l := newLibrary(shipped())
	var errs []error
	var own []Technique
	for _, name := range slices.Sorted(maps.Keys(repository)) {
		if path.Ext(name) != ".md" || path.Base(name) == "README.md" {
			continue
		}
		t, err := ParseFile(name, repository[name])
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if i := slices.IndexFunc(own, func(o Technique) bool { return o.ID == t.ID }); i >= 0 {
			errs = append(errs, &invalid.File{Name: name, Problems: []invalid.Problem{{Line: 2, Column: 1, Path: "id",
				Message: fmt.Sprintf("%s is taken by %s", t.ID, own[i].Path)}}})
			continue
		}
		own = append(own, t)
	}
	slices.SortFunc(own, func(a, b Technique) int { return cmp.Compare(a.ID, b.ID) })
	for _, t := range own {
		if i, ok := l.byID[t.ID]; ok {
			l.ordered[i] = t
			continue
		}
		l.byID[t.ID] = len(l.ordered)
		l.ordered = append(l.ordered, t)
	}
	return l, errs
}

func newLibrary(all []Technique) *Library {
	l := &Library{ordered: slices.Clone(all), byID: map[sia.TechniqueID]int{}}
	for i, t := range l.ordered {
		l.byID[t.ID] = i
	}
	return l
}

// Without returns the library without some techniques.
func (l *Library) Without(ids ...sia.TechniqueID) *Library {
	return newLibrary(slices.DeleteFunc(l.All(), func(t Technique) bool { return slices.Contains(ids, t.ID) }))
}

// OnTrial returns the ids of the techniques on trial. A replacement of a built-in technique is never on trial: there is
// nothing to compare it with.
func (l *Library) OnTrial() []sia.TechniqueID {
	var ids []sia.TechniqueID
	for _, t := range l.ordered {
		if t.Trial && !slices.Contains(shippedOrder, t.ID) {
			ids = append(ids, t.ID)
		}
	}
	return ids
}

// Get returns the technique with an id and reports whether it exists.
func (l *Library) Get(id sia.TechniqueID) (Technique, bool) {
	i, ok := l.byID[id]
	if !ok {
		return Technique{}, false
	}
	return l.ordered[i], true
}

// All returns the techniques: the built-in ones in their order, then a repository's own by id.
func (l *Library) All() []Technique { return slices.Clone(l.ordered) }

// For returns the techniques that answer a pattern, first choices first.
func (l *Library) For(p sia.Pattern) []Technique {
	var ts []Technique
	for _, t := range l.ordered {
		if t.Answers(p) {
			ts = append(ts, t)
		}
	}
	slices.SortStableFunc(ts, func(a, b Technique) int { return cmp.Compare(a.Ranks[p], b.Ranks[p]) })
	return ts
}
