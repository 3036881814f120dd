import { explainHostPath, fixText, type HostPathVerdict } from "../../src/host-path/host-path";

test("what differs comes with the flag to write", () => {
  expect(explainHostPath({ kind: "differs", hostPath: "/h/csi.sock" })?.fix).toBe(
    "--kubelet-registration-path=/h/csi.sock",
  );
  expect(explainHostPath({ kind: "unknown" })).toBeUndefined();
  expect(explainHostPath({ kind: "fits" })).toBeUndefined();
});

test("what is on a disk that the host mounts somewhere names no whole path", () => {
  const path = "/data/kubelet/plugins/x/csi.sock";
  expect(explainHostPath({ kind: "ends-alike", path })).toBeUndefined();
  expect(explainHostPath({ kind: "differs-on-disk", path, inKubeletRoot: "/plugins/x/csi.sock" })).toEqual({
    problem: `on its disk the driver's socket is ${path}; where the host mounts that disk cannot be seen from here`,
    fix: "--kubelet-registration-path=<kubelet root>/plugins/x/csi.sock; the root is kubelet's --root-dir, or else /var/lib/kubelet",
  });
  expect(
    explainHostPath({ kind: "differs-on-disk", path: "/x/csi.sock", inKubeletRoot: undefined })?.fix,
  ).toBe("--kubelet-registration-path=<where the host mounts that disk>/x/csi.sock");
});

test.each<[HostPathVerdict, string, string]>([
  [{ kind: "empty-dir" }, "is in an emptyDir volume", "make that volume a hostPath"],
  [{ kind: "not-mounted", folder: "/csi" }, "nothing of the host is mounted at /csi", "mount the hostPath"],
])("%j is told with what to mount", (verdict, problem, fix) => {
  expect(explainHostPath(verdict)).toEqual({
    problem: expect.stringContaining(problem),
    fix: expect.stringContaining(fix),
  });
});

test("a flag is to be written, all else to be done", () => {
  expect(fixText({ fix: "--kubelet-registration-path=/x" })).toBe("write --kubelet-registration-path=/x");
  expect(fixText({ fix: "mount it" })).toBe("mount it");
});
