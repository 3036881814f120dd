import { explainHostPath, type HostPathVerdict } from "../src/host-path";

test("what differs comes with the flag to write", () => {
  expect(explainHostPath({ kind: "differs", hostPath: "/h/csi.sock" })?.fix).toBe(
    "--kubelet-registration-path=/h/csi.sock",
  );
  expect(explainHostPath({ kind: "unknown" })).toBeUndefined();
  expect(explainHostPath({ kind: "fits" })).toBeUndefined();
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
