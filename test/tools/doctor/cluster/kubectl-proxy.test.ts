import fs, { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { startKubectlProxy } from "../../../../src/tools/doctor/cluster/read/kubectl-proxy";
import { eachTest } from "../../../support/each-test";
import { eventually } from "../../../support/eventually";
import { createTempFolder } from "../../../support/temp-folder";

const folder = eachTest(createTempFolder);
const { PATH } = process.env;
let told: jest.SpyInstance;

beforeEach(() => {
  told = jest.spyOn(process.stderr, "write").mockReturnValue(true);
  process.env.PATH = `${folder.path}:${PATH}`;
});
afterEach(() => {
  process.env.PATH = PATH;
});

const kubectlWith = (script: string) =>
  writeFileSync(folder.at("kubectl"), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
const untilGone = (pid: number) => eventually(() => expect(() => process.kill(pid, 0)).toThrow("ESRCH"));

test.each([
  ["no word", ""],
  ["no word, and no end when it is told to", 'trap "" TERM; '],
])("a kubectl with %s: it is ended, and the error says so", async (_what, first) => {
  const made = jest.spyOn(fs, "mkdtempSync");
  kubectlWith(`${first}echo $$ > "\${0%/*}/pid"; while :; do sleep 0.1; done`);
  const patience = { noticeMs: 20, silentMs: 500, longestMs: 2_000 };
  await expect(startKubectlProxy({ context: undefined }, patience)).rejects.toMatchObject({
    code: "INVALID_OPTION",
    message: "kubectl proxy: no answer within 0.5 s: kubectl proxy to start",
  });
  expect(told).toHaveBeenCalledWith("registrar doctor: waiting for kubectl proxy to start\n");
  await untilGone(Number(readFileSync(folder.at("pid"), "utf8")));
  expect(made.mock.results.map(({ value }) => existsSync(value))).toEqual([false]);
});

test("a line feed that comes behind the word that kubectl serves is no word to the user", async () => {
  kubectlWith(`printf 'Starting to serve on x'
    until [ -e "\${0%/*}/go" ]; do sleep 0.01; done
    printf '\\n'; printf '\\n' >&2; echo $$ > "\${0%/*}/told.new"; mv "\${0%/*}/told.new" "\${0%/*}/told"`);
  await using proxy = await startKubectlProxy({ context: undefined });
  writeFileSync(folder.at("go"), "");
  await untilGone(Number(await eventually(() => readFileSync(folder.at("told"), "utf8"))));
  expect(proxy.isLoggingIn()).toBe(false);
  expect(told).not.toHaveBeenCalled();
});

const ASKS = "the kubeconfig has no credentials for its user: kubectl asks for name and password";

test.each([
  ["its complaint", "echo 'error: no such context' >&2; exit 1", "kubectl proxy: no such context"],
  [
    "its log, without a complaint",
    "echo 'E1129 12:00:00 no' >&2; exit 1",
    "kubectl proxy: E1129 12:00:00 no",
  ],
  ["its complaint, not its log", "echo no >&2; echo 'E1129 12:00:00 x' >&2; exit 1", "kubectl proxy: no"],
  ["its exit code", "exit 3", "kubectl proxy: it exited with 3"],
  ["a question", "printf 'Please enter Username: '; echo EOF >&2; exit 1", `kubectl proxy: ${ASKS}`],
  ["that there is none", undefined, /^kubectl is not in PATH: run this where kubectl can reach the cluster/],
])("where kubectl ends, the error alone has %s", async (_what, script, message) => {
  const made = jest.spyOn(fs, "mkdtempSync");
  if (script === undefined) process.env.PATH = folder.path;
  else kubectlWith(script);
  const error = { code: "INVALID_OPTION", message: expect.stringMatching(message) };
  await expect(startKubectlProxy({ context: "x" })).rejects.toMatchObject(error);
  expect(told).not.toHaveBeenCalled();
  expect(made.mock.results.map(({ value }) => existsSync(value))).toEqual([false]);
});

const SERVES = "echo 'Starting to serve on x'";
const FOREVER = "while :; do sleep 0.1; done";

test("kubectl gets the context and the file, refuses what could change the cluster, and ends with us", async () => {
  kubectlWith(`printf '%s\\n' $$ "$@" > "\${0%/*}/told"; ${SERVES}; ${FOREVER}`);
  const proxy = await startKubectlProxy({ context: "a b", kubeconfig: "/k" });
  const [pid, ...words] = readFileSync(folder.at("told"), "utf8").trim().split("\n");
  expect(words).toEqual([
    ...["proxy", `--unix-socket=${proxy.socketPath}`, "--reject-methods=^(POST|PUT|PATCH|DELETE)$"],
    ...["--context=a b", "--kubeconfig=/k"],
  ]);
  expect([existsSync(dirname(proxy.socketPath)), proxy.whyEnded()]).toEqual([true, undefined]);
  await proxy[Symbol.asyncDispose]();
  expect(existsSync(dirname(proxy.socketPath))).toBe(false);
  await untilGone(Number(pid));
});

test("what kubectl says to its user comes to stderr, and gives its user time", async () => {
  kubectlWith(`echo 'To sign in, open https://x'; ${SERVES}; ${FOREVER}`);
  await using proxy = await startKubectlProxy({ context: undefined });
  expect(told.mock.calls).toEqual([["To sign in, open https://x\n"]]);
  expect(proxy.isLoggingIn()).toBe(true);
});

test("a kubectl that ends while it serves: its last words, and its exit code", async () => {
  kubectlWith(`${SERVES}; echo 'error: expired' >&2; echo 'E1129 12:00:00 a log' >&2; exit 7`);
  await using proxy = await startKubectlProxy({ context: undefined });
  const why = "kubectl proxy exited with 7: error: expired";
  await eventually(() => expect(proxy.whyEnded()).toBe(why));
});
