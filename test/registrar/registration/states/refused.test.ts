import { existsSync, readdirSync } from "node:fs";
import { dialRegistration, registerOnce } from "../../../support/fake-kubelet";
import { identityOf } from "../../../support/identity-of";
import { createTestNode, startTestRegistrar, type TestNode } from "../../../support/registrar-node";
import { type ScriptedDriver, startScriptedDriver } from "../../../support/scripted-driver";

const name = "x.csi";
let node: TestNode;
let driver: ScriptedDriver;
let socketPath: string;
beforeEach(async () => {
  node = await createTestNode();
  socketPath = node.socketPath(name);
  driver = await startScriptedDriver(node.csiAddress, { name });
});
afterEach(async () => {
  await driver.stop();
  await node[Symbol.asyncDispose]();
});

const PREFIX = "RegisterPlugin error -- plugin registration failed with err: ";

describe("policy exit", () => {
  test.each([
    `${PREFIX}error adding CSI driver node info: driverNodeID must not be empty`,
    'with "quotes", a tab\tand\nanother line',
    "kubernetes.io/csi: Another driver with the same name is already registered with a higher supported version",
    " ",
  ])("hands kubelet's text on verbatim: %j", async (error) => {
    const { registrar, state } = await startTestRegistrar(node);
    await state("listening");
    // Rejects if the connection ended before the answer.
    await registerOnce(socketPath, error);
    expect(await registrar.closed).toMatchObject({ kind: "refused", reason: error });
    expect(readdirSync(node.pluginRegistrationPath)).toEqual([]);
  });

  test("says what happened, what it does, and what may help", async () => {
    const { registrar, state, log } = await startTestRegistrar(node);
    await state("listening");
    await registerOnce(
      socketPath,
      `${PREFIX}rpc error: code = Unimplemented desc = unknown service csi.v1.Node`,
    );
    await registrar.closed;
    const line = await log.when("Registration process failed with error, restarting registration container");
    expect(line).toMatchObject({
      severity: "error",
      error: { message: `${PREFIX}rpc error: code = Unimplemented desc = unknown service csi.v1.Node` },
      fields: { hint: expect.stringContaining("--kubelet-registration-path") },
    });
  });
});

describe("policy retry", () => {
  const retry = { onRegistrationFailure: "retry" } as const;

  test("stays, publishes again after a while, and is registered when kubelet has come round", async () => {
    await using started = await startTestRegistrar(node, retry);
    await started.state("listening");
    const inode = identityOf(socketPath);
    await registerOnce(socketPath, "the API server does not answer");
    await started.state("refused");
    expect((await started.log.when("Kubelet refused the driver")).fields).toEqual({
      attempt: 1,
      retryIn: expect.stringMatching(/^(1|0\.[89]\d*)s$/),
    });

    await started.state("listening");
    expect(identityOf(socketPath)).not.toBe(inode);
    await registerOnce(socketPath);
    await started.state("registered");
    expect(started.registrar.status().tally).toMatchObject({
      refused: 1,
      accepted: 1,
      publications: { "driver-named": 1, retry: 1 },
    });
  });

  test("publishes nothing where kubelet comes back by itself, as it does from 1.36 on", async () => {
    await using started = await startTestRegistrar(node, retry);
    await started.state("listening");
    const inode = identityOf(socketPath);
    await registerOnce(socketPath, "no");
    await started.state("refused");
    using kubelet = dialRegistration(socketPath);
    await kubelet.getInfo();
    // A state is entered when all that the last one did has ended: nobody waits to publish any more.
    await started.state("asked");
    expect(identityOf(socketPath)).toBe(inode);
    await kubelet.notify();
    await started.state("registered");
    expect(started.registrar.status().tally.publications).toEqual({ "driver-named": 1 });
  });

  test("speaks once of a refusal that repeats, again of another, and again after a success", async () => {
    await using started = await startTestRegistrar(node, retry);
    await started.state("listening");
    const errors: string[] = [];
    for (const error of ["no", "no", "no", "never", "never", undefined, "never"]) {
      await registerOnce(socketPath, error);
      await started.state(error ? "refused" : "registered");
      if (error) errors.push(error);
    }
    const spoken = started.log.all("Kubelet refused the driver").map(({ error }) => (error as Error).message);
    expect(spoken).toEqual(["no", "never", "never"]);
    const unspoken = started.log.all("Kubelet refused the driver again, for the same reason");
    expect(unspoken.map(({ verbosity, fields }) => [verbosity, fields.attempt])).toEqual([
      [4, 2],
      [4, 3],
      [4, 5],
    ]);
  });

  test("waits longer from refusal to refusal, 30 s at most, and anew after a success", async () => {
    await using started = await startTestRegistrar(node, retry);
    await started.state("listening");
    const waited: number[] = [];
    for (const error of ["1", "2", "3", "4", "5", "6", "7", undefined, "8"]) {
      await registerOnce(socketPath, error);
      await started.state(error ? "refused" : "registered");
      if (error) {
        const line = await started.log.when("Kubelet refused the driver", waited.length + 1);
        waited.push(Number.parseFloat(String(line.fields.retryIn)));
      }
    }
    const longest = [1, 2, 4, 8, 16, 30, 30, 1];
    waited.forEach((seconds, index) => {
      expect(seconds).toBeLessThanOrEqual(longest[index] ?? 0);
      expect(seconds).toBeGreaterThanOrEqual(0.8 * (longest[index] ?? 0));
    });
  });

  test("keeps its socket, for a kubelet that comes back by itself", async () => {
    await using started = await startTestRegistrar(node, retry);
    await started.state("listening");
    await registerOnce(socketPath, "no");
    await started.state("refused");
    expect(existsSync(socketPath)).toBe(true);
  });
});
