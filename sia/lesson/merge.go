package lesson

import (
	"cmp"
	"slices"
	"time"
)

// Merge finds the same lesson among lessons of one repository and makes it one,
// seen more often; it finds advice that contradicts other advice, too, and notes
// the conflict in both. It returns the lessons that changed, in the order of
// their ids, and what the merged ones had for and against them as evidence about
// what stands for them.
//
// Two are the same when they are of one kind and their words are as alike as
// [sameAdvice]. Of two, the one stands that a person taught, or forgot; else what
// the repository learned itself before what it was given; else the one with more
// evidence, or the older. What a person teaches is merged into nothing but what a
// person taught. Merging again changes nothing, and gives the same evidence.
func Merge(lessons []Lesson, now time.Time) (changed []Lesson, evidence []Evidence) {
	m := &merger{all: map[ID]*Lesson{}, changed: map[ID]bool{}}
	for _, l := range lessons {
		switch {
		case l.State == Merged:
			evidence = append(evidence, inherited(l, now)...)
		case l.Kind != Model:
			l.Tags, l.Tools, l.Words, l.Conflicts = slices.Clone(l.Tags), slices.Clone(l.Tools), slices.Clone(l.Words), slices.Clone(l.Conflicts)
			m.all[l.ID] = &l
			m.order = append(m.order, l.ID)
		}
	}
	slices.Sort(m.order)
	pairs := m.pairs(Lesson.advice)
	if slices.ContainsFunc(lessons, func(l Lesson) bool { return l.From.Source == FromOrganisation }) {
		pairs = append(pairs, m.pairs(func(l Lesson) []string { return l.general().advice() })...)
	}
	for _, p := range pairs {
		a, b := m.all[p[0]], m.all[p[1]]
		if a.State == Merged || b.State == Merged || !same(*a, *b) {
			continue
		}
		if before(*b, *a, now) {
			a, b = b, a
		}
		if b.From.Source == FromPerson && a.From.Source != FromPerson {
			continue
		}
		a.absorb(*b)
		b.State, b.Into = Merged, a.ID
		evidence = append(evidence, inherited(*b, now)...)
		m.changed[a.ID], m.changed[b.ID] = true, true
	}
	for _, p := range m.pairs(Lesson.about) {
		a, b := m.all[p[0]], m.all[p[1]]
		if a.Live() && b.Live() && Opposed(*a, *b) {
			m.conflict(a, b.ID)
			m.conflict(b, a.ID)
		}
	}
	for _, id := range m.order {
		if m.changed[id] {
			changed = append(changed, *m.all[id])
		}
	}
	return changed, evidence
}

// inherited is what a merged lesson had for and against it, as evidence about what
// stands for it. It is told again whenever lessons are merged, and counts once. That
// others learned the same is no evidence about what the repository learned itself.
func inherited(l Lesson, now time.Time) []Evidence {
	good, bad := l.Counts(now)
	if good+bad == 0 || l.untried() {
		return nil
	}
	return []Evidence{{Key: "merge/" + string(l.ID), Lesson: l.Into, Good: good, Bad: bad, At: now,
		Why: "what lesson " + string(l.ID) + ", which says the same, had for and against it"}}
}

type merger struct {
	all     map[ID]*Lesson
	order   []ID
	changed map[ID]bool
}

func (m *merger) conflict(l *Lesson, with ID) {
	if !slices.Contains(l.Conflicts, with) {
		l.Conflicts = append(l.Conflicts, with)
		m.changed[l.ID] = true
	}
}

// pairs are the lessons that may be alike in some of their words: those of which
// a part of the signature agrees. Each lesson is compared with the first of its
// likes and the one before it, so that a thousand of one kind are no million
// pairs; those left over are found when the first ones are merged.
func (m *merger) pairs(words func(Lesson) []string) [][2]ID {
	type band struct{ first, last ID }
	shelves := map[string]*band{}
	seen := map[[2]ID]bool{}
	var pairs [][2]ID
	for _, id := range m.order {
		for _, key := range Sign(words(*m.all[id])).bands() {
			s := shelves[key]
			if s == nil {
				shelves[key] = &band{id, id}
				continue
			}
			for _, other := range []ID{s.first, s.last} {
				if p := [2]ID{other, id}; !seen[p] {
					seen[p] = true
					pairs = append(pairs, p)
				}
			}
			s.last = id
		}
	}
	return pairs
}

// about are the words of what a lesson is about, whichever way it advises.
func (l Lesson) about() []string {
	words, _ := turns(l.Text)
	return words
}

// same reports whether two lessons say the same. What came from other repositories
// quotes no check of theirs, so what this one's quotes makes no difference to it.
func same(a, b Lesson) bool {
	if a.Kind != b.Kind {
		return false
	}
	if a.From.Source == FromOrganisation || b.From.Source == FromOrganisation {
		a, b = a.general(), b.general()
	}
	_, x := turns(a.Text)
	_, y := turns(b.Text)
	return x == y && Sign(a.advice()).Similarity(Sign(b.advice())) >= sameAdvice
}

// before reports whether a stands for b when both say the same.
func before(a, b Lesson, now time.Time) bool {
	rank := func(l Lesson) int {
		switch {
		case l.From.Source == FromPerson && l.Live():
			return 0
		case l.State == Forgotten:
			return 1
		case l.From.Source != FromOrganisation:
			return 2
		default:
			return 3
		}
	}
	weight := func(l Lesson) float64 {
		good, bad := l.Counts(now)
		return good + bad
	}
	return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(weight(b), weight(a)), a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID)) < 0
}

// absorb takes over what another lesson that says the same has seen. What was given
// to the repository has seen nothing in it.
func (l *Lesson) absorb(o Lesson) {
	if o.From.Source == FromOrganisation {
		return
	}
	l.Occurrences += o.Occurrences
	if o.LastSeen.After(l.LastSeen) {
		l.LastSeen = o.LastSeen
	}
	join := func(list *[]string, more []string, most int) {
		for _, w := range more {
			if len(*list) < most && !slices.Contains(*list, w) {
				*list = append(*list, w)
			}
		}
	}
	join(&l.Tags, o.Tags, maxTags)
	join(&l.Tools, o.Tools, maxTags)
	join(&l.Words, o.Words, maxWords)
}

const maxTags = 20
