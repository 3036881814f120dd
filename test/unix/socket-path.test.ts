import { fitsSocketPath, parseCsiAddress } from "../../src/unix/socket-path";

test.each([
  ["/csi/csi.sock", "/csi/csi.sock"],
  ["unix:///csi/csi.sock", "/csi/csi.sock"],
  ["unix:/csi/csi.sock", "/csi/csi.sock"],
  ["//csi/csi.sock", "/csi/csi.sock"],
  ["/csi//csi.sock", "/csi//csi.sock"],
  ["unix:////csi/csi.sock", "/csi/csi.sock"],
  ["unix:csi.sock", "csi.sock"],
  ["unix://csi.sock", "csi.sock"],
  ["/with space/and:colon", "/with space/and:colon"],
  ["/line\nbreak", "/line\nbreak"],
])("%j is the path %j", (address, path) => {
  expect(parseCsiAddress(address)).toBe(path);
});

test.each([
  "",
  "csi.sock",
  "tcp://127.0.0.1:10000",
  "unix-abstract:csi",
  "not-unix:/csi/csi.sock",
  "UNIX:///csi/csi.sock",
  "unix:",
  "unix://",
  // Abstract sockets, as Go writes them: a file of that name is not what is meant.
  "unix:@csi",
  "/csi\0.sock",
  "unix:///csi\0.sock",
])("%j is refused", (address) => {
  expect(() => parseCsiAddress(address)).toThrow(
    expect.objectContaining({
      name: "RegistrarError",
      code: "INVALID_OPTION",
      message: `csi-address ${JSON.stringify(address)} is not a unix socket path: give /absolute/path or unix:///absolute/path`,
    }),
  );
});

test.each([
  [`/${"a".repeat(106)}`, 107],
  [`/${"a".repeat(107)}`, 108],
  [`/${"ä".repeat(53)}`, 107],
  [`/${"ä".repeat(54)}`, 109],
])("%s has %i bytes, of which 107 fit", (path, bytes) => {
  expect(Buffer.byteLength(path)).toBe(bytes);
  expect(fitsSocketPath(path)).toBe(bytes <= 107);
});
