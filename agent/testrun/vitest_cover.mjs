// The project's configuration of Vitest, with this file as a set-up file of its tests too.
import { existsSync } from "node:fs";
import { createRequire } from "node:module";

if (process.env.VITEST_WORKER_ID) {
  const { afterEach, beforeEach } = await import("vitest");
  const { begin, end } = createRequire(import.meta.url)("./cover.cjs");
  beforeEach(begin);
  afterEach(({ task }) => {
    const titles = [];
    for (let at = task; at && at !== task.file; at = at.suite) titles.unshift(at.name);
    end(task.file.filepath, titles.join(" "), task.result?.state === "fail");
  });
}

export default async (env) => {
  const { loadConfigFromFile, mergeConfig } = await import("vite");
  const own = process.env.SIA_CONFIG || ["ts", "mts", "cts", "js", "mjs", "cjs"]
    .map((end) => `vitest.config.${end}`).find((file) => existsSync(file));
  const found = await loadConfigFromFile(env, own, process.cwd());
  return mergeConfig(found?.config ?? {}, { test: { setupFiles: [`${process.cwd()}/node_modules/sia-cover/vitest.mjs`] } });
};
