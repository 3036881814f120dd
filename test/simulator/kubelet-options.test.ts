import { type KubeletOptions, resolveKubeletOptions } from "../../src/simulator/kubelet/options";

test.each<[Partial<KubeletOptions>, string]>([
  [{ pluginRegistrationPath: "" }, 'startKubelet: pluginRegistrationPath is ""; it takes the path'],
  // @ts-expect-error The compiler finds it, too.
  [{ version: "1.12" }, 'startKubelet: version is "1.12"; it takes a kubelet\'s version from 1.13 on'],
  // @ts-expect-error
  [{ version: "v1.5.1+k3s1" }, 'version is "v1.5.1+k3s1"; it takes a kubelet\'s version from 1.13 on'],
  [{ nodeName: "A B" }, 'startKubelet: nodeName is "A B"; it takes the name of a Node: lower-case letters'],
  [{ nodeName: "" }, 'startKubelet: nodeName is ""; it takes the name of a Node'],
  [{ nodeName: "n".repeat(254) }, "it takes the name of a Node"],
  [{ reconcilePeriodMs: 0 }, "startKubelet: reconcilePeriodMs is 0; it takes milliseconds"],
  [{ timings: { notifyMs: 2 ** 31 } }, "startKubelet: timings: notifyMs is 2147483648; it takes"],
  [{ faults: [{ kind: "refuse", error: "no", stage: "never" as "validation" }] }, "faults[0]: stage is"],
  [{ faults: [{ kind: "never-call", times: 1 } as never] }, 'there is no option "times"; it takes none'],
])("%j is refused", (options, text) => {
  expect(() => resolveKubeletOptions({ pluginRegistrationPath: "/reg", ...options })).toThrow(
    expect.objectContaining({ code: "INVALID_OPTION", message: expect.stringContaining(text) }),
  );
});

test("its times are kubelet's own", () => {
  const options = { pluginRegistrationPath: "/reg", timings: { dialMs: 30 } };
  const { timings, reconcilePeriodMs } = resolveKubeletOptions(options);
  expect({ ...timings, reconcilePeriodMs }).toEqual({
    ...{
      reconcilePeriodMs: 1_000,
      dialMs: 30,
      connectMs: 20_000,
      getInfoMs: 1_000,
      notifyMs: 5_000,
      nodeGetInfoMs: 120_000,
    },
    ...{ backoffInitialMs: 500, backoffMaxMs: 122_000 },
  });
});
