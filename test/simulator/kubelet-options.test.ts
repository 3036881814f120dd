import { type KubeletOptions, resolveKubeletOptions } from "../../src/simulator/kubelet/options";

test("takes what is given, and fills in kubelet's own times and a node", () => {
  const given = {
    pluginRegistrationPath: "/reg/../reg",
    version: "v1.20.4",
    timings: { dialMs: 30 },
  } as const;
  const { logger: _, ...options } = resolveKubeletOptions(given);
  expect(options).toEqual({
    pluginRegistrationPath: "/reg",
    nodeName: "node-1",
    nodeLabels: { "kubernetes.io/hostname": "node-1" },
    version: "v1.20.4",
    simulated: "1.20",
    waitTimeoutMs: 4500,
    faults: [],
    timings: {
      reconcilePeriodMs: 1000,
      dialMs: 30,
      getInfoMs: 1000,
      notifyMs: 5000,
      nodeGetInfoMs: 120_000,
      backoffInitialMs: 500,
      backoffMaxMs: 122_000,
    },
  });
});

test.each<[Partial<KubeletOptions>, string]>([
  [{ pluginRegistrationPath: "" }, 'startKubelet: pluginRegistrationPath is ""; it takes the path'],
  [{ version: "1.12" }, 'startKubelet: version is "1.12"; it takes a kubelet\'s version from 1.13 on'],
  [{ reconcilePeriodMs: 0 }, "startKubelet: reconcilePeriodMs is 0; it takes milliseconds"],
  [{ timings: { notifyMs: 2 ** 31 } }, "startKubelet: timings: notifyMs is 2147483648; it takes"],
  [{ faults: [{ kind: "refuse", reason: "no", stage: "never" as "validation" }] }, "faults[0]: stage is"],
  [{ faults: [{ kind: "never-call", times: 1 } as never] }, 'there is no option "times"; there are none'],
])("%j is refused", (options, text) => {
  expect(() => resolveKubeletOptions({ pluginRegistrationPath: "/reg", ...options })).toThrow(
    expect.objectContaining({ code: "INVALID_OPTION", message: expect.stringContaining(text) }),
  );
});
