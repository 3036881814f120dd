import fs, { existsSync, readFileSync, writeFileSync } from "node:fs";
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

test("what kubectl complains of is in the error alone if it ends", async () => {
  kubectlWith("echo 'error: no such context' >&2; exit 1");
  await expect(startKubectlProxy({ context: "x" })).rejects.toThrow("kubectl proxy: no such context");
  expect(told).not.toHaveBeenCalled();
});
