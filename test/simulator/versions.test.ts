import { authorityFor, behaviourOf, KUBELET_VERSIONS } from "../../src/simulator/versions";

test.each([
  ["/var/lib/kubelet/plugins_registry/x-reg.sock", "%2Fvar%2Flib%2Fkubelet%2Fplugins_registry%2Fx-reg.sock"],
  ["/a b/ü%", "%2Fa%20b%2F%C3%BC%25"],
  ["-_.~!$&'()*+,;=:[]@", "-_.~!$&'()*+,;=:[]@"],
])("encodes %s as grpc-go does", (path, expected) => {
  expect(authorityFor("encoded-path", path)).toBe(expected);
});

test("the other authorities are what their names say", () => {
  expect(authorityFor("path", "/a/b")).toBe("/a/b");
  expect(authorityFor("localhost", "/a/b")).toBe("localhost");
});

test("says by version what a plugin can tell kubelets apart by", () => {
  const table = KUBELET_VERSIONS.map((version) => {
    const { registrationAuthority, driverAuthority, afterFailure, pluginTypes } = behaviourOf(version);
    return [version, registrationAuthority, driverAuthority, afterFailure, pluginTypes.includes("DRAPlugin")];
  });
  expect(table).toEqual([
    ["1.20", "path", "path", "keep", false],
    ["1.24", "path", "path", "keep", false],
    ["1.28", "path", "localhost", "keep", false],
    ["1.35", "encoded-path", "localhost", "keep", true],
    ["1.36", "encoded-path", "localhost", "forget", true],
  ]);
});
