import { createRoutes } from "../../src/diagnostics";
import { silentLogger } from "../../src/logging/logger";
import { PROCESS_FACTS } from "../support/diagnostics";

function pathsWith(metricsPath: string, profiledCommandLine?: readonly string[]): readonly string[] {
  const fleet = { scope: "one-driver", all: [], subscribe: () => () => {} } as never;
  const options = { metricsPath, requireDriver: false, profiledCommandLine };
  return [...createRoutes(fleet, options, { log: silentLogger, facts: PROCESS_FACTS }).keys()];
}

test.each(["/metrics", "/", "/a/b", "/healthz/metrics"])("the metrics may be at %s", (path) => {
  expect(pathsWith(path)).toContain(path);
});

test.each(["", "nope", "metrics/", "http://host/metrics", "/a?b", "/a#b", "/a b"])(
  "no request could be for %j",
  (path) => {
    expect(() => pathsWith(path)).toThrow(
      expect.objectContaining({
        code: "INVALID_OPTION",
        message: `metrics-path ${JSON.stringify(path)} is no path of a URL: it must begin with /, as /metrics does`,
      }),
    );
  },
);

test.each(pathsWith("/metrics").filter((path) => path !== "/metrics"))(
  "the metrics do not replace %s",
  (path) => {
    expect(() => pathsWith(path)).toThrow(
      expect.objectContaining({
        code: "INVALID_OPTION",
        message: `metrics-path "${path}" is served already; taken are /healthz, /livez, /readyz, /statusz`,
      }),
    );
  },
);

test("a path of the profiles is taken while these are served", () => {
  expect(pathsWith("/debug/pprof/heap")).toHaveLength(5);
  expect(() => pathsWith("/debug/pprof/heap", ["registrar"])).toThrow(/is served already/);
});
