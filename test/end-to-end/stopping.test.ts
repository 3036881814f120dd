import { writeFileSync } from "node:fs";
import { registrarCommand } from "../support/registrar-command";
import { describeWithNamespaces } from "../support/sandbox/sandbox";
import { nodeTest, onNode, registered, registrarArguments, type TestNode } from "./support/node";
import { openCall } from "./support/open-call";
import { patience } from "./support/process";

test.each(["SIGTERM", "SIGINT"] as const)(
  "%s removes the socket, which deregisters the driver, and ends with exit code 0",
  onNode(async (node, signal) => {
    await node.driver();
    const kubelet = await node.kubelet();
    const registrar = node.registrar();
    await registered(kubelet);
    const deregistered = kubelet.events.when("deregistered", { from: "now", ...patience() });
    registrar.kill(signal);
    expect(await registrar.exit()).toEqual({ code: 0, signal: null });
    expect(node.files()).toEqual([]);
    expect((await deregistered).because).toBe("socket-gone");
    expect(registrar.lines("Stopping").map(({ fields }) => fields)).toEqual([{ signal }]);
  }),
);

/** The environment of a process that does this behind the first file's last line, before it loads another. */
function endedEarly(node: TestNode, byWhat: string): NodeJS.ProcessEnv {
  const early = node.at("early.cjs");
  writeFileSync(early, `process.nextTick(() => ${byWhat});\n`);
  return { NODE_OPTIONS: `--require=${early}` };
}

nodeTest("each signal ends a registrar before it begins, with exit code 0", async (node) => {
  for (const signal of ["SIGTERM", "SIGINT", "SIGQUIT", "SIGHUP", "SIGUSR2"]) {
    const registrar = node.cli(
      registrarArguments(node),
      endedEarly(node, `process.kill(process.pid, "${signal}")`),
    );
    expect([signal, await registrar.exit()]).toEqual([signal, { code: 0, signal: null }]);
    expect(node.files()).toEqual([]);
  }
});

nodeTest("a command that a signal ends early has a shell's exit code", async (node) => {
  for (const [signal, code] of Object.entries({ SIGINT: 130, SIGTERM: 143 })) {
    const words = ["driver", `--csi-address=${node.at("d.sock")}`, "--name=a.b"];
    const command = node.cli(words, endedEarly(node, `process.emit("${signal}")`));
    expect(await command.exit()).toEqual({ code, signal: null });
  }
});

describeWithNamespaces("as process 1, which gets only signals with a handler", () => {
  nodeTest("SIGTERM while Node itself starts ends it", async (node) => {
    const early = node.at("early.cjs");
    writeFileSync(early, 'process.kill(process.pid, "SIGTERM");\n');
    const command = ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--kill-child"];
    const registrar = node.cli(
      registrarArguments(node),
      { NODE_OPTIONS: `--require=${early}` },
      { command: [...command, ...registrarCommand()] },
    );
    expect(await registrar.exit()).toEqual({ code: 143, signal: null });
    expect(registrar.stderr).toBe(
      "registrar: SIGTERM came while Node was starting: ended before it began to register\n",
    );
    expect(node.files()).toEqual([]);
  });
});

nodeTest("SIGUSR1 opens no inspector, and ends nothing", async (node) => {
  const registrar = node.registrar();
  await registrar.line("Skipping HTTP server");
  registrar.kill("SIGUSR1");
  await node.driver();
  await registrar.reached("listening");
  expect(registrar.stderr).not.toContain("Debugger");
});

async function stopDuringCall(node: TestNode) {
  const registrar = await node.published();
  const call = await openCall(node.socketPath);
  registrar.kill("SIGTERM");
  await registrar.reached("stopping");
  return { registrar, call };
}

nodeTest("a running call gets time to finish", async (node) => {
  const { registrar, call } = await stopDuringCall(node);
  // UNAVAILABLE: by now the socket is withdrawn.
  expect(await call.finish()).toBe("14");
  expect(await registrar.exit()).toEqual({ code: 0, signal: null });
  await registrar.reached("stopped");
  call.close();
});

nodeTest("a second signal forces the end", async (node) => {
  const { registrar, call } = await stopDuringCall(node);
  registrar.kill("SIGINT");
  expect(await registrar.exit()).toEqual({ code: 0, signal: null });
  expect(registrar.lines().at(-1)?.fields.to).toBe("stopping");
  expect(node.files()).toEqual([]);
  call.close();
});
