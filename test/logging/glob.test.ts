import { compileGlob } from "../../src/logging/vmodule";

// Outcomes of Go's filepath.Match (Go 1.26).
test.each([
  ["csi-driver", "csi-driver", true],
  ["csi-drive", "csi-driver", false],
  ["csi*", "csi-driver", true],
  ["*driver", "csi-driver", true],
  ["*", "", true],
  ["csi?driver", "csi-driver", true],
  ["?", "", false],
  ["[a-d]si", "csi", true],
  ["[^a]si", "csi", true],
  ["[^a-d]si", "csi", false],
  ["[^^]si", "csi", true],
  ["[!c]si", "csi", true],
  ["[d-a]si", "csi", false],
  ["[^d-a]si", "csi", true],
  ["[[]a", "[a", true],
  [String.raw`[\]]a`, "]a", true],
  [String.raw`[a\-c]`, "b", false],
  [String.raw`\*`, "*", true],
  [String.raw`\*`, "a", false],
  ["a]", "a]", true],
  ["a.c", "abc", false],
  ["CSI", "csi", false],
  ["?", "😀", true],
])("%s on %j: %s", (pattern, text, matches) => {
  expect(compileGlob(pattern)?.test(text)).toBe(matches);
});

test.each(["[", "[]", "[^]", "[a", "[]a]", "[-]", "[a-]", "[a-b-c]", "a\\", "*["])(
  "%s is malformed",
  (pattern) => {
    expect(compileGlob(pattern)).toBeUndefined();
  },
);
