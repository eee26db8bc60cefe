package oracle

import (
	"maps"
	"slices"

	"github.com/sia-bot/sia/sim/ghsim/model"
)

// How much history of the base and its pull requests is considered. There is no documentation; these are the limits of
// the simulator's query for a head.
const (
	baseCommits = 3
	mergedPulls = 5
)

// known are reports of other commits, by name.
type known map[string][]report

func (k known) add(all []report) {
	for _, p := range all {
		if p.standing() != skipped { // a check that never runs here is not missed
			k[p.name] = append(k[p.name], p)
		}
	}
}

// expected are the names that should have reported on the head and did not, sorted: those of the task's earlier heads,
// and those that reported on most of the base's last commits or of the last merged pull requests. Names that report on
// the base and not on pull requests belong to the base alone, such as a deployment.
func (v *verdict) expected() []string {
	all := known{}
	for _, sha := range v.q.Earlier {
		if sha != v.pull.HeadSHA {
			all.add(reportsOn(v.repo, v.q.Own, sha, ""))
		}
	}
	if !v.addMost(all, v.mergedHeads()) {
		v.addMost(all, v.src.Log(v.repo, v.repo.Head(v.pull.Base), baseCommits))
	}
	var names []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if slices.Contains(v.q.Waived, name) || v.nameReported(name) || !slices.ContainsFunc(all[name], v.certain) {
			continue
		}
		names = append(names, name)
	}
	return names
}

// addMost adds the names that reported on more than half of some commits. It reports whether any commit has reports.
func (v *verdict) addMost(all known, shas []string) (some bool) {
	names, count := known{}, map[string]int{}
	for _, sha := range shas {
		here := known{}
		here.add(reportsOn(v.repo, v.q.Own, sha, ""))
		for name, reports := range here {
			count[name]++
			names[name] = append(names[name], reports...)
		}
		some = some || len(here) > 0
	}
	for name, reports := range names {
		if 2*count[name] > len(shas) {
			all[name] = append(all[name], reports...)
		}
	}
	return some
}

// mergedHeads are the last commits of the pull requests last merged into the base.
func (v *verdict) mergedHeads() []string {
	var merged []*model.Pull
	for _, i := range v.repo.Issues {
		if i.Pull != nil && i.Pull != v.pull && i.Pull.Base == v.pull.Base && !i.Pull.MergedAt.IsZero() {
			merged = append(merged, i.Pull)
		}
	}
	slices.SortStableFunc(merged, func(a, b *model.Pull) int { return b.MergedAt.Compare(a.MergedAt) })
	var heads []string
	for _, p := range merged[:min(len(merged), mergedPulls)] {
		heads = append(heads, p.HeadSHA)
	}
	return heads
}

func (v *verdict) nameReported(name string) bool {
	return slices.ContainsFunc(v.reports, func(p report) bool { return p.name == name })
}

// certain reports whether something that reported elsewhere certainly reports on the head. A status or a check run of
// an app is certain. A job is certain if the head's workflow file has it and starts for every head of this pull
// request, or if the branch itself removed the job from its first version of the file.
func (v *verdict) certain(p report) bool {
	j := p.job()
	if j == nil {
		return true
	}
	if j.Run.From != nil { // "Any filters you specify for the supported events are ignored"
		return slices.ContainsFunc(v.repo.RequiredWorkflows(v.pull.Base), func(want model.RequiredWorkflow) bool {
			return v.fulfils(j.Run, want)
		})
	}
	file := v.workflow(v.repo, v.pull.HeadSHA, j.Run.Path)
	_, has := file.Jobs[key(j)]
	if !has && v.q.Accepted {
		return false // a person has seen that the branch removes the job
	}
	if !has {
		file = v.workflow(v.repo, v.q.Base, j.Run.Path)
		_, has = file.Jobs[key(j)]
	}
	return has && file.starts(v.pull) && !v.jobReported(j)
}

// jobReported reports whether a job of the same workflow file reported on the head, possibly under another name: jobs
// of a matrix are named after their combinations.
// https://docs.github.com/en/actions/how-tos/write-workflows/choose-what-workflows-do/run-job-variations
func (v *verdict) jobReported(j *model.Job) bool {
	return slices.ContainsFunc(v.reports, func(p report) bool {
		o := p.job()
		return o != nil && key(o) == key(j) && sameWorkflow(v.repo, o.Run, j.Run)
	})
}
