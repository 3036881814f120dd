import { fails, passes, runChecks } from "../../src/diagnostics/health-checks";

const NO_MATCH = "warn: some health checks cannot be excluded: no matches for x, y";

// `a` passes, `b` fails; an excluded check is not run.
test.each<[names: string, query: string, body: string]>([
  ["a", "", "ok"],
  ["a", "verbose", "[+]a ok\nreadyz check passed\n"],
  ["a b a", "", "[+]a ok\n[-]b failed: gone\n[+]a ok\nreadyz check failed\n"],
  ["a b", "verbose&exclude=b", "[+]a ok\n[+]b excluded: ok\nreadyz check passed\n"],
  ["b", "exclude=x&exclude=y", `[-]b failed: gone\n${NO_MATCH}\nreadyz check failed\n`],
])("report: %s?%s", async (names, query, body) => {
  const run = jest.fn(() => fails("gone"));
  const checks = names.split(" ").map((name) => ({ name, run: name === "a" ? () => passes() : run }));
  const report = await runChecks("readyz", checks, new URLSearchParams(query));
  expect(report).toEqual({ passed: !body.includes("failed"), body });
  expect(run).toHaveBeenCalledTimes(body.includes("[-]b") ? 1 : 0);
});
