package failure

import (
	"fmt"
	"io"
	"strings"
	"testing"
)

// junitReport returns a report. Its first test case has much output, and its last fails.
func junitReport(printed io.Reader) io.Reader {
	return io.MultiReader(
		strings.NewReader("<?xml version=\"1.0\"?>\n<testsuites><testsuite name=\"shop\">\n"+
			"<testcase name=\"first\"><system-out>"),
		printed,
		strings.NewReader("</system-out></testcase>\n<testcase name=\"tax\" classname=\"Cart\" file=\"cart_test.rb\" "+
			"line=\"31\">\n"+
			"<failure message=\"expected 119, got 100\"/>\n</testcase>\n</testsuite></testsuites>\n"))
}

// A report of any size is read to its end, in memory that does not grow with it.
func TestLargeJUnit(t *testing.T) {
	const whole, part = 34 << 20, 2 << 20
	for name, c := range map[string]struct {
		printed string
		lines   int
	}{
		"one text":           {"and so on ", 0},
		"lines":              {"and so on it goes, line by line\n", whole / 32},
		"CDATA":              {"<![CDATA[ <b> ]] ]> \n]]>", 0},
		"one long CDATA":     {"<![CDATA[" + strings.Repeat("x<y>]]\n", 9<<10) + "]]>", 0},
		"comments":           {"<!-- - <failure> ->> -->", 0},
		"test cases":         {"</system-out></testcase><testcase name='a'><system-out>x", 0},
		"control characters": {"\x1b[31m &#x1B;[0m &#27; &#9;", 0},
		"attributes":         {"<a b='" + strings.Repeat("c", 5000) + "'/>", 0},
	} {
		t.Run(name, func(t *testing.T) {
			size := part
			if c.lines > 0 {
				size = whole
			}
			n := size - size%len(c.printed)
			before, peak := heap(), 0
			log := &watched{Reader: junitReport(repeat(c.printed, n)), every: 2 << 20, look: func() { peak = max(peak, heap()) }}
			rep, err := Read(t.Context(), log, Options{})
			if err != nil || len(rep.Tests) != 1 || rep.Tests[0].Name != "Cart.tax" || rep.Cut != "" ||
				rep.Class != TestFailure {
				t.Fatalf("%+v, %v", rep, err)
			}
			if c.lines > 0 && rep.Line != c.lines+4 {
				t.Errorf("line %d of %d", rep.Line, c.lines)
			}
			if grown := peak - before; grown > 8<<20 {
				t.Errorf("%d KiB more on the heap", grown>>10)
			}
		})
	}
}

// Hostile XML is read in bounded memory, too.
//
//test:thorough
func TestHostileJUnit(t *testing.T) {
	const size = 2 << 20
	for name, c := range map[string]struct{ head, piece string }{
		"nested elements":    {"", "<a>"},
		"one long tag":       {"<", "a"},
		"many attributes":    {"<testcase", " a='b'"},
		"one endless value":  {"<testcase name='", "a"},
		"open test cases":    {"", "<testcase name='a'><failure>no</failure>"},
		"endless comment":    {"<!-- ", "x"},
		"endless CDATA":      {"<testcase><failure><![CDATA[", "x\n"},
		"many failures":      {"", "<testcase name='a'><failure>no</failure></testcase>"},
		"different failures": {"", "<testcase><failure>no</failure><error>no</error><failure>x</failure></testcase>"},
		"line feeds":         {"", "<system-out>" + strings.Repeat("\n", 33<<10) + "</system-out>"},
	} {
		t.Run(name, func(t *testing.T) {
			before, peak := heap(), 0
			log := &watched{Reader: io.MultiReader(strings.NewReader("<testsuite>\n"+c.head), repeat(c.piece, size)),
				every: 1 << 20, look: func() { peak = max(peak, heap()) }}
			rep, err := Read(t.Context(), log, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if grown := peak - before; grown > 8<<20 {
				t.Errorf("%d KiB more on the heap", grown>>10)
			}
			checkReport(t, rep, 1<<30)
		})
	}
}

// A report may be one line, as some tools write it.
func TestJUnitOnOneLine(t *testing.T) {
	rep := read(t, "<testsuites><testsuite name='shop'><testcase name='tax' classname='Cart'><failure message='boom'>"+
		"expected 119, got 100&#10;at cart.js:3</failure></testcase><testcase name='sum' classname='Cart'>"+
		"<error>no such cart</error></testcase></testsuite></testsuites>", Options{})
	const want = "Cart.tax\nboom\nexpected 119, got 100\nat cart.js:3\nCart.sum\nno such cart"
	if rep.Text != want || len(rep.Tests) != 2 {
		t.Errorf("%q, %+v", rep.Text, rep.Tests)
	}
}

// XML with a syntax error is read up to the error, and the report notes it. A truncated report is one of a test run
// that was killed.
func TestBrokenJUnit(t *testing.T) {
	const failed = "<testsuite><testcase name='a'><failure>no</failure></testcase>\n"
	for rest, cut := range map[string]bool{
		"":                                 false,
		"<testcase name='b'":               false,
		"<testcase name='b'><failure>half": false,
		"</testsuite>":                     false,
		"<<<":                              true,
		"<testcase name=>":                 false, // as HTML is written
		"<testcase 'b'><":                  true,
	} {
		rep := read(t, failed+rest, Options{})
		if len(rep.Tests) != 1 || (rep.Cut != "") != cut {
			t.Errorf("%q: %d tests, cut %q", rest, len(rep.Tests), rep.Cut)
		}
	}
}

func BenchmarkJUnit(b *testing.B) {
	var cases strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&cases, "<testcase name='test %d' classname='Cart' time='0.01'><system-out>ok, %d\n"+
			"and more</system-out></testcase>\n", i, i)
	}
	const size = 32 << 20
	b.SetBytes(size)
	for b.Loop() {
		log := io.MultiReader(strings.NewReader("<testsuite>"), repeat(cases.String(), size))
		if _, err := Read(b.Context(), log, Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
