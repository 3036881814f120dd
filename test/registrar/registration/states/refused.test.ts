import { readdirSync } from "node:fs";
import { eachTest } from "../../../support/each-test";
import { eventually } from "../../../support/eventually";
import { dialRegistration, registerOnce } from "../../../support/fake-kubelet";
import { identityOf } from "../../../support/identity-of";
import { createTestNode, startListening } from "../../../support/registrar-node";

const name = "x.csi";
const node = eachTest(createTestNode);
let socketPath: string;
beforeEach(() => {
  socketPath = node.socketPath(name);
});

const PREFIX = "RegisterPlugin error -- plugin registration failed with err: ";

describe("policy exit", () => {
  test.each([
    `${PREFIX}error adding CSI driver node info: driverNodeID must not be empty`,
    'with "quotes", a tab\tand\nanother line',
    "kubernetes.io/csi: Another driver with the same name is already registered with a higher supported version",
    " ",
  ])("hands kubelet's text on verbatim: %j", async (error) => {
    await using started = await startListening(node);
    // Rejects if the connection ended before the answer.
    await registerOnce(socketPath, error);
    expect(await started.registrar.closed).toMatchObject({ kind: "refused", reason: error });
    expect(readdirSync(node.pluginRegistrationPath)).toEqual([]);
  });

  test("says what happened, what it does, and what may help", async () => {
    await using started = await startListening(node);
    const text = `${PREFIX}rpc error: code = Unimplemented desc = unknown service csi.v1.Node`;
    await registerOnce(socketPath, text);
    await started.registrar.closed;
    const line = await started.log.when(
      "Registration process failed with error, restarting registration container",
    );
    expect(line).toMatchObject({
      severity: "error",
      error: { message: text },
      fields: { hint: expect.stringContaining("--kubelet-registration-path") },
    });
  });
});

describe("policy retry", () => {
  const retry = { onRegistrationFailure: "retry" } as const;

  test("stays, publishes again after a while, and is registered when kubelet has come round", async () => {
    await using started = await startListening(node, retry);
    const inode = identityOf(socketPath);
    await started.refuse("the API server does not answer");
    expect((await started.log.when("Kubelet refused the driver")).fields).toEqual({
      attempt: 1,
      retryIn: expect.stringMatching(/^(1|0\.[89]\d*)s$/),
    });

    await started.state("listening");
    expect(identityOf(socketPath)).not.toBe(inode);
    await started.accept();
    expect(started.registrar.status().tally).toMatchObject({
      refused: 1,
      accepted: 1,
      publications: { "driver-named": 1, retry: 1 },
    });
  });

  test("publishes nothing where kubelet comes back by itself, as it does from 1.36 on", async () => {
    await using started = await startListening(node, retry);
    const inode = identityOf(socketPath);
    await started.refuse("no");
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
    await using started = await startListening(node, retry);
    for (const error of ["no", "no", "no", "never", "never", undefined, "never"]) {
      await registerOnce(socketPath, error);
      await started.state(error ? "refused" : "registered");
    }
    await eventually(() => {
      const spoken = started.log
        .all("Kubelet refused the driver")
        .map(({ error }) => (error as Error).message);
      expect(spoken).toEqual(["no", "never", "never"]);
    });
    const unspoken = started.log.all("Kubelet refused the driver again, for the same reason");
    expect(unspoken.map(({ verbosity, fields }) => [verbosity, fields.attempt])).toEqual([
      [4, 2],
      [4, 3],
      [4, 5],
    ]);
  });
});
