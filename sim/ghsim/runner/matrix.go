package runner

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// matrixError explains why a matrix makes no job, in GitHub's words.
type matrixError string

func (e matrixError) Error() string { return string(e) }

// ofNeeds matches references to the context needs.
var ofNeeds = regexp.MustCompile(`\bneeds\s*[.\[]`)

// Waits reports whether the job's matrix can be evaluated only after the jobs that it needs have ended. Until then the
// number of its jobs is unknown, and there is none. A job that calls others waits, too.
func (j Job) Waits() bool {
	ofOthers := len(j.Needs) > 0 && ofNeeds.MatchString(fmt.Sprint(j.spec.Strategy.Matrix))
	return j.whole && (ofOthers || j.calls != nil)
}

// Whole reports whether the job's matrix has not been evaluated, or could not be.
func (j Job) Whole() bool { return j.whole }

// Expand evaluates the job's matrix. A job without a matrix is one job. An empty matrix is an error: it makes no job,
// and the run fails.
// https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-syntax#jobsjob_idstrategymatrix
// https://github.com/canonical/operator-workflows/issues/564
func (j Job) Expand() ([]Job, error) {
	s := scope{contexts: map[string]any{"github": j.github, "needs": contextOf(j.needs)}}
	matrix, err := evaluated(j.spec.Strategy.Matrix, s)
	var all []map[string]any
	if err == nil {
		all, err = combinations(matrix)
	}
	if err != nil {
		return nil, matrixError(fmt.Sprintf("Error when evaluating 'strategy' for job '%s'. %v", j.Key, err))
	}
	var jobs []Job
	for _, m := range all {
		one := j
		one.whole, one.matrix, one.Name = false, m, jobName(j.Key, j.spec, m, j.github)
		if one.calls == nil {
			jobs = append(jobs, one)
			continue
		}
		within, err := one.within()
		if err != nil {
			return nil, err
		}
		jobs = append(jobs, within...)
	}
	return jobs, nil
}

// evaluated is a value with its expressions evaluated.
func evaluated(v any, s scope) (any, error) {
	switch v := v.(type) {
	case string:
		text := strings.TrimSpace(v)
		if m := expression.FindStringSubmatch(text); m != nil && m[0] == text {
			return eval(m[1], s)
		}
		return expand(v, s), nil
	case map[string]any:
		out := map[string]any{}
		for k, x := range v {
			got, err := evaluated(x, s)
			if err != nil {
				return nil, err
			}
			out[k] = got
		}
		return out, nil
	case []any:
		out := []any{}
		for _, x := range v {
			got, err := evaluated(x, s)
			if err != nil {
				return nil, err
			}
			out = append(out, got)
		}
		return out, nil
	}
	return v, nil
}

// maxCombinations is GitHub's limit of jobs that a matrix makes.
const maxCombinations = 256

// combinations are a matrix's combinations; an empty one if there is no matrix.
// https://docs.github.com/actions/how-tos/write-workflows/choose-what-workflows-do/run-job-variations
func combinations(matrix any) ([]map[string]any, error) {
	if matrix == nil {
		return []map[string]any{nil}, nil
	}
	m, is := matrix.(map[string]any)
	if !is {
		return nil, matrixError("Unexpected value '" + asText(matrix) + "'")
	}
	out, err := product(m)
	if err != nil {
		return nil, err
	}
	includes, _ := plain(m["include"]).([]any)
	if out == nil && len(includes) == 0 {
		return nil, matrixError("Matrix must define at least one vector")
	}
	excludes, _ := plain(m["exclude"]).([]any)
	out = slices.DeleteFunc(out, func(c map[string]any) bool {
		return slices.ContainsFunc(excludes, func(x any) bool { return len(c) > 0 && fits(c, x, true) })
	})
	return including(m, out, includes), nil
}

// product is the Cartesian product of vectors; nil without a vector.
func product(m map[string]any) ([]map[string]any, error) {
	out := []map[string]any{nil}
	axes := 0
	for _, k := range slices.Sorted(maps.Keys(m)) {
		if k == "include" || k == "exclude" {
			continue
		}
		values, _ := plain(m[k]).([]any)
		if len(values) == 0 {
			return nil, matrixError("Matrix vector '" + k + "' does not contain any values")
		}
		axes++
		var next []map[string]any
		for _, have := range out {
			for _, v := range values {
				c := map[string]any{k: v}
				maps.Copy(c, have)
				next = append(next, c)
			}
		}
		out = next[:min(len(next), maxCombinations)]
	}
	if axes == 0 {
		return nil, nil
	}
	return out, nil
}

// including adds the entries of include: to the combinations that they fit, or as new ones.
func including(m map[string]any, out []map[string]any, includes []any) []map[string]any {
	originals := len(out)
	axis := func(k string) bool { _, is := m[k]; return is && k != "include" && k != "exclude" }
	for _, x := range includes {
		add, _ := x.(map[string]any)
		found := false
		for _, c := range out[:originals] {
			own := map[string]any{} // the entry's values for keys of the matrix
			for k, v := range add {
				if axis(k) {
					own[k] = v
				}
			}
			if fits(c, own, false) {
				found = true
				maps.Copy(c, add)
			}
		}
		if !found && len(out) < maxCombinations {
			out = append(out, maps.Clone(add))
		}
	}
	return out
}

// fits reports whether a combination has all values of an entry; known reports whether the entry has some.
func fits(c map[string]any, entry any, known bool) bool {
	e, _ := entry.(map[string]any)
	if known && len(e) == 0 {
		return false
	}
	for k, v := range e {
		if have, is := c[k]; !is || asText(have) != asText(v) {
			return false
		}
	}
	return true
}
