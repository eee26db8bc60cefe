package metrics

import "github.com/prometheus/client_golang/prometheus"

// desc returns the description of a metric; Prometheus shows help to users.
func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("sia_"+name, help, labels, nil)
}

// Metrics of the server's health.
var (
	role           = desc("role", "1 for each role that this server has.", "role")
	databaseUp     = desc("database_up", "1 while the database answers.")
	databaseWrites = desc("database_writes", "1 while the database takes writes; 0 for half a minute after it did not.")
	diskFree       = desc("disk_free_bytes", "Free space on the disk of the server's folder, in bytes.")
	waiting        = desc("waiting", "Deliveries of GitHub, or effects of tasks, that are due and not done.", "kind")
	oldest         = desc("oldest_waiting_seconds", "How long the oldest of them has been due; 0 without any.", "kind")
	givenUp        = desc("deliveries_given_up", "Deliveries that could not be worked on, of those that are still kept.")
	unread         = desc("deliveries_unread_total", "Deliveries of events that SIA does not read, since it started.")
	tasks          = desc("tasks", "Tasks by state.", "state")
	halts          = desc("halts", "Repositories, installations or servers that are paused as a whole.")
	onRunners      = desc("runner_attempts", "Attempts and runs of tests that wait for a runner or are on one.", "kind",
		"state")
	spent = desc("credits_spent_total", "What all tasks cost since this process started, in credits of 0.01 USD.")

	rateLimitLeft = desc("github_rate_limit_left", "What GitHub still lets an installation ask, as it last said.",
		"installation", "resource")
	rateLimit = desc("github_rate_limit", "What GitHub lets an installation ask in an hour.",
		"installation", "resource")
	rateLimitResets = desc("github_rate_limit_resets_timestamp_seconds", "When it is full again, in seconds since 1970.",
		"installation", "resource")
)

// Metrics of the targets, over the tasks that changed in the last 30 days. Those without a value
// are left out.
var (
	monthTasks    = desc("month_tasks", "Tasks that moved in 30 days, by what became of them.", "what")
	resolvedShare = desc("interventions_resolved_ratio",
		"Share of judged interventions that resolved the failure; target: > 0.7.")
	firstShare = desc("first_technique_resolved_ratio",
		"Share of first interventions that resolved it; target: > 0.5.")
	escalatedShare = desc("escalated_ratio", "Share of tasks of which a person was asked; target: < 0.3.")
	techniques     = desc("techniques_per_resolution",
		"Interventions judged in a task that one resolved, on average; target: < 3.")
	testedPushes = desc("month_tested_pushes",
		"Attempts of these tasks of which tests failed before the push, by whether they were saved.", "what")
	creditsPerSolved = desc("credits_per_solved_task", "What a task that passed cost, on average; target: falling.")
)
