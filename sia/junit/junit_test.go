package junit

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

// readAll reads all reports of a stream.
func readAll(t *testing.T, in io.Reader) (cases []Case, cuts []string) {
	t.Helper()
	r := NewReader(in)
	for {
		cut, err := r.Next(func(c Case) bool {
			cases = append(cases, c)
			return true
		})
		if errors.Is(err, io.EOF) {
			return cases, cuts
		}
		if err != nil {
			t.Fatal(err)
		}
		cuts = append(cuts, cut)
	}
}

// A stream may hold several reports, with other text around them and after a broken one.
func TestConsecutiveReports(t *testing.T) {
	cases, cuts := readAll(t, iotest.OneByteReader(strings.NewReader("a < b\n<?xml version='1.0'?>\n"+
		"<testsuites><testsuite name=' shop '><testcase name='a' classname='A' file='a.rb' line='3'/>\n"+
		"<testcase name='b'>\n<error message=' no '> is \xff\x1b[0m&#x1b;<!-- of -- 3 --> </error><failure>2</failure>"+
		"</testcase></testsuite></testsuites>\nit's \"<\n"+
		"<testsuite><testcase name='c'><skipped/><failure>todo</failure></testcase><<<testsuite><testcase name='d'/>")))
	want := []Case{
		{Suites: []string{"", "shop"}, Class: "A", Name: "a", File: "a.rb", Line: 3, Start: 3, End: 3},
		{Suites: []string{"", "shop"}, Name: "b", Start: 4, End: 5, Failed: true, Message: "no",
			Text: " is \uFFFD [0m?#x1b; "},
		{Suites: []string{""}, Name: "c", Start: 7, End: 7, Skipped: true},
		{Suites: []string{""}, Name: "d", Start: 7, End: 7},
	}
	if diff := cmp.Diff(want, cases); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(cuts) != 3 || cuts[0] != "" || !strings.Contains(cuts[1], "line 7") || cuts[2] != "" {
		t.Errorf("%q", cuts)
	}
}

// Text, attributes and tags of any length are read, and cut without breaking a character or the XML.
func TestLongPieces(t *testing.T) {
	for _, long := range []string{strings.Repeat("é", maxXMLTag), "x" + strings.Repeat("é\n", maxXMLTag),
		strings.Repeat("--]> ", maxXMLTag)} {
		cases, cuts := readAll(t, strings.NewReader("<testsuite><testcase name='a' failure='"+long+"'><failure>"+
			long+"</failure></testcase><testcase name='b'><error><![CDATA["+long+"]]></error></testcase>"+
			"<testcase"+strings.Repeat(" x='"+long[:maxText]+"'", 5)+" name='c'/></testsuite>"))
		if len(cases) != 3 || cuts[0] != "" || !cases[0].Failed || !cases[1].Failed || cases[2].Name != "c" ||
			len(cases[1].Text) != maxText {
			t.Errorf("%.10q: %d cases, cut %q", long, len(cases), cuts)
		}
	}
}

func FuzzClipped(f *testing.F) {
	f.Add("<a b='c'>text<![CDATA[ ]]]]> ]]><!-- - --></a>\n")
	f.Fuzz(func(t *testing.T, s string) {
		read := func(s string) (string, *clipped) {
			c := newClipped(iotest.HalfReader(strings.NewReader(s)))
			var out []byte
			for {
				b, err := c.ReadByte()
				if err != nil {
					return string(out), c
				}
				out = append(out, b)
			}
		}
		whole, c := read(s)
		changed := strings.Contains(s, "<!--") || strings.ContainsFunc(s, func(r rune) bool {
			return r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == '&' || r >= 0xfff0
		})
		if len(s) < maxText && !changed && whole != s {
			t.Errorf("%q became %q", s, whole)
		}
		if lines := strings.Count(s, "\n") + 1; c.line != lines {
			t.Errorf("line %d of %d", c.line, lines)
		}
		if cut, _ := read("<a>" + strings.Repeat("x\n", maxXMLText) + s); len(cut) > maxXMLText+3*len(s)+10 {
			t.Errorf("%d bytes of %q", len(cut), s)
		}
	})
}
