package failure

// pythonTraceback is the name of the rule of Python's tracebacks.
const pythonTraceback = "Python, a traceback"

// runtimeRules recognise exceptions, crashes, and what ends a program.
func runtimeRules() []rule {
	return []rule{
		{name: pythonTraceback, keys: keys("traceback (most"), match: re(`^.{0,40}Traceback \(most recent call last\):`), extent: python, weight: 74, class: RuntimeError},
		{name: "Python, an exception", keys: keys("error: ", "exception: ", "exit: "), match: re(`^([a-z_]\w*\.)*[A-Z]\w*(Error|Exception|Exit|Warning|Interrupt): \S`), extent: indentedParagraph, weight: 60, class: RuntimeError},
		{name: "pytest, an import error", keys: keys("importerror while", "conftest"), match: re(`^(ImportError while (loading|importing)|E\s+(ModuleNotFound|Import)Error)`), extent: paragraph, weight: 76, class: Dependency},
		{name: "node, an uncaught error", keys: keys("error: ", "error ["), match: re(`^\s*(\S+ - )?(Uncaught )?([A-Z]\w*)?Error( \[\w+\])?: \S`), extent: trace, weight: 66, class: RuntimeError},
		{name: "node, a missing module", keys: keys("cannot find module", "cannot find package"), match: re(`Cannot find (module|package) ['"]`), extent: trace, weight: 72, class: Dependency},
		{name: "node, where it threw", keys: keys("throw "), match: re(`^\s+throw \S.*;( //.*)?$`), extent: section, stop: re(`^(npm|error |Node\.js v)`), weight: 56, class: RuntimeError, above: 1},
		{name: "rake, an abort", keys: keys("rake aborted!"), match: re(`^rake aborted!`), extent: section, stop: re(`^(\(See full trace|Tasks: TOP)`), weight: 62, class: RuntimeError},
		{name: "Ruby, an exception", keys: keys(".rb:", "(loaderror)", "error)"), match: re(`^\S+\.?(rb|rake|erb)?:\d+:in .*: .* \((\w+::)*\w*(Error|Exception)\)`), extent: trace, weight: 72, class: RuntimeError},
		{name: "PHP, a fatal error", keys: keys("fatal error"), match: re(`^(PHP )?(Catchable )?[Ff]atal error: `), extent: trace, weight: 76, class: RuntimeError},
		{name: "PHP, an exception", keys: keys("exception]", "error]"), match: re(`^\s*(In \S+ line \d+:|\[[\w\\]*(Exception|Error)\])\s*$`), extent: paragraph, weight: 72, class: RuntimeError},
		{name: "Perl, a missing module", keys: keys("can't locate"), match: re(`Can't locate \S+ in @INC`), extent: paragraph, weight: 72, class: Dependency},
		{name: "Perl, a death", keys: keys(" at "), match: re(`^[^\s"'].* at \S+\.(pl|pm|t|PL) line \d+\.?$`), extent: matching, stop: re(` at \S+ line \d+\.?$|^BEGIN failed`), weight: 58, class: RuntimeError},
		{name: "R, an error", keys: keys("error in ", "execution halted"), match: re(`^(Error in .*|Execution halted)$`), extent: paragraph, weight: 62, class: RuntimeError},
		{name: "a program's own error", keys: keys("error: "), match: re(`^(\[?ERROR\]?|Error|Fatal): \S`), extent: trace, max: 60, weight: 50, class: Unknown, takes: true},
		{name: "R CMD check, a failed check", keys: keys("... error", "... warning", "... note"), match: re(`^\*+ (checking|creating|building|installing|testing) .*\.\.\.( \[.*\])? (ERROR|WARNING|NOTE)$`), extent: section, stop: re(`^(\* (checking|DONE|creating)|Status:|travis)`), weight: 66, class: TestFailure},
		{name: "Lua, an error", keys: keys(".lua:"), match: re(`^(lua\S*|luajit\S*|/\S*lua\S*|[\w/]+/th): \S+:\d+: `), extent: trace, weight: 74, class: RuntimeError},
		{name: "Clojure, an exception", keys: keys("exception"), match: re(`^(Exception in thread .*|Syntax error .*compiling at.*|(clojure|java)\.\S*Exception.*)`), extent: trace, weight: 70, class: RuntimeError},
		{name: "Julia, an error", keys: keys("error: loaderror", "error: "), match: re(`^ERROR: (LoadError: |\w+Error: )`), extent: trace, weight: 72, class: RuntimeError},
		{name: ".NET, an exception", keys: keys("unhandled exception"), match: re(`Unhandled [Ee]xception`), extent: trace, weight: 72, class: RuntimeError},
		{name: "PowerShell, an error", keys: keys(" char:"), match: re(`^At (?P<file>.+):(?P<line>\d+) char:\d+`), extent: matching, stop: re(`^\s*\+`), weight: 72, class: RuntimeError, above: 2},
		{name: "gulp, a failed task", keys: keys("errored after"), match: re(`'\S+' errored after`), extent: trace, weight: 56, class: RuntimeError},
		{name: "Valgrind's report", keys: keys("== "), match: re(`^==\d+== (Invalid|Conditional jump|Use of uninit|Process terminating|Mismatched|Source and destination|.*definitely lost)`), extent: matching, stop: re(`^==\d+==`), weight: 76, class: Crash},
		{name: "a workflow command's error", keys: keys("::error"), match: re(`^::error( [^:]*?file=(?P<file>[^,:]+)(,line=(?P<line>\d+))?[^:]*)?::`), extent: single, weight: 66, class: Unknown},
		{name: "GitHub Actions, an error", keys: keys("##[error]"), match: re(`^##\[error\]`), extent: indented, weight: 50, class: Unknown},

		{name: "a sanitizer's report", keys: keys("sanitizer: "), match: re(`(Address|Memory|Thread|Leak|UndefinedBehavior)Sanitizer: |runtime error: `), extent: trace, weight: 84, class: Crash},
		{name: "a crash", keys: keys("segmentation fault", "sigsegv", "core dumped", "sigabrt", "sigbus", "sigill", "illegal instruction", "access violation", "fatal python error", "stack smashing", "bus error", "signal 11", "signal 6", "double free", "a fatal error has been detected", "exit code 139", "exit code 134", "assertion failed", "assertion `"), match: re(`(?i)(segmentation fault|SIGSEGV|core dumped|SIGABRT|SIGBUS|SIGILL|illegal instruction|access violation|fatal python error|stack smashing|\bbus error|signal (11|6)\b|double free|a fatal error has been detected|exit code 13[49]|assertion .* failed)`), extent: trace, weight: 76, class: Crash, soft: true},
		{name: "out of memory", keys: keys("outofmemory", "out of memory", "heap out of memory", "cannot allocate memory", "oom", "memory exhausted", "bad_alloc", "exit code 137", "virtual memory exhausted"), match: re(`(OutOfMemory|(?i:out of memory|heap out of memory|cannot allocate memory|memory exhausted)|\bOOM(Killed|-killed| killer)|std::bad_alloc|exit(ed with)? code 137)`), extent: trace, weight: 78, class: OutOfMemory, soft: true},
		{name: "killed", keys: keys("killed"), match: re(`(^|: |\s{2,})Killed(: 9)?(\s|$)`), extent: single, weight: 64, class: OutOfMemory, soft: true},
		{name: "an assertion", keys: keys("assert"), match: re(`^\s*(\S+:\d+: )?(\w+: )?Assert(ion|Error)?\b.*(fail|Fail)`), extent: indentedParagraph, weight: 66, class: TestFailure, soft: true},
		{name: "a timeout of the job", keys: keys("no output has been received", "exceeded the maximum", "execution time limit", "has timed out", "timed out after", "maximum execution time", "returning 124", "exit code 124", "stalled and has been terminated", "timeout exceeded", "log length has exceeded"), match: re(`(?i)(no output has been received|exceeded the maximum (execution )?time|execution time limit|(job|build|step|action .*) has timed out|maximum execution time|(returning|exit code|exited with|code) 124\b|stalled and has been terminated|log (length|file size) has exceeded|>\d+ ?min, )`), extent: paragraph, weight: 80, class: Timeout, soft: true},
		{name: "a cancelled job", keys: keys("operation was canceled", "was cancelled", "task was canceled", "received a shutdown signal", "canceling since", "cancelled by", "run was canceled", "higher priority waiting", "keyboardinterrupt"), match: re(`(?i)(the operation was cancell?ed|a task was cancell?ed|runner has received a shutdown signal|canceling since|(build|job|run) was cancell?ed|cancelled by|!{5,} KeyboardInterrupt !{5,}|^KeyboardInterrupt$)`), extent: single, weight: 62, class: Cancelled, soft: true},
	}
}
