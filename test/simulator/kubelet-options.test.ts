import {
  KUBELET_TIMINGS,
  type KubeletOptions,
  resolveKubeletOptions,
} from "../../src/simulator/kubelet-options";

test("fills in kubelet's own times and a node", () => {
  expect(resolveKubeletOptions({ pluginDir: "/reg/../reg" })).toEqual({
    pluginDir: "/reg",
    nodeName: "node-1",
    nodeLabels: { "kubernetes.io/hostname": "node-1" },
    version: "1.36",
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
    pluginDir: "/reg",
    version: "1.20",
    nodeLabels: {},
    reconcilePeriodMs: 20,
    timings: { dialMs: 30 },
  });
  expect(timings).toEqual({ ...KUBELET_TIMINGS, reconcilePeriodMs: 20, dialMs: 30 });
  expect([nodeLabels, version]).toEqual([{}, "1.20"]);
});

test.each<[Partial<KubeletOptions>, string]>([
  [{ pluginDir: "" }, "pluginDir is empty"],
  [
    { version: "1.12" as "1.20" },
    'kubelet version "1.12" is not simulated; there are 1.20, 1.24, 1.28, 1.35, 1.36',
  ],
  [{ reconcilePeriodMs: 0 }, "reconcilePeriodMs is 0; it must be"],
  [{ timings: { dialMs: Number.NaN } }, "dialMs is NaN; it must be"],
  [{ timings: { notifyMs: 2 ** 31 } }, "notifyMs is 2147483648; it must be"],
])("%j is refused", (options, text) => {
  expect(() => resolveKubeletOptions({ pluginDir: "/reg", ...options })).toThrow(
    expect.objectContaining({ code: "INVALID_OPTION", message: expect.stringContaining(text) }),
  );
});
