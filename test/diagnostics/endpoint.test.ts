import {
  checkMetricsPath,
  FIXED_PATHS,
  PROFILE_PATHS,
  parseListenAddress,
} from "../../src/diagnostics/endpoint";

test.each([
  [":8080", undefined, 8080],
  ["localhost:9809", "localhost", 9809],
  ["0.0.0.0:1", "0.0.0.0", 1],
  ["[::1]:9809", "::1", 9809],
  ["[::]:9809", "::", 9809],
  ["[fe80::1%eth0]:80", "fe80::1%eth0", 80],
  ["my-node.example.com:65535", "my-node.example.com", 65_535],
  [":0", undefined, 0],
  // Go takes a missing port for any free one.
  [":", undefined, 0],
  ["localhost:", "localhost", 0],
  ["[]:80", undefined, 80],
])("%s", (text, host, port) => {
  expect(parseListenAddress(text)).toEqual({ endpoint: text, host, port });
});

const REFUSED =
  ",8080,localhost,::1:9809,[::1],[::1]9809,localhost:port,:65536,:-1,:80 ,http://localhost:80,a:b:80";

test.each(REFUSED.split(","))("%j is refused", (text) => {
  const message = expect.stringContaining(`http-endpoint ${JSON.stringify(text)} is not a listen address`);
  expect(() => parseListenAddress(text)).toThrow(
    expect.objectContaining({ code: "INVALID_OPTION", message }),
  );
});

const NO_PATH = "is not a path of a URL: it must begin with /, as /metrics does";
const TAKEN = `is served already: choose another path than ${FIXED_PATHS.join(", ")}`;
const all = (paths: readonly string[], isProfiled: boolean, problem?: string) =>
  paths.map((path) => [path, isProfiled, problem] as const);

test.each([
  ...all(["/metrics", "/", "/a/b", "/healthz/metrics"], true),
  ...all(PROFILE_PATHS, false),
  ...all(PROFILE_PATHS, true, "is served already"),
  ...all(FIXED_PATHS, false, TAKEN),
  ...all(["", "nope", "metrics/", "http://host/metrics", "/a?b", "/a#b", "/a b"], false, NO_PATH),
])("metrics at %j, with profiles: %s, refused: %s", (path, isProfiled, problem) => {
  const check = expect(() => checkMetricsPath(path, { isProfiled }));
  if (problem === undefined) return check.not.toThrow();
  const message = expect.stringContaining(`metrics-path ${JSON.stringify(path)} ${problem}`);
  check.toThrow(expect.objectContaining({ code: "INVALID_OPTION", message }));
});
