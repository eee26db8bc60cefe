package render

// CheckRunAgain is the check run that somebody asked for again, until it says where
// the task stands.
func CheckRunAgain() CheckRunView {
	return CheckRunView{Status: "in_progress", Title: "SIA looks again",
		Summary: "Somebody asked for this check again. It says in a moment where the task stands.\n"}
}
