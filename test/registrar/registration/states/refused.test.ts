import { readdirSync } from "node:fs";
import { status } from "@grpc/grpc-js";
import type { RegistrationContext } from "../../../../src/registrar/registration/context";
import { controlWaits } from "../../../support/controlled-waits";
import { dialRegistration, registerOnce } from "../../../support/dial-registration";
import { eachTest } from "../../../support/each-test";
import { eventually } from "../../../support/eventually";
import { recordLog } from "../../../support/recorded-log";
import { stateNamed } from "../../../support/registration-states";

const waits = controlWaits({ fromMs: 1_000 });
let beforeHint = async () => {};
const HINTS = "../../../../src/registrar/registration/hints";
jest.doMock(HINTS, () => {
  const actual = jest.requireActual<typeof import("../../../../src/registrar/registration/hints")>(HINTS);
  const explainRefusal = (...given: Parameters<typeof actual.explainRefusal>) =>
    beforeHint().then(() => actual.explainRefusal(...given));
  return { ...actual, explainRefusal };
});
const loading = import("../../../support/registrar-node");
const startListening = async (...args: Parameters<Awaited<typeof loading>["startListening"]>) =>
  (await loading).startListening(...args);
const node = eachTest(async () => (await loading).createTestNode());

test.each([
  'rpc error: code = Unimplemented desc = with "quotes", a tab\tand\nanother line',
  "rpc error: code = Unimplemented; Another driver with the same name is already registered",
])("policy end returns kubelet's text verbatim, with a hint: %j", async (error) => {
  await using started = await startListening(node, { onRegistrationFailure: "end" });
  // Rejects if the connection ended before the answer.
  await registerOnce(node.socketPath(), error);
  expect(await started.registrar.closed).toMatchObject({ kind: "refused", kubeletError: error });
  expect(readdirSync(node.pluginRegistrationPath)).toEqual([]);
  const line = await started.log.when("Kubelet refused the driver, its registration ends");
  const hint = expect.stringContaining("--kubelet-registration-path");
  expect(line).toMatchObject({ severity: "error", error: { message: error }, fields: { hint } });
});

test.each(["end", "retry"] as const)("policy %s removes the socket, then explains", async (policy) => {
  await using started = await startListening(node, { onRegistrationFailure: policy });
  beforeHint = () => eventually(() => expect(node.visibleFiles()).toEqual([]));
  await registerOnce(node.socketPath(), "no");
  if (policy === "retry") await started.log.when("Kubelet refused the driver");
  else expect(await started.registrar.closed).toMatchObject({ kind: "refused", kubeletError: "no" });
});

test("policy retry publishes elsewhere only when the socket is hidden, however long that takes", async () => {
  const { endOrRetry } = await import("../../../../src/registrar/registration/states/refused");
  const hidden = new AbortController();
  const hide = () => new Promise((resolve) => hidden.signal.addEventListener("abort", resolve));
  const { logger, ...log } = recordLog();
  const { pluginRegistrationPath } = node;
  const options = { onRegistrationFailure: "retry", pluginRegistrationPath, isNodeWide: false };
  const state = { ...stateNamed("refused"), waitMs: 0 };
  const ended = jest.fn();
  const context = { options, socket: { hide }, log: logger } as unknown as RegistrationContext;
  const ending = endOrRetry(state as never, context, new AbortController().signal).then(ended);
  await log.when("Kubelet refused the driver");
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(ended).not.toHaveBeenCalled();
  hidden.abort();
  await ending;
  expect(ended.mock.calls).toMatchObject([[{ kind: "retry" }]]);
});

describe("policy retry", () => {
  const retry = { onRegistrationFailure: "retry" } as const;
  beforeEach(() => jest.spyOn(Math, "random").mockReturnValue(0));
  afterEach(() => jest.restoreAllMocks());

  test("publishes under another name after a while, and is registered when kubelet accepts the driver", async () => {
    await using started = await startListening(node, retry);
    await started.refuse("the API server does not answer");
    expect((await started.log.when("Kubelet refused the driver")).fields).toEqual({
      attempt: 1,
      retryIn: "2s",
    });

    // A kubelet that comes back by itself, as from 1.36 on, gets no answer: our pace is the only one.
    using kubelet = dialRegistration(node.socketPath());
    await expect(kubelet.getInfo()).rejects.toMatchObject({ code: status.UNAVAILABLE });
    expect(started.registrar.status().state).toBe("refused");
    expect(await started.registrar.selfCheck()).toEqual({ kind: "ok" });

    await waits.end(2_000);
    await started.state("listening");
    expect(node.visibleFiles()).toEqual([expect.stringMatching(/^x\.csi-_[0-9a-z]{3}-reg\.sock$/)]);
    await started.accept();
    expect(started.registrar.status().counters).toMatchObject({
      refused: 1,
      accepted: 1,
      publications: { "driver-named": 1, retry: 1 },
    });
  });

  test("a repeated refusal is logged every tenth time, another one at once", async () => {
    await using started = await startListening(node, retry);
    const errors = [...Array<string>(11).fill("no"), "never", "never"];
    for (const [nth, error] of errors.entries()) {
      await started.refuse(error);
      await waits.end(
        nth < 9 ? Math.min(2_000 * 2 ** nth, 18_000) : Math.min(60_000 * 2 ** (nth - 9), 240_000),
      );
      await started.state("listening");
    }
    await started.accept();
    await started.refuse("never");
    await eventually(() => {
      const spoken = started.log
        .all("Kubelet refused the driver")
        .map(({ error }) => (error as Error).message);
      expect(spoken).toEqual(["no", "no", "never", "never"]);
    });
    const unspoken = started.log.all("Kubelet refused the driver again, for the same reason");
    expect(unspoken.map(({ fields }) => fields.attempt)).toEqual([2, 3, 4, 5, 6, 7, 8, 9, 10, 13]);
    const isQuiet = ({ verbosity }: { readonly verbosity: number }) => verbosity === 4;
    expect(unspoken.every(isQuiet)).toBe(true);
    // The same of kubelet's status: a text that repeats the last one is quiet.
    const told = started.log.all("Received NotifyRegistrationStatus call");
    expect([told.length, told.filter(isQuiet).length]).toEqual([15, 11]);
  });
});
