// Writes the lines of the project that each test executed to /tmp/ran. Mocha and node's own runner load it by --require,
// Jest as its --testRunner, Vitest by vitest.mjs. Line numbers are those of the code as transformed by the runner, which
// are the same for each test.
const fs = require("node:fs");
const path = require("node:path");
const { Session } = require("node:inspector");

const NEAR = 32, WANTED = 8;
const wanted = JSON.parse(process.env.SIA_WANTED); // pairs of a file and a name; "": all of the file's
const root = fs.realpathSync(process.cwd()) + path.sep;
const left = { wanted: WANTED, near: NEAR };
const starts = new Map(); // where lines of a script start, by its id

let session; // the process that starts node's own test runner can have none

function ask(method, params) { // within a thread the answer comes before post returns
  let answer;
  session.post(method, params, (_, result) => { answer = result; });
  return answer ?? {};
}

function inside(url) { // the path in the project, "" for others
  const file = decodeURI(url.replace(/^file:\/\//, "").replace(/\?.*$/, ""));
  return file.startsWith(root) && !file.includes("/node_modules/") ? file.slice(root.length) : "";
}

function linesOf(id) {
  if (!starts.has(id)) {
    const found = [0], source = ask("Debugger.getScriptSource", { scriptId: id }).scriptSource ?? "";
    for (let i = source.indexOf("\n"); i >= 0; i = source.indexOf("\n", i + 1)) found.push(i + 1);
    starts.set(id, found);
  }
  return starts.get(id);
}

// lineAt returns the index of the last line that starts at or before an offset.
function lineAt(lines, offset) {
  let from = 0, to = lines.length;
  while (to - from > 1) {
    const mid = (from + to) >> 1;
    if (lines[mid] <= offset) from = mid; else to = mid;
  }
  return from;
}

function ranLines(script) { // outer ranges come before inner ones
  const lines = linesOf(script.scriptId), ran = [];
  for (const range of script.functions.flatMap((f) => f.ranges)) {
    let from = lineAt(lines, range.startOffset), to = lineAt(lines, range.endOffset - 1);
    if (range.count === 0) { // of what did not run, whole lines
      if (lines[from] < range.startOffset) from++;
      if (to + 1 < lines.length && lines[to + 1] > range.endOffset + 1) to--;
    }
    for (let i = from; i <= to; i++) ran[i] = range.count > 0;
  }
  return ran;
}

function words(name) {
  return ` ${name.replace(/[^\p{L}\p{N}]+/gu, " ").trim()}`;
}

// isWanted compares only words: reports use different separators between a test's name and those of its groups, and some
// start with the file.
function isWanted(file, name) {
  const has = words(name);
  return wanted.some(([of, full]) => of === file && (!full || has.endsWith(words(full)) || words(full).endsWith(has)));
}

function begin() {
  if (!session) {
    session = new Session();
    session.connect();
    ask("Debugger.enable"); // for sources
    ask("Profiler.enable");
    ask("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
  }
  ask("Profiler.takePreciseCoverage");
}

function end(file, name, failed) {
  const scripts = ask("Profiler.takePreciseCoverage").result ?? [];
  const who = isWanted(path.relative(root, file), name) ? "wanted" : "near";
  if (left[who]-- <= 0) return;
  let out = `ran ${who} ${failed ? 1 : 0}\n`;
  for (const script of scripts) {
    const at = inside(script.url);
    if (at) ranLines(script).forEach((ran, i) => { if (ran) out += `${at}:${i + 1},${i + 1}\n`; });
  }
  fs.appendFileSync("/tmp/ran", out);
}

async function jest(globals, config, environment, runtime, file, ...rest) {
  const handle = environment.handleTestEvent;
  environment.handleTestEvent = async function (event, state) {
    if (event.name === "test_start") begin();
    if (event.name === "test_done") {
      const titles = [];
      for (let at = event.test; at?.parent; at = at.parent) titles.unshift(at.name);
      end(file, titles.join(" "), event.test.errors.length > 0);
    }
    return handle?.call(this, event, state);
  };
  const circus = require(require.resolve("jest-circus/runner", { paths: [root] }));
  return (circus.default ?? circus)(globals, config, environment, runtime, file, ...rest);
}

const mochaHooks = {
  beforeEach() { begin(); },
  afterEach() {
    const test = this.currentTest;
    end(test.file, test.fullTitle(), test.state === "failed");
  },
};

if (process.env.NODE_TEST_CONTEXT) {
  const { beforeEach, afterEach } = require("node:test");
  beforeEach(begin);
  afterEach((t) => end(process.argv[1], t.fullName?.replaceAll(" > ", " ") ?? t.name, !(t.passed ?? true)));
}

module.exports = { __esModule: true, default: jest, mochaHooks, begin, end };
