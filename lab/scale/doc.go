// Package scale plays many deliveries to real servers of one PostgreSQL database, kills servers, runners and the
// database meanwhile, and counts what was lost, done twice or late.
//
// Concepts:
//
//   - [Play]: a PostgreSQL server, the simulator of GitHub, a scripted model, and processes of sia, which are servers
//     and runners.
//   - [Intake]: the same deliveries to a Probot app and to sia on each database, which take turns.
//   - noise: signed deliveries of repositories in which SIA has nothing to do. They are most of what an app receives.
//   - task: a labelled issue. Its first attempt fails the check and its second passes, if no lesson helps the first.
//   - balancer: the one address that GitHub and runners know. It passes requests on to a server that takes
//     connections, and answers 502 where none does.
//   - interruption: one process is killed (SIGKILL), or all servers, or the database; it is started again a little
//     later.
//   - age: from the moment in which a server wrote a delivery down until one has acted on it. The database notes it
//     (a trigger that Play adds), by its own clock, by which servers go.
//
// The package may import lab/benchtask, the simulator, app/render and app/store/storetest. Start reading at
// play.go.
package scale
