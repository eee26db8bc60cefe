package main

import "testing"

// A test runner that is not installed is no failure of the code.
func TestLacksRunner(t *testing.T) {
	for _, c := range []struct {
		command, output string
		want            bool
	}{
		{"python3 -m pytest -q", "/usr/bin/python3: No module named pytest\n", true},
		{"python3 -m pytest", "some words\n/opt/venv/bin/python3.12: No module named 'pytest'\n", true},
		{"python3 -m pytest -q", "E   ModuleNotFoundError: No module named 'shop'\n", false},
		{"python3 -m pytest -q", "/usr/bin/python3: No module named shop\n", false}, // run by a test
		{"python3 -m unittest", "Ran 1 test\nOK\n", false},
	} {
		if got := lacksRunner(c.command, []byte(c.output)); got != c.want {
			t.Errorf("%s printed %q: %v", c.command, c.output, got)
		}
	}
}
