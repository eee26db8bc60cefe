package testrun

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia/lazyregexp"
)

// Java runs tests of Maven projects. It runs each module's changed test classes together.
type Java struct{}

func (Java) Name() string    { return "java" }
func (Java) Program() string { return "mvn" }

var javaTests = lazyregexp.New(`(^|/)src/(test|it)/`)

func (Java) IsTest(p string) bool { return javaTests.MatchString(p) }

// Runs reports whether a file has a name that Surefire expects.
func (Java) Runs(p string) bool {
	return javaTests.MatchString(p) && javaTestName.MatchString(path.Base(p))
}

func (Java) IsManifest(p string) bool { return path.Base(p) == "pom.xml" }

func (l Java) IsCode(p string) bool {
	return (path.Ext(p) == ".java" || path.Ext(p) == ".kt") && !l.IsTest(p)
}

// javaTestName matches the classes that Surefire treats as tests.
// https://maven.apache.org/surefire/maven-surefire-plugin/examples/inclusion-exclusion.html
var javaTestName = lazyregexp.New(`^(Test.*|.*Tests?|.*TestCase)\.(java|kt)$`)

func (Java) Suite(tree Files, tests []string, _ ReadFile) (Suite, bool) {
	classes := map[string][]string{}
	var modules []string
	for _, t := range testFiles(tests, javaTestName) {
		dir, ok := Nearest(tree, t, "pom.xml")
		if !ok {
			continue
		}
		if !slices.Contains(modules, dir) {
			modules = append(modules, dir)
		}
		classes[dir] = append(classes[dir], strings.TrimSuffix(path.Base(t), path.Ext(t)))
	}
	if _, root := tree["pom.xml"]; len(modules) == 0 || !root {
		return Suite{}, false
	}
	var run, fetch strings.Builder
	for _, dir := range modules {
		mvn := "mvn -B -q -Dstyle.color=never -Dmaven.repo.local=" + depsAt + "/maven " +
			"-Dmaven.test.failure.ignore=false -DfailIfNoTests=false -Dsurefire.failIfNoSpecifiedTests=false -pl " +
			quoteShell(dir) + " -am -Dtest=" + quoteShell(strings.Join(classes[dir], ","))
		reports := quoteShell("./"+dir) + "/target/surefire-reports"
		fmt.Fprintf(&run, `mark build %[1]s
%[2]s -o test-compile </dev/null >/tmp/printed 2>&1; status=$?
%[4]s
mark end $status
[ $status = 0 ] && for n in 1 2; do
rm -rf %[3]s
mark run %[1]s
%[2]s -o test </dev/null >/tmp/printed 2>&1; status=$?
cat %[3]s/TEST-*.xml 2>/dev/null || tail -c 4000 /tmp/printed
mark end $status
[ $status -le 0 ] && [ -n "$ONCE" ] && break
done
`, quoteShell(dir), mvn, reports, mavenErrors)
		// Surefire fetches its test provider only when it runs tests.
		fmt.Fprintf(&fetch, "%[1]s -Dmaven.test.failure.ignore=true test </dev/null || %[1]s test-compile </dev/null || "+
			"exit\n", mvn)
	}
	return Suite{Script: run.String(), Prepare: fetch.String(), Deps: "java", Executes: true,
		Hosts: []string{"repo.maven.apache.org", "repo1.maven.org"}}, true
}

// mavenErrors prints Maven's output without the help at the end, which follows an empty error. It removes color codes,
// which Maven prints even when colors are off.
const mavenErrors = `sed -e 's/\x1b\[[0-9;]*m//g' -e '/^\[ERROR\] *$/,$d' /tmp/printed`

func (Java) Results(out []byte) Results { return JUnit(out) }

// LastWord looks for the end of Surefire's report.
func (Java) LastWord(out []byte) bool { return junitClosed(out) }

// javaLacks matches Maven's messages about missing artifacts; with an empty repository folder, it reports that it can't
// create it.
var javaLacks = lazyregexp.New(
	`offline mode|has not been downloaded from it before|Cannot access .* in offline|Could not create local repository at`)

func (Java) Lacks(log string) bool { return javaLacks.MatchString(log) }
