package failure

// word is a word that says something about a line by itself.
type word struct {
	text  string // lower case
	worth float64
	whole bool // counts little inside an identifier, path or flag
	role  role
}

// role is what a word makes of the whole line.
type role uint8

const (
	noRole  role = iota
	warns        // the line is a warning
	results      // the line says that something above has failed, not why
)

// words are what the general scorer goes by. The figures were set by hand and
// checked on labelled logs of many tools; their order matters more than their
// size.
func words() []word {
	return []word{
		{"error", 8, true, noRole}, {"error:", 7, false, noRole}, {"errors", 1, true, noRole}, {"fatal", 9, true, noRole}, {"exception", 7, true, noRole},
		{"failed", 8, true, noRole}, {"failure", 7, true, noRole}, {"fail:", 6, false, noRole}, {"fail", 3, true, noRole}, {"failing", 5, true, noRole}, {"fails", 4, true, noRole},
		{"cannot", 6, true, noRole}, {"can't", 5, true, noRole}, {"can not", 5, true, noRole}, {"could not", 7, false, noRole}, {"couldn't", 7, false, noRole},
		{"unable to", 7, false, noRole}, {"not found", 7, false, noRole}, {"no such", 8, false, noRole}, {"does not exist", 7, false, noRole}, {"doesn't exist", 7, false, noRole},
		{"undefined", 6, true, noRole}, {"unexpected", 5, true, noRole}, {"invalid", 6, true, noRole}, {"missing", 4, true, noRole}, {"illegal", 6, true, noRole},
		{"denied", 7, true, noRole}, {"refused", 6, true, noRole}, {"timed out", 8, false, noRole}, {"timeout", 3, true, noRole}, {"aborted", 7, true, noRole}, {"aborting", 7, true, noRole},
		{"panic", 6, true, noRole}, {"segmentation fault", 14, false, noRole}, {"killed", 5, true, noRole}, {"not allowed", 5, false, noRole}, {"mismatch", 5, true, noRole},
		{"conflict", 4, true, noRole}, {"exit code", 5, false, noRole}, {"exit status", 5, false, noRole}, {"non-zero", 5, false, noRole},
		{"traceback", 8, true, noRole}, {"expected", 4, true, noRole}, {"but got", 5, false, noRole}, {"unresolved", 6, true, noRole}, {"unknown", 3, true, noRole},
		{"not supported", 4, false, noRole}, {"unsupported", 4, true, noRole}, {"broken", 4, true, noRole}, {"syntax error", 6, false, noRole}, {"must be", 3, false, noRole},
		{"is required", 3, false, noRole}, {"violation", 5, true, noRole}, {"diff ", 1, false, noRole}, {"✗", 8, false, noRole}, {"✖", 8, false, noRole}, {"✘", 8, false, noRole}, {"❌", 8, false, noRole},
		{"please ", 2, false, noRole}, {"issues", 2, true, noRole}, {"problem", 3, true, noRole}, {"bad ", 2, false, noRole}, {"wrong", 4, true, noRole}, {"crash", 5, true, noRole},
		{"duplicate", 3, true, noRole}, {"incorrect", 4, true, noRole}, {"rejected", 5, true, noRole}, {"should ", 2, false, noRole}, {"offense", 4, true, noRole},

		{"warning", -7, true, warns}, {"deprecat", -6, false, warns}, {"0 errors", -18, false, noRole}, {"no errors", -16, false, noRole}, {"0 failed", -14, false, noRole},
		{"0 failures", -16, false, noRole}, {"failures: 0", -10, false, noRole}, {"errors: 0", -10, false, noRole}, {"failed: 0", -12, false, noRole}, {"0 error(s)", -16, false, noRole},
		{"0 warning", -4, false, noRole}, {"passed", -3, true, warns}, {"skipped", -3, true, noRole}, {"optional", -3, true, noRole}, {"ignoring", -5, false, noRole}, {"ignored", -4, false, noRole},
		{"allow_failure", -10, false, noRole}, {"--fail", -8, false, noRole}, {"-werror", -12, false, noRole}, {"on-error", -8, false, noRole}, {"onerror", -8, false, noRole},
		{"found 1 error", 0, false, results}, {"errors found", 0, false, results}, {"problems (", 0, false, results},
		{"invocationerror", 0, false, results}, {"commands failed", 0, false, results}, {"use --force to continue", 0, false, results}, {"lerna err!", 0, false, results},
		{"returned non-zero exit status", 0, false, results}, {"calledprocesserror", 0, false, results}, {"see above", 0, false, results},
		{"failed with exit code", 0, false, results}, {"command failed", 0, false, results}, {"failed to run custom build command", 0, false, results},
		{"build failed", 0, false, results}, {"tests failed", 0, false, results}, {"test failed", 0, false, results}, {"tests!!", 0, false, results},
		{"exited with", 5, false, results}, {"process completed with exit code", 0, false, results}, {"exit status 1", 0, false, results}, {"elifecycle", 0, false, results},
		{"subprocess exited", 0, false, results}, {"aborting due to", 0, false, results}, {"could not compile", 0, false, results},
		{"retry", -2, true, noRole}, {"debug", -4, true, noRole}, {"trace ", -2, false, noRole}, {"npm warn", -10, false, warns}, {"downloading", -6, true, noRole}, {"installing", -4, true, noRole},
		{"[ok]", -10, false, noRole}, {"... ok", -12, false, warns}, {" info ", -4, false, noRole}, {"[info]", -5, false, noRole}, {"setup", -1, true, noRole},
		{"nothing to", -4, false, noRole}, {"not necessary", -4, false, noRole}, {"|| ", -4, false, noRole}, {"2>&1", -6, false, noRole}, {"if [", -8, false, noRole},
	}
}

// worthIn is what the word that ends before end is worth on line b.
func (w *word) worthIn(b []byte, end int) float64 {
	if !w.whole {
		return w.worth
	}
	start := end - len(w.text)
	if start > 0 && joins(b[start-1]) || end < len(b) && (joins(b[end]) && b[end] != '.' && b[end] != 's' || b[end] == '(') {
		// A part of an identifier, a path or a flag. Exceptions are named so, too.
		if end < len(b) && b[end] == ':' || start > 0 && lower(b[start-1]) && upper(b[start]) {
			return w.worth
		}
		return w.worth / 4
	}
	return w.worth
}

func joins(c byte) bool {
	return lower(c) || upper(c) || c >= '0' && c <= '9' || c == '_' || c == '-' || c == '/' || c == '.' || c == '$'
}

func lower(c byte) bool { return c >= 'a' && c <= 'z' }
func upper(c byte) bool { return c >= 'A' && c <= 'Z' }
