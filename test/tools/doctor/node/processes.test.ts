import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { eachTest } from "../../../support/each-test";
import { failLooks } from "../../../support/failing-looks";
import { createDoctorNode, WHOLE } from "./doctor-node";

const node = eachTest(createDoctorNode);

/** A process that may be a registrar. */
function makeProcess(): string {
  mkdirSync(node.at("plugins_registry"));
  const process = join(node.procfs, "7");
  mkdirSync(process);
  writeFileSync(join(process, "comm"), "registrar\n");
  return process;
}

test("a directory in the place of /proc does not count as a table of processes", async () => {
  rmSync(join(node.procfs, "self"));
  const { says } = await node.look(WHOLE);
  expect(says("registrars")).toMatch(/^unknown: the processes of this node cannot be inspected: ENOENT/);
  symlinkSync("7", join(node.procfs, "self"));
  expect((await node.look(WHOLE)).says("registrars")).toMatch(/^unknown: .* cannot be inspected: ESRCH/);
});

test("an ending process, of which /proc fails with EINVAL, counts as ended; one that lives does not", async () => {
  const process = makeProcess();
  // Reading it fails, as reading /proc/PID/environ does.
  mkdirSync(join(process, "cmdline"));
  const said = async () => (await node.look(WHOLE)).says("registrars");
  writeFileSync(join(process, "stat"), "7 (a) S 1) S 1 7\n");
  expect(await said()).toMatch(/^unknown: a registrar \(process 7\) cannot be inspected: EISDIR/);
  for (const state of ["Z", "X", "x"]) {
    writeFileSync(join(process, "stat"), `7 (a) S 1) ${state} 1 7\n`);
    expect(await said()).toBe("");
  }
});

test.each(["ENOENT", "ESRCH"])("a process that ends while it is read, by %s, is left out", async (errno) => {
  const process = makeProcess();
  writeFileSync(join(process, "stat"), "7 (a) S 1 7\n");
  for (const [ofFile, ofAll] of [[errno, "EIO"] as const, ["EINVAL", errno] as const]) {
    using _file = failLooks(join(process, "cmdline"), ofFile, "readFile");
    using _all = failLooks(process, ofAll, "stat");
    expect((await node.look(WHOLE)).says("registrars")).toBe("");
  }
});
