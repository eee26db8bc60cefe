package testrun

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/sia-bot/sia/agent/locate"
)

// Cover builds the tests of each package once, with coverage of the module's packages that they import, and runs each
// test separately.
func (l Golang) Cover(tree Files, tests []locate.Test, read ReadFile) (Suite, bool) {
	byDir, dirs := map[string][]locate.Test{}, []string{}
	for _, t := range leaves(tests) {
		dir := path.Dir(t.File)
		if _, ok := Nearest(tree, t.File, "go.mod"); ok {
			if byDir[dir] == nil {
				dirs = append(dirs, dir)
			}
			byDir[dir] = append(byDir[dir], t)
		}
	}
	if len(dirs) == 0 {
		return Suite{}, false
	}
	dirs = dirs[:min(len(dirs), maxFailing)]
	var run, fetch strings.Builder
	for _, dir := range dirs {
		in := quoteShell("./"+dir) + goModules(tree, dir)
		fmt.Fprintf(&run, "(\ncd %s || exit\n%s", in, goCover)
		wanted, near := l.covered(tree, byDir[dir], read)
		wanted = wanted[:min(len(wanted), maxWanted)]
		for _, pattern := range wanted {
			fmt.Fprintf(&run, "ran wanted %s\n", quoteShell(pattern))
		}
		for i, pattern := range wanted {
			of, _, part := strings.Cut(pattern, "/")
			if part && !slices.ContainsFunc(wanted[:i], func(w string) bool { return strings.HasPrefix(w, of+"/") }) {
				fmt.Fprintf(&run, "siblings %s\n", quoteShell(of))
			}
		}
		for _, pattern := range near[:min(len(near), maxNear/len(dirs))] {
			fmt.Fprintf(&run, "ran near %s\n", quoteShell(pattern))
		}
		run.WriteString(")\n")
		fmt.Fprintf(&fetch, "(cd %s && go list -e -deps -test . >/dev/null) || exit\n", in)
	}
	return l.suite(run.String(), fetch.String()), true
}

// goCover builds a package's tests. It discards their output, so that the output can't be mistaken for a profile. If a
// subtest fails, its passing siblings are the nearest tests.
const goCover = `mark build cover
packages=$(go list -deps -test -f '{{with .Module}}{{if .Main}}{{$.ImportPath}}{{end}}{{end}}' . |
  sed 's/ .*//; /\.test$/d; /_test$/d' | sort -u | paste -sd,)
go test -c -vet=off -ldflags=-w -coverpkg="$packages" -o /tmp/sia-cover . ; status=$?
mark end $status
[ $status = 0 ] && [ -x /tmp/sia-cover ] || exit
n=0
ran() {
n=$((n+1))
mark run "$PWD $n"
rm -f /tmp/profile
timeout -k 1 5 /tmp/sia-cover -test.run "$2" -test.coverprofile=/tmp/profile </dev/null >/dev/null 2>&1
echo "ran $1 $?"
sed -n 's/^\(.*\):\([0-9]*\)\.[0-9]*,\([0-9]*\)\.[0-9]* [0-9]* [1-9][0-9]*$/\1:\2,\3/p' /tmp/profile
mark end 0
}
siblings() {
timeout -k 1 5 /tmp/sia-cover -test.run "$1" -test.v </dev/null 2>&1 |
  sed -n 's/^ *--- PASS: \([^ /]*\/[^ ]*\) (.*/\1/p' | cut -c1-1000 | head -n 16 |
  sed 's/[][\\.*^$()+?{}|]/\\&/g; s,/,$/^,g; s/.*/^&$/' >/tmp/siblings
while IFS= read -r pattern; do ran near "$pattern"; done </tmp/siblings
}
`

// covered returns the patterns of the wanted tests, and of other tests of their package: those of the same files first.
func (l Golang) covered(tree Files, tests []locate.Test, read ReadFile) (wanted, near []string) {
	var files []string
	for _, t := range tests {
		if !slices.Contains(files, t.File) {
			files = append(files, t.File)
		}
	}
	own, dir := len(files), path.Dir(tests[0].File)
	for p := range tree {
		if path.Dir(p) == dir && l.Runs(p) && !slices.Contains(files, p) {
			files = append(files, p)
		}
	}
	slices.Sort(files[own:])
	named := map[string]bool{} // test functions
	for _, t := range tests {
		if t.Name == "" {
			continue
		}
		parts := strings.Split(t.Name, "/")
		named[parts[0]] = true
		for i, p := range parts {
			parts[i] = "^" + regexp.QuoteMeta(p) + "$"
		}
		wanted = append(wanted, strings.Join(parts, "/"))
	}
	for _, f := range files {
		if len(near) >= maxNear {
			break
		}
		text, err := read(f)
		if err != nil {
			continue
		}
		all := slices.Contains(tests, locate.Test{File: f})
		for _, m := range goTest.FindAllSubmatch(text, -1) {
			name := string(m[1])
			switch pattern := "^" + name + "$"; {
			case all:
				wanted = append(wanted, pattern)
			case !named[name]:
				near = append(near, pattern)
			}
		}
	}
	return wanted, near
}

// leaves returns the tests without those that are groups of others.
func leaves(tests []locate.Test) []locate.Test {
	return slices.DeleteFunc(slices.Clone(tests), func(t locate.Test) bool {
		return slices.ContainsFunc(tests, func(o locate.Test) bool {
			return o.File == t.File && t.Name != "" && strings.HasPrefix(o.Name, t.Name+"/")
		})
	})
}
