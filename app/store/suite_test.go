package store_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/store/storetest"
	"github.com/sia-bot/sia/sia"
)

// runSuite runs the suite on a database. url returns the URL of an empty, migrated database for one test.
func runSuite(t *testing.T, url func(t testing.TB) string) {
	runTests(t, url, []storeTest{
		{"Migrate", testMigrate},

		{"LatestDelivery", testLatestDelivery},
		{"ArrivedDeliveries", testArrived},
		{"AnsweredDeliveries", testAnswered},
		{"DeliveryIsSavedOnce", testDeliverySavedOnce},
		{"DeliveriesAtOnce", testDeliveriesAtOnce},
		{"DeliveryIsWorkedOn", testDeliveryWorkedOn},
		{"DeliveryIsRetriedThenGivenUp", testDeliveryGivenUp},
		{"DeliveryOutlastsOutage", testDeliveryOutage},
		{"DeliveriesTogether", testDeliveriesTogether},
		{"DeliveriesTogetherStopped", testDeliveriesTogetherStopped},
		{"DeliveriesTogetherCrashed", testDeliveriesTogetherCrashed},
		{"DeliveryOfAnEarlierVersion", testDeliveryOfAnEarlierVersion},
		{"DeliveriesOfOneInstallation", testDeliveriesOfOneInstallation},
		{"DeliveriesArePruned", testDeliveriesPruned},
		{"ManyDeliveriesArePruned", testManyDeliveriesPruned},

		{"ApplyStartsATask", testApplyStarts},
		{"ApplyTwiceIsOnce", testApplyTwice},
		{"ApplyNothing", testApplyNothing},
		{"ApplyToNoTask", testApplyToNoTask},
		{"ApplyRefusesNonsense", testApplyNonsense},
		{"ApplyAtOnce", testApplyAtOnce},
		{"EventsInBrief", testEventsInBrief},
		{"RoomOfADay", testRoomOfADay},
		{"Refs", testRefs},
		{"Filters", testFilters},
		{"Looks", testLooks},
		{"Plans", testPlans},
		{"Found", testFound},
		{"Weeks", testWeeks},
		{"Pulse", testPulse},
		{"Tallies", testTallies},

		{"Transcripts", testTranscripts},
		{"Texts", testTexts},
		{"Surfaces", testSurfaces},
		{"Installations", testInstallations},
		{"Settings", testSettings},
		{"Dashboards", testDashboards},
		{"RepositoryNamed", testRepositoryNamed},
		{"Starts", testStarts},
		{"Halt", testHalt},
		{"HaltOfPaused", testHaltOfPaused},
		{"HaltOfOneWhoLeaves", testHaltOfOneWhoLeaves},
		{"HaltsApplied", testHaltsApplied},
		{"ResumeAfterHalt", testResumeAfterHalt},
		{"Heard", testHeard},
		{"HeardOfOpenTasks", testHeardOfOpenTasks},
		{"Forget", testForget},
		{"ForgetGoesOn", testForgetGoesOn},
		{"ForgetGhost", testForgetGhost},
		{"ForgetLoadsNamed", testForgetLoadsNamed},
		{"Acts", testActs},
		{"ManyActs", testManyActs},
		{"ActsName", testActsName},
		{"OperatorsActs", testOperatorsActs},
		{"ActsOfNamesakes", testActsOfNamesakes},
		{"TranscriptsPruned", testTranscriptsPruned},
		{"TasksPruned", testTasksPruned},
		{"Notices", testNotices},
		{"Summaries", testSummaries},
		{"Decisions", testDecisions},
		{"Outcomes", testOutcomes},
		{"OutcomesAtOnce", testOutcomesAtOnce},

		{"LessonsAreKept", testLessonsKept},
		{"LessonsAboutModels", testLessonsAboutModels},
		{"LessonsAreFound", testLessonsFound},
		{"LessonsOfOneRepository", testLessonsApart},
		{"EvidenceCountsOnce", testEvidenceOnce},
		{"EvidenceReplaced", testEvidenceReplaced},
		{"EvidenceFollowsMerges", testEvidenceMerged},
		{"ForgettingIsFinal", testForgettingFinal},
		{"LessonsLearnedSince", testLearnedSince},
		{"WordsChangePlaces", testWordsChangePlaces},
		{"LessonsAreShared", testLessonsShared},
		{"SharingTakenBack", testSharingTakenBack},
		{"SharingStaysApart", testSharingApart},
		{"Flips", testFlips},
		{"Policies", testPolicies},
		{"Ends", testEnds},
		{"Experiments", testExperiments},
		{"PolicyHolds", testHolds},
		{"PolicyRecord", testPolicyRecord},
		{"DecisionsOf", testDecisionsOf},
		{"SharedReports", testSharedReports},
		{"PriorImports", testPriorImports},
		{"TaskLanguages", testTaskLanguages},

		{"MemoryHeads", testMemoryHeads},
		{"LessonsRestored", testLessonsRestored},
		{"ManyLessonsRestored", testManyLessonsRestored},
		{"TaskRestored", testTaskRestored},
		{"OutcomesOf", testOutcomesOf},

		{"LoopToPassed", testLoopToPassed},
		{"LoopWithIntervention", testLoopWithIntervention},
		{"EffectIsRetried", testEffectRetried},
		{"OutageDelaysEffect", testOutage},
		{"SetupDue", testSetupDue},
		{"SetupStaysDone", testSetupStaysDone},
		{"RefusedSetupStaysDone", testRefusedSetupStaysDone},
		{"EffectPanics", testEffectPanics},
		{"EffectFailsForGood", testEffectFailsForGood},
		{"EffectFailsOnLastTry", testEffectFailsOnLastTry},
		{"EffectTimesOut", testEffectTimesOut},
		{"AttemptWaits", testAttemptWaits},
		{"BeginHasTimeToFetch", testBeginHasTimeToFetch},
		{"QuestionHasTime", testQuestionHasTime},
		{"RetryAfterIsHonoured", testRetryAfter},
		{"CrashAtEachBoundary", testCrash},
		{"CrashAgainAndAgain", testCrashAgain},
		{"StopInterruptsAndStartResumes", testStopResumes},
		{"Periodic", testPeriodic},
		{"OneEngine", testOneEngine},
		{"EnginesBesideEachOther", testEngines},
		{"UnknownJobsWait", testUnknownJobs},
		{"UnknownEffectsWait", testUnknownEffects},
		{"NewerTasksWait", testNewerTasks},
		{"DamagedJobs", testDamagedJobs},
		{"UnknownPeriodicWorkWaits", testUnknownPeriodic},
		{"StopDrains", testStopDrains},
		{"CancelIsSeen", testCancelIsSeen},
		{"PreferredServer", testPreferredServer},
		{"WriteLimits", testWriteLimits},
		{"WriteLimitHolds", testWriteLimitHolds},

		{"Runners", testRunners},
		{"RunnerAttempt", testRunnerAttempt},
		{"RunnerReleases", testRunnerReleases},
		{"RunnerLost", testRunnerLost},
		{"RunnerTests", testRunnerTests},

		{"ZombieReports", testZombieReports},
		{"ZombieFails", testZombieFails},
		{"ZombieFailsForGood", testZombieFailsForGood},
		{"OutcomeOfALostLease", testOutcomeOfLostLease},

		{"CancelRunning", testCancelRunning},
		{"CancelRunningThatSaysNothing", testCancelSilent},
		{"CancelTestsOfAStoppedTask", testCancelTests},
		{"CancelWaiting", testCancelWaiting},
		{"CancelPutOff", testCancelPutOff},
		{"CancelBetweenTries", testCancelBetweenTries},
		{"CancelThenFails", testCancelThenFails},
		{"CancelFinished", testCancelFinished},
		{"LeftDelivery", testLeftDelivery},
		{"UnheardDelivery", testUnheardDelivery},
	})
}

// runLong runs the long tests of the suite, one after the other.
func runLong(t *testing.T, url func(t testing.TB) string) {
	runTests(t, url, []storeTest{
		{"Move", testMove},
		{"RandomEventsReplay", testRandomEvents},
		{"SearchesStayTrue", testSearchesStayTrue},
	})
}

type storeTest struct {
	name string
	test func(t *testing.T, s *fixture)
}

func runTests(t *testing.T, url func(t testing.TB) string, tests []storeTest) {
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			clock := &clock{}
			f := &fixture{url: url(t), clock: clock}
			f.Store = storetest.Open(t, store.Config{URL: f.url, Now: clock.now})
			c.test(t, f)
		})
	}
}

// fixture is a store with its clock.
type fixture struct {
	*store.Store
	url   string
	clock *clock
}

// beside opens the database again, like another process.
func (s *fixture) beside(t *testing.T) *store.Store {
	t.Helper()
	return storetest.Open(t, store.Config{URL: s.url, Now: s.clock.now})
}

// clock is the machine's clock, moved ahead by the tests.
type clock struct{ ahead atomic.Int64 }

func (c *clock) now() time.Time { return time.Now().Add(time.Duration(c.ahead.Load())) }

// reach moves the clock forward to a time.
func (c *clock) reach(t time.Time) {
	if d := t.Sub(c.now()); d > 0 {
		c.ahead.Add(int64(d))
	}
}

// waitTimeout is the timeout of tests that wait for something that happens immediately: it ends a test that hangs.
const waitTimeout = 2 * time.Minute

// patient returns a context with the timeout waitTimeout.
func patient(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), waitTimeout)
	t.Cleanup(cancel)
	return ctx
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

var (
	demo = sia.Repo{ID: 7, Owner: "octo", Name: "demo"}
	anna = sia.Actor{Login: "anna", ID: 11}
	bert = sia.Actor{Login: "bert", ID: 12}
)

// at returns a fixed time, plus minutes.
func at(minutes int) time.Time {
	return time.Date(2026, 3, 1, 12, minutes, 0, 123456789, time.UTC)
}

// start returns the event that creates the task of an issue.
func start(issue int, now time.Time) (sia.TaskID, sia.Event) {
	return sia.NewTaskID(demo.ID, issue), sia.Event{
		ID: "start-1", At: now, By: anna,
		Fact: sia.Start{Installation: 3, Repo: demo, Issue: issue, Title: "Confirm bookings", Body: "By e-mail.",
			DefaultBranch: "main"},
	}
}

// begin starts the task of an issue.
func begin(t *testing.T, s *fixture, issue int) sia.TaskID {
	t.Helper()
	id, e := start(issue, s.clock.now())
	_, err := s.Apply(patient(t), id, e)
	must(t, err)
	return id
}

// replayed fails the test unless the log gives the stored task.
func replayed(t *testing.T, s *fixture, id sia.TaskID) sia.Task {
	t.Helper()
	task, err := s.Replay(patient(t), id)
	must(t, err)
	return task
}
