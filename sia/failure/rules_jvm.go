package failure

// jvmRules recognise the build tools, compilers and test runners of Java,
// Kotlin, Scala, Groovy and Clojure.
func jvmRules() []rule {
	return []rule{
		{name: "surefire, a failed test", keys: keys("<<< failure!", "<<< error!"),
			match: re(`^(\[ERROR\] )?\s*(?P<test>[^\s(]\S*?(\(\S+\))?( .{1,80}?)??)\s+(-- )?Time elapsed: .*<<< (FAILURE|` +
				`ERROR)!`), extent: stackTrace, weight: 89, class: TestFailure, item: true},
		{name: "maven, a failed goal", keys: keys("failed to execute goal"),
			match:  re(`^\[ERROR\] Failed to execute goal`),
			extent: whileMatching, stop: re(`^\[ERROR\]`), weight: 62, class: Unknown, summary: true, absorbs: true},
		{name: "gradle, what went wrong", keys: keys("what went wrong:"),
			match:  re(`^\* What went wrong:`),
			extent: untilStop, stop: re(`^(\* Try:|\* Exception is:|\* Get more help|BUILD FAILED|={10,})`), weight: 66,
			class: Unknown, summary: true, absorbs: true},
		{name: "Java, an exception", keys: keys("exception", "error"),
			match: re(`^\s*(Exception in thread .*|Caused by: .*|` +
				`(\[\w+\] )?([a-z][\w$]*\.)+[A-Z][\w$]*(Exception|Error|Failure|Throwable)\b(: .*)?)$`),
			extent: stackTrace, weight: 68, class: RuntimeError, soft: true},
	}
}
