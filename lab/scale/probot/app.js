// A GitHub App on Probot that hears of everything and does nothing: what SIA's intake is measured beside.
// It reads Probot's own environment variables. https://probot.github.io/docs/configuration
import { run } from "probot";

await run((app) => {
  app.onAny(() => {});
});
console.error("serving");
