package tamper

import (
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/sia-bot/sia/sia/lazyregexp"
)

// A run is what becomes of what a workflow runs.
type run uint8

const (
	sameRun  run = iota // what ran before, or more of it, with no more rights
	laterRun            // the same, but on later versions of what it runs on
	otherRun            // something else, or not surely understood
)

// maxVersions are how many versions may be added to the matrices of one file: each costs
// the runs of its jobs.
const maxVersions = 3

// runs says what becomes of what a workflow runs, and of any other file [otherRun].
func (c *Change) runs() run {
	if !steady.MatchString(c.Path) || c.Status != "modified" {
		return otherRun
	}
	old, new, whole := c.wholeFile()
	was, ok := document(old)
	is, parsed := document(new)
	if !whole || !ok || !parsed {
		return otherRun
	}
	var d runDiff
	if became := d.compare("", was, is); d.added <= maxVersions {
		return became
	}
	return otherRun
}

// runDiff compares two documents.
type runDiff struct{ added int } // runs that a matrix gained

// additions are what may come where nothing of it was named.
var additions = []struct {
	path *lazyregexp.Regexp
	says any
}{
	{lazyregexp.New(`^/"permissions"$`), map[string]any{}},
	{lazyregexp.New(`^/"permissions"$`), map[string]any{"contents": "String read"}},
	{lazyregexp.New(`/"steps"/\[\]/"with"$`), map[string]any{"persist-credentials": "Bool false"}},
	{lazyregexp.New(`/"steps"/\[\]/"with"/"persist-credentials"$`), "Bool false"},
}

// edits are values that may change, and what the change makes of the run.
var edits = []struct {
	path *lazyregexp.Regexp
	ok   func(old, new string) bool
	run  run
}{
	{lazyregexp.New(`^(?:/"jobs"/"[\w-]+"|/"runs")/"steps"/\[\]/"uses"$|^/"repos"/\[\]/"rev"$`), laterRelease, sameRun},
	{lazyregexp.New(`^/"jobs"/"[\w-]+"(?:/"steps"/\[\])?/"timeout-minutes"$`), raised, sameRun},
	{lazyregexp.New(`^/"on"/"schedule"/\[\]/"cron"$`),
		func(_, new string) bool { return schedule.MatchString(new) }, sameRun},
	{lazyregexp.New(`(?:^/"jobs"/"[\w-]+"|^/"runs")/"steps"/\[\]/"name"$`), func(old, new string) bool {
		return words.MatchString(old) && words.MatchString(new)
	}, sameRun},
	{lazyregexp.New(`^/"jobs"/"[\w-]+"/(?:"name"|"runs-on"|"container"(?:/"image")?|"services"/"[\w-]+"/"image"|` +
		`"strategy"/"matrix"/"include"/\[\]/"[\w-]+"|"steps"/\[\]/"with"/"[\w-]*(?:version|toolchain)[\w-]*")$|` +
		`^/"repos"/\[\]/"hooks"/\[\]/"additional_dependencies"/\[\]$`), laterVersion, laterRun},
	{lazyregexp.New(`^(?:/"jobs"/"[\w-]+"(?:/"steps"/\[\])?)?/"env"/"\w+"$|^/"repos"/\[\]/"rev"$`),
		func(old, new string) bool {
			return dotted.MatchString(old) && laterVersion(old, new)
		}, laterRun},
}

var (
	schedule = lazyregexp.New(`^String [\d*/, -]+$`)
	words    = lazyregexp.New(`^String [^$]*$`)
	// placed are axes that may say where a job runs, and with whose secrets.
	placed    = lazyregexp.New(`(?i)/"[\w-]*(?:os|run|host|platform|image|env|machine|secret|token|pool)[\w-]*"$`)
	plainWord = lazyregexp.New(`^String [a-zA-Z][\w.-]{0,40}$`)
	axis      = lazyregexp.New(`^/"jobs"/"[\w-]+"/"strategy"/"matrix"/"[\w-]+"$`)
	// version is nothing but one, dotted a value with one that can't be a mere number.
	version = lazyregexp.New(`^(?:String|Integer|Float) v?\d{1,3}(?:\.(?:\d{1,3}|x)){0,2}(?:-dev)?$`)
	dotted  = lazyregexp.New(`\d[.-]\d`)
	// release is a value that ends with one, of an action behind its name.
	release = lazyregexp.New(`^\w+ ((?:[\w-]+/[\w./-]+@)?v?)(\d{1,6}(?:\.\d{1,6}){0,3})$`)
	numbers = lazyregexp.New(`\d+(?:\.\d+)*(?:(?:a|b|rc|-)\d+\b)?`)
)

// compare says what becomes of the value at a path; old is nil when there was none.
func (d *runDiff) compare(path string, old, new any) run {
	switch {
	case reflect.DeepEqual(old, new):
		return sameRun
	case old == nil:
		for _, a := range additions {
			if a.path.MatchString(path) && reflect.DeepEqual(a.says, new) {
				return sameRun
			}
		}
		return otherRun
	}
	switch o := old.(type) {
	case map[string]any:
		if n, ok := new.(map[string]any); ok {
			return d.compareKeys(path, o, n)
		}
	case []any:
		if n, ok := new.([]any); ok {
			return d.compareLists(path, o, n)
		}
	case string:
		if n, ok := new.(string); ok {
			for _, e := range edits {
				if e.path.MatchString(path) && e.ok(o, n) {
					return e.run
				}
			}
		}
	}
	return otherRun
}

func (d *runDiff) compareKeys(path string, old, new map[string]any) run {
	became := sameRun
	for key := range old {
		if new[key] == nil {
			return otherRun
		}
	}
	for key, n := range new {
		became = max(became, d.compare(path+"/"+strconv.Quote(key), old[key], n))
	}
	return became
}

func (d *runDiff) compareLists(path string, old, new []any) run {
	if axis.MatchString(path) && !strings.HasSuffix(path, `clude"`) { // includes and excludes change other runs
		return d.compareAxis(!placed.MatchString(path), old, new)
	}
	if len(old) != len(new) {
		return otherRun
	}
	became := sameRun
	for i := range old {
		became = max(became, d.compare(path+"/[]", old[i], new[i]))
	}
	return became
}

// compareAxis compares the values that a job runs with, in any order. Versions may be
// added, or take the place of as many that are earlier. Mere words may be added where they
// don't say where the job runs, as named tells.
func (d *runDiff) compareAxis(named bool, old, new []any) run {
	gone, came := without(old, new), without(new, old)
	d.added += len(came)
	isLater := func(o, n any) bool {
		was, ok := o.(string)
		is, scalar := n.(string)
		return ok && scalar && (laterVersion(was, is) || laterPreview(was, is))
	}
	for _, n := range came {
		if is, ok := n.(string); !(ok && (version.MatchString(is) || named && len(gone) == 0 && plainWord.MatchString(is))) &&
			!slices.ContainsFunc(gone, func(o any) bool { return isLater(o, n) }) {
			return otherRun
		}
	}
	for _, o := range gone {
		if len(came) < len(gone) || !slices.ContainsFunc(came, func(n any) bool { return isLater(o, n) }) {
			return otherRun
		}
	}
	if len(gone) > 0 {
		return laterRun
	}
	return sameRun
}

// without are the values of a that b has not.
func without(a, b []any) []any {
	return slices.DeleteFunc(slices.Clone(a), func(v any) bool {
		return slices.ContainsFunc(b, func(w any) bool { return reflect.DeepEqual(v, w) })
	})
}

// raised reports whether a number got larger.
func raised(old, new string) bool {
	was, wrong := strconv.Atoi(strings.TrimPrefix(old, "Integer "))
	is, err := strconv.Atoi(strings.TrimPrefix(new, "Integer "))
	return wrong == nil && err == nil && was < is
}

// laterRelease reports whether a value names a later release of the same thing, as exactly
// as before. A branch or a commit is none: a commit of a fork can be named as if it were the
// owner's.
func laterRelease(old, new string) bool {
	o, n := release.FindStringSubmatch(old), release.FindStringSubmatch(new)
	return o != nil && n != nil && o[1] == n[1] && strings.Count(o[2], ".") == strings.Count(n[2], ".") &&
		laterNumbers(o[2], n[2])
}

// laterVersion reports whether two values differ in their versions alone, and the first that
// differs is the later. A number that is not quoted loses its last zero.
func laterVersion(old, new string) bool {
	return numbers.ReplaceAllString(old, "#") == numbers.ReplaceAllString(new, "#") && laterNumbers(old, new) &&
		!(strings.HasPrefix(new, "Float ") && strings.HasSuffix(new, "0"))
}

// preview is a version before a release, or a release: the version, and what of it this is.
var preview = lazyregexp.New(`^String (v?\d{1,4}(?:\.\d{1,4}){1,2})(?:-(?:([a-z]+)[.-]?)?` +
	`(?:[0-9a-f]{7,10}-)?(\d{1,8})?)?$`)

// laterPreview reports whether a value names a later preview of the same thing, or its release. The
// commit that a preview is of is no number.
func laterPreview(old, new string) bool {
	o, n := preview.FindStringSubmatch(old), preview.FindStringSubmatch(new)
	if o == nil || n == nil || o[2] == "" {
		return false
	}
	if was, is := parts(o[1]), parts(n[1]); !slices.Equal(was, is) {
		return slices.Compare(is, was) > 0
	}
	return n[2] == "" && n[3] == "" || o[2] == n[2] && slices.Compare(parts(n[3]), parts(o[3])) > 0
}

// laterNumbers reports whether the first version that differs between two texts is the later.
func laterNumbers(old, new string) bool {
	was, is := numbers.FindAllString(old, -1), numbers.FindAllString(new, -1)
	return slices.CompareFunc(is, was, func(a, b string) int { return slices.Compare(parts(a), parts(b)) }) > 0
}

// parts are the numbers of a version.
func parts(version string) (out []int) {
	for part := range strings.FieldsFuncSeq(version, func(r rune) bool { return r < '0' || r > '9' }) {
		n, _ := strconv.Atoi(part)
		out = append(out, n)
	}
	return out
}
