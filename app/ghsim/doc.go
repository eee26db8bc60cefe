// Package ghsim is a GitHub simulator: REST, a little GraphQL, git over HTTP,
// webhooks, a check runner that really runs a repository's workflows, and pages
// to look at all of it. The demo and the end-to-end tests run the production
// application against it over HTTP alone.
//
// Concepts, in the order in which a reader meets them:
//
//   - [Server]: one GitHub. Its state is in memory behind one mutex; its
//     repositories are bare git repositories under [Config].Dir.
//   - People ([Server.OpenIssue], [Server.Comment], [Server.PushFiles], …): what
//     a person would do in a browser. Each changes the state and sends the
//     webhooks that GitHub would send.
//   - REST under /api/v3/ and GraphQL under /api/graphql, as on GitHub Enterprise
//     Server: requests carry an app's JSON Web Token or an installation's token,
//     whose permissions and repositories are enforced.
//   - git at /{owner}/{repo}.git, served by git http-backend. A push has the
//     consequences it has on GitHub: events, check suites, workflow runs.
//   - The check runner: a workflow's run steps are executed with bash in a fresh
//     clone and reported as check runs of the app github-actions.
//   - The journal ([Server.Timeline]): everything that happened, in order, so
//     that tests can assert order.
//   - Hostility ([Server.DropDeliveries], [Server.FailRequests], …): lost, doubled
//     and reordered deliveries, failing requests, rate limits.
//
// What is simulated follows https://docs.github.com/en/rest (API version
// 2022-11-28) and https://docs.github.com/en/webhooks; package conformance checks
// requests, answers and payloads against GitHub's published descriptions.
//
// The simulator is meant for loopback: its pages let anyone act as anyone, and
// its workflows run unconfined. It imports nothing of ours. Start reading at
// server.go, then routes.go and, for what a push sets off, push.go.
package ghsim
