// Package scale plays many deliveries to real servers of one PostgreSQL database, kills servers, runners and the
// database meanwhile, and counts lost, repeated and late work.
//
// Concepts:
//
//   - [Play]: a PostgreSQL server, the simulator of GitHub, a scripted model, and processes of sia, which are servers
//     and runners.
//   - [Intake]: the same deliveries to a Probot app and to sia on each database, in turn.
//   - noise: signed deliveries of repositories without work for SIA. Most deliveries to an app are like this.
//   - task: a labelled issue. Its first attempt fails the check and its second passes, if no lesson helps the first.
//   - balancer: the one address for GitHub and runners. It forwards requests to a server that accepts
//     connections, and answers 502 if none does.
//   - interruption: one process is killed (SIGKILL), or all servers, or the database; it is started again a little
//     later.
//   - age: the time from saving a delivery until a server has processed it. The database records it
//     (with a trigger that Play adds), by its own clock, which servers use.
//
// The package may import lab/benchtask, the simulator, app/render and app/store/storetest. Start reading at
// play.go.
package scale
