import { existsSync, readFileSync } from "node:fs";
import { NASTY_TEXTS, UNPRINTABLE } from "../support/nasty-texts";
import { parseLogLine } from "./support/log-line";
import { nodeTest, onNode, refused, registered } from "./support/node";

nodeTest("-v=2 logs less than -v=5, and --vmodule raises single files", async (node) => {
  await node.driver();
  const kubelet = await node.kubelet();
  const registrar = node.registrar("-v=2", "--vmodule=registration-s*=4");
  await registered(kubelet);
  await registrar.reached("registered");
  for (const message of ["CSI driver name", "Received GetInfo call"])
    expect([message, registrar.lines(message).length]).toEqual([message, 1]);
  expect(registrar.lines("GRPC call")).toEqual([]);
  expect(registrar.lines("Registration Server started")[0]?.caller).toMatch(/^publishing\.ts:\d+$/);
});

nodeTest("--log-text-split-stream sends info lines to stdout, the rest to stderr", async (node) => {
  await node.driver({ name: "a/b" });
  const registrar = node.registrar("--log-text-split-stream", "--enable-pprof");
  await registrar.exit();
  expect(registrar.stdout).toMatch(/^I.*"Version"/);
  expect(registrar.stdout).not.toMatch(/^[WE]/m);
  expect(registrar.stderr).toMatch(/^E.*a\/b/m);
  expect(registrar.stderr).toMatch(/^W.*--enable-pprof has no effect/m);
  expect(registrar.stderr).not.toMatch(/^I/m);
});

test(
  "outside of a container a registrar makes no termination log where none was asked for",
  onNode(async (node) => {
    const log = "/dev/termination-log";
    const isThere = existsSync(log);
    await node.driver();
    const kubelet = await node.kubelet({ faults: [{ kind: "refuse", error: "no" }] });
    const registrar = node.registrar();
    await refused(kubelet);
    expect((await registrar.exit()).code).toBe(1);
    expect(existsSync(log)).toBe(isThere);
  }),
);

const { "a great length": _LONG, ...OTHERS } = NASTY_TEXTS;
const text = Object.values(OTHERS).join(" | ");

test.each(["text", "json"])(
  "the %s log keeps texts of driver and kubelet on one line, in component-base's form",
  onNode(async (node, format) => {
    const fails = { kind: "error", method: "GetPluginInfo", code: "UNAVAILABLE", message: text } as const;
    await node.driver({ vendorVersion: text, faults: [{ ...fails, times: 1 }] });
    const kubelet = await node.kubelet({ faults: [{ kind: "refuse", error: text }] });
    const flags = ["-v=5", `--logging-format=${format}`, `--termination-log=${node.terminationLogPath}`];
    const registrar = node.registrar(...flags);
    await refused(kubelet);
    expect((await registrar.exit()).code).toBe(1);
    for (const line of registrar.stderr.trimEnd().split("\n")) {
      expect(line).not.toMatch(UNPRINTABLE);
      if (format === "json") expect(Object.keys(JSON.parse(line)).join()).toMatch(/^ts,caller,msg(,|$)/);
      else expect(parseLogLine(line)?.message).toMatch(/./);
    }
    expect(registrar.stderr).toContain("GRPC response"); // As of -v=5.
    const reason = readFileSync(node.terminationLogPath, "utf8");
    expect(reason).toMatch(/^kubelet refused the driver: .*\n$/);
    expect(reason.trimEnd()).not.toMatch(UNPRINTABLE);
  }),
);
