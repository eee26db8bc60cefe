package store

// What is asked of tables that grow, for tests of how it is answered.
const (
	EndedTasksQuery = endedTasksQuery
	FlipsQuery      = flipsQuery
	AllFlipsQuery   = allFlipsQuery
	SpentByAllQuery = spentByAllQuery
	UntemperedQuery = untemperedQuery
	ChangedQuery    = changedQuery
)

// LooksQuery is what [TaskStore.Looks] asks for n temperatures.
var LooksQuery = looksQuery

// TasksQuery is what [TaskStore.Tasks] asks.
var TasksQuery = tasksQuery
