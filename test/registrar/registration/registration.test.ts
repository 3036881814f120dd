import { RegistrarError } from "../../../src/base/errors";
import { errorOf, failedBy } from "../../../src/registrar/model/outcome";
import { HISTORY_LENGTH } from "../../../src/registrar/registration/registration";
import { dialRegistration, registerOnce } from "../../support/fake-kubelet";
import {
  createTestNode,
  startListening,
  startTestRegistrar,
  type TestNode,
} from "../../support/registrar-node";
import { startScriptedDriver } from "../../support/scripted-driver";

let node: TestNode;
beforeEach(async () => {
  node = await createTestNode();
});
afterEach(() => node[Symbol.asyncDispose]());

const name = "x.csi";

test("a registrar remembers its latest changes of state, however many there were", async () => {
  await using _driver = await startScriptedDriver(node.csiAddress, { name });
  await using started = await startTestRegistrar(node, { onRegistrationFailure: "retry" });
  let changes = 0;
  started.registrar.subscribe("state-changed", () => changes++);
  await started.state("listening");
  using kubelet = dialRegistration(node.socketPath(name));
  while (changes <= HISTORY_LENGTH) {
    await kubelet.notify();
    await started.state("registered");
    await kubelet.notify("no");
    await started.state("refused");
  }
  const { history } = started.registrar.status();
  expect(history).toHaveLength(HISTORY_LENGTH);
  expect(history.at(-1)).toMatchObject({ to: "refused" });
});

test("what kubelet says over a socket that was replaced since is not of the new one", async () => {
  await using driver = await startScriptedDriver(node.csiAddress, { name });
  await using started = await startTestRegistrar(node);
  await started.state("listening");
  using kubelet = dialRegistration(node.socketPath(name));
  await kubelet.getInfo();
  await started.state("asked");
  await driver.kill();
  await using _renamed = await startScriptedDriver(node.csiAddress, { name: "y.csi" });
  await started.log.when("Registration Server started", 2);
  await started.state("listening");

  await kubelet.notify();
  await kubelet.notify("no");
  await kubelet.getInfo();
  const ignored = "Kubelet's call came over a socket that was replaced since, ignored";
  await started.log.when(ignored, 3);
  const calls = started.log.all(ignored).map(({ fields }) => fields.call);
  expect(calls).toEqual(["notified", "notified", "asked"]);
  const { state, tally } = started.registrar.status();
  expect({ state, ...tally }).toMatchObject({ state: "listening", accepted: 0, refused: 0, getInfoCalls: 1 });
  await registerOnce(node.socketPath("y.csi"));
  await started.state("registered");
});
test.each([70_000, 4_194_000])(
  "a refusal of %d bytes ends a registrar, which keeps 4 kB of it",
  async (length) => {
    await using started = await startListening(node, { onRegistrationFailure: "exit" });
    await registerOnce(node.socketPath(name), "no".padEnd(length, "x"));
    expect(await started.registrar.closed).toMatchObject({
      kind: "refused",
      reason: expect.stringMatching(/^nox{4000,} \[cut, \d+ characters in all\]$/),
    });
  },
);

test("a registrar that has ended is not healthy", async () => {
  const { registrar } = await startTestRegistrar(node);
  expect(await registrar.selfCheck()).toEqual({ kind: "ok" });
  await registrar.close();
  expect(await registrar.selfCheck()).toMatchObject({ kind: "missing" });
});

const errno = Object.assign(new Error("EPERM: not permitted"), { code: "EPERM" });
const fault = new TypeError("undefined is not a function");

test.each([
  [errno, { code: "SOCKET_UNUSABLE", message: errno.message, cause: errno }],
  [fault, { code: "INTERNAL", message: fault.message, cause: fault }],
  ["text", { code: "INTERNAL", message: "text" }],
])("whatever was thrown is told as an error of ours: %p", (thrown, error) => {
  expect(failedBy(thrown)).toMatchObject({ kind: "failed", error: { name: "RegistrarError", ...error } });
});

test("our own errors are told as they are", () => {
  const ours = new RegistrarError("DRIVER_TIMEOUT", "too late");
  const outcome = failedBy(ours);
  expect(outcome).toEqual({ kind: "failed", error: ours });
  expect(errorOf(outcome)).toBe(ours);
});
