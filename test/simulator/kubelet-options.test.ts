import { type KubeletOptions, resolveKubeletOptions } from "../../src/simulator/kubelet/options";

test("fills in kubelet's own times and a node", () => {
  const { logger: _, ...options } = resolveKubeletOptions({ pluginRegistrationPath: "/reg/../reg" });
  expect(options).toEqual({
    pluginRegistrationPath: "/reg",
    nodeName: "node-1",
    nodeLabels: { "kubernetes.io/hostname": "node-1" },
    version: "1.37",
    volumeLimitPeriodsMs: {},
    simulated: "1.37",
    waitTimeoutMs: 4500,
    faults: [],
    timings: {
      reconcilePeriodMs: 1000,
      dialMs: 10_000,
      getInfoMs: 1000,
      notifyMs: 5000,
      nodeGetInfoMs: 120_000,
      backoffInitialMs: 500,
      backoffMaxMs: 122_000,
    },
  });
});

test("takes what is given", () => {
  const { timings, nodeLabels, version } = resolveKubeletOptions({
    pluginRegistrationPath: "/reg",
    version: "1.20",
    nodeLabels: {},
    reconcilePeriodMs: 20,
    timings: { dialMs: 30 },
  });
  expect(timings).toMatchObject({ reconcilePeriodMs: 20, dialMs: 30, getInfoMs: 1000 });
  expect([nodeLabels, version]).toEqual([{}, "1.20"]);
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
