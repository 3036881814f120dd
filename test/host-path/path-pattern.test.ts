import {
  fillPattern,
  matchPattern,
  matchSegment,
  pairPatterns,
  parsePattern,
} from "../../src/host-path/path-pattern";

describe("a pattern is read", () => {
  test.each<[string, readonly string[], number]>([
    ["/plugins/*/csi.sock", ["plugins", "*", "csi.sock"], 1],
    ["/var/lib/kubelet/plugins/*/*.sock", ["var", "lib", "kubelet", "plugins", "*", "*.sock"], 2],
    ["/plugins/csi-*-node/csi.sock", ["plugins", "csi-*-node", "csi.sock"], 1],
    ["/plugins/.*/csi.sock", ["plugins", ".*", "csi.sock"], 1],
    ["/csi/csi.sock", ["csi", "csi.sock"], 0],
  ])("%s", (text, segments, stars) => {
    expect(parsePattern(text, "csiAddresses")).toEqual({ text, segments, stars });
  });

  test.each([
    ["plugins/*/csi.sock", "absolute"],
    ["*", "absolute"],
    ["/plugins//csi.sock", "empty"],
    ["/plugins/*/", "empty"],
    ["/plugins/./*", "'.'"],
    ["/plugins/*/../csi.sock", "'..'"],
    ["/plugins/*-*/csi.sock", "one '*' only"],
    ["/plugins/**/csi.sock", "one '*' only"],
  ])("but not %s", (text, why) => {
    const read = () => parsePattern(text, "csiAddresses");
    expect(read).toThrow(expect.objectContaining({ code: "INVALID_OPTION" }));
    expect(read).toThrow(`csiAddresses ${JSON.stringify(text)}`);
    expect(read).toThrow(why);
  });
});

test.each<[string, string, string | undefined]>([
  ["*", "disk.csi.example.com", "disk.csi.example.com"],
  ["*.sock", "csi.sock", "csi"],
  ["csi-*", "csi-disk", "disk"],
  ["csi-*-node", "csi-disk-node", "disk"],
  ["csi.sock", "csi.sock", ""],
  // A star stands for something.
  ["csi-*", "csi-", undefined],
  ["*", "", undefined],
  // What stands before the star and behind it are not the same characters.
  ["ab*ba", "aba", undefined],
  ["*.sock", "csi.sock.bak", undefined],
  ["csi-*", "my-csi-disk", undefined],
  ["csi.sock", "csi_sock", undefined],
  // Hidden names, as in a shell.
  ["*", ".hidden", undefined],
  ["*.sock", ".csi.sock", undefined],
  [".*", ".hidden", "hidden"],
  [".h*", ".hidden", "idden"],
  // No character but the star means anything.
  ["a.c*", "abcd", undefined],
  ["[ab]*", "a1", undefined],
])("%s and %s: the star stands for %p", (segment, name, expected) => {
  expect(matchSegment(segment, name)).toBe(expected);
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

describe("patterns are paired", () => {
  test("first with first, an address without its scheme", () => {
    const pairs = pairPatterns(
      ["unix:///plugins/*/csi.sock", "/more/*/*.sock"],
      ["/var/lib/kubelet/plugins/*/csi.sock", "/mnt/*/x/*"],
    );
    expect(pairs.map((pair) => [pair.csiAddress.text, pair.kubeletRegistrationPath.text])).toEqual([
      ["/plugins/*/csi.sock", "/var/lib/kubelet/plugins/*/csi.sock"],
      ["/more/*/*.sock", "/mnt/*/x/*"],
    ]);
  });

  test.each<[string, readonly string[], readonly string[], string]>([
    ["too few host paths", ["/a/*", "/b/*"], ["/c/*"], "2 csiAddresses but 1 kubeletRegistrationPaths"],
    ["too many", ["/a/*"], ["/c/*", "/d/*"], "1 csiAddresses but 2 kubeletRegistrationPaths"],
    ["none at all", [], [], "csiAddresses is an empty list"],
    ["a host path without star", ["/a/*/s"], ["/b/c/s"], "1 '*' in /a/*/s, 0 in /b/c/s"],
    ["more stars in the host path", ["/a/*/s"], ["/*/*/s"], "1 '*' in /a/*/s, 2 in /*/*/s"],
    ["a bad host path", ["/a/*/s"], ["b/*/s"], "kubeletRegistrationPaths"],
  ])("but not with %s", (_, addresses, hostPaths, why) => {
    const pair = () => pairPatterns(addresses, hostPaths);
    expect(pair).toThrow(expect.objectContaining({ code: "INVALID_OPTION" }));
    expect(pair).toThrow(why);
  });
});

test.each([
  ["/p/*/csi.sock", "/p/a/csi.sock", true],
  ["/p/*/csi.sock", "/p/a/b/csi.sock", false],
  ["/p/*/csi.sock", "/p/a", false],
  ["/p/*/csi.sock", "/q/a/csi.sock", false],
  ["/p/*/csi.sock", "", false],
  ["/p/a/csi.sock", "/p/a/csi.sock", true],
])("%s and the path %s: fits is %s", (pattern, path, expected) => {
  expect(matchPattern(parsePattern(pattern, "csiAddresses"), path) !== undefined).toBe(expected);
});
