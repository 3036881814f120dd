import {
  fillPattern,
  leadsThrough,
  matchPattern,
  matchSegment,
  pairPatterns,
  parsePattern,
} from "../../src/host-path/path-pattern";

test.each<[string, readonly string[], number]>([
  ["/plugins/*/csi.sock", ["plugins", "*", "csi.sock"], 1],
  ["/var/lib/kubelet/plugins/*/*.sock", ["var", "lib", "kubelet", "plugins", "*", "*.sock"], 2],
  ["/plugins/csi-*-node/csi.sock", ["plugins", "csi-*-node", "csi.sock"], 1],
  ["/plugins/.*/csi.sock", ["plugins", ".*", "csi.sock"], 1],
  ["/csi/csi.sock", ["csi", "csi.sock"], 0],
])("%s is a pattern", (text, segments, stars) => {
  expect(parsePattern(text, "csiAddresses")).toEqual({ text, segments, stars });
});

function expectInvalid(call: () => unknown, ...texts: readonly string[]) {
  expect(call).toThrow(expect.objectContaining({ code: "INVALID_OPTION" }));
  for (const text of texts) expect(call).toThrow(text);
}

test.each([
  ["plugins/*/csi.sock", "absolute"],
  ["*", "absolute"],
  ["/plugins//csi.sock", "empty"],
  ["/plugins/*/", "empty"],
  ["/plugins/./*", "'.'"],
  ["/plugins/*/../csi.sock", "'..'"],
  ["/plugins/*-*/csi.sock", "one '*' only"],
  ["/plugins/**/csi.sock", "one '*' only"],
])("%s is not a pattern", (text, why) => {
  expectInvalid(() => parsePattern(text, "csiAddresses"), `csiAddresses ${JSON.stringify(text)}`, why);
});

test.each<[string, readonly string[], readonly string[]]>([
  ["*", ["disk.csi.example.com:disk.csi.example.com"], ["", ".hidden"]],
  ["*.sock", ["csi.sock:csi"], ["csi.sock.bak", ".csi.sock"]],
  // A star stands for something.
  ["csi-*", ["csi-disk:disk"], ["csi-", "my-csi-disk"]],
  ["csi-*-node", ["csi-disk-node:disk"], []],
  ["csi.sock", ["csi.sock:"], ["csi_sock"]],
  // What stands before the star and behind it are not the same characters.
  ["ab*ba", ["abxba:x"], ["aba"]],
  // Hidden names, as in a shell.
  [".*", [".hidden:hidden"], []],
  [".h*", [".hidden:idden"], []],
  // No character but the star means anything.
  ["a.c*", [], ["abcd"]],
  ["[ab]*", [], ["a1"]],
])("%s: the star stands for %j, and %j do not fit", (segment, fitting, others) => {
  for (const [name = "", star] of fitting.map((one) => one.split(":")))
    expect(matchSegment(segment, name)).toBe(star);
  for (const name of others) expect(matchSegment(segment, name)).toBeUndefined();
});

test.each<[string, readonly string[], string]>([
  ["/plugins/*/csi.sock", ["disk"], "/plugins/disk/csi.sock"],
  ["/a-*-b/*.sock", ["1", "2"], "/a-1-b/2.sock"],
  ["/csi/csi.sock", [], "/csi/csi.sock"],
  // What a replacement in a regular expression would mistake.
  ["/plugins/*/csi.sock", ["$&"], "/plugins/$&/csi.sock"],
  ["/a-*/*.sock", ["*", "2"], "/a-*/2.sock"],
])("%s filled with %p is %s", (pattern, captures, expected) => {
  expect(fillPattern(parsePattern(pattern, "csiAddresses"), captures)).toBe(expected);
});

test.each([
  [["/p/a"], true],
  [["/p/b/x"], true],
  [["/p/c/x/s"], true],
  [["/", "/p", "/q/a", "/p/a/x/t"], false],
])("a pattern leads through the mount points %j: %s", (mountPoints, expected) => {
  expect(leadsThrough("/p/*/*/s", mountPoints)).toBe(expected);
});

test("patterns are paired, first with first, addresses without their scheme", () => {
  const addresses = ["unix:///plugins/*/csi.sock", "/more/*/*.sock"];
  const pairs = pairPatterns(addresses, ["unix:///var/lib/kubelet/plugins/*/csi.sock", "/mnt/*/x/*"]);
  expect(pairs.map((pair) => [pair.csiAddress.text, pair.endpoint.text])).toEqual([
    ["/plugins/*/csi.sock", "/var/lib/kubelet/plugins/*/csi.sock"],
    ["/more/*/*.sock", "/mnt/*/x/*"],
  ]);
});

test.each<[string, readonly string[], readonly string[], string]>([
  ["too few host paths", ["/a/*", "/b/*"], ["/c/*"], "2 csiAddresses but 1 endpoints"],
  ["too many", ["/a/*"], ["/c/*", "/d/*"], "1 csiAddresses but 2 endpoints"],
  ["none at all", [], [], "csiAddresses is an empty list"],
  ["a host path without star", ["/a/*/s"], ["/b/c/s"], "1 '*' in /a/*/s, 0 in /b/c/s"],
  ["more stars in the host path", ["/a/*/s"], ["/*/*/s"], "1 '*' in /a/*/s, 2 in /*/*/s"],
  ["a bad host path", ["/a/*/s"], ["b/*/s"], "endpoints"],
])("a pattern does not lead through the mount points with %s", (_, addresses, hostPaths, why) => {
  expectInvalid(() => pairPatterns(addresses, hostPaths), why);
});

test.each<[string, Readonly<Record<string, readonly string[]>>, readonly string[]]>([
  ["/p/*/csi.sock", { "/p/a/csi.sock": ["a"] }, ["/p/a/b/csi.sock", "/p/a", "/q/a/csi.sock", ""]],
  ["/*/x/a-*", { "/p/x/a-b": ["p", "b"] }, ["/p/y/a-b"]],
  ["/p/a/csi.sock", { "/p/a/csi.sock": [] }, []],
])("the stars of %s stand for %j, and it does not fit %j", (text, fitting, others) => {
  const match = (path: string) => matchPattern(parsePattern(text, "csiAddresses"), path);
  expect(Object.fromEntries(Object.keys(fitting).map((path) => [path, match(path)]))).toEqual(fitting);
  expect(others.map(match)).toEqual(others.map(() => undefined));
});
