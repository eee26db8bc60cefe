package failure

import (
	"maps"
	"slices"
)

// scoredWord is a word with its contribution to a line's score.
type scoredWord struct {
	text  string // lower case
	score float64
	whole bool // counts only a quarter inside an identifier, path or flag
	role  wordRole
}

// wordRole is the effect of a word on the whole line.
type wordRole uint8

const (
	noRole      wordRole = iota
	warningWord          // the line is a warning
	resultWord           // the line reports that something above has failed, not why
)

// scoredWords returns the words that make up a line's score. The scores were set by hand and checked on labelled logs
// of many tools. Their ranking matters more than their values.
func scoredWords() []scoredWord {
	var all []scoredWord
	add := func(whole bool, role wordRole, words map[string]float64) {
		for _, text := range slices.Sorted(maps.Keys(words)) {
			all = append(all, scoredWord{text: text, score: words[text], whole: whole, role: role})
		}
	}
	// Words of an error, counted in full only as whole words.
	add(true, noRole, map[string]float64{
		"error": 8, "errors": 1, "fatal": 9, "exception": 7, "failed": 8, "failure": 7, "fail": 3, "failing": 5, "fails": 4,
		"cannot": 6, "can't": 5, "can not": 5, "undefined": 6, "unexpected": 5, "invalid": 6, "missing": 4, "illegal": 6,
		"denied": 7, "refused": 6, "timeout": 3, "aborted": 7, "aborting": 7, "panic": 6, "killed": 5, "mismatch": 5,
		"conflict": 4, "traceback": 8, "expected": 4, "unresolved": 6, "unknown": 3, "unsupported": 4, "broken": 4,
		"violation": 5, "issues": 2, "problem": 3, "wrong": 4, "crash": 5, "duplicate": 3, "incorrect": 4, "rejected": 5,
		"offense": 4,
	})
	// The same, wherever they stand.
	add(false, noRole, map[string]float64{
		"error:": 7, "fail:": 6, "could not": 7, "couldn't": 7, "unable to": 7, "not found": 7, "no such": 8,
		"does not exist": 7, "doesn't exist": 7, "timed out": 8, "segmentation fault": 14, "not allowed": 5, "exit code": 5,
		"exit status": 5, "non-zero": 5, "but got": 5, "not supported": 4, "syntax error": 6, "must be": 3,
		"library not loaded": 8, "** (": 4, "is required": 3, "diff ": 1, "no module named": 7,
		"✗": 8, "✖": 8, "✘": 8, "❌": 8, "please ": 2, "bad ": 2, "should ": 2,
	})
	// Words that indicate the absence of an error.
	add(true, noRole, map[string]float64{
		"skipped": -3, "optional": -3, "retry": -2, "debug": -4, "downloading": -6, "installing": -4, "setup": -1,
	})
	// The same, wherever they stand.
	add(false, noRole, map[string]float64{
		"0 errors": -18, "no errors": -16, "0 failed": -14, "0 failures": -16, "failures: 0": -10, "errors: 0": -10,
		"failed: 0": -12, "0 error(s)": -16, "0 warning": -4, "ignoring": -5, "ignored": -4, "allow_failure": -10,
		"skipping": -5, "--fail": -8, "-werror": -12, "on-error": -8, "onerror": -8, "trace ": -2, "[ok]": -10,
		" info ": -4, "[info]": -5,
		"nothing to": -4, "not necessary": -4, "|| ": -4, "2>&1": -6, "if [": -8,
	})
	// Words that make the line a warning.
	add(true, warningWord, map[string]float64{
		"warning": -7, "passed": -3,
	})
	add(false, warningWord, map[string]float64{
		"deprecat": -6, "npm warn": -10, "... ok": -12,
	})
	// Words that make the line advice or a guess.
	add(true, warningWord, map[string]float64{
		"perhaps": -4, "sometimes": -4, "probably": -3, "hint": -3, "note": -3, "tip": -3,
	})
	add(false, warningWord, map[string]float64{
		"this could be": -5, "might be": -3, "may be caused": -5, "make sure": -4, "for example": -3, "either way": -4,
	})
	// Words that report that something above has failed, not why.
	add(false, resultWord, map[string]float64{
		"found 1 error": 0, "errors found": 0, "problems (": 0, "invocationerror": 0, "commands failed": 0,
		"use --force to continue": 0, "lerna err!": 0, "returned non-zero exit status": 0, "calledprocesserror": 0,
		"see above": 0, "failed with exit code": 0, "command failed": 0, "failed to run custom build command": 0,
		"build failed": 0, "tests failed": 0, "test failed": 0, "tests!!": 0, "exited with": 5,
		"process completed with exit code": 0, "exit status 1": 0, "elifecycle": 0, "subprocess exited": 0,
		"aborting due to": 0, "could not compile": 0,
	})
	return all
}

// scoreIn returns the score, on line b, of the word that ends before end.
func (w *scoredWord) scoreIn(b []byte, end int) float64 {
	if !w.whole {
		return w.score
	}
	start := end - len(w.text)
	// In capitals it may be part of a status: TEST-UNEXPECTED-FAIL.
	capitals := isUpper(b[start]) && isUpper(b[end-1])
	joined := start > 0 && joinsWord(b[start-1]) && !(capitals && b[start-1] == '-')
	if end < len(b) && !(capitals && b[end] == '-') {
		joined = joined || joinsWord(b[end]) && b[end] != '.' && b[end] != 's' || b[end] == '('
	}
	if joined {
		// A part of an identifier, a path or a flag, but names of exceptions count in full.
		if end < len(b) && b[end] == ':' || start > 0 && isLower(b[start-1]) && isUpper(b[start]) {
			return w.score
		}
		return w.score / 4
	}
	return w.score
}

func joinsWord(c byte) bool {
	return isLower(c) || isUpper(c) || c >= '0' && c <= '9' || c == '_' || c == '-' || c == '/' || c == '.' || c == '$'
}

func isLower(c byte) bool { return c >= 'a' && c <= 'z' }
func isUpper(c byte) bool { return c >= 'A' && c <= 'Z' }
