package failure

// runtimeRules recognise exceptions, crashes, timeouts and cancellations.
func runtimeRules() []rule {
	return []rule{
		{name: "Python, a traceback", keys: keys("traceback (most"),
			match:  re(`^.{0,40}Traceback \(most recent call last\):`),
			extent: pythonTrace, weight: 50, class: RuntimeError, absorbs: true},
		{name: "node, an uncaught error", keys: keys("error: ", "error ["),
			match:  re(`^\s*(\S+ - |# )?(Uncaught )?([A-Z]\w*)?Error( \[\w+\])?: \S`),
			extent: stackTrace, weight: 66, class: RuntimeError},
		{name: "Elixir, an exception", keys: keys("** ("),
			match: re(`^\*\* \((?:throw|exit|[A-Z][\w.]*)\) \S`), extent: stackTrace, weight: 66, class: RuntimeError},
		{name: "PHP, a fatal error", keys: keys("fatal error"),
			match: re(`^(PHP )?(Catchable )?[Ff]atal error: `), extent: stackTrace, weight: 76, class: RuntimeError},
		{name: "a program's own error", keys: keys("error: "),
			match: re(`^(\[?ERROR\]?|Error|Fatal): \S`), extent: stackTrace, max: 60, weight: 50, class: Unknown,
			absorbs: true},

		{name: "a crash",
			keys: keys("sanitizer: ", "segmentation fault", "sigsegv", "core dumped", "sigabrt", "sigbus", "sigill",
				"illegal instruction",
				"access violation", "fatal python error", "stack smashing", "bus error", "signal 11", "signal 6", "double free",
				"a fatal error has been detected", "exit code 139", "exit code 134", "assertion `"),
			extent: stackTrace, weight: 76, class: Crash, soft: true},
		{name: "a timeout of the job",
			keys: keys("no output has been received", "exceeded the maximum", "execution time limit", "has timed out",
				"timed out after", "maximum execution time", "returning 124", "exit code 124", "stalled and has been terminated",
				"timeout exceeded", "log length has exceeded"),
			match: re(`(?i)(no output has been received|exceeded the maximum (execution )?time|execution time limit|` +
				`(job|build|step|action .*) has timed out|maximum execution time|(returning|exit code|exited with|code) 124\b|` +
				`stalled and has been terminated|log (length|file size) has exceeded|>\d+ ?min, )`),
			extent: indentedParagraph, weight: 80, class: Timeout, soft: true},
		{name: "a cancelled job",
			keys: keys("operation was canceled", "was cancelled", "task was canceled", "received a shutdown signal",
				"canceling since", "cancelled by", "aborted", "run was canceled", "higher priority waiting", "keyboardinterrupt"),
			match: re(`(?i)(the operation was cancell?ed|a task was cancell?ed|runner has received a shutdown signal|` +
				`canceling since|(build|job|run) was (cancell?ed|aborted)|cancelled by|^aborted by \S|` +
				`^finished: aborted$|!{5,} KeyboardInterrupt !{5,}|^KeyboardInterrupt$)`),
			extent: singleLine, weight: 62, class: Cancelled, soft: true},
	}
}
