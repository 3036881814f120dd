import { readdirSync } from "node:fs";
import { join } from "node:path";
import { ROOT, readText } from "./docs/markdown";

/**
 * Durations are measured with `performance.now()`: the time of day may go back by an hour, and a wait with it. Where the
 * time of day itself is meant, it is said here why.
 */
const TIME_OF_DAY: Readonly<Record<string, string>> = {
  "registrar/model/tally.ts": "when kubelet called, for people",
  "registrar/registration/registration.ts": "when a state changed, for people",
  "logging/klog-sink.ts": "the time on a log line, with microseconds",
  "cli/commands/status.ts": "when it was asked, for people",
  "node-readiness/condition-keeper.ts": "when a condition changed, as it is written",
  "node-readiness/csi-node-keeper.ts": "since when CSINode lacks a driver, for people",
  "node-readiness/taint-keeper.ts": "how long after its registration a driver's taint went, for people",
  "node-readiness/start-node-readiness.ts": "since when the API server fails, for people",
  "diagnostics/http/answer.ts": "the Date of an answer",
  "doctor/cluster/read/list-api.ts": "the API server's time of an answer, where it tells none",
  "doctor/cluster/read/cluster.ts": "compared with the API server's times",
  "simulator/event-stream.ts": "when an event happened, for people",
  "cli/commands/register.ts": "when the process started, as Prometheus wants it",
  "cli/commands/demo/play.ts": "the demo compares events of several processes",
  "cli/commands/demo/perform.ts": "the same",
  "cli/commands/demo/stage.ts": "the same",
  "grpc/client/unary.ts": "a deadline, which grpc-js takes as a time of the day",
  "simulator/kubelet/calls.ts": "the same",
};

test("the time of day is looked at only where it is meant", () => {
  const files = readdirSync(join(ROOT, "src"), { recursive: true, encoding: "utf8" });
  const sources = files.filter((file) => file.endsWith(".ts"));
  const lookers = sources.filter((file) => /\bDate\.now\b|\bnew Date\(\)/.test(readText(`src/${file}`)));
  expect(lookers.sort()).toEqual(Object.keys(TIME_OF_DAY).sort());
});
